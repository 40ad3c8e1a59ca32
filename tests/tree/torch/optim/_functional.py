__all__ = ["foreach_add"]


def foreach_add(tensors):  #! python torch.optim.foreach_add function
    return tensors


def not_exported(tensors):
    return tensors
