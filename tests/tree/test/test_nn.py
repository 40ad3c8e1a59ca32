# Owner(s): ["module: nn"]

import torch.nn.functional as F


class TestNN:
    def test_softmax_cpu(self):
        F.softmax(None, dim=0)
