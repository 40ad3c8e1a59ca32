"""Labs: short programs with narration and claims, run and shown with the lines that they name."""
