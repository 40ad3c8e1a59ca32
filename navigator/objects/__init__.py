"""Live objects of the running program: what a tensor holds, member by member."""
