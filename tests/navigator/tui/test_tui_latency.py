"""What stands between a key and the screen, as counts: layouts, threads, chains worked out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Input

from indexes.model.errors import NotFound
from indexes.model.vocabulary import Chain
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.tui.processes.chain_process import ChainProcess
from navigator.tui.processes.chains import Chains
from navigator.tui.widgets.kept import Kept
from navigator.tui.widgets.written import Written
from tests.navigator.tui.conftest import PATIENCE, Person, Sit
from tests.tree_marks import TREE


class _Made:
    """Works out chains here, and remembers which."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.ops: list[str] = []

    def __call__(self, op: str) -> Chain:
        self.ops.append(op)
        return self._index.chain(op)


def _wait_for(chains: Chains, op: str) -> Chain:
    end = monotonic() + PATIENCE
    while (chain := chains.at_hand(op)) is None:
        assert monotonic() < end, f"no chain of {op}"
        sleep(0.01)
    return chain


@pytest.fixture
def cache(small_tree: tuple[str, ...]) -> Path:
    return Path(small_tree[3])


def test_chains_are_made_ahead_by_another_process(tree_index: Index, cache: Path) -> None:
    made = _Made(tree_index)
    chains = Chains(made, lambda: ChainProcess(Source.find(str(TREE)), cache))
    chains.ahead(["mul.Tensor", "add.Tensor"])
    assert _wait_for(chains, "add.Tensor") == tree_index.chain("add.Tensor")
    assert chains("mul.Tensor") == tree_index.chain("mul.Tensor")
    assert made.ops == []
    with pytest.raises(NotFound):
        chains("no_such_operator")
    chains.close()
    assert chains("relu") == tree_index.chain("relu")
    assert made.ops == ["no_such_operator", "relu"]


def test_chains_are_made_here_where_no_process_starts(tree_index: Index) -> None:
    def fails() -> ChainProcess:
        raise OSError("no more processes")

    made = _Made(tree_index)
    chains = Chains(made, fails)
    chains.ahead(["mul.Tensor"])
    assert chains("add.Tensor") is chains("add.Tensor") is chains.at_hand("add.Tensor")
    assert made.ops == ["add.Tensor"]
    chains.close()


def test_a_process_that_ended_answers_nothing(cache: Path) -> None:
    process = ChainProcess(Source.find(str(TREE)), cache)
    process.close()
    assert process.chain("relu") is None


async def test_a_letter_lays_out_nothing_and_asks_no_thread(sit: Sit) -> None:
    async with sit(160, 60) as person:
        await person.asks_for("mul.")
        await person.presses("escape", "slash")
        await person.pilot.pause(0.2)
        laid_out: list[object] = []
        screen = person.browser
        screen.screen_layout_refresh_signal.subscribe(screen, laid_out.append, immediate=True)
        operators, shown = screen.operators.list, screen.operators.list.row_count
        screen.operators.filter.value = f"mul.{(screen.op or '')[-3:]}"
        screen.on_input_changed(Input.Changed(screen.operators.filter, ""))
        assert 0 < operators.row_count < shown
        assert not any(worker.group == "filter" for worker in screen.workers)
        await person.pilot.pause()
        assert laid_out == []


async def _next_at_hand(person: Person) -> tuple[str, Chain]:
    """Goes to the list; the operator below the cursor, once its chain has been made ahead."""
    await person.asks_for("mul")
    screen, session = person.browser, person.browser.session
    assert session is not None
    screen.set_focus(screen.operators.list)
    following = screen.operators.list.around()[0]
    await person.until(lambda: session.chains.at_hand(following), following)
    chain = session.chains.at_hand(following)
    assert chain is not None
    return following, chain


async def test_the_next_operator_is_there_before_its_key(sit: Sit) -> None:
    async with sit(120, 40) as person:
        following, chain = await _next_at_hand(person)
        screen = person.browser
        screen.operators.list.action_move(1)
        screen.follow(following)
        assert screen.chain.hops.chain is chain
        assert screen.source.view.line == chain.hops[0].location.line  # type: ignore[union-attr]


