"""The client against the stand-in: pages, cursors, waits, refusals; the hash, and the webhooks' signature."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from examples.photos.dropbox.client import Dropbox
from examples.photos.dropbox.content_hash import BLOCK, content_hash
from examples.photos.dropbox.errors import CursorReset, DropboxError, NotFound, Unauthorized, Unavailable
from examples.photos.dropbox.signature import signed
from examples.photos.tests.studio import serving
from examples.upstreams.dropbox.account import Account
from examples.upstreams.dropbox.server import QUIET, DropboxServer
from examples.upstreams.script import Answer, Rule, Script

TOKEN = "sl.u.an-access-token"


@contextmanager
def account(
    *answers: Answer, page: int = 3, files: int = 7
) -> Iterator[tuple[DropboxServer, Account, Dropbox]]:
    """A stand-in with files whose every new call is answered so first, and a client of it."""
    script = Script(latency=(0, 0), rules=(Rule(every=1, answers=answers),)) if answers else QUIET
    with serving(script) as server:
        made = server.accounts[TOKEN] = Account("dbid:A")
        for number in range(files):
            made.upload(f"/Camera/{number}.JPG", b"%d" % number)
        with Dropbox(TOKEN, api_url=server.url, content_url=server.url, page=page) as client:
            yield server, made, client


def test_pages_cursors_and_changes() -> None:
    with account() as (_, files, client):
        page = client.list_folder("")
        names = [entry["name"] for entry in page.entries]
        while page.has_more:
            page = client.go_on(page.cursor)
            names += [entry["name"] for entry in page.entries]
        assert names == [f"{number}.JPG" for number in range(7)]
        first = client.list_folder("/camera").entries[0]
        assert first[".tag"] == "file"
        assert first["path_display"] == "/Camera/0.JPG"
        assert client.download(first) == b"0"
        assert client.go_on(page.cursor).entries == []
        latest = client.latest_cursor("")
        files.upload("/Camera/0.JPG", b"anew")
        files.delete("/camera/1.jpg")
        changes = client.go_on(latest)
        assert [(entry[".tag"], entry["path_lower"]) for entry in changes.entries] == [
            ("file", "/camera/0.jpg"),
            ("deleted", "/camera/1.jpg"),
        ]
        assert not changes.has_more
        assert client.go_on(latest).entries == changes.entries, "a cursor may be used again"
        with pytest.raises(Unavailable, match="not what was listed"):
            client.download(first)
        with pytest.raises(NotFound, match="409 path/not_found"):
            client.list_folder("/nowhere")


def test_a_cursor_that_is_refused() -> None:
    with account() as (_, files, client):
        cursor = client.latest_cursor("")
        files.reset()
        for refused in (cursor, "nonsense"):
            with pytest.raises(CursorReset, match="409 reset/"):
                client.go_on(refused)


def test_retry_after_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.photos.dropbox.client.FIRST_WAIT", 0.01)
    with account(Answer(status=429, retry_after="1"), Answer(status=500), Answer(body="none")) as (
        server,
        _,
        client,
    ):
        begun = time.monotonic()
        assert len(client.list_folder("").entries) == 3
        assert time.monotonic() - begun >= 1.0
        assert server.calls["list_folder"] == 4
        busy = httpx.post(
            f"{server.url}/2/files/list_folder",
            json={"path": "/x"},
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
    assert (busy.status_code, busy.headers["Retry-After"]) == (429, "1")
    assert busy.json()["error"] == {"reason": {".tag": "too_many_requests"}, "retry_after": 1}


def test_who_asks_for_too_long_a_wait_is_unavailable() -> None:
    with (
        account(Answer(status=429, retry_after="3600")) as (server, _, client),
        pytest.raises(Unavailable, match="429 too_many_requests"),
    ):
        client.list_folder("")
    assert server.calls["list_folder"] == 1


@pytest.mark.parametrize("token", ["sl.of-nobody", "malformed"])
def test_a_token_that_is_refused(token: str) -> None:
    with account() as (server, _, _), Dropbox(token, api_url=server.url, content_url=server.url) as client:
        with pytest.raises(Unauthorized):
            client.list_folder("")
        server.expired.add(TOKEN)
        with (
            Dropbox(TOKEN, api_url=server.url, content_url=server.url) as late,
            pytest.raises(Unauthorized, match="expired_access_token"),
        ):
            late.list_folder("")


def test_the_root_is_no_slash() -> None:
    with account() as (_, _, client), pytest.raises(DropboxError, match=r"400 .*empty string"):
        client.list_folder("/")


def test_the_content_hash_is_by_blocks() -> None:
    assert content_hash(b"") == hashlib.sha256(b"").hexdigest()
    assert content_hash(b"a") == hashlib.sha256(hashlib.sha256(b"a").digest()).hexdigest()
    long = bytes(range(256)) * (BLOCK // 256) + b"more"
    parts = hashlib.sha256(long[:BLOCK]).digest() + hashlib.sha256(b"more").digest()
    assert content_hash(long) == hashlib.sha256(parts).hexdigest()


def test_a_signature_fits_its_body_and_secret_only() -> None:
    right = hmac.new(b"secret", b"{}", hashlib.sha256).hexdigest()
    assert signed(b"{}", right, "secret")
    assert not signed(b"{} ", right, "secret")
    assert not signed(b"{}", right, "another")
    assert not signed(b"{}", "", "secret")
    assert not signed(b"{}", "é", "secret")
