"""Tokens of an OpenID Connect provider: only what it signed, for us, now, with a key that it still publishes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio

from postmill.api import create_app, jwks
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from tests.access.issuer import Issuer, serving
from tests.support.api import Api, problem
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with serving(Issuer()) as made:
        made.rotate("first")
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(world_database: Database, issuer: Issuer) -> AsyncIterator[Api]:
    oidc = {"issuer": issuer.url, "audience": "postmill", "leeway": 5, "tenant_claim": "org.tenant"}
    app = create_app(Settings.model_validate({"database_url": world_database.dsn, "oidc": oidc}))
    async with app.router.lifespan_context(app), await world_database.aconnect() as owner:
        api = Api(app, world_database, owner)
        await api.tenant("acme")
        await api.tenant("gone")
        yield api


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys may be fetched again at once."""
    monkeypatch.setattr(jwks, "AT_MOST_EVERY", 0.0)


async def ask(api: Api, token: str) -> httpx.Response:
    transport = httpx.ASGITransport(api.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test/api/v1") as client:
        return await client.get("/session", headers={"Authorization": f"Bearer {token}"})


def own(**claims: Any) -> dict[str, Any]:
    return {"tenant": None, "org": {"tenant": "acme"}} | claims


async def test_a_token_that_holds(api: Api, issuer: Issuer) -> None:
    answer = (await ask(api, issuer.token(**own()))).json()
    assert (answer["actor_type"], answer["actor_id"], answer["role"]) == ("user", "ada", "operator")
    assert answer["tenant_id"] == str(api.tenants["acme"])
    by_id = (await ask(api, issuer.token(**own(org={"tenant": str(api.tenants["acme"])})))).json()
    assert by_id["tenant_id"] == answer["tenant_id"]
    several = issuer.token(**own(aud=["other", "postmill"], role=["viewer", "unknown", "tenant_admin"]))
    assert (await ask(api, several)).json()["role"] == "tenant_admin"
    root = (await ask(api, issuer.token(**own(role="super_admin")))).json()
    assert (root["role"], root["tenant_id"]) == ("super_admin", None)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another"},
        {"aud": None},
        {"aud": ["another", "third"]},
        {"iss": "https://evil.test"},
        {"iss": None},
        {"exp": -60},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": 3600},
        {"iat": 3600},
        {"sub": None},
    ],
    ids="-".join,
)
async def test_claims_that_do_not_hold(api: Api, issuer: Issuer, claims: dict[str, Any]) -> None:
    """Numbers are seconds from now."""
    given = {name: time.time() + value if isinstance(value, int) else value for name, value in claims.items()}
    problem(await ask(api, issuer.token(**own(**given))), 401, "unauthorized")


async def test_a_little_wrong_clock_is_forgiven(api: Api, issuer: Issuer) -> None:
    assert (await ask(api, issuer.token(**own(exp=time.time() - 2)))).status_code == 200


@pytest.mark.parametrize(
    ("claims", "kind"),
    [
        ({"role": None}, "no-role"),
        ({"role": "emperor"}, "no-role"),
        ({"role": []}, "no-role"),
        ({"role": {"super_admin": True}}, "no-role"),
        ({"org": None}, "no-tenant"),
        ({"org": {"tenant": "no-such"}}, "no-tenant"),
        ({"org": {"tenant": ["acme"]}}, "no-tenant"),
        ({"org": {"tenant": "*"}}, "no-tenant"),
        ({"role": "auditor", "org": None}, "no-tenant"),
    ],
    ids=str,
)
async def test_claims_that_give_nothing_here(
    api: Api, issuer: Issuer, claims: dict[str, Any], kind: str
) -> None:
    problem(await ask(api, issuer.token(**own(**claims))), 403, kind)


async def test_the_platforms_auditor_must_be_named_so(api: Api, issuer: Issuer) -> None:
    answer = (await ask(api, issuer.token(**own(role="auditor", org={"tenant": "*"})))).json()
    assert (answer["role"], answer["tenant_id"]) == ("auditor", None)


async def test_a_suspended_tenants_tokens(api: Api, issuer: Issuer) -> None:
    await api.owner.execute("update postmill.tenant set status = 'suspended' where slug = 'gone'")
    problem(await ask(api, issuer.token(**own(org={"tenant": "gone"}))), 403, "tenant-suspended")


