"""`postmill limits list | show | set | clear`: how many run at once over the whole fleet, and how often they start."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from postmill.bind import drive
from postmill.cli.ages import length
from postmill.cli.completion import complete_limit
from postmill.cli.errors import CliError
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.who import who
from postmill.domain.limit import Rate
from postmill.domain.settings_limits import parse_rate
from postmill.operate import limits
from postmill.store.limits import LimitKey, LimitView

Name = Annotated[
    str,
    typer.Argument(
        metavar="LIMIT",
        help="type:NAME, queue:NAME, tenant:SLUG or all; /tenant and /payload.FIELD behind count each for itself.",
        autocompletion=complete_limit,
    ),
]
Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]


def list_(run: Run) -> None:
    """List limits over the whole fleet, with what is used of them now.

    keys: how many tenants or values it counts by now; full: those of them in which nothing more may start. next in: until a
    rate lets the next job start.
    """
    with run.connect() as conn:
        found = drive(conn, limits.limits(most=10_000, schema=run.schema))
    columns = ("limit", "at once", "running", "rate", "next in", "keys", "full", "said by")
    run.out.show(
        found,
        lambda: table(
            columns,
            [
                (
                    one.name, _number(one.max_running), one.running, _rate(one.rate) or "–", _wait(one), one.keys, one.at_cap,
                    _said_by(one),
                )
                for one in found
            ],
            right=("at once", "running", "keys", "full"),
        ),
    )  # fmt: skip


def show(run: Run, limit: Name) -> None:
    """Show one limit, and the fullest of what it counts."""
    with run.connect() as conn:
        found = drive(conn, limits.limit(limit, schema=run.schema))
        keys = drive(conn, limits.limit_keys(found.name, schema=run.schema))
    _show(run, found, keys)


def set_(
    run: Run,
    limit: Name,
    max_running: Annotated[
        int | None, typer.Option("--max-running", metavar="N", help="Jobs at once.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="N/TIME", help="Starts per time: 10/1s, 300/1m.")
    ] = None,
    burst: Annotated[
        int | None, typer.Option(metavar="N", help="With --rate: so many at once after a pause.")
    ] = None,
    off: Annotated[
        bool, typer.Option("--off", help="No limit, even if code or settings declare one.")
    ] = False,
    reason: Reason = None,
) -> None:
    """Set a limit, live. It wins over what code and settings declare until it is cleared; what runs goes on."""
    if off is not (max_running is None and rate is None):
        raise CliError("say --max-running, --rate or both; or --off", "such as --max-running 3 --rate 10/1s")
    if burst is not None and rate is None:
        raise CliError("--burst belongs to --rate", "such as --rate 10/1s --burst 1")
    said = _read(rate, burst)
    with run.connect() as conn:
        flow = limits.set_limit(
            limit, max_running=max_running, rate=said, reason=reason, actor=who(), schema=run.schema
        )
        found = run.act(conn, flow)
    _show(run, found, [])


def clear(run: Run, limit: Name, reason: Reason = None) -> None:
    """Take back what was set: what code or settings declare is in force again."""
    with run.connect() as conn:
        status = run.act(conn, limits.clear_limit(limit, reason=reason, actor=who(), schema=run.schema))
    if run.out.as_json:
        run.out.document({"name": limit, "status": status})
        return
    run.out.say(
        f"{limit} is cleared" if status == "cleared" else f"{limit} is again as it is declared", style="green"
    )


def _read(rate: str | None, burst: int | None) -> Rate | None:
    if rate is None:
        return None
    try:
        read = parse_rate(rate)
        return Rate(read.count, read.per, burst)
    except ValueError as fault:
        raise CliError(f"--rate {rate}: {fault}", "such as --rate 10/1s") from None


def _number(value: int | None) -> str:
    return "any" if value is None else str(value)


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return ""
    burst = "" if rate.capacity == rate.count else f", {rate.capacity} at once"
    return f"{rate.count} in {length(rate.seconds)}{burst}"


def _wait(one: LimitView) -> str:
    return f"{one.wait_seconds:.1f} s" if one.wait_seconds else "–"


def _said_by(one: LimitView) -> str:
    return "an operator" if one.edited else "code or settings"


def _show(run: Run, one: LimitView, keys: list[LimitKey]) -> None:
    def page() -> Table:
        rows = [
            ("limit", one.name),
            ("at once", _number(one.max_running)),
            ("running", f"{one.running:,}"),
            ("rate", _rate(one.rate) or "any"),
            *([("next in", _wait(one))] if one.wait_seconds else []),
            *([("keys", f"{one.keys:,}, {one.at_cap:,} of them full")] if one.per else []),
            ("said by", _said_by(one)),
        ]
        if one.per:
            rows += [("/".join(part or "none" for part in key.parts), f"{key.running:,}") for key in keys]
        return pairs(rows)

    if run.out.as_json:
        run.out.document({"limit": one, "fullest": keys})
    else:
        run.out.show(one, page)
