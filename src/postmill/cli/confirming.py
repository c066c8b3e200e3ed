"""Reruns of jobs whose definition wants to be asked (`replay_class = ask`): --yes, or a question on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated
from uuid import UUID

import typer

from postmill.cli.run import Run
from postmill.store.jobs import Rerun

Yes = Annotated[
    bool,
    typer.Option(
        "--yes", "-y", metavar="", help="Do not ask, also where the definition says replay_class = ask."
    ),
]


def confirmed(
    run: Run, ids: Sequence[UUID], act: Callable[[Sequence[UUID], bool], list[Rerun]], yes: bool
) -> list[Rerun]:
    """What became of each: `act(ids, confirm)` once, and once more for what had to be asked and was agreed to."""
    answers = act(ids, yes)
    wanting = [answer.id for answer in answers if answer.status == "unconfirmed"]
    if not wanting or run.out.as_json or not sys.stdin.isatty():
        return answers
    n = len(wanting)
    question = (
        f"{n:,} of {len(answers):,} job{'' if n == 1 else 's'} must be asked about before a replay; replay?"
    )
    if not typer.confirm(question, err=True):
        return answers
    second = {answer.id: answer for answer in act(wanting, True)}
    return [second.get(answer.id, answer) for answer in answers]
