"""One change that somebody may make, as ordered steps: what to edit where, after which neighbour,
how to test it and who reviews it.

``model`` is the vocabulary, ``planning`` the door. A planner plans the changes of one kind;
``planners`` lists them."""
