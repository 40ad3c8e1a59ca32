"""What a name means: one resolver for every command and every search box.

``spelling`` classifies a text by its form, ``resolve`` tries what it can mean: ``operators`` (and
Node classes), ``python``, ``cxx`` (symbols, stubs, device kernels), ``places``, ``errors``
(messages), ``variables`` and ``keys``. Every written qualifier must match; C++ names with the same
last part are given as namesakes.
"""
