"""Edits of a file of PyTorch at random: of the entries of a YAML file, and of C++."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Edit = Callable[[random.Random, str], str]


def _entries(text: str) -> list[str]:
    """The file cut before each entry; what comes before the first is a part of its own."""
    return re.split(r"^(?=- )", text, flags=re.M)


def _with_entry(
    chance: random.Random, text: str, edit: Callable[[str], str], wanted: str = ""
) -> str:
    parts = _entries(text)
    fit = [at for at, part in enumerate(parts) if part.startswith("- ") and wanted in part]
    if not fit:  # after many edits
        return text
    at = chance.choice(fit)
    parts[at] = edit(parts[at])
    return "".join(parts)


def _toggle_variant(chance: random.Random, text: str) -> str:
    def toggled(entry: str) -> str:
        if "  variants: function, method\n" in entry:
            return entry.replace("  variants: function, method\n", "  variants: function\n")
        return re.sub(
            r"  variants: function\n|(?<=\n)\Z", "  variants: function, method\n", entry, count=1
        )

    return _with_entry(chance, text, toggled)


def _add_line(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda entry: "# about what follows\n" + entry)


def add_line_on_top(_: random.Random, text: str) -> str:
    return "# a new first line\n" + text


def _add_kernel(chance: random.Random, text: str) -> str:
    name = chance.choice(["add_out", "mul_out", "nowhere_to_be_found"])
    return _with_entry(
        chance,
        text,
        lambda e: e.replace("  dispatch:\n", f"  dispatch:\n    MPS: {name}\n"),
        "  dispatch:\n",
    )


def _remove_kernel(chance: random.Random, text: str) -> str:
    return _with_entry(
        chance,
        text,
        lambda e: re.sub(r"(  dispatch:\n)    .*\n", r"\1", e, count=1),
        "  dispatch:\n",
    )


def rename(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: re.sub(r"(- func: \w+)", r"\1_renamed", e, count=1))


def _change_schema(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: re.sub(r"\(", "(int first, ", e, count=1))


def remove(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda _: "")


def _add(chance: random.Random, text: str) -> str:
    name = chance.choice(["fresh", "add", "_foreach_fresh", "expand_copy", "relu_fresh"])
    entry = f"- func: {name}.n{chance.randrange(99)}(Tensor self) -> Tensor\n\n"
    return _with_entry(chance, text, lambda e: entry + e)


def move(chance: random.Random, text: str) -> str:
    parts = _entries(text)
    part = parts.pop(chance.randrange(1, len(parts)))
    parts.insert(chance.randrange(1, len(parts)), part)
    return "".join(parts)


def _toggle_delegate(chance: random.Random, text: str) -> str:
    return _with_entry(
        chance, text, lambda e: re.sub(r"  structured_delegate: .*\n", "", e), "structured_delegate"
    )


def _toggle_structured(chance: random.Random, text: str) -> str:
    return _with_entry(
        chance, text, lambda e: e.replace("structured: True", "structured: False"), "structured: T"
    )


def _remove_autogen(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: re.sub(r"  autogen: .*\n", "", e), "autogen")


def _add_autogen(chance: random.Random, text: str) -> str:
    def added(entry: str) -> str:
        name, overload = re.match(r"- func: (\w+)\.?(\w*)", entry).groups()  # type: ignore[union-attr]
        out = f"{name.removesuffix('_')}.{overload}_out" if overload else f"{name}.out"
        return entry.rstrip("\n") + f"\n  autogen: {out}\n\n"

    return _with_entry(chance, text, added)


def break_entry(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: e.replace(":", ": [", 1))


def repeat(chance: random.Random, text: str) -> str:
    """The same entry twice."""
    return _with_entry(chance, text, lambda entry: entry + entry)


def edit_formula(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: e.rstrip("\n") + "\n  result: auto_linear\n\n")


def _edit_kernel(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    return "".join([*lines[:at], "\n", *lines[at:]])


def _edit_signature(_: random.Random, text: str) -> str:
    return text.replace("const Tensor& self", "const Tensor& self, int more", 1)


def _edit_macro(_: random.Random, text: str) -> str:
    return text.replace("#define ", "#define NOT_", 1)


def _append_kernel(chance: random.Random, text: str) -> str:
    name = chance.choice(["fresh", "add_out_mps", "relu_", "nowhere_to_be_found"])
    return (
        text
        + f"\nnamespace at::native {{\nTensor {name}(const Tensor& self) {{ return self; }}\n}}\n"
    )


def _insert_helper(chance: random.Random, text: str) -> str:
    name = chance.choice(["fresh_helper", "mul_out", "_"])
    return f"static int {name}(int one) {{ return at::mul(one, add_stub); }}\n" + text


def _remove_some(chance: random.Random, text: str) -> str:
    """A part that ends where a definition may end."""
    parts = text.split("\n}\n")
    del parts[chance.randrange(len(parts))]
    return "\n}\n".join(parts)


def _undefine(chance: random.Random, text: str) -> str:
    names = re.findall(r"^#define (\w+)", text, flags=re.M) or ["NOTHING"]
    return f"{text}\n#undef {chance.choice(names)}\n"


ENTRY_EDITS: list[Edit] = [
    _toggle_variant,
    _add_line,
    _add_kernel,
    _remove_kernel,
    rename,
    _change_schema,
    remove,
    _add,
    _toggle_delegate,
    _toggle_structured,
    _remove_autogen,
    _add_autogen,
    add_line_on_top,
]
SOURCE_EDITS: list[Edit] = [
    _edit_kernel,
    _edit_signature,
    _edit_macro,
    _append_kernel,
    _insert_helper,
    _remove_some,
    _undefine,
]
