"""A possible change as ordered steps: what to edit where, by which example, how to test it and who
reviews it.

``model`` is the vocabulary, ``planning`` the entry point. A planner plans the changes of one kind;
``planners`` lists them.
"""
