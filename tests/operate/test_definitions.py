"""Definitions in the database: one allow-list, one kind a queue, every version kept, every write audited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill import job
from postmill.bind import drive, run
from postmill.domain.errors import DefinitionConflict, DefinitionError, NotFound, NotPermitted
from postmill.operate import commands, definitions
from postmill.store import definitions as store
from postmill.store.definition_rows import DefinitionView
from tests.support.sessions import one

Conn = Connection[Any]


def make(conn: Conn, key: str, **fields: Any) -> DefinitionView:
    return drive(conn, definitions.create({"key": key, **fields}))


def change(
    conn: Conn, made: DefinitionView, release: list[str] | None = None, **fields: Any
) -> DefinitionView:
    return drive(conn, definitions.edit(made.id, fields, release=release or ()))


@job("send_mail", queue="mail", max_attempts=4)
def send_mail(to: str) -> None:
    """Sends one."""


@pytest.mark.matrix
def test_made_read_and_listed(pg: Conn) -> None:
    http = make(pg, "resize", kind="http", queue="images", rate={"count": 5, "seconds": 60.0, "burst": 2})
    make(
        pg,
        "sync",
        argv_template=["zoltag", ["--path", "{project_id}"]],
        env_allow=["TOKEN_FILE"],
        aliases=["old"],
    )
    assert (http.kind, http.queue, http.version, http.lane, http.drift) == (
        "http",
        "images",
        1,
        "type",
        ["unserved"],
    )
    assert http.rate == {"count": 5, "seconds": 60, "burst": 2}
    found = drive(pg, definitions.definitions())
    assert [one.key for one in found] == ["resize", "sync"]
    assert drive(pg, definitions.definition("sync")) == drive(pg, definitions.definition(found[1].id))
    assert found[1].argv_template == ["zoltag", ["--path", "{project_id}"]]
    assert [one.key for one in drive(pg, definitions.definitions(kind="command"))] == ["sync"]
    assert [one.key for one in drive(pg, definitions.definitions(queue="images"))] == ["resize"]
    assert [one.key for one in drive(pg, definitions.definitions(after="resize", most=1))] == ["sync"]
    for unknown in ("nothing", uuid4()):
        with pytest.raises(NotFound):
            drive(pg, definitions.definition(unknown))


def test_names_are_taken_once(pg: Conn) -> None:
    make(pg, "sync", aliases=["old-sync"])
    for key, aliases in (("sync", []), ("old-sync", []), ("other", ["sync"]), ("other", ["old-sync"])):
        with pytest.raises(DefinitionConflict, match="is the key or an alias of another"):
            make(pg, key, aliases=aliases)
    other = make(pg, "other")
    with pytest.raises(DefinitionConflict, match="'sync'"):
        change(pg, other, aliases=["sync"])
    assert change(pg, other, aliases=["other-one"]).aliases == ["other-one"]


@pytest.mark.matrix
def test_a_queue_is_of_one_kind(pg: Conn) -> None:
    """By whatever way a definition comes in, plain SQL included; and without an error in the caller's transaction."""
    make(pg, "resize", kind="http", queue="images")
    with pytest.raises(DefinitionConflict, match="queue 'images' serves 'resize', which is of another kind"):
        make(pg, "sync", argv_template=["x"], queue="images")
    sync = make(pg, "sync", argv_template=["x"], queue="sync")
    with pytest.raises(DefinitionConflict, match="queue 'images' serves 'resize'"):
        change(pg, sync, queue="images")
    with pytest.raises(DefinitionConflict, match="queue 'sync' serves 'sync'"):
        make(pg, "other", kind="http", queue="sync")

    @job("thumb", queue="images")
    def thumb() -> None: ...

    assert drive(pg, commands.register([thumb])) == {"thumb": "other_queue"}
    with pytest.raises(Exception, match='queue "images" serves "resize", which is of another kind'):
        pg.execute("update postmill.job_definition set queue = 'images' where key = 'sync'")
    assert change(pg, make(pg, "third", kind="http", queue="images"), queue="web").queue == "web"


def test_what_an_operator_edited_outlives_registrations(pg: Conn) -> None:
    drive(pg, commands.register([send_mail]))
    made = drive(pg, definitions.definition("send_mail"))
    assert (made.registered, made.edited, made.max_attempts) == (True, [], 4)
    edited = change(pg, made, max_attempts=9, priority=5)
    assert (edited.version, edited.edited, edited.max_attempts) == (2, ["max_attempts", "priority"], 9)
    assert drive(pg, commands.register([send_mail])) == {"send_mail": "kept"}
    assert drive(pg, definitions.definition("send_mail")).max_attempts == 9
    with pytest.raises(DefinitionError, match="arg_schema: comes from the code"):
        change(pg, edited, arg_schema={})
    with pytest.raises(DefinitionError, match="release: 'queue' is not among the edited fields"):
        change(pg, edited, release=["queue"])
    released = change(pg, edited, release=["max_attempts"])
    assert released.edited == ["priority"]
    assert drive(pg, commands.register([send_mail])) == {"send_mail": "changed"}
    assert drive(pg, definitions.definition("send_mail")).max_attempts == 4


