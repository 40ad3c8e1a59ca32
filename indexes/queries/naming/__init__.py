"""What a name means: one resolver for every command and every box of the screen.

``spelling`` says what a text looks like, ``resolve`` asks the worlds in which it can mean
something: ``operators`` (and Node classes), ``python``, ``cxx`` (symbols, stubs, device kernels),
``places``, ``errors`` (messages), ``variables`` and ``keys``. Every qualifier that was written must
fit: what has none of that name answers nothing, and C++ names that merely end alike are told as
namesakes."""
