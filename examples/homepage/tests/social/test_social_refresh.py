"""`SOCIAL_REFRESH`: posts, renewal of tokens, revoked accounts, and secrets that are nowhere."""

from __future__ import annotations

import logging

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from structlog.testing import capture_logs

from examples.homepage.social.settings import from_environment
from examples.homepage.tests.site import Site, happenings
from examples.homepage.tests.social.accounts import POST, account, standing_of, vault
from examples.upstreams.script import Answer
from examples.upstreams.social.server import CLIENT, SocialServer

TOKEN = "/2/oauth2/token"
NONE = {"refreshed": 0, "reauthorize": 0, "gone": 0, "busy": 0, "failed": 0}


async def run(site: Site, later: str = "0 s", *, hurry: bool = False) -> object:
    job = await site.enqueue("SOCIAL_REFRESH")
    await site.run(later, hurry=hurry)
    found = await site.job(job)
    return found["result"] if found["state"] == "succeeded" else found["state"]


async def test_posts_are_kept_once_and_tokens_renewed_in_time(site: Site, upstream: SocialServer) -> None:
    """The refresh token is another each time."""
    id = await account(site, upstream, "ada")
    assert await run(site) == NONE | {"refreshed": 1}
    assert await run(site, "5 min") == NONE, "not due"
    assert upstream.asked[TOKEN] == 0
    for number, later in enumerate(("118 min", "5 hours"), 1):
        assert await run(site, later) == NONE | {"refreshed": 1}
        assert upstream.refreshes["ada"] == number
    assert [row["content"] for row in await site.rows("select content from social_posts")] == ["Good morning"]
    assert (await standing_of(site, id))["version"] == 3


async def test_a_revoked_account_is_marked_and_not_tried_again(site: Site, upstream: SocialServer) -> None:
    """The other one is refreshed; the job succeeds; whoever connects it anew has it back."""
    id, _ = await account(site, upstream, "ada"), await account(site, upstream, "bob")
    upstream.revoke("ada")
    job = await site.enqueue("SOCIAL_REFRESH")
    [span] = await site.run()
    assert (await site.job(job))["result"] == NONE | {"refreshed": 1, "reauthorize": 1}
    assert ("account.reauthorize", {"account_id": str(id)}) in happenings(span)
    row = await standing_of(site, id)
    assert (row["status"], row["last_error"]) == ("reauthorize", "the network has refused the refresh token")
    asked = dict(upstream.asked)
    assert await run(site, "40 min") == NONE | {"refreshed": 1}
    assert (upstream.asked[TOKEN], upstream.asked["/2/users/ada/tweets"]) == (1, 1)
    assert asked[TOKEN] == 1
    assert await account(site, upstream, "ada") == id
    assert await run(site, "80 min") == NONE | {"refreshed": 2}


async def test_an_access_token_that_ends_early_is_renewed(site: Site, upstream: SocialServer) -> None:
    await account(site, upstream, "ada")
    upstream.access.clear()
    assert await run(site) == NONE | {"refreshed": 1}
    assert upstream.refreshes == {"ada": 1}


async def test_a_network_that_fails_is_tried_again_for_those_that_need_it(
    site: Site, upstream: SocialServer
) -> None:
    """503 at the token endpoint uses nothing up; our own client refused is no account's fault."""
    id, _ = await account(site, upstream, "ada"), await account(site, upstream, "bob")
    upstream.days["/2/users/ada/tweets"] = [Answer(status=503), Answer(body="garbage")]
    assert await run(site, hurry=True) == NONE | {"refreshed": 1}
    assert (upstream.asked["/2/users/ada/tweets"], upstream.asked["/2/users/bob/tweets"]) == (3, 1)
    upstream.days[TOKEN] = [Answer(status=503)]
    assert await run(site, "3 hours", hurry=True) == NONE | {"refreshed": 1}
    assert upstream.refreshes == {"ada": 1, "bob": 1}
    row = await standing_of(site, id)
    assert (row["status"], row["last_error"]) == ("connected", None)


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "a\0b"},
        {"created_at": "the 40th of May"},
        {"created_at": None},
        {"id": POST["id"]},
        {"text": "\ud800"},
    ],
)
async def test_what_no_database_can_hold_keeps_no_other_account(
    site: Site, upstream: SocialServer, bad: dict[str, str]
) -> None:
    """It is garbage of the network's, as what cannot be read."""
    id, _ = await account(site, upstream, "ada"), await account(site, upstream, "bob")
    upstream.posts["ada"] = [POST, POST | {"id": "2"} | bad]
    await run(site)
    assert (await standing_of(site, id))["last_error"] == "social: garbage"
    [kept] = await site.rows("select handle from social_accounts where refreshed_at is not null")
    assert kept == {"handle": "@bob"}


