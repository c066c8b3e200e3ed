"""The pytest plugin: a migrated database for each test that asks for one, and the helpers bound to it.

postmill         everything at once: `.dsn`, `.conn`, `.client`, `.assert_enqueued(…)`, `.drain(…)` … (see `PostmillTest`)
postmill_dsn     connection string of the test's own migrated database
postmill_clock   its clock, frozen
postmill_inline  inline mode: enqueues run at once; gives the list of what has run

The databases are on a server that is started for the run (extra `embedded`, or PostgreSQL's programs on this machine),
or on the one that `postmill_test_server` in pytest's configuration, or POSTMILL_TEST_SERVER, names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from postmill.testing.clock import FrozenClock
    from postmill.testing.inlining import Ran
    from postmill.testing.server import TestServer
    from postmill.testing.together import PostmillTest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting."""
    parser.addini(
        "postmill_test_server",
        "connection string of a PostgreSQL server on which databases may be made and dropped"
        " (default: one is started for the run)",
    )


@pytest.fixture(scope="session")
def postmill_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestServer]:
    """The server, with a migrated template."""
    from postmill.testing.server import test_server

    with test_server(
        request.config.getini("postmill_test_server"), tmp_path_factory.mktemp("postmill")
    ) as server:
        yield server


@pytest.fixture
def postmill_dsn(postmill_server: TestServer) -> Iterator[str]:
    """Connection string of the test's own migrated database."""
    with postmill_server.database() as dsn:
        yield dsn


@pytest.fixture
def postmill(postmill_dsn: str) -> Iterator[PostmillTest]:
    """The helpers, on the test's own database."""
    from postmill.testing.together import PostmillTest

    with PostmillTest(postmill_dsn) as found:
        yield found


@pytest.fixture
def postmill_clock(postmill_dsn: str) -> Iterator[FrozenClock]:
    """The clock of the test's own database, frozen at the moment of the test's start."""
    from postmill.testing.clock import FrozenClock

    with FrozenClock(postmill_dsn) as clock:
        yield clock


@pytest.fixture
def postmill_inline() -> Iterator[list[Ran]]:
    """Inline mode; no database is needed."""
    from postmill.testing.inlining import inline

    with inline() as ran:
        yield ran
