"""What can be said on the demo's command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.upstreams.script import SCRIPTS

FEWEST = 32
"""Pictures of a tenant from which each keyword can be learned."""


@dataclass(frozen=True, slots=True)
class Options:
    """`pictures` of each tenant; `patience` in seconds for each act."""

    data: Path = Path(".postmill/photos")
    pictures: int = 96
    new: int = 12
    workers: int = 2
    script: str = "usual"
    kill_worker: bool = False
    patience: float = 180.0


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options; a usage error ends the program."""
    default = Options()
    parser = argparse.ArgumentParser(
        prog="python -m examples.photos", description="Two tenants, their pictures, and what becomes of them."
    )
    parser.add_argument("--data", type=Path, default=default.data, help="data folder (default %(default)s)")
    parser.add_argument(
        "--pictures", type=int, default=default.pictures, help="of each tenant (default %(default)s)"
    )
    parser.add_argument("--new", type=int, default=default.new, help="that come later (default %(default)s)")
    parser.add_argument(
        "--workers", type=int, default=default.workers, help="processes (default %(default)s)"
    )
    parser.add_argument(
        "--script", default=default.script, help=f"Dropbox's mood: {', '.join(SCRIPTS)}, or JSON"
    )
    parser.add_argument(
        "--kill-worker", action="store_true", help="kill -9 one worker in mid-sync; leases last 3 s"
    )
    parser.add_argument("--patience", type=float, default=default.patience, help="seconds until it gives up")
    options = Options(**vars(parser.parse_args(arguments)))
    if options.pictures < FEWEST:
        parser.error(f"--pictures: fewer than {FEWEST} teach nothing")
    if options.workers < 1 or options.new < 0 or (options.kill_worker and options.workers < 2):
        parser.error("--workers: at least one, and two with --kill-worker; --new: at least none")
    return options