def forged(header: dict[str, Any], claims: dict[str, Any], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


async def test_forgeries(api: Api, issuer: Issuer) -> None:
    claims = jwt.decode(issuer.token(**own(role="super_admin")), options={"verify_signature": False})
    good = issuer.token(**own())
    head, body, signature = good.split(".")
    public = issuer.public("first")
    # The library refuses to sign with a public key as a secret; an attacker's does not.
    unsigned = forged({"alg": "HS256", "kid": "first", "typ": "JWT"}, claims).rstrip(".")
    mac = (
        base64.urlsafe_b64encode(hmac.new(public, unsigned.encode(), hashlib.sha256).digest())
        .decode()
        .rstrip("=")
    )
    other = Issuer()
    other.url = issuer.url
    other.rotate("first")
    forgeries = {
        "none": forged({"alg": "none"}, claims),
        "None with a key id": forged({"alg": "None", "kid": "first"}, claims),
        "no algorithm": forged({"kid": "first"}, claims),
        "HS256 with the public key": f"{unsigned}.{mac}",
        "another's key of that name": other.token(**own()),
        "claims exchanged": f"{head}.{forged({}, claims).split('.')[1]}.{signature}",
        "signature cut": f"{head}.{body}.{signature[:-8]}",
        "no signature": f"{head}.{body}.",
        "its own key in the header": other.token(
            **own(), header={"jwk": {"kty": "RSA"}, "jku": "http://evil.test/keys"}
        ),
        "a path as key id": issuer.token(**own(), header={"kid": "../../etc/passwd"}),
        "no token": "a.b.c",
        "not even that": "x",
        "unknown critical header": issuer.token(**own(), header={"crit": ["exp2"], "exp2": 1}),
    }
    for what, token in forgeries.items():
        answer = await ask(api, token)
        assert answer.status_code == 401, (what, answer.text)


async def test_a_key_for_one_algorithm_is_none_for_another(api: Api, issuer: Issuer) -> None:
    """Neither a symmetric key that the provider publishes by mistake, nor an RSA key that says RS512, verifies RS256."""
    secret = base64.urlsafe_b64encode(b"k" * 32).decode().rstrip("=")
    issuer.extra = [{"kty": "oct", "kid": "symmetric", "k": secret, "alg": "HS256"}]
    try:
        token = jwt.encode({"sub": "x"}, b"k" * 32, "HS256", headers={"kid": "symmetric"})
        problem(await ask(api, token), 401, "unauthorized")
        [entry] = [key for key in issuer.answer("/keys")[1]["keys"] if key["kid"] == "first"]
        issuer.extra = [entry | {"kid": "bound", "alg": "RS512"}]
        problem(await ask(api, issuer.token(**own(), header={"kid": "bound"})), 401, "unauthorized")
    finally:
        issuer.extra = []


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
async def test_other_kinds_of_keys(api: Api, issuer: Issuer, algorithm: str) -> None:
    before = dict(issuer.keys)
    issuer.rotate(f"key {algorithm}", algorithm)
    try:
        assert (await ask(api, issuer.token(**own()))).status_code == 200
    finally:
        issuer.keys = before


async def test_keys_are_rotated(api: Api, issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    old = issuer.token(**own())
    assert (await ask(api, old)).status_code == 200
    issuer.rotate("second")
    # A key id that is not known yet: it is asked for, and there.
    assert (await ask(api, issuer.token(**own()))).status_code == 200
    # What the provider no longer publishes verifies nothing.
    problem(await ask(api, old), 401, "unauthorized")
    # Made-up key ids do not make it ask each time.
    monkeypatch.setattr(jwks, "AT_MOST_EVERY", 60.0)
    count = len(issuer.asked)
    for n in range(5):
        problem(await ask(api, issuer.token(**own(), header={"kid": f"made up {n}"})), 401, "unauthorized")
    assert len(issuer.asked) == count


async def test_a_withdrawn_key_stops_with_the_next_fetch(
    api: Api, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.keys["withdrawn"] = issuer.keys[next(iter(issuer.keys))]
    token = issuer.token(**own(), kid="withdrawn")
    assert (await ask(api, token)).status_code == 200
    del issuer.keys["withdrawn"]
    assert (await ask(api, token)).status_code == 200  # known for five minutes more
    monkeypatch.setattr(jwks, "FRESH", 0.0)
    problem(await ask(api, token), 401, "unauthorized")


async def test_a_provider_that_does_not_answer(
    api: Api, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issuer.token(**own())
    assert (await ask(api, token)).status_code == 200
    issuer.broken = True
    monkeypatch.setattr(jwks, "FRESH", 0.0)
    try:
        assert (await ask(api, token)).status_code == 200  # by the keys of before, for an hour
        monkeypatch.setattr(jwks, "STALE", 0.0)
        problem(await ask(api, token), 503, "provider-unreachable")
        # API keys do not need the provider.
        assert (await ask(api, await api.key(Role.VIEWER, "acme"))).status_code == 200
    finally:
        issuer.broken = False
    assert (await ask(api, token)).status_code == 200
