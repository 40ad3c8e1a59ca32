# Owner(s): ["module: tests"]

import torch


class TestUnaryUfuncs:
    def test_abs_zero(self, device):
        assert torch.abs(torch.zeros(1, device=device)) == 0

    def test_sin_lowprecision(self, device):
        torch.sin(torch.zeros(1, device=device))