def test_made_before_the_code_came(pg: Conn) -> None:
    """What was said of it stays; the code brings the rest."""
    made = make(pg, "send_mail", max_attempts=7)
    assert (made.kind, made.registered, made.edited) == ("function", False, ["max_attempts"])
    drive(pg, commands.register([send_mail]))
    found = drive(pg, definitions.definition("send_mail"))
    assert (found.id, found.registered, found.queue, found.max_attempts) == (made.id, True, "mail", 7)
    assert found.arg_schema["required"] == ["to"]


@pytest.mark.matrix
def test_every_version_is_kept_with_who_made_it(pg: Conn) -> None:
    with pg.transaction():
        pg.execute("select postmill.set_actor('cli', 'user', 'ann')")
        made = make(pg, "sync", argv_template=["x"])
    change(pg, made, max_attempts=5)
    assert change(pg, made, max_attempts=5).version == 2
    change(pg, made, is_active=False)
    history = drive(pg, definitions.versions(made.id))
    assert [(v.version, v.definition["max_attempts"], v.definition["is_active"]) for v in history] == [
        (3, 5, False), (2, 5, True), (1, 3, True)
    ]  # fmt: skip
    assert (history[-1].via, history[-1].actor_id) == ("cli", "ann")
    assert [v.version for v in drive(pg, definitions.versions(made.id, before=3, most=1))] == [2]


def test_writes_are_audited(pg: Conn) -> None:
    made = make(pg, "sync", argv_template=["x"])
    change(pg, made, max_attempts=5, rate={"count": 1, "seconds": 1})
    rows = pg.execute(
        "select action, target, result, before, after from postmill.audit_log where action like 'definitions.%' order by id"
    ).fetchall()
    assert [row[:3] for row in rows] == [
        ("definitions.create", "sync", "done"),
        ("definitions.edit", "sync", "done"),
    ]
    assert rows[0][4]["argv_template"] == ["x"]
    assert rows[1][3] == {"max_attempts": 3, "lane": "tenant", "rate": None}
    assert (rows[1][4]["max_attempts"], rows[1][4]["rate"]["count"]) == (5, 1)


def test_a_change_of_what_has_changed_is_refused(pg: Conn) -> None:
    made = make(pg, "sync", argv_template=["x"])
    change(pg, made, priority=1)
    with pytest.raises(DefinitionConflict, match="has version 2 by now"):
        drive(pg, definitions.edit(made.id, {"priority": 2}, version=1))
    with pytest.raises(NotFound):
        drive(pg, definitions.edit(UUID(int=9), {}))


REQUEST = "select postmill.begin_request(%s, %s, 'api', 'user', 'eve', %s, null)"


def as_role(conn: Conn, role: str, tenant: UUID | None, act: Callable[[], object]) -> None:
    with conn.transaction():
        conn.execute(
            "insert into postmill.tenant (id, slug, name) values (%s, 'x', 'X') on conflict do nothing",
            [UUID(int=7)],
        )
    with conn.transaction():
        conn.execute(REQUEST, [tenant, tenant is None, role])
        act()


@pytest.mark.parametrize(("role", "tenant"), [("tenant_admin", UUID(int=7)), ("platform_operator", None)])
def test_the_database_itself_lets_only_a_super_admin_write(pg: Conn, role: str, tenant: UUID | None) -> None:
    """Whatever a route forgets to ask (seed 3, security: super admin can manage definitions)."""
    made = make(pg, "sync", argv_template=["zoltag"], env_allow=["X"])

    def writes() -> None:
        edit = store.edit_definition(made.id, {"argv_template": ["rm", "-rf", "/"]})
        assert run(pg, edit).status == "forbidden"
        with pytest.raises(NotPermitted):
            make(pg, "other", argv_template=["rm"])
        seen = drive(pg, definitions.definition("sync"))
        assert (seen.argv_template is None) == (tenant is not None)
        assert len(drive(pg, definitions.versions(made.id))) == (tenant is None)

    as_role(pg, role, tenant, writes)
    assert drive(pg, definitions.definition("sync")).argv_template == ["zoltag"]
    denied = pg.execute("select action, actor_id from postmill.audit_log where result = 'denied'").fetchall()
    assert denied == [("definitions.edit", "eve"), ("definitions.create", "eve")]
    as_role(pg, "super_admin", None, lambda: change(pg, made, argv_template=["zoltag", "sync"]))
    assert drive(pg, definitions.definition("sync")).argv_template == ["zoltag", "sync"]


def test_what_is_never_replayed(pg: Conn) -> None:
    make(pg, "pay", kind="http", replay_class="never")
    id = one(pg, "select postmill.enqueue('pay')")
    one(pg, "select status from postmill.cancel_jobs(array[$1::uuid])".replace("$1", f"'{id}'"))
    assert [answer.status for answer in drive(pg, commands.replay([id]))] == ["never"]
