"""What can be said on the demo's command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

UNWATCHED = 60.0
"""Seconds after which it ends by itself where no terminal is there to end it."""


@dataclass(frozen=True, slots=True)
class Options:
    """`seconds` is how long it runs once everything has begun; None: until Ctrl-C, or UNWATCHED where there is no terminal."""

    data: Path = Path(".postmill/homepage")
    seconds: float | None = None


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options; a usage error ends the program."""
    default = Options()
    parser = argparse.ArgumentParser(
        prog="python -m examples.homepage",
        description="Two portals on one Postmill: every kind of job, failures that heal, and the console.",
    )
    parser.add_argument("--data", type=Path, default=default.data, help="data folder (default %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        help=f"how long (default: until Ctrl-C in a terminal, else {UNWATCHED:g})",
    )
    options = Options(**vars(parser.parse_args(arguments)))
    if options.seconds is not None and options.seconds <= 0:
        parser.error("--seconds must be more than 0")
    return options
