"""The dispatch path of an operator for each switch, from the tree's source alone."""
