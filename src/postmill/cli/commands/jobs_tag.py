"""`postmill jobs tag`: words by which jobs are found again."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.cli.commands.jobs_act import Ids
from postmill.cli.completion import complete_tag
from postmill.cli.errors import CliError
from postmill.cli.lookups import find_ids
from postmill.cli.outcomes import Told, report
from postmill.cli.run import Run
from postmill.cli.who import who
from postmill.operate import commands


def tag(
    run: Run,
    ids: Ids,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG", help="A tag that they get; may be repeated.", autocompletion=complete_tag
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG", help="One that is taken away; may be repeated.", autocompletion=complete_tag
        ),
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the audit log.")] = None,
) -> None:
    """Give jobs tags, and take others away, whatever state they are in; all that a query finds: postmill operations start tag."""
    meaning = {
        "changed": Told("tagged"),
        "unchanged": Told("was tagged so already"),
        "full": Told("would have more than 8 tags; take some away with --remove", failed=True),
        "unknown": Told("no such job", missing=True),
    }
    words = [*(add or []), *(f"-{one}" for one in remove or [])]
    if not words:
        raise CliError("give --add or --remove", "postmill jobs tag 0198f3a2-7c11-7abc --add vip")
    with run.connect() as conn:
        whole = find_ids(conn, run.schema, ids)
        answers = run.act(conn, commands.tag(whole, words, reason=reason, actor_id=who(), schema=run.schema))
    report(run, [(answer.id, answer.status, None) for answer in answers], meaning)
