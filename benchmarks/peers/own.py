"""Postmill itself, by its own ``postmill bench``, on the same server in the same run."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import platform
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.measure import Size
from benchmarks.peers.place import Place
from benchmarks.peers.program import last_words

WITHIN = 900.0
DATABASE = "peers_postmill"
# Cases of the comparison that one ``postmill bench`` command answers, and its words.
Plan = Sequence[tuple[Sequence[str], Sequence[str]]]
# What ``postmill bench`` has to print for each case of the comparison.
NEEDED = {
    "drain_1": {"jobs_per_s"},
    "drain_2": {"jobs_per_s"},
    "bulk": {"rows_per_s"},
    "single": {"commits_per_s"},
    "latency": {"p50_ms", "p99_ms"},
}


class NotRun(Exception):
    """The command is missing or refused; the text says what it answered."""


async def bench(place: Place, case: str, *options: str) -> dict[str, Any]:
    """One case in a fresh database; what the command printed as JSON.

    Raises NotRun when it prints none.
    """
    with place.database(DATABASE) as database:
        command = [sys.executable, "-m", "postmill", "bench", case, "--json", "--dsn", place.dsn_of(database)]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, *options, stdout=pipe, stderr=pipe)
        try:
            out, err = await asyncio.wait_for(process.communicate(), WITHIN)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise NotRun(f"no answer within {WITHIN:.0f} s") from None
    if process.returncode:
        raise NotRun(f"exit status {process.returncode}: {last_words(err.decode(errors='replace'))}")
    try:
        answer: dict[str, Any] = json.loads(out)
    except ValueError:
        raise NotRun("it printed something else than one JSON object") from None
    return answer


def _head(name: str, *, keep: str, history: bool) -> dict[str, Any]:
    try:
        version = importlib.metadata.version("postmill")
    except importlib.metadata.PackageNotFoundError:
        version = "(not installed)"
    return {
        "name": name,
        "version": version,
        "runtime": f"Python {platform.python_version()}",
        "history": history,
        "settings": {"keep": keep},
        "most_jobs": None,
    }


async def measure(place: Place, size: Size) -> list[dict[str, Any]]:
    """Postmill's part of the results: with all history kept, and with failures only."""
    jobs = ["--jobs", str(size.jobs)]
    lean = ["--keep", "failures"]
    full_plan: Plan = [
        (("drain_1",), ["throughput", *jobs, "--processes", "1"]),
        (("drain_2",), ["throughput", *jobs, "--processes", "2"]),
        (("bulk", "single"), ["enqueue", *jobs]),
        (("latency",), ["latency", "--samples", str(size.samples)]),
    ]
    lean_plan: Plan = [
        (("drain_1",), ["throughput", *jobs, "--processes", "1", *lean]),
        (("drain_2",), ["throughput", *jobs, "--processes", "2", *lean]),
    ]
    return [
        {**_head("Postmill", keep="all", history=True), **await _run(place, full_plan)},
        {
            **_head("Postmill (keep = failures)", keep="failures", history=False),
            **await _run(place, lean_plan),
        },
    ]


async def _run(place: Place, plan: Plan) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    not_run: dict[str, str] = {}
    for cases, options in plan:
        try:
            answer, reason = await bench(place, *options), "the answer lacks a figure"
        except NotRun as error:
            answer, reason = {}, str(error)
        print(f"  Postmill {' '.join(options)}: {answer or reason}", file=sys.stderr)
        for case in cases:
            if NEEDED[case] <= answer.keys():
                figures[case] = answer
            else:
                not_run[case] = reason
    return {"figures": figures, "not_run": not_run}
