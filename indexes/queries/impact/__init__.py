"""What a change of the tree reaches."""
