"""The last page of the demo: how quick, how found, what went wrong and what became of it, what to try next."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row
from rich.console import Console
from rich.table import Table
from rich.text import Text

from examples.staging.programs import program, up
from examples.yellowbook.demo.facts import Facts
from examples.yellowbook.demo.stage import Stage
from examples.yellowbook.statements import text

SOON = 100.0
"""Milliseconds within which a request is to be answered."""


def print_summary(console: Console, running: Stage, facts: Facts, data: Path) -> bool:
    """Print it; whether all is well."""
    with running.conn.cursor(row_factory=dict_row) as cursor:
        times = cursor.execute(text("job_times"), {"since": facts.since}).fetchone() or {}
    middle = statistics.median(facts.answers)
    console.rule(Text("What became of the book", "bold"))
    console.print(_speed(facts, times, middle))
    console.print(_found(facts))
    console.print(_dead(facts))
    console.print(_words(facts), soft_wrap=True)
    console.print(_next(data), soft_wrap=True)
    for fault in facts.faults:
        console.print(Text(f"✗ {fault}", "bold red"))
    return not facts.faults


def _speed(facts: Facts, times: dict[str, Any], middle: float) -> Table:
    table = _table("How long", "", "half within", "95 % within")
    high = statistics.quantiles(facts.answers, n=20)[-1]
    table.add_row("the answer to POST and PATCH", _soon(middle), _soon(high))
    table.add_row("until the embedding is there", f"{times['p50']:,.0f} ms", f"{times['p95']:,.0f} ms")
    return table


def _soon(milliseconds: float) -> Text:
    """Green where it is as soon as it should be; on a busy machine it may not be."""
    return Text(f"{milliseconds:.0f} ms", "green" if milliseconds < SOON else "yellow")


def _found(facts: Facts) -> Table:
    table = _table("Found", "somebody asks for", "by words", "by meaning")
    for one in facts.searched:
        words = Text(one.by_words[0]) if one.by_words else Text("nothing", "red")
        table.add_row(f"“{one.words}”", words, Text(one.by_meaning[0], "green"))
    return table


def _dead(facts: Facts) -> Table:
    table = _table("What was given up, and why", "status", "reason", "jobs", "what helped")
    helped = {401: "a new key, and a replay of all", 429: "the quota came back; the button"}
    for one in facts.statistics:
        table.add_row(
            str(one["status"] or "–"), one["reason"], str(one["count"]), helped.get(one["status"], "–")
        )
    for letter in facts.kept:
        table.add_row("–", letter["reason"], "1", "nothing; it is kept")
    return table


def _words(facts: Facts) -> Text:
    return Text.assemble(
        (f"{facts.edits} edits of one entry made {facts.calls_for_edits} call", "bold"),
        " of the service: a new text takes the place of one that still waits.\n",
        (f"{facts.dead} dead letters at once", "bold"),
        f", and search went on by words ({(facts.fallback or '').partition(':')[0]}). ",
        (f"{facts.replayed} were replayed", "bold"),
        " with the new key, each once.",
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column)
    return table


def _next(data: Path) -> Text:
    made = Text.assemble(("\nEverything is kept in ", "bold"), (str(data), "cyan"), "\n")
    made.append("What to try next\n", "bold")
    postmill, python = program("postmill"), f"{program('python')} -m examples.yellowbook"
    for what, command in (
        ("A service that thinks for five seconds; the answers stay as quick:", f"{python} --latency 5"),
        (
            "The database and a worker stay on, with the real API and a key of yours:",
            f"GEMINI_API_KEY=… {up('yellowbook', data)}",
        ),
        ("Then, in a second terminal, what is kept and why:", f"{postmill} dead list"),
    ):
        made.append(f"  {what}\n")
        made.append(f"    {command}\n", "cyan")
    made.right_crop(1)
    return made
