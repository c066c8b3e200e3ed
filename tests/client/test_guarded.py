"""Strict envelopes, secrets and encryption, on every way in: Python by type and by name, in bulk, and plain SQL (seed 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection

from postmill import Client, NewJob, job
from postmill.bind import drive
from postmill.client.ruling import key_ring
from postmill.domain.encryption import KeyRing, new_key
from postmill.domain.errors import EnvelopeIncomplete, PayloadRefused, SettingsError, SomeRefused
from postmill.domain.idempotency import default_key
from postmill.domain.job import JobView
from postmill.domain.redaction import secret_key
from postmill.operate import definitions, payloads
from tests.support.sessions import one

ORG = UUID("1efe049f-ae71-4226-97be-236b4df4a93a")
WHOLE: dict[str, Any] = {
    "tenant": ORG, "actor_type": "user", "actor_id": "ann", "request_id": "req-1", "correlation_id": "corr-1"
}  # fmt: skip
# Seed 5, job contract; in place of the tenant, the name of the field.
MISSING = {
    "tenant": "org_id",
    "actor_id": "actor_id",
    "request_id": "request_id",
    "correlation_id": "correlation_id",
}


@job("scan", category="planning", strict_envelope=True)
def scan(week: str, api_key: str | None = None) -> None: ...


@job("pay", encrypted=True)
def pay(iban: str) -> None: ...


@pytest.fixture
def strict(pg: Connection[Any], client: Client) -> Client:
    pg.execute("insert into postmill.tenant (id, slug, name) values (%s, 'org', 'Org')", [ORG])
    client.register([scan, pay])
    return client


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyRing]:
    entry = f"k1:{new_key()}"
    monkeypatch.setenv("POSTMILL_ENCRYPTION__KEYS", json.dumps([entry]))
    key_ring.cache_clear()
    yield KeyRing.of([entry])
    key_ring.cache_clear()


def count(pg: Connection[Any]) -> int:
    found: int = one(pg, "select count(*) from postmill.job")
    return found


@pytest.mark.parametrize("field", MISSING)
def test_a_strict_envelope_names_what_is_missing(strict: Client, pg: Connection[Any], field: str) -> None:
    given = {name: value for name, value in WHOLE.items() if name != field}
    for new in (scan.using(**given).new("2026-W08"), NewJob.of("scan", {"week": "2026-W08"}, **given)):
        with pytest.raises(
            EnvelopeIncomplete, match=f"needs {MISSING[field]}: its definition has a strict envelope"
        ):
            strict.enqueue(new)
        with pytest.raises(SomeRefused) as refused:
            strict.enqueue_many([new, new])
        assert {type(error) for error in refused.value.refused.values()} == {EnvelopeIncomplete}
    assert count(pg) == 0
    strict.enqueue(scan.using(**WHOLE).new("2026-W08"))
    if field != "tenant":
        with pytest.raises(EnvelopeIncomplete):
            strict.enqueue(scan.using(**given).new("2026-W08"))  # of what is there already


SQL = """select postmill.enqueue('scan', '{"week": "w"}', tenant => %(tenant)s, key => %(key)s, actor_id => %(actor_id)s,
    request_id => %(request_id)s, correlation_id => %(correlation_id)s)"""


@pytest.mark.parametrize("field", [*MISSING, "key"])
def test_so_does_plain_sql(strict: Client, pg: Connection[Any], field: str) -> None:
    name = MISSING.get(field, "idempotency_key")
    with pytest.raises(
        psycopg.errors.NotNullViolation, match=f'"scan" needs {name}: its definition has a strict envelope'
    ):
        pg.execute(SQL, WHOLE | {"key": "k", field: None})
    assert one(pg, "select 1") == 1
    pg.execute(SQL, WHOLE | {"key": "k"})
    assert count(pg) == 1


@pytest.mark.parametrize("tenant", [UUID(int=1), UUID(int=99)])
def test_the_default_tenant_and_one_that_is_not_there_are_no_org(strict: Client, tenant: UUID) -> None:
    with pytest.raises(EnvelopeIncomplete, match="org_id"):
        strict.enqueue(scan.using(**WHOLE | {"tenant": tenant}).new("w"))


def test_the_whole_envelope_is_the_contracts(strict: Client, pg: Connection[Any]) -> None:
    """Seed 5, job contract and idempotency: default key, TTL by category; the same in Python and SQL."""
    project = UUID(int=5)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    made = NewJob.of(
        "scan", {"week": "2026-W08", "api_key": None}, project=project, traceparent=trace, delay=60, **WHOLE
    )
    first = strict.enqueue(made)
    assert first.created
    assert strict.enqueue(scan.using(project=project, **WHOLE).new("2026-W08")).id == first.id
    seen = strict.get(first.id)
    envelope = seen.envelope()
    assert envelope == one(pg, f"select postmill.read_envelope('{first.id}')")
    key = default_key("scan", ORG, project, b'{"week":"2026-W08","api_key":null}')
    assert envelope == {
        "job_id": str(first.id), "job_type": "scan", "org_id": str(ORG), "project_id": str(project),
        "actor_type": "user", "actor_id": "ann", "request_id": "req-1", "correlation_id": "corr-1",
        "idempotency_key": key, "created_at": envelope["created_at"], "payload": {"week": "2026-W08", "api_key": None},
        "scheduled_for": envelope["scheduled_for"], "traceparent": trace,
    }  # fmt: skip
    assert envelope["created_at"].endswith("Z")
    days = one(pg, "select extract(day from expires_at - first_seen_at)::int from postmill.idempotency_key")
    assert days == 30


def test_optional_fields_without_a_value_are_left_out(strict: Client, pg: Connection[Any]) -> None:
    id = strict.enqueue(NewJob.of("echo", {"value": {"null": None}})).id
    envelope = strict.get(id).envelope()
    assert envelope == one(pg, f"select postmill.read_envelope('{id}')")
    assert envelope.keys().isdisjoint({"project_id", "scheduled_for", "traceparent"})
    assert envelope["payload"] == {"value": {"null": None}}
    assert one(pg, "select postmill.read_envelope(gen_random_uuid())") is None


def test_an_operator_may_ask_for_what_the_code_does_not_know_of(strict: Client, pg: Connection[Any]) -> None:
    """The caller's code is older than the definition: it makes the key and goes on."""
    echo = drive(pg, definitions.definition("echo"))
    drive(pg, definitions.edit(echo.id, {"strict_envelope": True}))
    from tests.client.job_types import echo as echo_type

    made = echo_type.using(**WHOLE).new(1)
    assert made.key is None
    first = strict.enqueue(made)
    assert strict.enqueue(made) == type(first)(first.id, False)
    with pytest.raises(EnvelopeIncomplete, match="org_id"):
        strict.enqueue(echo_type.new(1))


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ({"week": "w", "api_key": "x"}, "args.api_key"),
        ({"week": "w", "deep": [{"dbPassword": 1}]}, r"args.deep\[0\].dbPassword"),
        ({"week": "w", "card": "x"}, "args.card"),
    ],
)
def test_secrets_are_refused_by_their_path(
    strict: Client, pg: Connection[Any], payload: dict[str, Any], path: str
) -> None:
    made = drive(
        pg,
        definitions.create(
            {"key": "http", "kind": "http", "queue": "web", "secrets": "refuse", "secret_keys": ["card"]}
        ),
    )
    assert made.secrets == "refuse"
    with pytest.raises(PayloadRefused, match=rf"{path}: looks like a secret"):
        strict.enqueue(NewJob.of("http", payload))
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=rf"{path} looks like a secret"):
        pg.execute("select postmill.enqueue('http', %s::jsonb)", [json.dumps(payload)])
    strict.enqueue(NewJob.of("http", {"week": "w", "has_password": True, "token": None}))
    assert count(pg) == 1


