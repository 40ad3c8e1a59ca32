"""Details of a hop: rule, confidence, evidence, note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from indexes.model.answers import Hop, Route, Unresolved
from navigator.text.chains import choice_note, dtype_notes, folded_words
from navigator.tui.chain.chain_groups import Step, is_pending
from navigator.tui.chain.route_rows import condition
from navigator.tui.text import one_line, place, short_symbol, shorten

_CONFIDENCE = {
    "exact": "exact: the source says so",
    "by rule": "inferred",
    "ambiguous": "ambiguous: one of several",
}
_STYLES = {"exact": "$text-success", "by rule": "$text-primary", "ambiguous": "$text-warning"}


class StepDetail(Widget):
    """Details of the step under the cursor of a chain."""

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
    _lines: Sequence[str] = ()
    _routes: Sequence[Route] = ()
    _ran: Route | None = None

    def show(self, step: Step | None) -> None:
        """Show a step; nothing for a heading."""
        self._step, self._lines, self._routes = step, (), ()
        self.refresh(layout=True)

    def show_line(
        self, lines: Sequence[str], routes: Sequence[Route], ran: Route | None = None
    ) -> None:
        """Show the details of a card line: a device's routes, or these lines."""
        self._step, self._lines, self._routes, self._ran = None, lines, routes, ran
        self.refresh(layout=True)

    def render(self) -> Content:
        if isinstance(self._step, Hop):
            return Content("\n").join(self._hop_lines(self._step))
        if self._step is not None:
            return Content("\n").join(_unresolved_lines(self._step))
        width = max(self.size.width, 20)
        lines = [Content(one_line(line)) for line in self._lines]
        marks = ["▶" if one is self._ran else str(at) for at, one in enumerate(self._routes, 1)]
        routes = [_route_line(*one, width) for one in zip(marks, self._routes, strict=True)]
        return Content("\n").join(routes or lines)

    def _hop_lines(self, hop: Hop) -> list[Content]:
        width = max(self.size.width, 20)
        style = _STYLES[hop.confidence]
        rule = (f" · {one_line(hop.rule)}", "")
        lines = [
            Content.assemble((one_line(hop.symbol), "bold"), *_keys(hop)),
            Content.assemble((_CONFIDENCE[hop.confidence], style), rule),
        ]
        if hop.note:
            lines.append(Content(one_line(hop.note)))
        if hop.choices:
            lines.append(Content(one_line(choice_note(hop.choices))))
        lines.extend(Content(one_line(note)) for note in dtype_notes(hop.dtypes))
        if hop.guard:
            lines.append(Content.assemble(("under ", "dim"), f"#if {one_line(hop.guard)}"))
        if hop.folded:
            lines.append(Content.styled(f"not listed below: {folded_words(hop)}", "dim"))
        if hop.location:
            lines.append(Content.styled(place(hop.location, width), "dim"))
        return lines + _evidence(hop, width)


def _route_line(mark: str, route: Route, width: int) -> Content:
    """A route on one line: function, place, conditions."""
    name, where = short_symbol(route.symbol), place(route.location, width // 3)
    what = route.note if route.kind == "none" else route.kind
    rest = shorten(one_line(f"{what}{condition(route)}"), width - len(name) - len(where) - 6)
    return Content.assemble((f"{mark} ", "dim"), (name, "bold"), f"  {where}  ", (rest, "dim"))


def _keys(hop: Hop) -> list[tuple[str, str]]:
    words = [hop.role.replace("_", " "), *(hop.keys or ([hop.device] if hop.device else []))]
    return [("  " + ", ".join(words), "dim")]


def _evidence(hop: Hop, width: int) -> list[Content]:
    """The lines that support it, without its own."""
    others = [where for where in hop.evidence if where != hop.location][:4]
    return [Content.assemble(("seen at ", "dim"), place(where, width - 8)) for where in others]


def _unresolved_lines(step: Unresolved) -> list[Content]:
    words = ", ".join([step.role.replace("_", " "), *step.keys])
    state = "not read yet" if is_pending(step) else Content.styled("not resolved", "$text-error")
    return [
        Content.assemble(state, f" · {one_line(step.reason)}"),
        Content.assemble((one_line(step.symbol), "bold"), (f"  {words}", "dim")),
    ]
