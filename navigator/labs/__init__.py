"""Labs: short programs with narration and claims, run and linked to the source that they name."""
