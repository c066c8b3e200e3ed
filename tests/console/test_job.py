"""The page of one job: what it tells, what it hides, what it does, and how it bears what is far too large."""

from __future__ import annotations

import html
import json
import time
from typing import Any
from uuid import UUID

import httpx
import pytest

from postmill.domain.access import Role
from tests.console.harness import Console

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOLDER = UUID(int=77)
MESSAGE = "<b>no</b> token=abcdefgh"
STACK = (
    "Traceback (most recent call last):\n"
    '  File "/app/site-packages/lib/base.py", line 1, in run\n    await it\n'
    '  File "/app/shop/charge.py", line 7, in charge\n    raise TimeoutError("<b>no</b>")\n'
    "TimeoutError: <b>no</b>\n"
)


async def enqueue(console: Console, job_type: str, payload: str, tenant: UUID, **options: Any) -> UUID:
    extra = "".join(f", {name} => %s" for name in options)
    rows = await console.api.rows(
        f"select postmill.enqueue(%s, %s::jsonb, tenant => %s{extra})",
        job_type,
        payload,
        tenant,
        *options.values(),
    )
    return UUID(str(rows[0][0]))


async def ended(
    console: Console, job: UUID, tenant: UUID, *, attempts: int = 1, stack: str = STACK, out: str = ""
) -> None:
    """A dead letter after so many attempts."""
    owner = console.api.owner
    await owner.execute(
        """insert into postmill.attempt (job_id, tenant_id, attempt, run, holder, claim_no, started_at, finished_at, status,
                  error_class, error_message, error_group, stack, stdout_tail)
           select %s, %s, n, n, %s, n, s.at, s.at + interval '1 s', 'failed', 'TimeoutError', %s, '00000000000000aa', %s, %s
             from generate_series(1, %s) n cross join lateral (select postmill.now() - (%s - n) * interval '2 s') s(at)""",
        [job, tenant, HOLDER, MESSAGE, stack, out, attempts, attempts],
    )
    await owner.execute(
        """with gone as (delete from postmill.ready where id = %s returning *)
           insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, attempts,
                  failed_at, last_attempt_at, error_class, error_message, error_group)
           select id, %s, queue, lane, priority, %s, %s, 0, 'max_retries_exceeded', %s, postmill.now(), postmill.now(),
                  'TimeoutError', %s, '00000000000000aa' from gone""",
        [job, tenant, attempts, attempts, attempts, MESSAGE],
    )


