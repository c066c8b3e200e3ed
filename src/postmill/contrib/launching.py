"""Puts the command line of Postmill in the place of a framework's own, with the database of the application."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from postmill.client.address import VARIABLE


def become_postmill(words: Sequence[str], database: str | None, env: Mapping[str, str]) -> NoReturn:
    """Replace this process by `postmill WORDS`, so that signals, exit codes and children are those of the command line.

    Args:
        words: command and options.
        database: connection string, handed on in the environment: a command line is for everybody to read. None: as
            the settings and the environment have it.
        env: further variables.
    """
    made = os.environ | dict(env)
    if database is not None:
        made[VARIABLE] = database
    # `python -m` sees the current folder; the application may be found by way of others.
    made["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path for path in sys.path if path))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, "-m", "postmill", *words], made)
