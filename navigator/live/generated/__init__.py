"""What torchgen writes for an operator: runs the generators in a separate process and traces each
text from the function that made it to its file."""