class _Counts:
    """How often the screen was painted and laid out, and how many lines were drawn for that."""

    def __init__(self, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paints = self.layouts = 0
        self.lines: list[int] = []
        screen, view = person.browser, person.browser.source.view
        screen.screen_layout_refresh_signal.subscribe(screen, self._laid_out, immediate=True)
        monkeypatch.setattr(person.app, "post_display_hook", self._painted)
        self._draw = view.draw_line
        monkeypatch.setattr(view, "draw_line", self._drawn)

    def _painted(self) -> None:
        self.paints += 1

    def _drawn(self, y: int) -> list[Segment]:
        self.lines.append(y)
        return self._draw(y)

    def _laid_out(self, _screen: object) -> None:
        self.layouts += 1


async def test_a_step_draws_every_line_once(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor, its chain, reason and source together; laid out at most once."""
    async with sit(120, 40) as person:
        await _next_at_hand(person)
        screen = person.browser
        await person.pilot.pause(0.3)
        counts = _Counts(person, monkeypatch)
        await person.presses("down")
        await person.until(lambda: counts.lines, "the source of another operator")
        await person.pilot.pause(0.3)
        assert counts.layouts <= 1
        assert counts.paints <= 1 + counts.layouts
        assert sorted(counts.lines) == list(range(screen.source.view.size.height))


async def test_kept_lines_are_those_that_would_be_drawn(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("mul")
        await person.pilot.pause()
        changes: tuple[Callable[[], object], ...] = (
            lambda: setattr(person.app, "theme", "textual-light"),
            lambda: person.browser.set_focus(person.browser.source.view),
            lambda: person.browser.source.show_message("there is none"),
        )
        for change in changes:
            before = [widget.render_lines(_whole(widget)) for widget in person.app.query(Kept)]
            change()
            await person.pilot.pause(0.1)
            kept = [widget.render_lines(_whole(widget)) for widget in person.app.query(Kept)]
            assert kept != before
            assert kept == [widget.draw_lines(_whole(widget)) for widget in person.app.query(Kept)]


def _whole(widget: Kept) -> Region:
    return widget.outer_size.region


def _seen(lines: list[Strip]) -> list[list[tuple[object, ...]]]:
    """What a reader sees of lines, letter by letter, however they were put together."""
    return [
        [(letter, *_look(style)) for text, style, _ in line for letter in text] for line in lines
    ]


def _look(style: Style | None) -> tuple[object, ...]:
    assert style is not None
    marks = style.bold, style.dim, style.italic, style.underline, style.reverse
    return style.color, style.bgcolor, *map(bool, marks)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (30, 10)])
async def test_texts_look_as_if_textual_had_drawn_them(
    sit: Sit, theme: str, size: tuple[int, int]
) -> None:
    async with sit(*size) as person:
        person.app.theme = theme
        await person.asks_for("mul")
        await person.presses("escape")
        await person.pilot.pause()
        texts = [text for text in person.app.screen.query(Written) if text.size]
        assert texts
        for text in texts:
            drawn = text.draw_lines(_whole(text))
            assert _seen(drawn) == _seen(Kept.draw_lines(text, _whole(text)))
        screen = person.browser
        drawn = screen.draw_lines(_whole(screen))
        assert _seen(drawn) == _seen(Kept.draw_lines(screen, _whole(screen)))


async def test_the_file_that_enter_would_open_is_read_before(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("mul")
        session = person.browser.session
        assert session is not None
        await person.presses("colon")
        await person.types("FunctionsManual.cpp:3")
        path = "torch/csrc/autograd/FunctionsManual.cpp"
        await person.until(lambda: session.shelf.at_hand(path, 3), path)
        assert person.place() != f"{path}:3"
        await person.presses("enter")
        await person.is_at("FunctionsManual.cpp:3")
