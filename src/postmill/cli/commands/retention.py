"""`postmill retention list | set | unset`: how long what is kept."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.ages import length
from postmill.cli.completion import complete_subject, complete_tenant
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.values import duration
from postmill.domain.retention import SUBJECTS
from postmill.operate import retention
from postmill.store.retention import RetentionRule

FOR_EVER = "forever"

Subject = Annotated[
    str,
    typer.Argument(metavar="SUBJECT", help="As retention list shows them.", autocompletion=complete_subject),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", metavar="TENANT", help="Of this tenant: slug or id.", autocompletion=complete_tenant
    ),
]
Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]


def list_(run: Run, tenant: Tenant = None) -> None:
    """List how long what is kept, and who says so."""
    with run.connect() as conn:
        found = drive(conn, retention.rules(tenant, schema=run.schema))
    run.out.show(
        found,
        lambda: table(
            ("subject", "kept for", "by", "what"),
            [(rule.subject, _kept(rule), _by(rule, tenant), SUBJECTS[rule.subject]) for rule in found],
            right=("kept for",),
        ),
    )


def set_(
    run: Run,
    subject: Subject,
    time: Annotated[str, typer.Argument(metavar="TIME", help=f"90d, 12h …, or {FOR_EVER}.")],
    tenant: Tenant = None,
    reason: Reason = None,
) -> None:
    """Keep something for another time, of everybody or of one tenant; workers carry it out within minutes."""
    seconds = None if time == FOR_EVER else duration(time, "TIME")
    with run.connect() as conn:
        rule = run.act(
            conn, retention.set_rule(subject, seconds, tenant=tenant, reason=reason, schema=run.schema)
        )
    _show(run, rule)


def unset(run: Run, subject: Subject, tenant: Tenant = None, reason: Reason = None) -> None:
    """Take such a rule back: what the settings say, or everybody's rule, holds again."""
    with run.connect() as conn:
        rule = run.act(conn, retention.unset_rule(subject, tenant=tenant, reason=reason, schema=run.schema))
    _show(run, rule)


def _show(run: Run, rule: RetentionRule) -> None:
    if run.out.as_json:
        run.out.document(rule)
    else:
        run.out.say(f"{SUBJECTS[rule.subject]}: kept for {_kept(rule)}, by {_by(rule, None)}")


def _kept(rule: RetentionRule) -> str:
    return FOR_EVER if rule.keep_seconds is None else length(rule.keep_seconds)


def _by(rule: RetentionRule, tenant: str | None) -> str:
    return f"{rule.source} (everybody's)" if tenant is not None and rule.common else rule.source
