"""What torchgen writes for one operator: its generators run in a process of their own, and each
text is followed from the function that made it to the file that it is written to."""
