"""A client whose database knows `echo`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postmill.client import Client
from tests.client.job_types import echo


@pytest.fixture
def client(dsn: str) -> Iterator[Client]:
    with Client(dsn) as client:
        client.register([echo])
        yield client
