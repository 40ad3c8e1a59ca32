"""What stands in Python around an operator: names, tests, registrations."""
