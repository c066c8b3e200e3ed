"""What a caller does with each operation, one after the other on one server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from postmill.domain.access import Role
from postmill.http import (
    AsyncApiClient,
    DefinitionChanges,
    JobError,
    LetterSelection,
    LimitRate,
    NewDefinition,
    NewLimit,
    NewTenant,
    NewTrigger,
    TenantChanges,
    TriedTrigger,
    TriggerChanges,
    WaitingJobs,
    WorkProgress,
)
from postmill.http.errors import Conflict, NotFound, Refused
from postmill.shapes.jobs import ReplayedJob
from postmill.shapes.workers import Worker
from tests.support.api import Api


async def the_server_itself(admin: AsyncApiClient) -> None:
    assert (await admin.health.alive()).alive
    assert (await admin.health.ready()).ready
    assert "# TYPE" in await admin.health.metrics()
    found = await admin.health.doctor(only=["server", "workers"])
    assert [(one.check, one.level) for one in found.checks] == [("server", "ok"), ("workers", "warn")]
    assert (await admin.openapi())["openapi"] == "3.1.0"
    assert (await admin.whoami()).role is Role.SUPER_ADMIN


async def what_goes_on(admin: AsyncApiClient) -> None:
    found = await admin.workers.top(sort="queued", limit=3)
    assert (found.running, found.incidents) == ([], [])


async def tenants_and_projects(admin: AsyncApiClient) -> None:
    made = await admin.tenants.create(NewTenant(slug="mill", name="The mill", max_running=7))
    assert (made.max_running, made.timezone) == (7, "UTC")
    changed = await admin.tenants.change("mill", TenantChanges(max_running=None))
    assert (changed.max_running, changed.name) == (None, "The mill")
    assert await admin.tenants.get(made.id) == changed
    assert changed in (await admin.tenants.list()).items
    project = await admin.tenants.create_project("mill", "flour", name="Flour")
    assert [one async for one in admin.tenants.each_project(made.id)] == [project]


async def cells(admin: AsyncApiClient) -> None:
    """One of the two is away: what is asked of the directory is answered."""
    found = (await admin.cells.list()).items
    assert [(one.name, one.directory, one.state) for one in found] == [
        ("a", True, "answers"),
        ("b", False, "away"),
    ]
    assert [(one.tenant, one.cell) async for one in admin.cells.each_tenant(lives_in="a")] == [("mill", "a")]
    assert (await admin.cells.where("mill")).moving_to is None
    with pytest.raises(NotFound, match="no cell 'c'"):
        await admin.cells.preview("mill", "c")
    with pytest.raises(NotFound, match="no cell 'c'"):
        await admin.cells.move("mill", "c", reason="closer")
    assert (await admin.cells.moves()).items == []
    for act in (admin.cells.show, admin.cells.resume, admin.cells.abort):
        with pytest.raises(NotFound, match="no move"):
            await act(UUID(int=7))


async def keys_and_logins(admin: AsyncApiClient, api: Api) -> None:
    end = datetime.now(UTC) + timedelta(days=1)
    made = await admin.keys.create("nightly", Role.OPERATOR, tenant="mill", expires_at=end)
    assert made.key.startswith(made.prefix)
    assert made.expires_at == end
    assert made.id in {one.id async for one in admin.keys.each(live=True)}
    assert (await admin.keys.revoke(made.id, reason="done")).status == "revoked"
    assert made.id not in {one.id for one in (await admin.keys.list(live=True)).items}
    browser = await api.client(Role.OPERATOR)
    await browser.post("/session", json={"token": await api.key(Role.OPERATOR, "acme")})
    (login,) = (await admin.keys.logins()).items
    assert (await admin.keys.end_login(login.id)).id == login.id


async def definitions(admin: AsyncApiClient) -> None:
    made = await admin.definitions.create(
        NewDefinition(key="thumb", kind="http", queue="media/big", max_attempts=3, on_exhausted="dead_letter")
    )
    edited = await admin.definitions.edit(made.id, DefinitionChanges(priority=5, version=made.version))
    assert (edited.priority, edited.max_attempts) == (5, 3)
    assert (await admin.definitions.edit(made.id, DefinitionChanges(max_attempts=None))).max_attempts != 3
    assert (await admin.definitions.get(made.id)).key == "thumb"
    assert [one.key async for one in admin.definitions.each(kind="http", is_active=True)] == ["thumb"]
    assert [one.version for one in (await admin.definitions.versions(made.id)).items] == [3, 2, 1]
    paused = await admin.definitions.pause("thumb", reason="moving")
    assert (await admin.definitions.paused()).items == [paused]
    await admin.definitions.resume("thumb")
    assert (await admin.definitions.paused()).items == []


async def jobs(admin: AsyncApiClient) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    made = await admin.jobs.enqueue(
        "thumb", {"photo": UUID(int=7), "at": later}, priority=3, scheduled_for=later, dedupe_key="photo:7"
    )
    assert made.status == "scheduled"
    job = await admin.jobs.get(made.id)
    assert job.payload == {"photo": str(UUID(int=7)), "at": later.isoformat().replace("+00:00", "Z")}
    assert (job.priority, job.scheduled_for, job.dedupe_key) == (3, later, "photo:7")
    assert (await admin.jobs.enqueue("thumb", dedupe_key="photo:7")).id == made.id
    assert [one.job_id async for one in admin.jobs.each_idempotency_key(key="photo:7")] == [made.id]
    listed = await admin.jobs.list(
        status="scheduled",
        definition_key="thumb",
        created_before=later,
        created_after=job.queued_at - timedelta(1),
    )
    assert [one.id for one in listed.items] == [made.id]
    assert (await admin.jobs.attempts(made.id)).items == []
    assert (await admin.jobs.summary()).counts_by_status.scheduled == 1
    assert (await admin.jobs.why(made.id)).reasons
    assert (await admin.jobs.envelope(made.id)).idempotency_key == "photo:7"
    assert (await admin.jobs.prioritize(made.id, 9)).changed
    done = await admin.jobs.prioritize_all(8, WaitingJobs(status="scheduled", created_before=later))
    assert (done.changed, done.next) == (1, None)
    assert (await admin.jobs.tag(made.id, add=["vip", "late"])).changed
    assert not (await admin.jobs.tag(made.id, add=["vip"], remove=["old"])).changed
    assert (await admin.jobs.get(made.id)).tags == ["late", "vip"]
    assert (await admin.jobs.cancel(made.id, reason="no more")).status == "canceled"
    again = await admin.jobs.retry(made.id)
    assert isinstance(again, ReplayedJob)
    assert again.replayed_from == made.id
    await admin.jobs.cancel(again.id)


async def work_artifacts_and_dead_letters(
    admin: AsyncApiClient, worker: AsyncApiClient, tmp_path: Path
) -> None:
    for photo in (1, 2):
        await admin.jobs.enqueue("thumb", {"photo": photo}, correlation_id="c-1")
    good, bad = (await worker.work.claim("w-1", job_types=["thumb"], max_jobs=2, wait_seconds=1)).jobs
    lease = await worker.work.heartbeat(good.job_id, good.fence, progress=WorkProgress(done=1, total=2))
    assert not lease.cancel_requested
    (session,) = [one async for one in admin.workers.each(seen_within_seconds=60)]
    await _worker(admin, session)
    await _artifacts(admin, worker, good.job_id, good.fence, tmp_path)
    assert (await worker.work.complete(good.job_id, good.fence, {"bytes": 3})).status == "succeeded"
    failed = await worker.work.fail(bad.job_id, bad.fence, JobError(error_class="E", retryable=False))
    assert failed.status == "dead_letter"

    (letter,) = (await admin.dead_letters.list(definition_key="thumb")).items
    assert (await admin.dead_letters.get(letter.id)).payload == bad.payload
    replayed = await admin.dead_letters.replay(letter.id, payload={"photo": 3})
    (held,) = (await worker.work.claim("w-1", queues=["media/big"])).jobs
    assert (held.job_id, held.payload) == (replayed.id, {"photo": 3})
    await worker.work.fail(held.job_id, held.fence, JobError(error_class="E", retryable=False))
    assert (await admin.dead_letters.statistics()).by_definition[0].name == "thumb"
    assert (await admin.dead_letters.recovery_rules()).items == []
    await _operations(admin, held.job_id)
    assert (await admin.dead_letters.discard(held.job_id, reason="known")).status == "failed"


async def _operations(admin: AsyncApiClient, letter: UUID) -> None:
    chosen = LetterSelection(definition_key="thumb")
    assert [one.id for one in (await admin.operations.preview(chosen)).sample] == [letter]
    begun = await admin.operations.start("replay", chosen, rate=0.5, canary=1, reason="mended")
    assert (begun.total, begun.stage, begun.filter) == (1, "canary", {"job_type": "thumb"})
    assert (await admin.operations.pause(begun.id, reason="not yet")).pause_reason == "not yet"
    assert (await admin.operations.resume(begun.id)).status == "running"
    assert (await admin.operations.abort(begun.id)).status == "aborted"
    assert [one.id async for one in admin.operations.each()] == [begun.id]
    assert (await admin.operations.list(open=True)).items == []
    assert (await admin.operations.get(begun.id)).results == {}
    (left,) = [one async for one in admin.operations.each_letter(begun.id, status="waiting")]
    assert (left.job_id, left.new_id) == (letter, None)
    met = await admin.operations.impact("discard", query="state:dead_letter type:thumb")
    assert (met.count, met.complete, met.fit, met.by_type[0].job_type) == (1, True, 1, "thumb"), met
    begun = await admin.operations.start(
        "priority", ids=[letter], priority=7, start_at=datetime.now(UTC) + timedelta(days=1), fair=True
    )
    assert (begun.kind, begun.filter, begun.priority, begun.fair) == (
        "priority",
        {"ids": [str(letter)]},
        7,
        True,
    )
    await admin.operations.abort(begun.id)
    with pytest.raises(Conflict):
        await admin.operations.approve(begun.id)


async def _worker(admin: AsyncApiClient, session: Worker) -> None:
    assert session.worker_id == "w-1"
    assert await admin.workers.get(session.id) is not None
    assert len((await admin.workers.jobs(session.id)).items) == 2
    for ask in (admin.workers.drain, admin.workers.resume, admin.workers.stop):
        with pytest.raises(Conflict):
            await ask(session.id, reason="of a program, which asks for jobs by itself")
    with pytest.raises(Conflict):
        await admin.workers.rescue(session.id)


async def _artifacts(
    admin: AsyncApiClient, worker: AsyncApiClient, job_id: UUID, fence: str, folder: Path
) -> None:
    large, copy = folder / "large.bin", folder / "copy.bin"
    large.write_bytes(bytes(range(256)) * 1000)
    made = await worker.work.put_artifact(job_id, "a b.csv", b"a,b\n", fence=fence, content_type="text/csv")
    assert (made.name, made.size, made.content_type) == ("a b.csv", 4, "text/csv")
    second = await worker.work.put_artifact(job_id, "large.bin", large, fence=fence, expires_in=3600)
    assert [one async for one in admin.artifacts.each(job_id, limit=1)] == [made, second]
    assert await admin.artifacts.get(made.id) == made
    assert await admin.artifacts.read(made.id) == b"a,b\n"
    assert await worker.work.read_artifact(job_id, made.id, fence=fence) == b"a,b\n"
    await worker.work.save_artifact(copy, job_id, second.id, fence=fence)
    await admin.artifacts.save(copy, second.id)
    assert await asyncio.to_thread(copy.read_bytes) == large.read_bytes()
    assert sorted(one.name for one in folder.iterdir()) == ["copy.bin", "large.bin"]
    await admin.artifacts.delete(made.id, reason="small")


async def stats_and_errors(admin: AsyncApiClient, api: Api) -> None:
    await api.owner.execute(
        """insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, first_at, last_at, n)
           values ('5f2ab8c01d3e4f67', '00000000-0000-0000-0000-000000000001', 'mill', 'OSError', '', '', now(), now(), 3)"""
    )
    await api.owner.execute("select postmill.fold_error_groups(10)")
    (cause,) = (await admin.errors.list(definition_key="mill")).items
    assert cause in [one async for one in admin.errors.each()]
    whole = await admin.errors.get(cause.id)
    assert (whole.count, whole.affected[0].count) == (3, 3)
    until = datetime.now(UTC) + timedelta(days=1)
    ignored = await admin.errors.ignore(cause.id, until, reason="known")
    assert (ignored.status, ignored.ignored_until) == ("ignored", until)
    assert (await admin.errors.resolve(cause.id, version=7)).resolved_version == 7
    assert (await admin.errors.list(status="resolved")).items[0].id == cause.id
    assert (await admin.errors.reopen(cause.id)).status == "new"
    await admin.errors.note(cause.id, "the disk is full")
    assert [one.text for one in (await admin.errors.notes(cause.id)).items] == ["the disk is full"]
    (told,) = (await admin.errors.export_tenants(cause.id)).items
    assert (told.slug, told.count, told.dead_letters) == ("default", 3, 0)
    happened = (await admin.stats(by="queue", bucket_seconds=60)).items
    assert sum(one.counts.get("succeeded", 0) for one in happened) >= 1


async def queues(admin: AsyncApiClient) -> None:
    until = datetime.now(UTC) + timedelta(days=1)
    paused = await admin.queues.pause("media/big", reason="slow", resume_at=until)
    assert (paused.paused, paused.resume_at, paused.pause_reason) == (True, until, "slow")
    assert await admin.queues.get("media/big") == paused
    scaling = await admin.queues.scaling("media/big", slots_each=4, least=2)
    assert (scaling.queue, scaling.paused, scaling.because, scaling.desired_workers) == (
        "media/big",
        True,
        "least",
        2,
    )
    assert "media/big" in {one.queue for one in (await admin.queues.all_scaling(most=1)).items}
    assert not (await admin.queues.resume("media/big")).paused
    assert "media/big" in {one.name for one in (await admin.queues.list()).items}
    rate = LimitRate(count=10, seconds=60)
    made = await admin.limits.set("queue:media/big/tenant", NewLimit(max_running=3, rate=rate, reason="slow"))
    assert (made.queue, made.per, made.max_running, made.edited) == ("media/big", ["tenant"], 3, True)
    found = await admin.limits.get("queue:media/big/tenant")
    assert (found.rate, found.running, found.fullest) == (LimitRate(count=10, seconds=60, burst=10), 0, [])
    assert made.name in {one.name async for one in admin.limits.each()}
    await admin.limits.clear(made.name, reason="fast again")
    assert [one.name for one in (await admin.limits.list()).items] == []


async def incidents(admin: AsyncApiClient, api: Api) -> None:
    await api.rows(
        "select postmill.raise_incident('budget', k, 'warning', 'spent ' || k, '{\"share\": 0.9}') from unnest(%s::text[]) k",
        ["a", "b"],
    )
    second, first = (await admin.incidents.list(status="live", kind="budget")).items
    assert (first.title, first.status, first.facts) == ("spent a", "open", {"share": 0.9})
    taken = await admin.incidents.acknowledge(first.id, reason="we look")
    assert (taken.status, taken.note) == ("acknowledged", "we look")
    assert (await admin.incidents.resolve(second.id)).status == "resolved"
    whole = await admin.incidents.get(first.id)
    assert (whole.notifications, whole.job_ids, whole.acknowledged_by) == ([], [], taken.acknowledged_by)
    assert [one.id async for one in admin.incidents.each(status="resolved", limit=1)] == [second.id]


async def triggers_events_and_webhooks(admin: AsyncApiClient) -> None:
    nightly = NewTrigger(label="n", trigger_type="schedule", cron_expr="0 2 * * *", definition_key="thumb")
    tried = TriedTrigger(**nightly.model_dump(exclude_unset=True))
    assert len((await admin.triggers.preview(tried, count=3)).next_runs) == 3
    saved = await admin.triggers.create(nightly)
    assert len((await admin.triggers.next_runs(saved.id, count=2)).items) == 2
    assert (await admin.triggers.ticks(saved.id)).items == []
    until = datetime.now(UTC)
    since = until - timedelta(days=2)
    plan = await admin.triggers.plan_backfill(saved.id, since, until)
    assert (len(plan.due), plan.kept, plan.problem) == (2, 0, None)
    done = await admin.triggers.backfill(saved.id, since, until, reason="a flood")
    assert [one.outcome for one in done.items] == ["enqueued", "enqueued"]
    assert (await admin.triggers.plan_backfill(saved.id, since, until)).kept == 2
    changed = await admin.triggers.change(saved.id, TriggerChanges(cron_expr=None, every="15m"))
    assert changed.every_seconds == 900
    assert (await admin.triggers.get(saved.id)).every_seconds == 900
    ran = await admin.triggers.run(saved.id, traceparent=f"00-{'a' * 32}-{'b' * 16}-01")
    assert (await admin.jobs.get(ran.job_id)).traceparent
    await admin.triggers.remove(saved.id)
    assert [one async for one in admin.triggers.each(trigger_type="schedule", is_enabled=True)] == []

    waiting = await admin.triggers.create(
        NewTrigger(label="e", trigger_type="event", event_name="made", definition_key="thumb")
    )
    published = await admin.events.publish("made", {"n": 1}, correlation_id="c-9")
    assert [one.outcome for one in published.deliveries] == ["enqueued"]
    assert (await admin.events.get(published.id)).context == {"n": 1}
    assert [one.id async for one in admin.events.each(correlation_id="c-9")] == [published.id]
    (delivery,) = (await admin.events.deliveries(published.id)).items
    assert [one async for one in admin.triggers.each_delivery(waiting.id)] == [delivery]

    hook = await admin.webhooks.create("Dropbox", "made")
    assert (await admin.webhooks.rotate(hook.id)).secret != hook.secret
    assert not (await admin.webhooks.change(hook.id, is_enabled=False)).is_enabled
    assert (await admin.webhooks.get(hook.id)).label == "Dropbox"
    assert [one.id async for one in admin.webhooks.each()] == [hook.id]
    await admin.webhooks.remove(hook.id)


async def what_happened(admin: AsyncApiClient) -> None:
    log = [one.action async for one in admin.audit.each_logged(limit=50)]
    assert {"keys.revoke", "queues.pause"} <= {*log}
    page = await admin.audit.history(kind="audit", limit=1)
    assert page.resume
    assert [one async for one in admin.audit.each(event=["no.such"])] == []


async def retention_and_archive(admin: AsyncApiClient) -> None:
    """Without an archive; what is in one is read elsewhere."""
    rule = await admin.retention.set("audit", None, reason="for ever")
    assert (rule.keep_seconds, rule.source) == (None, "operator")
    assert {one.subject: one for one in (await admin.retention.list()).items}["audit"] == rule
    assert (await admin.retention.unset("audit")).source == "default"
    with pytest.raises(Refused, match="did you mean"):
        await admin.retention.set("audits", 3600)
    assert (await admin.archive.list(source="job", status="archived")).items == []
    assert [one async for one in admin.archive.each()] == []
    with pytest.raises(NotFound):
        await admin.archive.job(UUID(int=7))
    assert (await admin.archive.switch(True, reason="try")).required
    assert (await admin.archive.state()).waiting == 0
    assert not (await admin.archive.switch(False)).required
