"""Why a hop is where it is: rule, confidence, evidence, note."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from indexes.model.vocabulary import Hop, Unresolved
from navigator.text.answers import choice_note, dtype_notes
from navigator.tui.chain.chain_groups import Step
from navigator.tui.text import one_line, place

_CONFIDENCE = {
    "exact": "exact: the source says so",
    "by rule": "inferred",
    "ambiguous": "ambiguous: one of several",
}
_STYLES = {"exact": "$text-success", "by rule": "$text-primary", "ambiguous": "$text-warning"}


class StepDetail(Widget):
    """What is known of the step under the cursor of a chain."""

    DEFAULT_CSS: ClassVar[str] = """
    StepDetail {
        height: auto;
        max-height: 9;
        padding: 0 1;
        border-top: solid $panel;
        &:ansi { border-top: solid ansi_bright_black; }
    }
    """

    _step: Step | None = None

    def show(self, step: Step | None) -> None:
        """Show one step; nothing for a heading."""
        self._step = step
        self.refresh(layout=True)

    def render(self) -> Content:
        if isinstance(self._step, Hop):
            return Content("\n").join(self._hop_lines(self._step))
        if self._step is not None:
            return Content("\n").join(_unresolved_lines(self._step))
        return Content("")

    def _hop_lines(self, hop: Hop) -> list[Content]:
        width = max(self.size.width, 20)
        style = _STYLES[hop.confidence]
        rule = (f" · {one_line(hop.rule)}", "")
        lines = [Content.assemble((_CONFIDENCE[hop.confidence], style), rule)]
        if hop.note:
            lines.append(Content(one_line(hop.note)))
        if hop.choices:
            lines.append(Content(one_line(choice_note(hop.choices))))
        lines.extend(Content(one_line(note)) for note in dtype_notes(hop.dtypes))
        if hop.guard:
            lines.append(Content.assemble(("under ", "dim"), f"#if {one_line(hop.guard)}"))
        if hop.location:
            lines.append(Content.styled(place(hop.location, width), "dim"))
        lines += _evidence(hop, width)
        return [*lines, Content.assemble((one_line(hop.symbol), "bold"), *_keys(hop))]


def _keys(hop: Hop) -> list[tuple[str, str]]:
    words = [hop.role.replace("_", " "), *(hop.keys or ([hop.device] if hop.device else []))]
    return [("  " + ", ".join(words), "dim")]


def _evidence(hop: Hop, width: int) -> list[Content]:
    """The lines that prove it, other than its own."""
    others = [where for where in hop.evidence if where != hop.location][:4]
    return [Content.assemble(("seen at ", "dim"), place(where, width - 8)) for where in others]


def _unresolved_lines(step: Unresolved) -> list[Content]:
    words = ", ".join([step.role.replace("_", " "), *step.keys])
    return [
        Content.assemble(("not resolved", "$text-error"), f" · {one_line(step.reason)}"),
        Content.assemble((one_line(step.symbol), "bold"), (f"  {words}", "dim")),
    ]
