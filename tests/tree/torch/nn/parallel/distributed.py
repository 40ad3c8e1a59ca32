"""A class that people know by its initials."""


class DistributedDataParallel:
    def no_sync(self):
        pass

    def __init__(
        self,
        module,
        find_unused_inputs: bool = False,  # not_given
    ):
        pass


class _Wrapper:
    def unwrap_module(self):
        pass

    def cpp(self):
        pass

    def make(self):
        def unwrap_local(self):
            pass

    text = """
    def unwrap_text(self):
    """
