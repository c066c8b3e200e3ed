"""The life cycle: its drawing and its table, from the one table of transitions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from postmill.domain.lifecycle import ENTRY, TERMINAL, TRANSITIONS, State
from tests.support.reference.markdown import code
from tests.support.reference.markdown import table as rows

Edge = tuple[State, State]

_WIDE, _HIGH = 116, 40
_PLACES: Mapping[State, tuple[int, int]] = MappingProxyType(
    {
        State.SCHEDULED: (80, 250),
        State.BLOCKED: (320, 70),
        State.QUEUED: (320, 250),
        State.RUNNING: (550, 250),
        State.SUCCEEDED: (820, 130),
        State.FAILED: (820, 250),
        State.CANCELED: (550, 70),
        State.DEAD_LETTER: (820, 390),
    }
)
"""Centers of the boxes."""

_PATHS: Mapping[Edge, tuple[str, int, int]] = MappingProxyType(
    {
        (State.SCHEDULED, State.QUEUED): ("M138 250 H256", 198, 238),
        (State.BLOCKED, State.QUEUED): ("M320 90 V224", 282, 162),
        (State.QUEUED, State.RUNNING): ("M378 240 H486", 433, 230),
        (State.RUNNING, State.QUEUED): ("M492 260 H384", 433, 278),
        (State.RUNNING, State.SCHEDULED): ("M530 270 V350 H80 V276", 315, 340),
        (State.RUNNING, State.SUCCEEDED): ("M608 240 L756 142", 656, 184),
        (State.RUNNING, State.FAILED): ("M608 250 H756", 684, 242),
        (State.RUNNING, State.CANCELED): ("M550 230 V96", 586, 162),
        (State.RUNNING, State.DEAD_LETTER): ("M580 270 V390 H756", 668, 380),
        (State.SCHEDULED, State.CANCELED): ("M80 230 V26 H550 V44", 120, 162),
        (State.QUEUED, State.CANCELED): ("M355 230 L510 96", 454, 176),
        (State.BLOCKED, State.CANCELED): ("M378 70 H486", 433, 60),
        (State.DEAD_LETTER, State.FAILED): ("M820 370 V276", 866, 328),
    }
)
"""Each arrow's path, and the middle of its label."""

_STYLE = """
    text { font: 15px system-ui, sans-serif; text-anchor: middle; fill: #2b2f3a }
    .state { font-weight: 600 } .verb { font-size: 13px; fill: #4a5168 } .note { font-size: 12px; fill: #6b7288 }
    rect { fill: #f3f5fc; stroke: #4051b5; stroke-width: 1.5 } .end { fill: #eef1f0; stroke: #7a8580 }
    path { fill: none; stroke: #6b7288; stroke-width: 1.4 } marker path { fill: #6b7288; stroke: none }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e8f0 } .verb { fill: #b9c0d6 } .note { fill: #9aa2ba }
      rect { fill: #262a3a; stroke: #8c9eff } .end { fill: #2b2f31; stroke: #9aa5a0 }
      path { stroke: #9aa2ba } marker path { fill: #9aa2ba }
    }"""


def edges() -> dict[Edge, list[str]]:
    """From and to with the verbs that lead there, without what leaves a job where it is."""
    made: dict[Edge, list[str]] = {}
    for (verb, start), end in TRANSITIONS.items():
        if end is not None and end is not start:
            made.setdefault((start, end), []).append(verb)
    return made


def drawing() -> str:
    """The drawing as SVG. KeyError where a transition has no path yet."""
    parts = [_arrow(edge, verbs) for edge, verbs in edges().items()] + [_box(state) for state in State]
    parts += [_entry(state) for state in sorted(ENTRY)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 440" role="img" aria-labelledby="t">\n'
        f'  <title id="t">The life of a job</title>\n  <style>{_STYLE}\n  </style>\n'
        '  <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z"/></marker>\n' + "".join(parts) + "</svg>\n"
    )


def table() -> str:
    """Every transition."""
    lines = [
        (code(verb), code(start), code(end) if end is not None else "gone")
        for (verb, start), end in TRANSITIONS.items()
    ]
    entry = " or ".join(code(state) for state in sorted(ENTRY))
    return rows(("verb", "from", "to"), [(code("enqueue"), "", entry), *lines])


def _box(state: State) -> str:
    x, y = _PLACES[state]
    kind = ' class="end"' if state in TERMINAL else ""
    return (
        f'  <rect{kind} x="{x - _WIDE // 2}" y="{y - _HIGH // 2}" width="{_WIDE}" height="{_HIGH}" rx="8"/>'
        f'<text class="state" x="{x}" y="{y + 5}">{state}</text>\n'
    )


def _arrow(edge: Edge, verbs: list[str]) -> str:
    path, x, y = _PATHS[edge]
    return (
        f'  <path d="{path}" marker-end="url(#head)"/>'
        f'<text class="verb" x="{x}" y="{y}">{", ".join(dict.fromkeys(verbs))}</text>\n'
    )


def _entry(state: State) -> str:
    """The dot from which an enqueue leads into a state."""
    x, y = _PLACES[state]
    left, top = x - _WIDE // 2, y + _HIGH // 2
    return (
        f'  <path d="M{left + 14} {top + 24} V{top + 6}" marker-end="url(#head)"/>'
        f'<text class="note" x="{left + 14}" y="{top + 38}">enqueue</text>\n'
    )
