"""A TCP port that nobody listens on."""

from __future__ import annotations

import socket


def unused_port() -> int:
    """Ask the system for one; free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
