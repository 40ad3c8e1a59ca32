# Owner(s): ["module: tests"]

import torch


class TestErrors:
    def test_checks(self):
        with self.assertRaisesRegex(RuntimeError, "self must be a matrix"):
            torch.mm(None, None)
        with self.assertRaisesRegex(
            (ValueError, RuntimeError), r"has to be between .* " "and 1"
        ):
            torch.dropout(None, 3.5)

    def test_own(self):
        with self.assertRaisesRegex(KeyError, "the tests say this"):
            raise KeyError("the tests say this")
        with self.assertRaisesRegex(KeyError, f"no such message anywhere"):
            {}[0]
