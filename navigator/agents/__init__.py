"""The tools of ``torchnav mcp``: answers for coding agents, in pages of bounded size."""
