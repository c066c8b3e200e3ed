"""A bar on the terminal for what takes its time; nothing where nobody looks, or where it is soon over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)

from postmill.cli.output import Output
from postmill.cli.text import plain
from postmill.store.flow import Flow

T = TypeVar("T")

LEAST = 8 << 20
"""Bytes below which no bar is worth it."""


@contextmanager
def moving(out: Output, name: str, size: int) -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how many bytes more have been moved, of `size` in all."""
    if size < LEAST or not out.side.is_terminal:
        yield lambda moved: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=out.side, transient=True) as bar:
        task = bar.add_task(plain(name), total=size)
        yield lambda moved: bar.advance(task, moved)


@contextmanager
def counting(out: Output, name: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Gives a function that is told how many more of `total` are done, and what comes next."""
    if total < 2 or not out.side.is_terminal:
        yield lambda done, text: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Progress(*columns, console=out.side, transient=True) as bar:
        task = bar.add_task(plain(name), total=total, text="")
        yield lambda done, text: bar.update(task, advance=done, text=plain(text))


@contextmanager
def tallying(out: Output, name: str) -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how many more are done, where nobody knows of how many."""
    if not out.side.is_terminal:
        yield lambda done: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed:,.0f}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out.side, transient=True) as bar:
        task = bar.add_task(plain(name), total=None)
        yield lambda done: bar.advance(task, done)


@contextmanager
def staging(out: Output, name: str, stages: Sequence[str]) -> Iterator[Callable[[str, str], None]]:
    """Gives a function that is told at which of some stages the work is, and what is being done just now."""
    if not out.side.is_terminal:
        yield lambda stage, text: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out.side, transient=True) as bar:
        task = bar.add_task(plain(name), total=len(stages), text="")
        yield lambda stage, text: bar.update(task, completed=stages.index(stage), text=plain(text))


def overseen(flow: Flow[T], seen: Callable[[Any], object]) -> Flow[T]:
    """The same flow; `seen` gets the answer to each of its steps."""
    answer: Any = None
    while True:
        try:
            step = flow.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        answer = yield step
        seen(answer)