def test_sql_and_python_agree_on_what_a_secret_is_called(pg: Connection[Any]) -> None:
    words = ["password", "db_password", "dbPassword", "API-KEY", "apiKey", "x-api-key", "token", "token_count", "max_tokens",
             "accessToken", "pin", "spinner", "pinCode", "jwt", "author", "authorization", "Authorization", "auth", "oauth",
             "OAUTH", "webhookURL", "webhook", "cookie", "iban", "ibans", "cvv2", "dsn", "", "é", "x" * 300 + "password",
             "PASSWORD", "pass word", "credentials", "secretRef", "keyboard", "HTTPToken", "idToken2"]  # fmt: skip
    rows = pg.execute("select w, postmill.names_secret(w) from unnest(%s::text[]) w", [words]).fetchall()
    assert [(w, found) for w, found in rows] == [(w, secret_key(w)) for w in words]


def test_payloads_are_encrypted_at_rest(strict: Client, pg: Connection[Any], ring: KeyRing) -> None:
    """By type, by name and in bulk; read in clear by who has the key, as the name of the key by others."""
    jobs = [pay.using(tenant=ORG).new("DE02"), NewJob.of("pay", {"iban": "DE02"}, tenant=ORG)]
    ids = [strict.enqueue(one_job).id for one_job in jobs] + [
        answer.id for answer in strict.enqueue_many([*jobs] * 150)
    ]
    assert one(pg, "select count(*) from postmill.job where payload::text like '%%DE02%%'") == 0
    seen: JobView = strict.get(ids[-1])
    assert seen.payload.keys() == {"$encrypted"}
    assert ring.open(json.dumps(seen.payload).encode(), ORG, "pay") == b'{"iban":"DE02"}'
    assert drive(pg, payloads.shown(seen, ring)).payload == {"iban": "[redacted]"}
    assert drive(pg, payloads.shown(seen, None)).payload == {"$encrypted": {"key": "k1"}}
    assert drive(pg, payloads.envelope(ids[0], ring))["payload"] == {"iban": "[redacted]"}
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="are encrypted, which SQL cannot do"):
        pg.execute("""select postmill.enqueue('pay', '{"iban": "DE02"}')""")


def test_without_keys_nothing_is_stored_in_clear(
    strict: Client, pg: Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    key_ring.cache_clear()
    for made in (pay.new("DE02"), NewJob.of("pay", {"iban": "DE02"})):
        with pytest.raises(SettingsError, match=r"set encryption\.keys"):
            strict.enqueue(made)
    assert count(pg) == 0


def test_an_operator_may_ask_for_encryption(strict: Client, pg: Connection[Any], ring: KeyRing) -> None:
    made = drive(pg, definitions.create({"key": "http", "kind": "http", "queue": "web"}))
    drive(pg, definitions.edit(made.id, {"encrypted": True}))
    id = strict.enqueue(NewJob.of("http", {"a": 1})).id
    assert strict.get(id).payload.keys() == {"$encrypted"}
