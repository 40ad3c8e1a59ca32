"""What keeps the recorder out of what the program sees of itself."""
