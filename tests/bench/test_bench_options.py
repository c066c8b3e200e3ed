"""Cases and options by name; what is unknown or does not fit is refused before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from postmill.bench import CASES, BenchError, run
from postmill.bench.bare_lanes import BareLanes

NAMES = [
    "throughput",
    "latency",
    "enqueue",
    "pinned",
    "backlog",
    "scheduled",
    "history",
    "lanes",
    "limits",
    "wal",
    "soak",
    "schedules",
    "telemetry",
    "console",
]


def test_these_are_the_cases() -> None:
    assert list(CASES) == NAMES
    assert all(name == case.name for name, case in CASES.items())


@pytest.mark.parametrize("name", NAMES)
def test_every_case_says_what_it_does(name: str) -> None:
    case = CASES[name]
    assert case.description.endswith(".")
    assert all(option.help and isinstance(option.default, option.type) for option in case.options)
    assert case.read({}) == {option.name: option.default for option in case.options}


def test_text_from_a_command_line_is_read() -> None:
    read = CASES["throughput"].read({"jobs": "5000", "keep": "failures", "processes": None})
    assert read == {"jobs": 5000, "keep": "failures", "processes": 1}


@pytest.mark.parametrize(
    ("case", "options", "words"),
    [
        ("thruput", {}, "did you mean 'throughput'"),
        ("throughput", {"job": 5}, "did you mean 'jobs'"),
        ("throughput", {"jobs": "many"}, "whole number"),
        ("throughput", {"jobs": 0}, "at least 100"),
        ("throughput", {"keep": "nothing"}, "all, failures"),
    ],
)
def test_what_does_not_fit_is_refused(case: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BenchError, match=words):
        run(case, "postgresql://nowhere.invalid/x", options, pytest.fail)


def test_one_lane_gives_whole_batches() -> None:
    lanes = BareLanes(200)
    assert lanes.hungry
    lanes.found([("bench", b"a", 100)])
    assert lanes.plan() == ([b"a"], [None], [200])
    lanes.taken([(1, b"key")] * 200)
    assert lanes.plan() == ([b"a"], [b"key"], [200])
    lanes.taken([(1, b"last")])
    assert lanes.hungry


def test_many_lanes_take_turns() -> None:
    lanes = BareLanes(200)
    lanes.found([("bench", bytes([n]), 100) for n in range(50)])
    seen: list[bytes] = []
    for _ in range(5):
        names, _, counts = lanes.plan()
        assert counts == [10] * 20
        seen += names
        lanes.taken([(slot, b"k") for slot in range(1, 21) for _ in range(10)])
    assert sorted(seen) == sorted([bytes([n]) for n in range(50)] * 2)
