"""Costs of torchnav compared with other tools on the same tree: ``python -m benchmarks TREE``."""
