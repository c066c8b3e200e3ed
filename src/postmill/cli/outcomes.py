"""What an act on several jobs did to each: one line and one exit code for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import typer
from rich.text import Text

from postmill.cli.exits import ExitCode
from postmill.cli.run import Run


@dataclass(frozen=True, slots=True)
class Told:
    """A status in words; `failed` and `missing` decide the exit code. `{new}` stands for the new job's id."""

    words: str
    failed: bool = False
    missing: bool = False


def report(run: Run, answers: Sequence[tuple[UUID, str, UUID | None]], meaning: Mapping[str, Told]) -> None:
    """Prints each answer (id, status, new id); exits 5 if a job was missing, 1 if one was refused, else 0."""
    told = [meaning.get(status, Told(status, failed=True)) for _, status, _ in answers]
    if run.out.as_json:
        run.out.document([dict(zip(("id", "status", "new_id"), answer, strict=True)) for answer in answers])
    else:
        for (job, _, new), words in zip(answers, told, strict=True):
            fine = not (words.failed or words.missing)
            text = words.words.format(new=new or "a job that is forgotten by now")
            run.out.console.print(
                Text.assemble((str(job), "bold"), "  ", (text, "green" if fine else "yellow"))
            )
    if any(words.missing for words in told):
        raise typer.Exit(ExitCode.NOT_FOUND)
    if any(words.failed for words in told):
        raise typer.Exit(ExitCode.FAILED)
