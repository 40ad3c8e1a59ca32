"""The sub-commands of ``torchnav``, a module for each family."""
