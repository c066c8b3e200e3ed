"""What `postmill worker`, `upkeep` and `up` have in common: one process or several, and the last line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from postmill import bind
from postmill.alerts.equipment import equipment
from postmill.cli.ages import length
from postmill.cli.errors import CliError
from postmill.cli.family import Family, child_command
from postmill.cli.plan import Plan, base_config, make_plan
from postmill.cli.process import TIMES, MakeWorker, Summary, WorkerProcess
from postmill.cli.run import Run
from postmill.client.address import VARIABLE
from postmill.domain.errors import PostmillError
from postmill.domain.registry import Registry
from postmill.domain.settings_cells import cell_named
from postmill.engine.worker import Worker
from postmill.store.queues import serving_queues
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters


def run_worker(
    run: Run,
    modules: Sequence[str],
    queues: Sequence[str],
    processes: int | None,
    port: int | None,
    *,
    child: str | None,
    report: Path | None,
    quiet_start: bool = False,
    cells: Sequence[str] = (),
) -> None:
    """One worker here, or a family of them; ends with the exit code. `child` (INDEX/COUNT) makes it one of many.

    `quiet_start`: somebody else says that it has started.
    """
    index, count = _place(child)
    names = named_cells(run, cells)
    asked = count or (processes or run.settings.worker.processes) * max(1, len(names))
    plan = make_plan(modules, queues, asked, run.settings, lambda: _stored_queues(run))
    plan = replace(plan, cells=max(1, len(names)))
    check_cells(plan, names)
    port = run.settings.metrics.port if port is None else port
    # A process that retires needs a parent that starts the next one.
    retires = run.settings.worker.max_jobs_per_process is not None
    if child is None and (len(plan.shares) > 1 or retires):
        family = _family(run, plan, queues, asked, port, names)
        with run.out.reserved():
            code = family.run()
        finish(run, code, family.summary)
    plan = replace(plan, settings=run.settings_here, equipment=equipment(run.settings_here, run.schema))

    def make(bus: Bus, counters: Counters) -> Worker:
        return Worker(
            run.dsn,
            plan.served,
            plan.queues(index),
            schema=run.schema,
            config=plan.config(index),
            bus=bus,
            counters=counters,
        )

    process = _process(run, make, port + index if port else port, child, quiet_start=quiet_start)
    with run.out.reserved():
        code = process.run()
    finish(run, code, process.summary, child=child is not None, report=report)


def named_cells(run: Run, given: Sequence[str]) -> list[str]:
    """The cells of `--cells a,b`. Raises CliError, NotFound for one that the settings do not have."""
    names = [name.strip() for text in given for name in text.split(",")]
    if len(set(names)) < len(names) or "" in names:
        raise CliError(f"--cells {','.join(given)!r} names a cell twice, or none", "write --cells a,b")
    for name in names:
        cell_named(run.settings.cells, name)
    return names


def check_cells(plan: Plan, names: Sequence[str]) -> None:
    """Raises CliError where some queue would have no slot in some cell: its jobs there would wait for ever."""
    for n, name in enumerate(names):
        served = {queue for share in plan.shares[n :: len(names)] for queue in share.slots}
        for queue, count in plan.slots.items():
            if queue not in served:
                raise CliError(
                    f"queue {queue} has {count} slot(s), which {len(names)} cells cannot share: {name} gets none",
                    f"give it {len(names)} or more (--queues {queue}={len(names)}), or start a worker for each cell",
                )


def run_upkeep(run: Run, port: int | None, *, child: str | None, report: Path | None) -> None:
    """A worker without job types and without claims; ends with the exit code."""
    equipped = equipment(run.settings_here, run.schema)

    def make(bus: Bus, counters: Counters) -> Worker:
        rounds = {} if equipped is None else equipped.rounds
        config = replace(base_config(run.settings_here), work=False, rounds=rounds)
        return Worker(run.dsn, Registry(), schema=run.schema, config=config, bus=bus, counters=counters)

    process = _process(run, make, run.settings.metrics.port if port is None else port, child)
    finish(run, process.run(), process.summary, child=child is not None, report=report)


def finish(run: Run, code: int, summary: Summary, *, child: bool = False, report: Path | None = None) -> None:
    """The last line of a worker command, and its exit code. A child leaves its summary to its parent."""
    if report is not None:
        _leave(report, summary)
    if not child:
        run.out.show({"exit_code": code, **summary}, lambda: described_end(code, summary))
    if summary.get("abandoned"):
        # A thread that cannot be stopped still runs; the interpreter would wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise typer.Exit(code)


def described_end(code: int, summary: Summary) -> str:
    """`drained in 40 ms, up for 3 h 12 min: 120 succeeded, 2 dead letters, 3 released`."""
    counts = {name: value for name, value in summary.items() if name not in TIMES}
    said = ", ".join(_counted(name, value) for name, value in counts.items() if value or name == "succeeded")
    took = f" in {length(summary['drain_seconds'])}" if "drain_seconds" in summary else ""
    up = f", up for {length(summary['seconds'])}" if "seconds" in summary else ""
    word = "drained" if code == 0 else f"ended with exit code {code}"
    return f"{word}{took}{up}" + (f": {said}" if said else "")


_WORDS = {
    "dead_letters": ("dead letter", "dead letters"),
    "retried": ("attempt failed and is retried", "attempts failed and are retried"),
    "interrupted": ("interrupted and given back", "interrupted and given back"),
}
"""What counts are called, of one and of several; others by their own name."""


def _counted(name: str, value: float) -> str:
    one, several = _WORDS.get(name, (name, name))
    return f"{value} {one if value == 1 else several}"


def _leave(report: Path, summary: Summary) -> None:
    """Leaves the summary to the parent, joined to what a process left there that this one has replaced."""
    before = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    counts = {name: value + before.get(name, 0) for name, value in summary.items() if name not in TIMES}
    report.write_text(json.dumps(before | summary | counts), encoding="utf-8")


def _process(
    run: Run, make: MakeWorker, port: int | None, child: str | None, *, quiet_start: bool = False
) -> WorkerProcess:
    return WorkerProcess(
        run.dsn,
        run.schema,
        run.settings,
        make,
        port=port,
        child=child is not None,
        quiet_start=quiet_start,
        told=run.out.note,
    )


def _family(
    run: Run, plan: Plan, queues: Sequence[str], processes: int, port: int | None, cells: Sequence[str]
) -> Family:
    # Children find the database in their environment: a command line is for everybody on the machine to read.
    os.environ[VARIABLE] = run.dsn

    def command(index: int, file: Path) -> list[str]:
        words = ["worker", *plan.modules, "--child", f"{index}/{processes}", "--report", str(file)]
        for queue in queues:
            words += ["--queues", queue]
        if port is not None:
            words += ["--port", str(port)]
        if run.given.build:
            words += ["--build", run.given.build]
        if cells:
            words += ["--cells", ",".join(cells)]
            return child_command(words, replace(run.given, cell=cells[index % len(cells)]))
        return child_command(words, run.given)

    slots = ", ".join(f"{name}={count}" for name, count in plan.slots.items())
    count = len(plan.shares)
    where = f" in cells {', '.join(cells)}" if cells else ""
    run.out.note(f"{count} processes share {slots}{where}" if count > 1 else f"one process serves {slots}")
    grace = run.settings.worker.grace
    return Family(run.dsn, run.schema, command, len(plan.shares), grace=grace, told=run.out.note)


def _stored_queues(run: Run) -> Mapping[str, bool]:
    """The database's queues, and whether commands belong to them; none where it cannot be asked yet."""
    try:
        with run.connect() as conn:
            return bind.run(conn, serving_queues(schema=run.schema))
    except PostmillError:
        return {}


def _place(child: str | None) -> tuple[int, int | None]:
    if child is None:
        return 0, None
    index, _, count = child.partition("/")
    if not (index.isdigit() and count.isdigit()):
        raise CliError(f"--child {child!r} is not INDEX/COUNT")
    return int(index), int(count)
