"""Connections of the application: they notice within seconds that the network is gone, and so does the server."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection

LONGEST_IDLE = "15s"
"""A transaction whose client has gone silent is ended after so long: its locks must not wait for TCP."""


def connect(url: str) -> Connection[Any]:
    """A connection in autocommit."""
    return psycopg.connect(
        url,
        autocommit=True,
        application_name="zoltag",
        connect_timeout=10,
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=10_000,
        options=f"-c idle_in_transaction_session_timeout={LONGEST_IDLE}",
    )
