"""What is reached when something in the tree changes."""
