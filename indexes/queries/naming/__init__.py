"""What a name means: one resolver for every command and every box of the screen.

``spelling`` says what a text looks like, ``resolve`` asks the worlds in which it can mean
something, each a module with a function ``find``: ``operators`` (of aten), ``libraries`` (of
other namespaces), ``python``, ``nodes`` (of autograd), ``cxx`` (symbols and stubs), ``places``,
``errors`` (messages) and ``variables``. Every qualifier that was written must fit: what has none
of that name answers nothing, and C++ names that merely end alike are told as namesakes."""
