"""The dispatch path of an operator for each switch, from the source of the tree alone."""
