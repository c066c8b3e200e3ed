"""Hostile texts (case 97): whatever leads to a page is followed, and everything that it shows or is asked stays text.

What a browser makes of the same pages is in test_browser.py; here it is each link, live part, file and answer of a form.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx
import pytest
import pytest_asyncio

from postmill.api.cookies import COOKIE, csrf_token
from postmill.console.frame import flash
from postmill.domain.access import Role
from tests.console.doors import ACTS, DOORS, PAGES, Door
from tests.console.harness import anybody
from tests.console.hostile import HOSTILE_TYPE, URL, VECTORS
from tests.console.hostile_world import BROKEN, OWN, World, hostile_world
from tests.console.reading import Read, faults
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEEDED = {"api_key.name", "artifact.name", "attempt.stack", "attempt.stderr_tail", "attempt.stdout_tail", "audit_log.after",
          "budget.name", "budget_request.reason", "dead_letter.error_message", "error_group.message", "error_group.mark_note",
          "event.context", "idempotency_key.key", "incident.title", "incident.note", "job.payload", "job.source_ref",
          "job_definition.description", "outcome.result", "outcome.stdout_tail", "progress.message", "queue.owner",
          "queue.runbook", "saved_view.name", "tenant.name", "trigger.label",
          "trigger.payload_template", "worker.worker_id"}  # fmt: skip
"""Where hostile texts must be, or nothing is shown by this module."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(console_database: Database) -> AsyncIterator[World]:
    async with hostile_world(console_database) as made:
        yield made


async def test_the_world_is_hostile(world: World) -> None:
    assert sorted(NEEDED - world.spoilt) == []


@pytest.mark.parametrize("role", [Role.SUPER_ADMIN, Role.TENANT_ADMIN])
async def test_every_link_leads_somewhere_and_everything_is_inert(world: World, role: Role) -> None:
    """From each page to all that it leads to; fields are asked hostile things; live parts are parts."""
    home = OWN if role is Role.TENANT_ADMIN else None
    client = await world.console.browser(role, home)
    todo = [world.path(door, OWN, world.own) for door in PAGES if home is None or not door.ops]
    seen: set[object] = set()
    shown = set()
    while todo:
        path = todo.pop()
        kind = kind_of(path)
        if kind is None or kind in seen:
            continue
        seen.add(kind)
        answer = await client.get(path)
        assert answer.status_code in (200, 303), (path, answer.status_code, answer.text[-500:])
        inert(answer, path)
        if not answer.headers.get("content-type", "").startswith("text/html") or not answer.text:
            continue
        read = Read(answer.text)
        shown |= {vector for vector in VECTORS if vector[:12] in read.text}
        todo += [link.partition("#")[0] for link in read.links if link.startswith("/")]
        for part, more in read.parts.items():
            if (kind[0], part) in seen:
                continue
            seen.add((kind[0], part))
            where = f"{path}{'&' if '?' in path else '?'}_part={part}&{more}"
            fragment = await client.get(where)
            assert fragment.status_code == 200, where
            assert "<html" not in fragment.text, where
            inert(fragment, where)
        for n, field in enumerate(dict.fromkeys(read.fields)):
            if (kind[0], field) not in seen:
                seen.add((kind[0], field))
                asked = f"{path.partition('?')[0]}?{urlencode({field: VECTORS[n % len(VECTORS)]})}"
                answer = await client.get(asked)
                assert answer.status_code in (200, 303, 403, 404, 422), (asked, answer.status_code)
                inert(answer, asked)
    assert len(shown) >= 8, f"hardly any hostile text was shown: {shown}"


def kind_of(path: str) -> tuple[Door, frozenset[str]] | None:
    """Pages of one route that are asked for with the same names are alike; None: no page of a scope."""
    parts = urlsplit(path)
    for pattern, door in PATTERNS:
        if pattern.fullmatch(parts.path):
            return door, frozenset(name for name, _ in parse_qsl(parts.query))
    return None


PATTERNS = [
    (re.compile(re.sub(r"{[^}:]*}", "[^/]+", door.path.replace("{slug}", "[^/]+"))), door)
    for door in sorted(PAGES, key=lambda door: "{" in door.path.removeprefix("/t/{slug}"))
]


def inert(answer: httpx.Response, where: object) -> None:
    """Nothing of it runs."""
    kind = answer.headers.get("content-type", "")
    assert answer.headers.get("x-content-type-options") == "nosniff", where
    if kind.startswith("text/html"):
        assert faults(answer.text) == [], where
        assert not re.search(r"mark.?49", answer.text), f"{where}: a template within a text was run"
    elif answer.content:
        attached = answer.headers.get("content-disposition", "").startswith("attachment")
        assert attached or kind.startswith(("application/json", "application/problem+json", "text/plain")), (
            where,
            kind,
        )


