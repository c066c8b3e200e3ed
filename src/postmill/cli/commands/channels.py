"""`postmill channels list | test`: where people are told of incidents."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from postmill.bind import run as run_statement
from postmill.cli.ages import relative
from postmill.cli.completion import complete_channel
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.text import one_line
from postmill.domain.settings_escalation import ChannelSettings
from postmill.domain.suggest import did_you_mean
from postmill.store.notifications import ChannelState, Notice, channel_states

COLUMNS = ("channel", "kind", "rate", "told", "fallback", "state", "waiting", "last sent")


def list_(run: Run) -> None:
    """List the channels of the settings, and how each stands. Secrets are not shown."""
    channels = run.settings.escalation.all_channels
    plan = run.settings.escalation.plan
    with run.connect() as conn:
        states = {one.channel: one for one in run_statement(conn, channel_states(schema=run.schema))}
        now = server_now(conn, run.schema)
    if not channels and not run.out.as_json:
        run.out.say("no channels: nobody is told of incidents")
        run.out.note("set escalation.pagerduty_key, escalation.slack_webhook or escalation.channels")
        return
    facts = [_facts(name, one, plan.fallback(name), states.get(name)) for name, one in channels.items()]

    def row(one: dict[str, Any]) -> tuple[str | int | Text | None, ...]:
        failing = one["failing_since"]
        state = (
            Text(
                f"fails since {relative(failing, now)}: {one_line(one['last_error'] or '', 100)}", style="red"
            )
            if failing
            else Text(
                "works" if one["last_sent_at"] else "unused", style="green" if one["last_sent_at"] else ""
            )
        )
        told = f"daily at {one['digest']} {one['zone']}" if one["digest"] else one["hours"] or "at once"
        sent = relative(one["last_sent_at"], now)
        return (
            one["channel"], one["kind"], one["rate"], told, one["fallback"], state, one["waiting"], sent,
        )  # fmt: skip

    run.out.show(facts, lambda: table(COLUMNS, map(row, facts), right=("waiting",)))


def test(
    run: Run,
    channel: Annotated[
        str,
        typer.Argument(metavar="CHANNEL", help="Its name.", autocompletion=complete_channel),
    ],
) -> None:
    """Send a test message on a channel, here and now: no job, no fallback. Exit code 1 where it is not taken."""
    known = run.settings.escalation.all_channels
    if channel not in known:
        hint = did_you_mean(channel, known, noun="channels")
        raise CliError(
            f"there is no channel {channel!r}{hint}", "postmill channels list shows them", ExitCode.NOT_FOUND
        )
    asyncio.run(_send(run, channel))
    run.out.show({"channel": channel, "sent": True}, lambda: Text(f"{channel} took it", style="green"))


async def _send(run: Run, channel: str) -> None:
    from postmill.alerts.opening import open_channel

    opened = open_channel(channel, run.settings)
    try:
        await opened.send([message()])
        if run.settings.escalation.all_channels[channel].kind == "pagerduty":
            await opened.send([message("resolve")])  # nobody shall be called out for long
    finally:
        await opened.close()


def message(event: str = "trigger") -> Notice:
    """A message that says that it is none."""
    from uuid import UUID, uuid4

    return Notice(
        uuid4(), UUID(int=0), event, 0, 1, None, 0, "notification", "test", "info",
        "a test message of postmill channels test: nothing is wrong", {}, None, None, None, 1, 0, 0,
        datetime.now(UTC), None, None, None,
    )  # fmt: skip


def _facts(
    name: str, channel: ChannelSettings, fallback: str | None, state: ChannelState | None
) -> dict[str, Any]:
    return {
        "channel": name,
        "kind": channel.kind,
        "to": list(channel.to),
        "rate": f"{channel.pace.count}/{channel.pace.seconds:g}s",
        "digest": channel.digest,
        "zone": channel.zone,
        "hours": channel.hours,
        "fallback": fallback,
        "waiting": 0 if state is None else state.waiting,
        "failures": 0 if state is None else state.failures,
        "failing_since": None if state is None else state.failing_since,
        "last_sent_at": None if state is None else state.last_sent_at,
        "last_error": None if state is None else state.last_error,
    }
