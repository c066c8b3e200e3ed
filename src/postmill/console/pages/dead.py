"""Dead letters: by cause, tenant and job type; and one after the other."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.api.paging import cursor_of, parts_of
from postmill.console.failures.replaying import wizard
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.pages.errors import named_tenant
from postmill.domain.access import Action
from postmill.domain.redaction import redacted_text
from postmill.store.console import tenant_slugs
from postmill.store.dead import read_dead_letters
from postmill.store.dead_groups import DeadGroup, read_dead_groups
from postmill.store.error_groups import ErrorGroupView, read_error_groups
from postmill.store.queues import read_letter_queues, read_queue_names
from postmill.store.tenants import TenantView

router = Pages()

GROUPS = 50
LETTERS = 50

DAY = timedelta(days=1)
AGES: dict[str, tuple[timedelta | None, timedelta | None]] = {
    "1h": (timedelta(hours=1), None),
    "24h": (DAY, timedelta(hours=1)),
    "7d": (7 * DAY, DAY),
    "older": (None, 7 * DAY),
}
"""Ages of letters: at most so old, and older than that."""


@router.page("/dead", Action.DEAD_READ)
async def dead(visit: Visit) -> Response:
    """What waits for an operator, by cause; with a filter that means letters, or `view=list`, the letters."""
    args = visit.args
    listed = args.one_of("view", ("list", "groups"), None)
    if listed is None:
        asked = any(args.text(name) for name in ("error_group", "reason", "age", "error_status"))
        listed = "list" if asked else "groups"
    tenant = await named_tenant(visit)
    return await (_letters(visit, tenant) if listed == "list" else _groups(visit, tenant))


async def _groups(visit: Visit, tenant: TenantView | None) -> Response:
    args = visit.args
    given = args.text("after", None)
    after = None if given is None else parts_of(given, int, str)
    await visit.moment()
    found = await visit.attempt(
        _("the groups"),
        read_dead_groups(
            tenant=None if tenant is None else tenant.id,
            job_type=args.text("type", None),
            queue=args.text("queue", None),
            after=None if after is None else (after[0], after[1]),
            most=GROUPS + 1,
            schema=visit.schema,
        ),
    )
    page = (found or [])[:GROUPS]
    queues = await _queues(visit)
    return visit.page(
        "dead.html",
        groups=page,
        replay=_replay(visit, page, queues),
        cut=found is None,
        ages=AGES,
        tenant=tenant,
        total=page[0].total if page else 0,
        filtered=bool(args.text("type") or args.text("queue") or args.text("tenant")),
        next=visit.same(after=cursor_of(*page[-1].position)) if len(found or []) > GROUPS else None,
        first=visit.same() if given else None,
    )


async def _letters(visit: Visit, tenant: TenantView | None) -> Response:
    args = visit.args
    given = args.text("after", None)
    before = None if given is None else parts_of(given, datetime.fromisoformat, UUID)
    age = args.one_of("age", AGES, None)
    now = await visit.moment()
    youngest, oldest = (None, None) if age is None else AGES[age]
    chosen: dict[str, Any] = {
        "error_group": args.text("error_group", None),
        "reason": args.text("reason", None),
        "job_type": args.text("type", None),
        "queue": args.text("queue", None),
        "error_status": args.whole("error_status", None, most=999),
    }
    found = await visit.read(
        read_dead_letters(
            **chosen,
            tenant=None if tenant is None else tenant.id,
            since=None if youngest is None else now - youngest,
            until=None if oldest is None else now - oldest,
            before=None if before is None else (before[0], before[1]),
            most=LETTERS,
            schema=visit.schema,
        )
    )
    slugs: dict[UUID, str] = {}
    if visit.scope.ops and found.letters:
        ids = list({letter.tenant_id for letter in found.letters})
        slugs = await visit.read(tenant_slugs(ids, schema=visit.schema))
    return visit.page(
        "letters.html",
        letters=[(letter, redacted_text(letter.error_message or "")) for letter in found.letters],
        slugs=slugs,
        group=await _group(visit, chosen["error_group"]),
        chosen=chosen,
        filtered=tenant is not None or age is not None or any(v is not None for v in chosen.values()),
        age=age,
        ages=AGES,
        tenant=tenant,
        queues=await queue_names(visit),
        wizard=_wizard(visit, chosen | {"queue": await _queues(visit)}, tenant, age),
        next=None if found.before is None else visit.same(after=cursor_of(*found.before)),
        first=visit.same() if given else None,
    )


async def _queues(visit: Visit) -> list[str] | None:
    """The queues that the filter means; None: it names none."""
    asked = visit.args.text("queue", None)
    return None if asked is None else await visit.read(read_letter_queues(asked, schema=visit.schema))


def _replay(visit: Visit, groups: list[DeadGroup], queues: list[str] | None) -> dict[str, str]:
    """Where each group can be replayed as a whole. Those without an error group have only a reason, which no query asks for."""
    return {
        one.key: wizard(
            visit,
            error=one.error_group,
            job_type=one.job_type,
            queue=queues,
            tenant=one.slug if visit.scope.ops else None,
        )
        for one in groups
        if one.error_group is not None and (one.slug is not None or not visit.scope.ops)
    }


def _wizard(visit: Visit, chosen: dict[str, Any], tenant: TenantView | None, age: str | None) -> str | None:
    """All that match, for the wizard; None where its query cannot ask for what the list asks."""
    if age is not None or chosen["reason"] is not None or chosen["error_status"] is not None:
        return None
    return wizard(
        visit,
        error=chosen["error_group"],
        job_type=chosen["job_type"],
        queue=chosen["queue"],
        tenant=None if tenant is None else tenant.slug,
    )


async def _group(visit: Visit, id: str | None) -> ErrorGroupView | None:
    if id is None:
        return None
    found = await visit.read(read_error_groups(id=id, most=1, schema=visit.schema))
    return found[0] if found else None


async def queue_names(visit: Visit) -> list[str]:
    """Queues that letters can be run from: the platform's to choose."""
    if not (visit.scope.ops and visit.may(Action.QUEUES_WRITE)):
        return []
    return [*await visit.read(read_queue_names(schema=visit.schema))]