async def act(client: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    page = await client.get(path)
    token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    return await client.post(f"{path}/act", data={"csrf": token, "back": path, **fields})


async def test_what_it_tells_and_what_it_does(console: Console) -> None:
    acme = await console.api.tenant("acme")
    await console.api.define("charge", max_attempts=5, retry={"kind": "steps", "delays": [10, 60, 600]})
    payload = '{"n": 9007199254740993, "price": 1.10, "password": "hunter2", "text": "\\u202eevil\\u001b[31m <script>x</script>"}'
    job = await enqueue(console, "charge", payload, acme, key="order-4711", correlation_id='a "b"')
    client = await console.browser()
    path = f"/ops/jobs/{job}"
    waits = await client.get(path)
    assert waits.status_code == 200, waits.text
    assert waits.headers["cache-control"] == "no-store"
    plain = html.unescape(waits.text)
    for text in (
        "charge", "@v1", "No live worker serves", "9007199254740993", "1.10", "[redacted]", "\\u202eevil\\u001b[31m",
        "order-4711", "It holds its key.", "10 s", "It has not run yet", "Policy in force",
        "q=correlation%3A%22a+%5C%22b%5C%22%22",
    ):  # fmt: skip
        assert text in plain, text
    assert "hunter2" not in waits.text
    assert "<script>x" not in waits.text
    assert "\u202e" not in waits.text
    for fields, said in (
        ({"act": "priority", "priority": "5"}, "It is changed."), ({"act": "priority", "priority": "5"}, "It was so already."),
        ({"act": "run_at", "run_at": "2099-01-01T10:00"}, "It is changed."), ({"act": "retry"}, "Its next attempt is due."),
    ):  # fmt: skip
        answer = await act(client, path, **fields)
        assert answer.status_code == 303, answer.text
        assert said in (await client.get(path)).text, fields
    assert (await act(client, path, act="cancel")).status_code == 422
    await ended(console, job, acme, attempts=3)
    dead = html.unescape((await client.get(path)).text)
    for text in ("Dead since", "after 3 attempts", "last error TimeoutError", "1 frame of a library", "Attempt 3",
                 "Waits and attempts", "Replay…", "Edit and replay…", "Discard…"):  # fmt: skip
        assert text in dead, text
    assert "token=abcdefgh" not in dead
    assert "<b>no</b>" not in (await client.get(path)).text
    again = await act(client, path, act="replay")
    new = again.headers["location"]
    assert new.startswith("/ops/jobs/")
    assert new != path
    assert "It runs again as a new job." in (await client.get(new)).text
    old, fresh = (await client.get(path)).text, (await client.get(new)).text
    assert "Replayed as" in old
    assert f'href="{new}"' in old
    assert "replayed as a new job: queued" in old
    assert "Discard…" not in old
    assert "Replay of" in fresh
    assert f'href="{path}"' in fresh
    part = await client.get(path, params={"_part": "head"})
    assert "<html" not in part.text
    assert (await act(client, new, act="cancel", reason="enough")).status_code == 303
    assert "Canceled at" in (await client.get(new)).text


async def test_who_sees_what(console: Console) -> None:
    acme, _other = await console.api.tenant("acme"), await console.api.tenant("other")
    await console.api.define("charge", max_attempts=5)
    job = await enqueue(console, "charge", '{"n": 4242424242}', acme)
    viewer = await console.browser(Role.VIEWER, "acme")
    page = await viewer.get(f"/t/acme/jobs/{job}")
    assert "Your role may not read payloads." in page.text
    assert "4242424242" not in page.text
    assert "Cancel…" not in page.text
    for what in ("text", "file"):
        assert (await viewer.get(f"/t/acme/jobs/{job}/{what}?what=payload")).status_code == 403
    token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    assert (
        await viewer.post(f"/t/acme/jobs/{job}/act", data={"csrf": token, "act": "cancel", "reason": "x"})
    ).status_code == 403
    stranger = await console.browser(Role.OPERATOR, "other")
    for path in (
        f"/t/other/jobs/{job}",
        f"/t/other/jobs/{job}/text?what=payload",
        f"/t/other/jobs/{job}/file?what=payload",
    ):
        answer = await stranger.get(path)
        assert answer.status_code == 404, path
        assert "charge" not in answer.text
    operator = await console.browser(Role.OPERATOR, "acme")
    assert "Move to a queue" not in (await operator.get(f"/t/acme/jobs/{job}")).text
    gone = await operator.get("/t/acme/jobs/0190a000-0000-7000-8000-000000000000")
    assert gone.status_code == 404
    assert "data older than retention" in gone.text
    assert (
        "Nothing that was enqueued here can have this id"
        in (await operator.get(f"/t/acme/jobs/{UUID(int=5)}")).text
    )


async def test_what_is_far_too_large(console: Console) -> None:
    """Arguments of 5 MB in one line, 200,000 keys, an error of 1 MB, 100,000 lines of output, 1,000 attempts (case 103)."""
    acme = await console.api.tenant("acme")
    await console.api.define("charge", max_attempts=5)
    client = await console.browser()
    line = await enqueue(console, "charge", json.dumps({"line": "x" * 5_000_000}), acme)
    keys = await enqueue(console, "charge", json.dumps({f"k{n}": n for n in range(200_000)}), acme)
    lines = "".join(f"line {n}\n" for n in range(100_000))
    await ended(console, line, acme, attempts=3, stack="E" * 1_000_000, out=lines)
    await ended(console, keys, acme, attempts=1000)
    for job in (line, keys):
        began = time.process_time()
        page = await client.get(f"/ops/jobs/{job}")
        took = time.process_time() - began
        assert page.status_code == 200
        assert len(page.text) < 400_000
        assert took < 1.0, took  # of the processor: the machine may do other things, too
        assert "Show all, in parts" in page.text
        assert "Download" in page.text
    assert "Older" in page.text  # 1,000 attempts, ten at a time
    second = await client.get(f"/ops/jobs/{keys}", params={"below": 991})
    assert 'id="attempt-990"' in second.text
    assert 'id="attempt-991"' not in second.text
    text = await client.get(f"/ops/jobs/{line}/text", params={"what": "stdout", "run": 3, "from": 65536})
    assert "characters 65,536 to 131,072" in text.text
    whole = await client.get(f"/ops/jobs/{line}/file", params={"what": "stdout", "run": 3})
    assert whole.text == lines
    assert whole.headers["content-disposition"].startswith("attachment;")
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["cache-control"] == "no-store"
    given = await client.get(f"/ops/jobs/{line}/file", params={"what": "payload"})
    assert json.loads(given.text) == {"line": "x" * 5_000_000}
    deep = await enqueue(console, "charge", '{"a": 1}', acme)
    await console.api.owner.execute(
        "update postmill.job set payload = (repeat('[', 3000) || repeat(']', 3000))::jsonb where id = %s",
        [deep],
    )
    page = await client.get(f"/ops/jobs/{deep}")
    assert page.status_code == 200
