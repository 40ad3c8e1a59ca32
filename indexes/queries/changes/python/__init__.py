"""Plans of what stands in Python: registrations, tables, docstrings, OpInfos."""
