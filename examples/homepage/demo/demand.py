"""What people ask for: job types that run on demand, and where the payload of the next one comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psycopg import Connection

from examples.homepage.job_types import JobType

Payload = Callable[[Connection[Any], str, int], dict[str, object] | None]
"""Connection, portal, and which request this is; None: there is nothing to ask for."""

DEMAND: Mapping[JobType, Payload] = {}