async def test_hostile_paths_names_and_messages(world: World) -> None:
    """Where there is no such thing, and what a cookie or a field says."""
    client = await world.console.browser()
    for n, door in enumerate(DOORS):
        evil = quote(VECTORS[n % len(VECTORS)], safe="")
        path = re.sub(r"{[^}]*}", evil, door.path.replace("{slug}", OWN))
        if path == door.path.replace("{slug}", OWN):
            continue
        answer = await client.request(
            door.method, path, data=secret(client) if door.method == "POST" else None
        )
        assert answer.status_code in (404, 422), (door.method, path, answer.status_code)
        inert(answer, path)
    for vector in VECTORS:
        nobody = anybody(world.console.api)
        for answer in (
            await nobody.get("/login", params={"next": vector}),
            await nobody.post("/login", data={"token": vector, "next": vector}),
            await nobody.get(f"/ops/jobs?q={quote(vector)}"),
            await client.get(f"/t/{quote(vector, safe='')}/jobs"),
        ):
            assert answer.status_code in (200, 303, 401, 404), answer.status_code
            assert "evil.test" not in answer.headers.get("location", "").partition("?")[0]
            inert(answer, vector)
        said = urlencode({"kind": vector, "message": vector})
        answer = await client.get(
            "/ops/system", headers={"Cookie": f"{cookies(client)}; {flash.COOKIE}={said}"}
        )
        assert faults(answer.text) == [], vector
        assert 'class="flash flash-done"' in answer.text


async def test_acts_with_hostile_fields(world: World) -> None:
    """On somebody's own things: whatever comes of it is text, and leads to a page of the scope."""
    broken = world.broken
    for role, home in ((Role.TENANT_ADMIN, BROKEN), (Role.SUPER_ADMIN, None)):
        client = anybody(world.console.api)
        await client.get(f"/login?token={await world.console.token(role, home)}")
        for n, door in enumerate(ACTS):
            if (home is not None and door.ops) or "{which}" in door.path or "/settings/" in door.path:
                continue  # tenants and logins that are ended would end the walk
            vector = VECTORS[n % len(VECTORS)]
            names = ("reason", "name", "text", "note", "label", "q", "query", "act", "queue", "for", "limit", "payload",
                     "back", "type", "cron_expr", "timezone", "event_name", "definition", "theme", "format", "args", "col",
                     "since")  # fmt: skip
            data = {
                **dict.fromkeys(names, vector),
                **secret(client),
                "id": str(broken.ids["dead"]),
                "act": "cancel",
            }
            path = world.path(door, BROKEN, broken)
            answer = await client.post(path, data=data)
            where = (role, path, answer.status_code)
            assert answer.status_code < 500, (*where, answer.text[-500:])
            inert(answer, where)
            if answer.status_code == 303:
                to = answer.headers["location"]
                assert to.startswith(("/ops", f"/t/{BROKEN}")), where
                inert(await client.get(to), to)


async def test_what_is_taken_away(world: World) -> None:
    """Files are attachments, and their cells begin no formula; whose they are is decided by the scope."""
    files = [door for door in ACTS if door.path.endswith(("/export", ".csv"))]
    assert len(files) >= 5
    for role, home in ((Role.SUPER_ADMIN, None), (Role.TENANT_ADMIN, OWN)):
        client = await world.console.browser(role, home)
        for door in files:
            if home is not None and door.ops:
                continue
            for form in ("csv", "ndjson"):
                path = world.path(door, OWN, world.own)
                answer = await client.post(
                    path, data={**secret(client), "format": form, "q": "", "args": "mark"}
                )
                assert answer.status_code == 200, (path, answer.status_code, answer.text[:300])
                assert answer.headers["content-disposition"].startswith("attachment"), path
                inert(answer, path)
                assert not re.search(r"(^|,)\"?[=+@\t]", answer.text, re.MULTILINE) or form == "ndjson", path
                if not door.ops:
                    assert [trace for trace in world.other.traces if trace in answer.text] == [], path
    assert HOSTILE_TYPE
    assert URL


def secret(client: httpx.AsyncClient) -> dict[str, str]:
    """What makes a form ours."""
    return {"csrf": csrf_token(client.cookies[COOKIE])}


def cookies(client: httpx.AsyncClient) -> str:
    """The client's jar."""
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())
