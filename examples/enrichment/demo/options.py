"""What can be said on the demo's command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.enrichment.texts.gather import DEFAULT_LIMIT
from examples.upstreams.script import SCRIPTS

DEFAULT_DATA = Path(".postmill/demo")


@dataclass(frozen=True, slots=True)
class Options:
    """`rate` is in items a second; `patience` in seconds."""

    data: Path = DEFAULT_DATA
    items: int = DEFAULT_LIMIT
    rate: float = 60.0
    workers: int = 2
    slots: int = 8
    script: str = "usual"
    kill_worker: bool = False
    patience: float = 900.0


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options; a usage error ends the program."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.enrichment.demo",
        description="Enrich some hundred real texts of this machine and watch how it goes.",
    )
    default = Options()
    parser.add_argument(
        "--data", type=Path, default=default.data, help=f"data folder (default {default.data})"
    )
    parser.add_argument(
        "--items", type=_at_least(1), default=default.items, help="texts (default %(default)s)"
    )
    parser.add_argument(
        "--rate", type=float, default=default.rate, help="most captures a second (default %(default)s)"
    )
    parser.add_argument(
        "--workers", type=_at_least(1), default=default.workers, help="processes (default %(default)s)"
    )
    parser.add_argument(
        "--slots", type=_at_least(1), default=default.slots, help="slots of each (default %(default)s)"
    )
    parser.add_argument(
        "--script",
        default=default.script,
        help=f"the service's mood: {', '.join(SCRIPTS)}, or JSON (default usual)",
    )
    parser.add_argument(
        "--kill-worker", action="store_true", help="kill -9 one worker in mid-work; leases last 5 s"
    )
    parser.add_argument("--patience", type=float, default=default.patience, help="seconds until it gives up")
    options = Options(**vars(parser.parse_args(arguments)))
    if options.kill_worker and options.workers < 2:
        parser.error("--kill-worker needs at least two workers, or nobody is left to take over")
    if options.rate <= 0:
        parser.error("--rate must be more than 0")
    return options


def _at_least(least: int) -> Callable[[str], int]:
    def check(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        return number

    check.__name__ = "number"
    return check
