"""What a version's own torchgen reads from its YAML files, as JSON. Run as a program, with the
folder that holds that torchgen on PYTHONPATH:

    python torchgen_reading.py native_functions.yaml tags.yaml derivatives.yaml
"""

import json
import sys
from typing import Any

import yaml
from torchgen.gen import parse_native_yaml

KEPT = {"nondeterministic_seeded", "view_copy"}
FIELDS = (
    "structured",
    "structured_delegate",
    "structured_inherits",
    "python_module",
    "device_check",
    "device_guard",
    "manual_kernel_registration",
    "manual_cpp_binding",
)


def written_tags(native: str) -> dict[str, list[str]]:
    """The tags that the file states: torchgen adds more to all operators, by rule."""
    with open(native) as file:
        entries = yaml.safe_load(file)
    found = {}
    for entry in entries:
        tags = entry.get("tags", [])
        listed = tags if isinstance(tags, list) else tags.split(",")
        found[entry["func"].partition("(")[0]] = sorted(tag.strip() for tag in listed)
    return found


def operators(native: str, tags: str) -> dict[str, Any]:
    parsed = parse_native_yaml(native, tags)
    written = written_tags(native)
    dispatch: dict[str, dict[str, str]] = {}
    for key, index in parsed.backend_indices.items():
        for name, kernel in index.index.items():
            dispatch.setdefault(str(name), {})[str(key)] = kernel.kernel
    return {
        str(f.func.name): {
            "schema": str(f.func),
            "dispatch": dispatch.get(str(f.func.name), {}),
            "tags": written.get(str(f.func.name), sorted(KEPT & set(f.tags))),
            "fields": {"origin": "generated" in f.tags}
            if "generated" in f.tags
            else {
                **{name: str(getattr(f, name)) for name in FIELDS},
                "variants": sorted(v.name for v in f.variants),
                "autogen": sorted(map(str, f.autogen)),
                "ufunc_inner_loop": sorted(
                    f"{k}: {v.name} {sorted(map(str, v.supported_dtypes))}"
                    for k, v in f.ufunc_inner_loop.items()
                ),
                "origin": "generated" in f.tags,
            },
        }
        for f in parsed.native_functions
    }


def formulas(path: str) -> dict[str, dict[str, str]]:
    """The entries as YAML: torchgen's own reading ends in C++ expressions of one version."""
    with open(path) as file:
        entries = yaml.safe_load(file)
    found = {}
    for entry in entries:
        texts = {k: v for k, v in entry.items() if k not in ("name", "dispatch")}
        for key, inner in entry.get("dispatch", {}).items():
            prefix = "" if key == "Default" else f"{key} "
            texts.update({f"{prefix}{name}": text for name, text in inner.items()})
        found[entry["name"].partition("(")[0]] = {
            k: " ".join(str(v).split()) for k, v in texts.items()
        }
    return found


if __name__ == "__main__":
    native, tags, derivatives = sys.argv[1:4]
    json.dump({"operators": operators(native, tags), "formulas": formulas(derivatives)}, sys.stdout)
