"""What can be said on the demo's command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """`patience` for each act, in seconds."""

    data: Path = Path(".postmill/planner")
    missions: int = 120
    patience: float = 60.0


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options; a usage error ends the program."""
    default = Options()
    parser = argparse.ArgumentParser(
        prog="python -m examples.planner",
        description="A festival is planned: people are told, conflicts found, proposals made, files written, mistakes mended.",
    )
    parser.add_argument("--data", type=Path, default=default.data, help="data folder (default %(default)s)")
    parser.add_argument(
        "--missions", type=int, default=default.missions, help="how many (default %(default)s)"
    )
    parser.add_argument("--patience", type=float, default=default.patience, help="seconds until it gives up")
    options = Options(**vars(parser.parse_args(arguments)))
    if not 10 <= options.missions <= 2000:
        parser.error("--missions: from 10 to 2000")
    return options
