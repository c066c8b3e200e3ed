"""The drawing of slots that follow their work: the tuner itself on a machine that is made up."""

from __future__ import annotations

from postmill.domain.slot_tuner import SlotTuner
from tests.support.slot_model import Point, course

LOOKS = 900
FLOOR, CEILING, BEARS = 5, 40, 26.0
FLOW, NEIGHBOR, QUIET = 60, 420, 660
_LEFT, _TOP, _WIDTH, _HEIGHT = 50, 40, 840, 280

_STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #4a5168 } .slots { fill: none; stroke: #4051b5; stroke-width: 2.2 }
    .axis { stroke: #6b7288; fill: none } .bears { stroke: #b3541e; stroke-dasharray: 6 5; fill: none }
    .hot { fill: #b3541e; opacity: 0.18 } .flow { fill: #4051b5; opacity: 0.07 }
    @media (prefers-color-scheme: dark) {
      text { fill: #b9c0d6 } .slots { stroke: #8c9eff } .axis { stroke: #9aa2ba } .bears { stroke: #ffab78 }
      .hot { fill: #ffab78 } .flow { fill: #8c9eff }
    }"""


def points() -> list[Point]:
    """A flow that is more than the machine bears, a neighbor that needs it for half a minute, then little work."""
    return list(
        course(
            SlotTuner(FLOOR, CEILING),
            LOOKS,
            arriving=lambda look: 7.0 if FLOW <= look < QUIET else 1.0,
            bears=lambda _: BEARS / 2,
            cpu=lambda look: 0.9 if NEIGHBOR <= look < NEIGHBOR + 30 else 0.3,
        )
    )


def drawing() -> str:
    """The drawing as SVG."""
    line = " ".join(f"{_x(look):.1f},{_y(point.slots):.1f}" for look, point in enumerate(points()))
    marks = [(value, f"{value}") for value in (0, 10, 20, 30, 40)]
    parts = [
        f'  <rect class="flow" x="{_x(FLOW):.1f}" y="{_TOP}" width="{_x(QUIET) - _x(FLOW):.1f}" height="{_HEIGHT}"/>\n',
        f'  <rect class="hot" x="{_x(NEIGHBOR):.1f}" y="{_TOP}" width="{_x(30) - _x(0):.1f}" height="{_HEIGHT}"/>\n',
        f'  <path class="axis" d="M{_LEFT} {_TOP} V{_TOP + _HEIGHT} H{_LEFT + _WIDTH}"/>\n',
        f'  <path class="bears" d="M{_LEFT} {_y(BEARS):.1f} H{_LEFT + _WIDTH}"/>\n',
        f'  <polyline class="slots" points="{line}"/>\n',
        _text(_LEFT + _WIDTH - 4, _y(BEARS) - 6, "here jobs take twice as long", "end"),
        _text(_x(FLOW) + 6, _TOP + 16, "more work than the machine can do"),
        _text(_x(NEIGHBOR) - 4, _TOP - 8, "the processor is needed elsewhere"),
        _text(_x(QUIET) + 6, _TOP + 16, "little work"),
        *(_text(_LEFT - 8, _y(value) + 4, text, "end") for value, text in marks),
        *(
            _text(_x(60 * minute), _TOP + _HEIGHT + 18, f"{minute} min", "middle")
            for minute in (0, 5, 10, 15)
        ),
        _text(_LEFT, _TOP - 8, "slots"),
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 350" role="img" aria-labelledby="t">\n'
        f'  <title id="t">Slots that follow their work, from {FLOOR} to {CEILING}</title>\n'
        f"  <style>{_STYLE}\n  </style>\n" + "".join(parts) + "</svg>\n"
    )


def _x(look: float) -> float:
    return _LEFT + _WIDTH * look / LOOKS


def _y(slots: float) -> float:
    return _TOP + _HEIGHT * (1 - slots / (CEILING + 4))


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'  <text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>\n'
