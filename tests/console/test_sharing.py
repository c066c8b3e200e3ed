"""What one tab reads is shown to the others that ask meanwhile, unless it is nobody else's."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest
from jinja2 import DictLoader, Environment
from starlette.responses import Response

from postmill.api.problems import Problem
from postmill.console.frame.parts import Parts
from postmill.console.frame.sharing import SharedParts

pytestmark = pytest.mark.asyncio

TEMPLATE = Environment(loader=DictLoader({"x": "{% block part_a %}said{% endblock %}"})).get_template("x")


class Source:
    """A page, which answers when it is told to; `heard`: whether a change was."""

    def __init__(self) -> None:
        self.n = 0
        self.heard = False
        self.answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self.shared = SharedParts(lambda since: not self.heard)

    async def read(self) -> Response:
        self.n += 1
        return await asyncio.shield(self.answer)

    async def three(self) -> list[asyncio.Task[Response]]:
        tasks = [asyncio.create_task(self.shared.read("page", self.read)) for _ in range(3)]
        await asyncio.sleep(0)
        return tasks


def parts(*, secret: bool = False, whole: bool = True) -> Parts:
    return Parts(TEMPLATE, TEMPLATE.new_context(), ("a",), monotonic(), secret, whole)


async def test_tabs_that_ask_at_once_are_told_the_same() -> None:
    source = Source()
    first, second, third = await source.three()
    source.answer.set_result(parts())
    assert await first is await second is await third
    assert await source.shared.read("page", source.read) is await first
    assert source.n == 1
    source.shared.over()  # somebody has done something
    await source.shared.read("page", source.read)
    source.heard = True
    await source.shared.read("page", source.read)
    assert source.n == 3


async def test_what_was_left_out_is_for_those_who_wait_and_secrets_for_nobody() -> None:
    for answer, read, later in (
        (parts(whole=False), 1, 2),
        (parts(secret=True), 3, 4),
        (Response(status_code=422), 3, 4),
    ):
        source = Source()
        asked = await source.three()
        source.answer.set_result(answer)
        await asyncio.gather(*asked)
        assert source.n == read
        await source.shared.read("page", source.read)
        assert source.n == later


async def test_a_fault_is_told_to_all_and_who_leaves_stops_nobody() -> None:
    source = Source()
    asked = await source.three()
    source.answer.set_exception(Problem(503, "busy", "no connection came free"))
    told = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in told] == [Problem] * 3
    assert source.n == 1
    source = Source()
    first, second, third = await source.three()
    first.cancel()
    await asyncio.sleep(0)
    second.cancel()
    source.answer.set_result(parts())
    assert isinstance(await third, Parts)
