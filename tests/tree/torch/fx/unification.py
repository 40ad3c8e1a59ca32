class Dispatcher:
    """One of the same name, in a module that nobody documents."""


def _unify(left, right):
    pass
