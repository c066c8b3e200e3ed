"""What pages read is read once for all who ask for the same at the same time."""

from __future__ import annotations

import asyncio

import pytest
from psycopg.errors import QueryCanceled
from psycopg_pool import PoolTimeout

from postmill.console.frame.readings import Readings

pytestmark = pytest.mark.asyncio


class Source:
    """Something to read, which answers when it is told to; `heard`: whether a change was."""

    def __init__(self, *, listening: bool) -> None:
        self.n = 0
        self.heard = False
        self.answers: list[asyncio.Future[list[int]]] = []
        self.topics: set[str] = set()
        self.readings = Readings(
            lambda: listening,
            lambda since: listening and not self.heard,
            lambda topics, scope, since: listening and not self.topics & {*topics},
        )

    async def read(self) -> list[int]:
        self.n += 1
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    def ask(self, key: str = "a", name: str = "") -> asyncio.Task[list[int]]:
        return asyncio.create_task(self.readings.read(key, self.read, name))


async def test_who_asks_meanwhile_is_told_the_same() -> None:
    source = Source(listening=False)
    first, second, other = source.ask(), source.ask(), source.ask("b")
    await asyncio.sleep(0)
    assert source.n == 2
    for one in source.answers:
        one.set_result([3, 1, 2])
    found = await first
    found.sort()
    assert await second == [3, 1, 2] == await other  # each has a list of his own
    late = source.ask()  # nobody says whether it still holds
    await asyncio.sleep(0)
    assert source.n == 3
    source.answers[-1].set_result([])
    assert await late == []


async def test_what_was_read_holds_until_something_is_heard_of_or_done() -> None:
    source = Source(listening=True)
    first = source.ask()
    await asyncio.sleep(0)
    source.answers[0].set_result([1])
    assert await first == [1] == await source.ask()
    assert source.n == 1
    source.heard = True
    again = source.ask()
    joined = source.ask()  # what is read before a change is heard of is not waited for after it
    await asyncio.sleep(0)
    assert source.n == 3
    source.heard = False
    source.readings.over()
    for one in source.answers[1:]:
        one.set_result([2])
    assert await again == [2] == await joined
    anew = source.ask()  # what began before somebody acted is not kept
    await asyncio.sleep(0)
    assert source.n == 4
    source.answers[-1].set_result([3])
    assert await anew == [3]


async def test_what_lasts_is_read_anew_once_its_own_topics_are_heard_of() -> None:
    source = Source(listening=True)
    source.heard = True
    first = source.ask(name="read_changes")
    await asyncio.sleep(0)
    source.answers[0].set_result([1])
    assert await first == [1] == await source.ask(name="read_changes")
    source.topics.add("audit")
    again = source.ask(name="read_changes")
    await asyncio.sleep(0)
    assert source.n == 2
    source.answers[-1].set_result([2])
    assert await again == [2]


async def test_a_reader_who_leaves_leaves_the_others_unharmed() -> None:
    source = Source(listening=True)
    leader, follower, impatient = source.ask(), source.ask(), source.ask()
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    leader.cancel()
    await asyncio.gather(leader, impatient, return_exceptions=True)
    await asyncio.sleep(0)
    assert source.n == 2
    source.answers[-1].set_result([7])
    assert await follower == [7]
    # What takes too long is not tried by each of them.
    for n, fault in enumerate((QueryCanceled(), PoolTimeout()), 3):
        asking = [source.ask("slow") for _ in range(3)]
        await asyncio.sleep(0)
        source.answers[-1].set_exception(fault)
        assert await asyncio.gather(*asking, return_exceptions=True) == [fault] * 3
        assert source.n == n
