"""The plan of a change as a checklist, beside the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType

from indexes.model.vocabulary import Location
from indexes.queries.changes.model import ChangeStep, Neighbour, Plan
from indexes.queries.gaps.kinds import KINDS
from navigator.progress import Progress
from navigator.text.changes import plan_markdown
from navigator.text.contribution import change_text, place_rows, visible
from navigator.tui.background import complain, say
from navigator.tui.context import Context
from navigator.tui.lists.checklist import CommandsPane, copy_checklist
from navigator.tui.place_rows import PlaceRow
from navigator.tui.shell import run_shown
from navigator.tui.widgets.place_list import PlaceList

_LINES = 9
"""Lines of code in the comment below the list."""


class PlanPane(CommandsPane):
    """Steps in order: Space ticks one, ``e`` edits it, ``!`` runs its command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,x", "tick", "Tick", id="plan.tick", priority=True),
        Binding("exclamation_mark", "run", "Run", key_display="!", id="plan.run"),
        Binding("m", "copy_markdown", "Copy checklist", id="plan.markdown"),
    ]

    _plan: Plan | None = None
    _progress: Progress | None = None

    def __init__(self, context: Context, change: str) -> None:
        super().__init__(context, f"plan: {change}")
        self._change = change
        self._keys: dict[PlaceRow, str] = {}

    def begin(self) -> None:
        index, session = self.context.index, self.context.session
        if index is None or session is None or session.changes is None:
            self.wait("no plan", self.begin)
            return
        self._progress = Progress.load(index.cache, index.source.key, self._change)
        changes, change = session.changes, self._change
        self.show_message("looking for the nearest operator that has it …")
        self.ask(lambda: changes.of_id(change), self._show)

    def _show(self, plan: Plan | None) -> None:
        if plan is None:
            self.show_message(f"{self._change} is not a gap of this tree")
            return
        self._plan = plan
        self.places.message = ""
        self._draw()

    def _draw(self) -> None:
        """Show the rows with their progress, keeping the cursor."""
        at = self.places.cursor if self._keys else None
        self.show_rows(list(self._plan_rows(self._plan)) if self._plan else [])
        if at is not None:
            self.places.cursor = at

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the source and in an input, a space is a space."""
        return action != "tick" or isinstance(self.screen.focused, PlaceList)

    # --------------------------------------------------------------------------- rows

    def _plan_rows(self, plan: Plan) -> Iterator[PlaceRow]:
        self._keys = {}
        yield PlaceRow(plan.change.title)
        if plan.there:
            yield PlaceRow("it exists already", plan.there)
        steps = [self._step(number, one) for number, one in enumerate(plan.steps, 1)]
        done = sum(key in self._ticked for key in self._keys.values())
        yield PlaceRow(f"Steps: {done} of {len(steps)} done")
        yield from steps
        yield PlaceRow("Neighbours" if plan.neighbours else "No known neighbour")
        yield from map(_neighbour, plan.neighbours)
        if plan.related:
            yield PlaceRow("Related places, which may have to follow")
        yield from (
            PlaceRow(r.text, r.location, comment=r.detail) for r in place_rows(plan.related)
        )
        yield from self._tests(plan)
        yield from self._others(plan)

    @property
    def _ticked(self) -> set[str]:
        return self._progress.ticked if self._progress else set()

    def _step(self, number: int, step: ChangeStep) -> PlaceRow:
        key = f"{step.action} {step.location.path}: {step.what}"
        box = "[x]" if key in self._ticked else "[ ]"
        name = f"{box} {number}. {step.action}: {step.what}"
        lines = [step.what, f"because {step.why}" if step.why else ""]
        lines += [f"like {step.like}" if step.like else "", *_shown(step.code)]
        comment = "\n".join(filter(None, lines))
        row = PlaceRow(name, _at(step.location), comment=comment, command=step.command)
        self._keys[row] = key
        return row

    def _tests(self, plan: Plan) -> Iterator[PlaceRow]:
        for tier, title in (("now", "Tests to run now"), ("ci", "Tests that CI runs")):
            runs = [run for run in plan.tests if run.tier == tier]
            if runs:
                yield PlaceRow(title)
            yield from (self._command(run.command, Location(run.path, 1), run.why) for run in runs)

    def _others(self, plan: Plan) -> Iterator[PlaceRow]:
        if plan.commands:
            yield PlaceRow("Commands")
        for one in plan.commands:
            yield self._command(one.text, one.location, f"{one.purpose} {one.note}".strip())
        if plan.reviewers:
            yield PlaceRow("Reviewers")
        for review in plan.reviewers:
            who = " ".join(review.who)
            text = f"{review.meaning}; {review.rule} covers {review.path}"
            yield PlaceRow(f"{review.kind}: {who}", _at(review.location), comment=text)
        yield from (PlaceRow(f"unknown: {one}") for one in plan.missing)

    def _command(self, command: str, where: Location, why: str) -> PlaceRow:
        status = self._progress.ended.get(command) if self._progress else None
        ended = "" if status is None else "passed " if status == 0 else f"status {status} "
        comment = f"$ {command}\n{why}"
        return PlaceRow(f"{ended}$ {command}", _at(where), comment=comment, command=command)

    # ------------------------------------------------------------------------ actions

    def action_tick(self) -> None:
        """Tick or untick the selected step."""
        row, progress = self.places.current, self._progress
        key = self._keys.get(row) if row else None
        if key is None or progress is None:
            say(self, "only steps can be ticked")
            return
        try:
            progress.tick([key])
        except OSError as error:
            complain(self, f"cannot save your progress: {error}")
        self._draw()

    def action_run(self) -> None:
        """Run the selected row's command, after showing it."""
        row, index, progress = self.places.current, self.context.index, self._progress
        command = row.command if row else ""
        if not command or index is None or progress is None:
            say(self, "this row has no command")
            return
        status = run_shown(self, command, index.source.root)
        if status is not None:
            try:
                progress.end(command, status)
            except OSError as error:
                complain(self, f"cannot save the result: {error}")
            self._draw()

    def action_copy_markdown(self) -> None:
        """Copy the whole plan as Markdown."""
        copy_checklist(self, plan_markdown(self._plan) if self._plan else ())


def is_change(subject: str) -> bool:
    """Whether a subject is the id of a gap, not a name or a path."""
    kind, slash, _ = subject.partition("/")
    return bool(slash) and any(kind == one.name for one in KINDS)


def _neighbour(one: Neighbour) -> PlaceRow:
    arrivals = [f"added by {change_text(arrival.commit)}" for arrival in one.arrivals]
    arrivals += [f"  {file.path}" for arrival in one.arrivals for file in arrival.files[:_LINES]]
    lines = [one.why, *arrivals, one.history_note, *_shown(one.code)]
    return PlaceRow(one.name, _at(one.location), comment="\n".join(filter(None, lines)))


def _shown(code: Iterable[str]) -> list[str]:
    """Lines of code for the comment; the copied checklist has all of them."""
    lines = [visible(line) for line in code]
    more = [f"… {len(lines) - _LINES} more lines: m copies all"] if len(lines) > _LINES else []
    return [*lines[:_LINES], *more]


def _at(where: Location) -> Location:
    return where if where.line else Location(where.path, 1)
