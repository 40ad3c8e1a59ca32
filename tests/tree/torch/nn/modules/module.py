import warnings


class Module:
    def __getattr__(self, name):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class Block(Module):
    pass


class Pipe:
    def __getattr__(self, name):
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class UnsupportedError(RuntimeError):
    pass


RULE = Rule.from_sarif(
    **{"text": "Exporting the block '{name}' to version {version} is not supported."}
)


def renamed(old, new):
    warnings.warn(f"`nn.{old}` is renamed, take `nn.{new}` instead of it.")  #! says nn.block is renamed, take nn.Block instead of it.


def load(data):
    message = "This file is not read whole; the reading of blocks failed, reader's error: " + read(data)
    raise ValueError(message)


def read(data):
    raise UnpicklingError(f"Unknown operand {data}")


def _outer():
    class MadeFunction(torch.autograd.Function):
        pass

    def _inner():
        pass


class structured:
    structured_delegate: str
