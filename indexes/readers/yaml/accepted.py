"""What torchgen accepts in its YAML files. Anything else stops it and is reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from indexes.model.vocabulary import FLAGS, NativeFunction, Problem
from indexes.readers.yaml.nodes import read_entries

_FIELDS = frozenset(
    [
        *("func", "variants", "dispatch", "autogen", "tags", "python_module", "precomputed"),
        *("structured", "structured_delegate", "structured_inherits", "ufunc_inner_loop"),
        *FLAGS,
    ]
)
"""The fields that torchnav understands."""
_VARIANTS = frozenset(("function", "method"))


@dataclass(frozen=True, slots=True)
class Accepted:
    """What one version of torchgen accepts; None if unknown."""

    fields: Collection[str] = _FIELDS
    """Fields of an entry of native_functions.yaml."""
    dispatch_keys: Collection[str] | None = None
    """Keys under ``dispatch:``."""
    autograd_keys: Collection[str] | None = None
    """Keys under ``dispatch:`` in derivatives.yaml."""
    ufunc_keys: Collection[str] | None = None
    device_checks: Collection[str] | None = None
    tags: Collection[str] | None = None

    @classmethod
    def of(
        cls, names: Mapping[str, tuple[str, ...]], fields: Collection[str], tags: Collection[str]
    ) -> Accepted:
        """From torchgen's own lists, named as in torchgen/model.py, and tags.yaml."""
        keys = names.get("DispatchKey", ())
        autograd = [key for key in keys if key.startswith("Autograd")]
        return cls(
            fields=fields or _FIELDS,
            dispatch_keys=names.get("dispatch_keys"),
            autograd_keys=("Default", *autograd) if autograd else None,
            ufunc_keys=names.get("UfuncKey"),
            device_checks=names.get("DeviceCheckType"),
            tags=tags or None,
        )

    def refused(self, function: NativeFunction) -> Iterator[Problem]:
        """What torchgen refuses in an entry or torchnav does not understand."""
        lines = function.field_lines
        path, line = function.location.path, function.location.line
        for name in lines:
            if name not in self.fields:
                yield Problem(path, lines[name], f"torchgen has no field {name!r}")
            elif name not in _FIELDS:
                yield Problem(path, lines[name], f"the field {name!r} is not known to torchnav")
        for kernel in function.dispatch or ():
            yield from _refused("dispatch key", [kernel.key], self.dispatch_keys, path, kernel.line)
        check = [text for name, text in function.flags.items() if name == "device_check"]
        for field, what, used, accepted in (
            ("variants", "variant", function.variants, _VARIANTS),
            ("tags", "tag", function.tags, self.tags),
            ("ufunc_inner_loop", "key of inner loops", function.ufunc_inner_loop, self.ufunc_keys),
            ("device_check", "device check", check, self.device_checks),
        ):
            yield from _refused(what, used, accepted, path, lines.get(field, line))


def _refused(
    what: str, used: Iterable[str], accepted: Collection[str] | None, path: str, line: int
) -> Iterator[Problem]:
    for name in used:
        if accepted is not None and name not in accepted:
            yield Problem(path, line, f"torchgen has no {what} {name!r}")


def read_tags(data: bytes, path: str) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """The tags of tags.yaml. A tag without a description counts but is a problem."""
    entries, problems = read_entries(data, path)
    tags: list[str] = []
    for entry in entries:
        texts = {key: field.value.text for key, field in entry.fields.items()}
        if tag := texts.get("tag"):
            tags.append(tag)
        if not tag or texts.get("desc") == "":
            problems.append(Problem(path, entry.line, "an entry without tag or description"))
    return tuple(tags), tuple(problems)
