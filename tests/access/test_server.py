"""`postmill server` as a process: closed beyond this machine until somebody can log in, and an end in good order."""

from __future__ import annotations

import json
import re
import signal
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psycopg

from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.databases import Database
from tests.support.eventually import eventually


def ask(url: str, key: str | None = None, body: Any = None) -> tuple[int, Any]:
    """Status and JSON of an answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def test_from_closed_to_open_to_a_clean_end(tmp_path: Path, database: Database) -> None:
    dsn = database.dsn
    with running(tmp_path, "server", "--host", "0.0.0.0", "--port", "0", dsn=dsn) as refused:
        assert refused.ends() == 2
        assert "no login is configured" in refused.err
        assert "this machine only" in refused.err
        assert "postmill keys create" in refused.err
    with running(tmp_path, "server", "--port", "0", dsn=dsn) as server:
        url = server.says(r"API at (http://127\.0\.0\.1:\d+)/api/v1")[1]
        assert "nobody can log in yet" in server.err
        assert ask(f"{url}/readyz") == (200, {"ready": True})
        assert ask(f"{url}/api/v1/jobs")[0] == 401
        assert ask(f"{url}/metrics")[0] == 401
        link = cli("login", "--url", url, dsn=dsn).out.strip()
        assert link.startswith(f"{url}/login?token=")
        key = cli("keys", "create", "first", "--role", "super_admin", dsn=dsn).out.strip()
        assert ask(f"{url}/api/v1/session", key)[1]["role"] == "super_admin"
        server.signal(signal.SIGTERM)
        assert server.ends() == 0
        assert key not in server.err
    # Now somebody can: it listens wherever it is told to. What is under way when the end comes is finished.
    with running(tmp_path, "server", "--host", "0.0.0.0", "--port", "0", dsn=dsn) as server:
        port = server.says(r"API at http://127\.0\.0\.1:(\d+)/")[1]
        url = f"http://127.0.0.1:{port}/api/v1"
        cli_register(database)
        answers: list[tuple[int, Any]] = []
        with database.connect() as conn:
            with conn.transaction():
                conn.execute("lock table postmill.ready in share row exclusive mode")
                asking = threading.Thread(
                    target=lambda: answers.append(
                        ask(f"{url}/jobs", key, {"definition_key": "t", "payload": {}})
                    )
                )
                asking.start()
                wait_for_waiter(database)
                server.signal(signal.SIGTERM)
            asking.join()
        assert [status for status, _ in answers] == [201]
        assert server.ends() == 0


def cli_register(database: Database) -> None:
    with database.connect() as conn:
        conn.execute("""select * from postmill.register_job_types('[{"key": "t"}]')""")


def wait_for_waiter(database: Database) -> None:
    """Until a backend waits for a lock."""

    with psycopg.connect(database.server.dsn(), autocommit=True) as conn:
        eventually(
            lambda: conn.execute("select count(*) > 0 from pg_locks where not granted").fetchone() == (True,)
        )


def test_a_port_that_is_taken(tmp_path: Path, database: Database) -> None:
    with running(tmp_path, "server", "--port", "0", dsn=database.dsn) as server:
        port = server.says(r"API at http://127\.0\.0\.1:(\d+)/")[1]
        with running(tmp_path, "server", "--port", port, dsn=database.dsn) as second:
            assert second.ends() == 1
            assert re.search(rf"cannot listen on 127\.0\.0\.1:{port}: .*in use", second.err)
        server.signal(signal.SIGINT)
        assert server.ends() == 0


def test_a_database_that_was_not_migrated(tmp_path: Path, empty_database: Database) -> None:
    with running(tmp_path, "server", "--port", "0", dsn=empty_database.dsn) as server:
        assert server.ends() == 4
        assert "postmill migrate" in server.err
