"""How many statements each page takes, which of them are of who asks, and what is left out where one takes too long."""

from __future__ import annotations

import pytest

from postmill.console.frame.parts import topics_of
from postmill.console.frame.rendering import environment
from postmill.console.frame.visit import OWN
from postmill.console.live.topics import TOPICS
from postmill.domain.access import Role
from tests.console.harness import Console

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_depends_on_who_asks_is_read_by_each(console: Console) -> None:
    asked = await console.api.owner.execute(
        "select proname from pg_proc where pronamespace = 'postmill'::regnamespace and proname like 'read\\_%%'"
        " and prosrc ~ 'postmill\\.(actor|request)|acting_(id|type)'"
    )
    assert {name for (name,) in await asked.fetchall()} == OWN


STATEMENTS = {
    "/ops": 8,
    "/ops?_part=verdict": 5,
    "/ops?_part=strip": 2,
    "/ops?_part=verdict&_part=incidents": 5,
    "/ops/queues": 5,
    "/ops/queues?_part=list": 4,
    "/ops/queues/q": 17,
    "/ops/queues/q?_part=course": 6,
    "/ops/workers": 7,
    "/ops/tenants": 5,
    "/ops/tenants/acme": 12,
    "/ops/errors": 3,
    "/ops/dead": 2,
    "/ops/definitions": 7,
    "/ops/triggers": 4,
    "/ops/budgets": 5,
    "/ops/ops-log": 3,
    "/ops/audit": 5,
    "/t/acme": 11,
    "/t/acme?_part=states": 2,
    "/t/acme?_part=causes": 1,
}
"""Pages and parts, and of how many statements each is made at most, beside the one that begins its reading."""


async def test_a_page_takes_few_statements(console: Console) -> None:
    client = await console.browser(Role.SUPER_ADMIN)
    await console.api.tenant("acme")
    await console.api.owner.execute("insert into postmill.queue (name) values ('q')")
    timings = console.api.app.state.timings

    def told() -> int:
        return sum(one.n for one in timings.slowest(500))

    met = {}
    for path in STATEMENTS:
        before = told()
        answer = await client.get(path)
        assert answer.status_code == 200, path
        met[path] = told() - before
    assert {path: n for path, n in met.items() if n > STATEMENTS[path]} == {}


async def test_what_takes_too_long_is_left_out_and_the_rest_is_there(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postmill.console.frame.visit.READING_SECONDS", 0.2)
    client = await console.browser(Role.SUPER_ADMIN)
    await console.api.tenant("acme")
    async with console.api.owner.transaction():
        await console.api.owner.execute("lock table postmill.error_group in access exclusive mode")
        page = (await client.get("/t/acme")).text
    assert "Error groups could not be read in time." in page
    assert page.count("could not be read in time") == 1
    assert "Next runs" in page


async def test_each_live_part_tells_its_topics() -> None:
    """By them it is known when nothing of it can have changed."""
    templates = environment()
    for name in templates.list_templates(["html"]):
        source, _, _ = templates.loader.get_source(templates, name)  # type: ignore[union-attr]
        told = topics_of(templates.get_template(name)) if "data-live=" in source else {}
        assert len(told) == source.count("data-live="), name
        assert {topic for topics in told.values() for topic in topics} <= TOPICS, name
