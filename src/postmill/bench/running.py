"""Runs one case and makes its figures one JSON object."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from postmill.bench.case import BenchError, Case
from postmill.bench.catalog import CASES
from postmill.bench.place import Place, Progress, placed
from postmill.domain.suggest import did_you_mean
from postmill.version import VERSION

DURABLE = ("fsync", "full_page_writes", "synchronous_commit")


def run(case: str, dsn: str | None, options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Runs a case.

    Args:
        case: a name from `CASES`.
        dsn: the database to use, in which schemas are made and dropped; None: a server of its own, which is
            removed afterwards (in `$TMPDIR`).
        options: by the names of the case's options; what is missing or None has its default.
        progress: takes a line for people, now and then.

    Returns:
        The figures, of a case that runs jobs at least `jobs_per_s`, `limit_per_s` (the same SQL driven bare) and
        `ratio`; `versions`, and `settings` of the case, the server and the machine.

    Raises:
        BenchError: an unknown case or option, or a run whose figures would mean nothing.
        LocalServerError: no server could be started.
    """
    found = CASES.get(case)
    if found is None:
        raise BenchError(f"there is no case {case!r}{did_you_mean(case, CASES, noun='cases')}")
    chosen = found.read(options)
    load = os.getloadavg()[0]
    with placed(dsn, progress) as place:
        figures = found.measure(place, chosen)
        return {"case": case, **figures, **_facts(place, found, chosen, load)}


def _facts(place: Place, case: Case, options: Mapping[str, Any], load: float) -> dict[str, Any]:
    server = place.server()
    postgres = server.pop("server_version")
    for name in DURABLE:
        if server[name] != "on":
            place.progress(f"warning: the server has {name} = {server[name]}; it may lose what it committed")
    return {
        "versions": {
            "postgres": postgres,
            "python": platform.python_version(),
            "postmill": VERSION,
            "psycopg": version("psycopg"),
        },
        "settings": {
            "options": {option.name: options[option.name] for option in case.options},
            "server": server,
            "cores": os.cpu_count(),
            "load_before": round(load, 2),
        },
    }
