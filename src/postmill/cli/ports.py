"""A port for `postmill up`: the wanted one, or where none was asked for one that is free and goes with the folder."""

from __future__ import annotations

import socket
import zlib
from pathlib import Path

from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode

FIRST = 8710
TRIES = 200


def choose_port(host: str, wanted: int | None, folder: Path) -> int:
    """`wanted` if it is free (0: any), else a free one from 8710 to 8909. Raises CliError.

    Each data folder begins at a place of its own: it gets the same port again, and two that start at the same moment
    hardly ever the same one.
    """
    if wanted is not None:
        found = _bound(host, wanted)
        if found is None:
            raise CliError(
                f"port {wanted} on {host} is in use", "choose another one with --port", ExitCode.FAILED
            )
        return found
    begin = zlib.crc32(str(folder.absolute()).encode()) % TRIES
    for n in range(TRIES):
        port = FIRST + (begin + n) % TRIES
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
