"""`zoltag sync-dropbox`: what is there, what changes, what goes; cursors that are refused; what belongs to whom."""

from __future__ import annotations

from uuid import uuid4

import pytest

from examples.photos.commands.sync_dropbox import folder_to_sync
from examples.photos.exits import NO_INPUT, NO_PERMISSION, UNAVAILABLE
from examples.photos.providers import connect_provider
from examples.photos.tests.studio import Studio, drawn
from examples.upstreams.script import Answer, Rule, Script

EVENTS = (
    "select context ->> 'pictures' from postmill.event where name = 'images.ingest.completed' order by id"
)


def test_a_sync_brings_what_is_there_and_then_what_has_changed(studio: Studio) -> None:
    tenant = studio.tenant("bcg")
    pictures = drawn(25)
    tenant.upload(pictures)
    tenant.account.upload("/notes.txt", b"no picture")
    first = uuid4()
    assert studio.zoltag("sync-dropbox", tenant, "--path-prefix", "/", job=first) == 0
    assert studio.pictures(tenant) == sorted(picture.name for picture in pictures)
    assert studio.dropbox.calls["list_folder"] == 1
    assert studio.dropbox.calls["list_folder/continue"] == 2, "25 pictures and a note in pages of 10"
    assert studio.rows(EVENTS) == [("25",)]
    # Again, as the same job and as another one: nothing is fetched, nothing is told.
    for job in (first, uuid4()):
        assert studio.zoltag("sync-dropbox", tenant, job=job) == 0
    assert studio.dropbox.calls["download"] == 25
    assert studio.rows(EVENTS) == [("25",)]
    # One more, one changed, one gone.
    tenant.upload(drawn(1, start=25))
    tenant.account.upload(f"/{pictures[0].name}", drawn(1, seed=2)[0].jpeg)
    tenant.account.delete(f"/{pictures[1].name}")
    assert studio.zoltag("sync-dropbox", tenant, job=uuid4()) == 0
    assert len(studio.pictures(tenant)) == 25
    assert pictures[1].name not in studio.pictures(tenant)
    assert studio.rows(EVENTS) == [("25",), ("2",)]


def test_a_refused_cursor_means_to_begin_anew_and_finds_what_is_gone(studio: Studio) -> None:
    tenant = studio.tenant("bcg")
    pictures = drawn(12)
    tenant.upload(pictures)
    assert studio.zoltag("sync-dropbox", tenant) == 0
    ids = studio.rows("select name, id from pictures order by 1")
    tenant.account.delete(f"/{pictures[3].name}")
    tenant.account.reset()
    assert studio.zoltag("sync-dropbox", tenant) == 0
    assert studio.rows("select name, id from pictures order by 1") == [
        row for row in ids if row[0] != pictures[3].name
    ]
    assert studio.dropbox.calls["download"] == 12, "the library has them all"


def test_a_sync_that_ends_in_the_middle_leaves_whole_pages_and_the_next_goes_on(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = studio.tenant("bcg")
    tenant.upload(drawn(30))
    monkeypatch.setattr("examples.photos.dropbox.client.LONGEST_WAIT", 0.0)
    # The third page of the listing is refused for good.
    studio.dropbox.script = Script(
        latency=(0, 0), rules=(Rule(every=1000, first=23, answers=(Answer(status=503),)),)
    )
    job = uuid4()
    assert studio.zoltag("sync-dropbox", tenant, job=job) == UNAVAILABLE
    assert len(studio.pictures(tenant)) == 20
    assert studio.rows(EVENTS) == [], "nobody is told of a half ingest"
    assert studio.zoltag("sync-dropbox", tenant, job=job) == 0
    assert len(studio.pictures(tenant)) == 30
    assert studio.rows(EVENTS) == [("30",)], "both attempts are one ingest"
    assert studio.dropbox.calls["list_folder"] == 1


def test_two_tenants_never_see_each_other(studio: Studio, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = studio.tenant("bcg"), studio.tenant("lakeside")
    one.upload(drawn(3))
    other.upload(drawn(5, seed=2))
    foreign = ["--provider-id", str(other.provider)]
    assert studio.zoltag("sync-dropbox", one, *foreign) == NO_INPUT
    assert f"has no provider {other.provider}" in capsys.readouterr().err
    for tenant in (one, other):
        assert studio.zoltag("sync-dropbox", tenant) == 0
        assert studio.zoltag("recompute-zeroshot-tags", tenant) == 0
    assert (len(studio.pictures(one)), len(studio.pictures(other))) == (3, 5)
    folders = {path.name: len(list(path.rglob("*.jpg"))) for path in studio.folder.iterdir()}
    assert folders == {str(one.id): 3, str(other.id): 5}
    [(strays,)] = studio.rows(
        "select count(*) from pictures p join providers v on v.id = p.provider_id where v.tenant_id <> p.tenant_id"
    )
    assert strays == 0


def test_a_token_that_is_refused_stops_only_its_provider(
    studio: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = studio.tenant("bcg")
    tenant.upload(drawn(2))
    connect_provider(studio.conn, tenant.id, "dbid:OLD", "sl.u.revoked", key=studio.key)
    assert studio.zoltag("sync-dropbox", tenant) == NO_PERMISSION
    assert len(studio.pictures(tenant)) == 2
    assert "401 invalid_access_token" in capsys.readouterr().err
    studio.key = "A" * 43 + "="
    assert studio.zoltag("sync-dropbox", tenant) == NO_PERMISSION
    assert "ZOLTAG_SECRET_KEY is not the key" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("connected", "asked", "synced"),
    [
        ("/", "/", ""),
        ("/", None, ""),
        ("/Camera", "/", "/camera"),
        ("/Camera", None, "/camera"),
        ("/Camera", "/camera/2026/", "/camera/2026"),
        ("/Camera", "/Cameras", None),
        ("/", "/Holiday", "/holiday"),
    ],
)
def test_a_path_prefix_is_within_the_connected_folder(
    connected: str, asked: str | None, synced: str | None
) -> None:
    assert folder_to_sync(connected, asked) == synced


def test_only_the_folder_that_is_asked_for(studio: Studio) -> None:
    tenant = studio.tenant("bcg")
    tenant.upload(drawn(2), "/Camera")
    tenant.upload(drawn(3, seed=2), "/Scans")
    assert studio.zoltag("sync-dropbox", tenant, "--path-prefix", "/Camera") == 0
    assert len(studio.pictures(tenant)) == 2
    assert studio.zoltag("sync-dropbox", tenant, "--path-prefix", "/nowhere") == UNAVAILABLE
