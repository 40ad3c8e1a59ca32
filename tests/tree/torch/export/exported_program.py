from .decomp_utils import CustomDecompTable


def default_decompositions() -> "CustomDecompTable":
    return CustomDecompTable()
