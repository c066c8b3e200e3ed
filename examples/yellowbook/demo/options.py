"""What can be said on the demo's command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.yellowbook.demo.businesses import BUSINESSES

FEWEST = 16
"""Businesses of which enough have their key revoked to ring the alarm."""


@dataclass(frozen=True, slots=True)
class Options:
    """`latency` of one call of the service and `patience` for each act, in seconds."""

    data: Path = Path(".postmill/yellowbook")
    businesses: int = len(BUSINESSES)
    workers: int = 2
    latency: float = 1.5
    patience: float = 120.0


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options; a usage error ends the program."""
    default = Options()
    parser = argparse.ArgumentParser(
        prog="python -m examples.yellowbook",
        description="A yellow book whose entries are found by what they mean, on good days and on bad ones.",
    )
    parser.add_argument("--data", type=Path, default=default.data, help="data folder (default %(default)s)")
    parser.add_argument(
        "--businesses", type=int, default=default.businesses, help="how many (default %(default)s)"
    )
    parser.add_argument(
        "--workers", type=int, default=default.workers, help="processes (default %(default)s)"
    )
    parser.add_argument(
        "--latency",
        type=float,
        default=default.latency,
        help="seconds that the service thinks about a text, ± a third (default %(default)s)",
    )
    parser.add_argument("--patience", type=float, default=default.patience, help="seconds until it gives up")
    options = Options(**vars(parser.parse_args(arguments)))
    if not FEWEST <= options.businesses <= len(BUSINESSES):
        parser.error(f"--businesses: from {FEWEST} to {len(BUSINESSES)}")
    if options.workers < 1 or options.latency < 0:
        parser.error("--workers: at least one; --latency: at least 0")
    return options
