"""What torchnav costs beside other tools on the same tree: ``python -m benchmarks TREE``."""
