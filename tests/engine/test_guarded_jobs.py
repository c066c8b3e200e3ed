"""Before a guarded job runs: its organization is looked at again, its payload is opened; and nothing secret gets out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from postmill import Context, NewJob, aenqueue, job
from postmill.bind import adrive
from postmill.client.ruling import key_ring
from postmill.domain.encryption import KeyRing, new_key
from postmill.domain.errors import SettingsError
from postmill.operate import definitions
from postmill.operate.encryption import Rotated, rotate
from tests.support.databases import Database
from tests.support.programs import Programs, define
from tests.support.workers import state, until, working

Conn = AsyncConnection[Any]

ORG, OTHER, PROJECT = UUID(int=70), UUID(int=71), UUID(int=72)
WHOLE: dict[str, Any] = {
    "tenant": ORG, "actor_type": "user", "actor_id": "ann", "request_id": "req-1", "correlation_id": "corr-1"
}  # fmt: skip
OLD, NEW = f"old:{new_key()}", f"new:{new_key()}"


@pytest.fixture
def old_key(monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyRing]:
    monkeypatch.setenv("POSTMILL_ENCRYPTION__KEYS", json.dumps([OLD]))
    key_ring.cache_clear()
    yield KeyRing.of([OLD])
    key_ring.cache_clear()


async def orgs(conn: Conn) -> None:
    for id in (ORG, OTHER):
        await conn.execute("insert into postmill.tenant (id, slug, name) values (%s, %s, 'x')", [id, str(id)])
    await conn.execute(
        "insert into postmill.project (id, tenant_id, slug, name) values (%s, %s, 'p', 'P')", [PROJECT, OTHER]
    )


async def ends(conn: Conn, id: UUID, expected: str) -> str | None:
    async def there() -> bool:
        return await state(conn, id) == expected

    await until(there)
    cursor = await conn.execute("select error_message from postmill.job_state(array[%s])", [id])
    row = await cursor.fetchone()
    assert row is not None
    found: str | None = row[0]
    return found


async def test_the_organization_is_checked_again(database: Database, apg: Conn) -> None:
    """Seed 5: the org_id boundary is validated before execution."""
    await orgs(apg)
    ran: list[str] = []

    @job("scan", strict_envelope=True)
    async def scan(week: str, org_id: str | None = None) -> None:
        ran.append(week)

    async with working(database.dsn, scan):
        fine = await aenqueue(apg, scan.using(project=UUID(int=99), **WHOLE).new("fine", str(ORG)))
        foreign = await aenqueue(apg, scan.using(project=PROJECT, **WHOLE).new("foreign"))
        lying = await aenqueue(apg, scan.using(**WHOLE).new("lying", str(OTHER)))
        await ends(apg, fine.id, "succeeded")
        assert "belongs to another organization" in str(await ends(apg, foreign.id, "dead_letter"))
        assert "another org_id than the job's own" in str(await ends(apg, lying.id, "dead_letter"))
        gone = await aenqueue(apg, scan.using(delay=3600, **WHOLE).new("gone"))
        await apg.execute("delete from postmill.tenant where id = %s", [ORG])
        await apg.execute("select postmill.retry_jobs(array[%s])", [gone.id])
        assert "does not exist" in str(await ends(apg, gone.id, "dead_letter"))
    assert ran == ["fine"]


async def test_commands_have_organizations_too(
    database: Database, apg: Conn, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await orgs(apg)
    programs = Programs(tmp_path, monkeypatch)
    programs.make("scan")
    await define(apg, "scan", argv_template=["scan", "{tenant_id}"], strict_envelope=True)
    async with working(database.dsn):
        fine = await aenqueue(apg, NewJob.of("scan", **WHOLE))
        await ends(apg, fine.id, "succeeded")
        foreign = await aenqueue(apg, NewJob.of("scan", project=PROJECT, **WHOLE))
        await ends(apg, foreign.id, "dead_letter")
    assert programs.calls("scan") == [[str(ORG)]]


@job("pay", encrypted=True, secret_keys=["iban"])
async def pay(iban: str, fails: bool = False) -> str:
    if fails:
        raise ValueError(f"no account {iban}")
    return iban[:2]


@job("pay_sync", encrypted=True, secret_keys=["iban"], isolation="process", max_attempts=1)
def pay_sync(iban: str) -> None:
    sys.stdout.write(f"paying with token={iban}\n")
    raise ValueError(f"no account {iban}")


async def test_sealed_payloads_are_opened_for_their_handlers(
    database: Database, apg: Conn, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, old_key: KeyRing
) -> None:
    programs = Programs(tmp_path, monkeypatch)
    programs.make("pay-by-card")
    schema = {"type": "object", "properties": {"iban": {"type": "string"}}, "required": ["iban"]}
    await define(
        apg, "card", argv_template=["pay-by-card", "{payload.iban}"], arg_schema=schema, encrypted=True
    )
    async with working(database.dsn, pay, pay_sync, keys=old_key, modules=(__name__,)):
        fine = await aenqueue(apg, pay.using(tenant=ORG).new("DE02"))
        await ends(apg, fine.id, "succeeded")
        card = await aenqueue(apg, NewJob.of("card", {"iban": "AT61"}, tenant=OTHER))
        await ends(apg, card.id, "succeeded")
        child = await aenqueue(apg, pay_sync.new("DE02-1203"))
        assert await ends(apg, child.id, "dead_letter") == "no account [redacted]"
    assert programs.calls("pay-by-card") == [["AT61"]]
    cursor = await apg.execute("select count(*) from postmill.job where payload::text ~ 'DE02|AT61'")
    assert await cursor.fetchone() == (0,)
    cursor = await apg.execute(
        "select string_agg(concat(stdout_tail, stack), '') from postmill.attempt where job_id = %s",
        [child.id],
    )
    row = await cursor.fetchone()
    assert row is not None
    assert "token=[redacted]" in row[0]
    assert "DE02-1203" not in row[0]


async def test_what_was_sealed_for_another_tenant_does_not_open(
    database: Database, apg: Conn, old_key: KeyRing
) -> None:
    async with working(database.dsn, pay, keys=old_key):
        made = await aenqueue(apg, pay.using(tenant=ORG, delay=3600).new("DE02"))
        await apg.execute("update postmill.job set tenant_id = %s where id = %s", [OTHER, made.id])
        await apg.execute("select postmill.retry_jobs(array[%s])", [made.id])
        assert "does not open" in str(await ends(apg, made.id, "dead_letter"))


async def test_a_worker_without_keys_does_not_start(database: Database, apg: Conn, old_key: KeyRing) -> None:
    """Else it would bury one job after the other."""
    with pytest.raises(
        SettingsError, match="job type 'pay' keeps its payloads encrypted, and this worker has no keys"
    ):
        async with working(database.dsn, pay):
            pass


async def test_rotation_puts_everything_under_the_new_key(
    database: Database, apg: Conn, old_key: KeyRing
) -> None:
    async with working(database.dsn, pay, work=False, upkeep=False):
        pass
    ids = [(await aenqueue(apg, pay.using(tenant=ORG).new(f"DE{n}"))).id for n in range(3)]
    await apg.execute("insert into postmill.job_kept select * from postmill.job where id = %s", [ids[0]])
    await apg.execute("delete from postmill.job where id = %s", [ids[0]])
    stranger = KeyRing.of([f"lost:{new_key()}"]).seal(b"{}", ORG, "pay").decode()
    await apg.execute("update postmill.job set payload = %s where id = %s", [stranger, ids[1]])
    both = KeyRing.of([NEW, OLD])
    assert await adrive(apg, rotate(both)) == Rotated(resealed=2, unopened=1)
    assert await adrive(apg, rotate(both)) == Rotated(resealed=0, unopened=1)
    async with working(database.dsn, pay, keys=KeyRing.of([NEW])):
        for id in (ids[0], ids[2]):
            await ends(apg, id, "succeeded")


@job("leak", max_attempts=1)
async def leak(password: str, note: str) -> None:
    raise RuntimeError(f"login failed for {password}, see {note}, Authorization: Bearer abcdef0123456789")


async def test_errors_do_not_repeat_the_secrets_of_their_payload(database: Database, apg: Conn) -> None:
    async with working(database.dsn, leak):
        id = (await aenqueue(apg, leak.new("hunter2", "the log"))).id
        message = await ends(apg, id, "dead_letter")
    assert message == "login failed for [redacted], see the log, Authorization: [redacted]"
    cursor = await apg.execute("select stack from postmill.dead_letter")
    row = await cursor.fetchone()
    assert row is not None
    assert "hunter2" not in row[0]


async def test_a_handlers_connection_is_scoped_to_its_tenant(database: Database, apg: Conn) -> None:
    """Policies of the application's own tables may ask for it."""
    await apg.execute("create table note (tenant_id uuid, text text)")
    seen: list[Any] = []
    ask = "select current_setting('postmill.tenant_id', true)"

    @job
    async def scoped(ctx: Context) -> None:
        async with ctx.connection() as tx:
            seen.append(await (await tx.execute(ask)).fetchone())
            await tx.execute("insert into note values (current_setting('postmill.tenant_id')::uuid, 'a')")
        async with await database.aconnect() as own, own.transaction():
            await ctx.ascope(own)
            seen.append(await (await own.execute(ask)).fetchone())

    @job
    def scoped_sync(ctx: Context) -> None:
        with ctx.connection() as tx:
            seen.append(tx.execute(ask).fetchone())
        with database.connect() as own, own.transaction():
            ctx.scope(own)
            seen.append(own.execute(ask).fetchone())

    async with working(database.dsn, scoped, scoped_sync):
        for job_type in (scoped, scoped_sync):
            await ends(apg, (await aenqueue(apg, job_type.using(tenant=ORG).new())).id, "succeeded")
    assert seen == [(str(ORG),)] * 4
    cursor = await apg.execute("select tenant_id from note")
    assert await cursor.fetchall() == [(ORG,)]


async def test_an_operators_retry_policy_is_heeded(database: Database, apg: Conn) -> None:
    @job(max_attempts=2)
    async def flaky() -> None:
        raise RuntimeError("no")

    async with working(database.dsn, flaky) as worker:
        made = await adrive(apg, definitions.definition("flaky"))
        await adrive(
            apg,
            definitions.edit(made.id, {"retry": {"kind": "constant", "delay": 0}, "on_exhausted": "fail"}),
        )
        await until(
            lambda: worker._shop is not None and worker._shop.handlers["flaky"].type.on_exhausted == "fail"
        )
        await ends(apg, (await aenqueue(apg, flaky.new())).id, "failed")
