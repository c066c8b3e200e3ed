"""Waiting for a job before the eyes of a person: its state and progress on stderr while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from postmill import bind
from postmill.cli.lookups import Connection
from postmill.cli.output import Output
from postmill.cli.text import one_line
from postmill.client.waiting import wait
from postmill.domain.job import JobView
from postmill.store.flow import Pause


def watch(
    conn: Connection, schema: str, id: UUID, *, timeout: float | None, seen: Callable[[JobView], object]
) -> JobView:
    """`Client.wait`, calling `seen` with each look at the job. Raises what that raises."""
    flow = wait(schema, id, timeout=timeout)
    answer: Any = None
    while True:
        try:
            step = flow.send(answer)
        except StopIteration as end:
            job: JobView = end.value
            return job
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            answer = None
        else:
            answer = bind.step(conn, step)
            for job in answer:
                seen(job)


class Display:
    """A moving line on a terminal; elsewhere a line per change."""

    def __init__(self, out: Output, name: str) -> None:
        self._out = out
        self._name = name
        self._last = ""
        self._live: Progress | None = None
        if out.side.is_terminal:
            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(20),
                TextColumn("{task.fields[text]}", markup=False),
                TimeElapsedColumn(),
            )
            self._live = Progress(*columns, console=out.side, transient=True)
            self._task = self._live.add_task(f"{name} …", total=None, text="")

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, job: JobView) -> None:
        """Show the job as it is now."""
        attempt = f", attempt {job.attempt} of {job.max_attempts}" if job.attempt > 1 else ""
        state = f"{job.status}{attempt}"
        progress = job.progress
        if self._live is not None:
            self._live.update(
                self._task,
                description=f"{self._name} {state}",
                total=progress.total if progress else None,
                completed=progress.done if progress else 0,
                text=one_line(progress.text or "", 60) if progress else "",
            )
            return
        line = state
        if progress is not None:
            line += f" {progress.done:g}" + (f"/{progress.total:g}" if progress.total is not None else "")
            line += f" {progress.text}" if progress.text else ""
        if line != self._last and not job.finished:
            self._out.note(line)
        self._last = line
