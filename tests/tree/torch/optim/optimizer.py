class Optimizer:  #! python torch.optim.Optimizer class
    def step(self, closure=None):  #! python torch.optim.Adam.step,torch.optim.AdamW.step method
        raise NotImplementedError

    def _patch(self):
        pass

    def add_param_group(self, group):
        pass


def _profiled(self):  #! python torch.optim.Adam.profiled function
    pass


Optimizer.profiled = _profiled
