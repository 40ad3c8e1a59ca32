"""What the installed torch says, asked in a process of its own."""
