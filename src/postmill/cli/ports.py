"""A port for `postmill up`: the wanted one, or where none was asked for the first free one."""

from __future__ import annotations

import socket

from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode

FIRST = 8710
TRIES = 20


def choose_port(host: str, wanted: int | None) -> int:
    """`wanted` if it is free (0: any), else the first free one from 8710 on. Raises CliError."""
    if wanted is not None:
        found = _bound(host, wanted)
        if found is None:
            raise CliError(
                f"port {wanted} on {host} is in use", "choose another one with --port", ExitCode.FAILED
            )
        return found
    for port in range(FIRST, FIRST + TRIES):
        if _bound(host, port) is not None:
            return port
    raise CliError(
        f"no free port from {FIRST} to {FIRST + TRIES - 1}", "choose one with --port", ExitCode.FAILED
    )


def _bound(host: str, port: int) -> int | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return None
        number: int = probe.getsockname()[1]
        return number
