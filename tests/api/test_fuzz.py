"""Every operation of the document, fuzzed over a socket: no answer is a fault of the server's, none is undocumented."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from postmill.api import create_app
from postmill.bind import drive
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.operate.keys import create_key
from tests.support.databases import Database
from tests.support.ports import unused_port
from tests.support.reference.http import document

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

PROFILE: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],
}

schema = schemathesis.openapi.from_dict(document())


class Served:
    """The application on a port, in a thread with a loop of its own, and keys for it."""

    def __init__(self, database: Database) -> None:
        self.port = unused_port()
        with database.connect() as conn:
            conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
            self.key = drive(conn, create_key("fuzz", Role.SUPER_ADMIN)).key
            self.worker_key = drive(conn, create_key("worker", Role.WORKER)).key
        made = {"database_url": database.dsn, "server": {"connections": 4, "rate_per_key": 1e6}}
        config = uvicorn.Config(
            create_app(Settings.model_validate(made)), port=self.port, log_config=None, access_log=False
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=lambda: asyncio.run(self.server.serve()))

    def __enter__(self) -> Served:
        self.thread.start()
        with httpx.Client() as client:
            for _ in range(200):
                try:
                    client.get(f"http://127.0.0.1:{self.port}/healthz", timeout=1)
                    return self
                except httpx.TransportError:
                    threading.Event().wait(0.05)
        raise AssertionError("the server did not come up")

    def __exit__(self, *error: object) -> None:
        self.server.should_exit = True
        self.thread.join()

    def check(self, case: Any) -> None:
        key = self.worker_key if "/worker/" in case.operation.path else self.key
        headers = {"Authorization": f"Bearer {key}"}
        response = case.call(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=60)
        case.validate_response(response, checks=CHECKS, headers=headers)


@pytest.fixture(scope="module")
def served(api_database: Database) -> Iterator[Served]:
    with Served(api_database) as made:
        yield made


@schema.parametrize()
@settings(max_examples=2, derandomize=True, **PROFILE)
def test_no_answer_is_a_fault_of_ours(served: Served, case: Any) -> None:
    served.check(case)


@pytest.mark.long
@schema.parametrize()
@settings(max_examples=300, **PROFILE)
def test_no_answer_is_a_fault_of_ours_for_long(served: Served, case: Any) -> None:
    served.check(case)
