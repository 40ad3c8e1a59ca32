"""The vocabulary: what readers find in source and what queries answer."""