@pytest.mark.parametrize("said", [10**15, -1, "7200", "soon", None, 1.5])
async def test_new_tokens_are_kept_whatever_is_said_of_their_time(
    site: Site, upstream: SocialServer, monkeypatch: pytest.MonkeyPatch, said: object
) -> None:
    """The old ones are of no use any more."""
    id = await account(site, upstream, "ada")
    as_usual = upstream.connect
    monkeypatch.setattr(upstream, "connect", lambda name: as_usual(name) | {"expires_in": said})
    assert await run(site, "118 min") == NONE | {"refreshed": 1}
    assert (await standing_of(site, id))["version"] == 2


async def test_keys_are_rotated(site: Site, upstream: SocialServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old key opens, the new one closes at the next use; without the key a job is given up, and no token is asked for."""
    id = await account(site, upstream, "ada")
    [old] = [key.get_secret_value() for key in _keys()]
    new, other = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    monkeypatch.setenv("SOCIAL_TOKEN_KEYS", f"{new}, {old}")
    assert await run(site) == NONE | {"refreshed": 1}
    monkeypatch.setenv("SOCIAL_TOKEN_KEYS", new)
    vault().open(id, (await standing_of(site, id))["tokens"])
    assert await run(site, "30 min") == NONE | {"refreshed": 1}
    assert upstream.asked[TOKEN] == 0
    monkeypatch.setenv("SOCIAL_TOKEN_KEYS", other)
    assert await run(site, "60 min") == "dead_letter"
    row = await standing_of(site, id)
    assert (row["status"], row["last_error"]) == ("connected", "no key of SOCIAL_TOKEN_KEYS opens the tokens")


async def test_no_secret_is_anywhere(
    site: Site, upstream: SocialServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in logs (those of HTTP at their most talkative), spans, output, or any row of any table, through good and bad days."""
    await account(site, upstream, "ada")
    await account(site, upstream, "bob")
    with capture_logs() as lines, caplog.at_level(logging.DEBUG):
        spans = []
        for later, answers in (
            ("0 s", []),
            ("3 hours", [Answer(status=500), Answer(status=401), Answer(body="cut")]),
        ):
            upstream.days[TOKEN] = list(answers)
            await site.enqueue("SOCIAL_REFRESH")
            spans += await site.run(later, hurry=True)
        upstream.revoke("bob")
        await site.enqueue("SOCIAL_REFRESH")
        spans += await site.run("6 hours", hurry=True)
    told = [str(lines), caplog.text, *capfd.readouterr(), *(span.to_json() for span in spans)]
    told += [str(row) for row in await _everything(site)]
    assert "account_failed" in told[0]
    secrets = [*upstream.issued, CLIENT[1], *(key.get_secret_value() for key in _keys())]
    assert len(upstream.issued) >= 8
    assert [secret for secret in secrets if any(secret in text for text in told)] == []


def _keys() -> tuple[SecretStr, ...]:
    return from_environment().token_keys


async def _everything(site: Site) -> list[object]:
    tables = await site.rows(
        "select format('%%I.%%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'postmill')"
    )
    found: list[object] = []
    for table in tables:
        found += await site.rows(f"select t::text as row from {table['name']} t")
    # bytea is shown in hex: the stored tokens are looked at as they are, too.
    found += await site.rows("select convert_from(tokens, 'UTF8') from social_accounts")
    return found
