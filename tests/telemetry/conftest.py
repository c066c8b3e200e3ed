from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from postmill.telemetry.event import JobFacts

JOB = UUID("01890000-0000-7000-8000-0000000000ff")
TENANT = UUID(int=1)


def make_facts(**changes: Any) -> JobFacts:
    base: dict[str, Any] = {
        "job_id": JOB,
        "job_type": "enrich",
        "queue": "default",
        "tenant_id": TENANT,
        "attempt": 2,
        "worker_id": "host:1:boot",
        "project_id": UUID(int=2),
        "request_id": "req-1",
        "correlation_id": "cor-1",
        "handler": "app.enrich",
        "fields": {"item_id": "i-7"},
    }
    return JobFacts(**{**base, **changes})


@pytest.fixture
def facts() -> Callable[..., JobFacts]:
    return make_facts


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()
