"""One channel and its outbox, without a worker: what a service refuses, and what becomes of it where nobody else is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from examples.upstreams.alerts import judges
from examples.upstreams.alerts.service import AlertService, Mood
from examples.upstreams.script import Answer
from postmill.alerts.opening import open_channel
from postmill.alerts.sender import PROBE, Rested, Sender
from postmill.bind import arun
from postmill.domain.settings import Settings
from postmill.store.escalation import next_escalation
from postmill.store.statement import Statement
from tests.alerts.world import raised, serving, settings_of, slack

STATES = "select status, tries from postmill.notification order by id"


def sender(conn: AsyncConnection[Any], settings: Settings, name: str) -> Sender:
    async def ask(statement: Statement[Any]) -> Any:
        return await arun(conn, statement)

    escalation = settings.escalation
    channel = open_channel(name, settings)
    return Sender(name, channel, escalation.all_channels[name], escalation.plan, ask, "postmill")


async def due(apg: AsyncConnection[Any], n: int) -> None:
    for id in [await raised(apg, f"k{n}-{i}") for i in range(n)]:
        await apg.execute(
            "insert into postmill.notification (incident_id, cycle, step, event, channel, due_at)"
            " values (%s, 1, 0, 'trigger', 'ops', postmill.now())",
            [id],
        )


async def states(apg: AsyncConnection[Any]) -> list[tuple[str, int]]:
    return await (await apg.execute(STATES)).fetchall()


async def test_what_is_refused_for_good(apg: AsyncConnection[Any], tmp_path: Path) -> None:
    ops = AlertService(judges.slack, Mood(next=[Answer(status=400)]))
    alone = settings_of(tmp_path, channels={"ops": slack(ops, rate="100/1s")})
    both = settings_of(tmp_path, channels={"ops": slack(ops, rate="100/1s"), "other": slack(ops)})
    with serving(ops):
        only = sender(apg, alone, "ops")
        await due(apg, 2)
        assert await only.drain(5) is None
        assert await states(apg) == [("failed", 1), ("sent", 1)], "one bad message holds up no other"
        # The address is gone: the channel does not work, and what it has stays until it does.
        ops.mood.each = Answer(status=404)
        await due(apg, 3)
        rested = await only.drain(5)
        assert isinstance(rested, Rested)
        assert (rested.seconds, rested.why) == (PROBE, "ops: answered 404 'scripted'")
        assert [status for status, _ in await states(apg)][2:] == ["pending"] * 3
        assert len(ops.calls) == 3
        rested = await only.drain(5)
        assert isinstance(rested, Rested)
        assert 0 < rested.seconds <= PROBE
        assert len(ops.calls) == 3, "it is not even tried before that"
        # With another one beside it everything goes there, once.
        with_other = sender(apg, both, "ops")
        assert await with_other.drain(5) is None
        assert (await states(apg))[2:] == [("moved", 1), ("moved", 0), ("moved", 0), *[("pending", 0)] * 3]
        await only.close()
        await with_other.close()


async def test_who_has_sent_all_wants_no_round(apg: AsyncConnection[Any], tmp_path: Path) -> None:
    """What a round looks at first says that nothing is in sight, and not that something has been due since the last message."""
    ops = AlertService(judges.slack)
    only = sender(apg, settings_of(tmp_path, channels={"ops": slack(ops, rate="100/1s")}), "ops")
    with serving(ops):
        await due(apg, 2)
        await apg.execute("update postmill.incident set escalate_at = null")
        seconds = await arun(apg, next_escalation(["ops"]))
        assert seconds is not None
        assert seconds <= 0
        assert await only.drain(5) is None
        await only.close()
    assert await states(apg) == [("sent", 1)] * 2
    assert await arun(apg, next_escalation(["ops"])) is None
