"""Sequence diagrams as SVG: who tells whom what, from top to bottom, and where that is in the code."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WIDE = 920
_TOP, _LINE, _GAP, _EDGE = 66, 16, 16, 14
_CHARACTER = 6.9  # pixels that one takes in 13 px, at most

_STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #2b2f3a } .who { font-weight: 600; text-anchor: middle }
    .middle { text-anchor: middle } .where { font-size: 11px; fill: #6b7288 }
    rect { fill: #f3f5fc; stroke: #4051b5; stroke-width: 1.5 } .note { fill: #fdf6e3; stroke: #b58900; stroke-width: 1 }
    .frame { fill: none; stroke: #9aa2ba; stroke-dasharray: 5 4 } .life { stroke: #b9c0d6; stroke-width: 1.2 }
    path { fill: none; stroke: #4a5168; stroke-width: 1.4 } marker path { fill: #4a5168; stroke: none }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e8f0 } .where { fill: #9aa2ba }
      rect { fill: #262a3a; stroke: #8c9eff } .note { fill: #33301f; stroke: #b58900 }
      .frame { fill: none; stroke: #6b7288 } .life { stroke: #4a5168 } path { stroke: #b9c0d6 }
      marker path { fill: #b9c0d6 }
    }"""


@dataclass(frozen=True, slots=True)
class Says:
    """One tells another (or does itself) something. `where` is the file that does it; an answer is dashed."""

    who: str
    whom: str
    what: str
    where: str = ""
    answer: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """What is so at this moment, over these."""

    over: tuple[str, ...]
    what: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Steps that happen under a condition."""

    when: str
    steps: tuple[Says | Note, ...]


Step = Says | Note | Frame


@dataclass(frozen=True, slots=True)
class Flow:
    """A diagram: its title, who takes part from left to right, and what happens."""

    title: str
    who: tuple[str, ...]
    steps: tuple[Step, ...]

    def says(self) -> Iterator[Says]:
        """Every message, those in frames, too."""
        for step in self.steps:
            inner = step.steps if isinstance(step, Frame) else (step,)
            yield from (one for one in inner if isinstance(one, Says))


def drawing(flow: Flow) -> str:
    """The diagram as SVG. ValueError where somebody speaks who takes no part."""
    return _Drawing(flow).svg()


class _Drawing:
    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._step = (WIDE - 2 * _EDGE) / len(flow.who)
        self._y = float(_TOP)
        self._parts: list[str] = []

    def svg(self) -> str:
        for step in self._flow.steps:
            self._add(step)
        high = round(self._y + _GAP)
        lives = "".join(
            f'  <path class="life" d="M{self._x(who):.0f} 46 V{high - 6}"/>\n' for who in self._flow.who
        )
        boxes = "".join(
            f'  <rect x="{self._x(who) - self._step / 2 + 8:.0f}" y="10" width="{self._step - 16:.0f}" height="36" rx="8"/>'
            f'<text class="who" x="{self._x(who):.0f}" y="33">{html.escape(who)}</text>\n'
            for who in self._flow.who
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" role="img" aria-labelledby="t">\n'
            f'  <title id="t">{html.escape(self._flow.title)}</title>\n  <style>{_STYLE}\n  </style>\n'
            '  <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0 L8 4 L0 8 z"/></marker>\n' + lives + boxes + "".join(self._parts) + "</svg>\n"
        )

    def _add(self, step: Step) -> None:
        match step:
            case Says():
                self._says(step)
            case Note():
                self._note(step)
            case Frame():
                self._frame(step)

    def _says(self, step: Says) -> None:
        start, end = self._x(step.who), self._x(step.whom)
        dashed = ' stroke-dasharray="5 4"' if step.answer else ""
        if start == end:
            self._text(step.what, start + 30, self._right(start), "", step.where)
            path = f"M{start:.0f} {self._y - 22:.0f} h20 v16 h-14"
        else:
            self._text(step.what, (start + end) / 2, abs(end - start) - 16, "middle", step.where)
            self._y += 7
            path = f"M{start:.0f} {self._y:.0f} H{end + (-6 if end > start else 6):.0f}"
        self._parts.append(f'  <path{dashed} d="{path}" marker-end="url(#head)"/>\n')
        self._y += _GAP

    def _note(self, step: Note) -> None:
        left = self._x(step.over[0]) - self._step / 2 + 14
        wide = self._x(step.over[-1]) + self._step / 2 - 14 - left
        top, place = self._y - 2, len(self._parts)
        self._y += 4
        self._text(step.what, left + wide / 2, wide - 16, "middle")
        self._y += 8
        box = f'  <rect class="note" x="{left:.0f}" y="{top:.0f}" width="{wide:.0f}" height="{self._y - top:.0f}" rx="4"/>\n'
        self._parts.insert(place, box)
        self._y += _GAP

    def _frame(self, step: Frame) -> None:
        top = self._y - 4
        self._y += 2
        self._text(step.when, _EDGE, WIDE - 4 * _EDGE, "where")
        self._y += _GAP - 4
        for one in step.steps:
            self._add(one)
        high = self._y - top - 4
        self._parts.append(
            f'  <rect class="frame" x="4" y="{top:.0f}" width="{WIDE - 8}" height="{high:.0f}" rx="6"/>\n'
        )
        self._y += _GAP - 4

    def _text(self, what: str, x: float, wide: float, kind: str, where: str = "") -> None:
        """Lines one below another; the last one's foot is where we are then."""
        for line in textwrap.wrap(what, max(12, int(wide / _CHARACTER))):
            self._y += _LINE
            self._parts.append(_line(line, x, self._y - 3, kind))
        if where:
            self._y += _LINE - 2
            self._parts.append(_line(where, x, self._y - 3, f"{kind} where".strip()))

    def _right(self, start: float) -> float:
        """How much room there is beside a lifeline for what one does oneself."""
        return max(self._step - 36, min(2 * self._step, WIDE - start) - 44)

    def _x(self, who: str) -> float:
        return _EDGE + self._step * (_index(self._flow.who, who) + 0.5)


def _index(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise ValueError(f"{name!r} takes no part; there are {', '.join(names)}")
    return names.index(name)


def _line(text: str, x: float, y: float, kind: str) -> str:
    look = f' class="{kind}"' if kind else ""
    return f'  <text{look} x="{x:.0f}" y="{y:.0f}">{html.escape(text, quote=False)}</text>\n'
