"""Plans of changes in Python: registrations, tables, docstrings, OpInfos."""
