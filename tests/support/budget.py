"""What tests cost, in seconds of processor: a bound for each, and at the end of a run the files that cost most.

Counted are this process, the zygote and the server, each with all that it has waited for. A busy machine changes that
little, other than the time of day. The whole suite has to stay small for ever; who makes a test that costs more than
the bound makes it smaller, or puts its long form behind `@pytest.mark.long` and keeps a short one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import running_servers
from tests.support.spawner import lasting

MOST = 20.0
"""Seconds for a test that is not long. The dearest take a third of it; a processor that is shared counts twice as many.

`@pytest.mark.dear(seconds)` allows one test more: a whole demo, which nothing smaller can stand for.
"""

SUITE = 600.0
"""Seconds for all of them: five minutes of two processors. More is said, not refused."""

_SHOWN = 12
_TICKS = os.sysconf("SC_CLK_TCK")
_KEY = "processor"


class Costs:
    """Of the tests of this run, by file."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()


_COSTS = pytest.StashKey[Costs]()


def spent() -> float:
    """Seconds of processor so far."""
    own = os.times()
    others = [*running_servers(), *([zygote[0]] if (zygote := lasting()) else [])]
    return own.user + own.system + own.children_user + own.children_system + sum(map(_of, others))


def _of(pid: int) -> float:
    try:
        words = (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / _TICKS


@pytest.fixture(autouse=True)
def within_budget(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse a test that costs too much."""
    before = spent()
    yield
    cost = max(0.0, spent() - before)
    request.node.user_properties.append((_KEY, round(cost, 2)))
    dear, long = map(request.node.get_closest_marker, ("dear", "long"))
    most = MOST if dear is None else float(dear.args[0])
    if cost > most and long is None:
        pytest.fail(
            f"the test took {cost:.1f} s of processor, and {most:g} s is the most: see tests/support/budget.py",
            pytrace=False,
        )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_COSTS] = Costs()


class Adds:
    """Adds up what the reports say, also those of xdist's workers."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            file = report.nodeid.partition("::")[0]
            self._costs.tests[file] += 1
            for name, value in report.user_properties:
                if name == _KEY and isinstance(value, float):
                    self._costs.seconds[file] += value  # type: ignore[assignment]


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Adds(session.config.stash[_COSTS]), "adds costs")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The files that cost most, with their share."""
    costs = config.stash[_COSTS]
    total = costs.seconds.total()
    if total < SUITE / 20:
        return
    terminalreporter.section("seconds of processor")
    for file, seconds in costs.seconds.most_common(_SHOWN):
        terminalreporter.line(f"{seconds:7.1f} {seconds / total:5.0%}  {file} ({costs.tests[file]})")
    over = f", {total - SUITE:.0f} more than all may cost" if total > SUITE else ""
    terminalreporter.line(f"{total:7.1f}  100%  {costs.tests.total()} tests{over}")
