"""Names that a profiler cut off, ``conv_depthwi...``: what begins so."""

from __future__ import annotations

from dataclasses import replace

from indexes.linking.device_names.demangle import without_figures
from indexes.linking.device_names.matching import is_unit
from indexes.linking.visible import plain_scope
from indexes.model.answers import DeviceKernelAnswer
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition
from indexes.store.lookup import Lookup

_BACKWARDS = regex(r"(?:…|\.\.\.)(\w{4,})([\w:]*)")
"""The end of a name, read backwards, which takes time with its length only."""
_MOST = 12


def beginning_so(name: str, facts: Lookup) -> tuple[Definition, ...]:
    """The definitions whose names begin as one that ends in dots, in the written scope."""
    text = without_figures(name).strip().replace("(anonymous namespace)::", "")
    found = _BACKWARDS.match(text[::-1])
    if found is None:
        return ()
    begin, scope = found[1][::-1], plain_scope(found[2][::-1].strip(":"))
    sql = "SELECT DISTINCT name FROM definitions WHERE name>=? AND name<? LIMIT 40"
    names = facts.store.column(sql, (begin, f"{begin}\x7f"))
    known = (one.definition for name in names for one in facts.named(name))
    end = f"::{scope}" if scope else ""
    return tuple(one for one in known if f"::{plain_scope(one.scope)}".endswith(end))


def with_beginning(answer: DeviceKernelAnswer, facts: Lookup) -> DeviceKernelAnswer:
    """An answer for a kernel's name that is cut off, with the kernels that begin so, or with the
    functions and functors on the device if the name was cut off behind the kernel's."""
    if answer.source or answer.library:
        return answer
    begun = beginning_so(answer.name, facts)
    if answer.launcher:
        fitting = [one for one in begun if not one.cuda_global and is_unit(one.location.path)]
    else:
        fitting = [one for one in begun if one.cuda_global]
    if not fitting:
        return answer
    rule = f"names that begin as the cut one does: {len(fitting)}"
    rule = f"{answer.rule}; {rule}" if answer.launcher else rule
    if len({one.qualified for one in fitting}) == 1:
        return replace(answer, source=fitting[0], confidence="by rule", rule=rule, reason="")
    found = tuple(fitting[:_MOST])
    return replace(answer, confidence="ambiguous", rule=rule, reason="", candidates=found)
