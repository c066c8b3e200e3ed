"""`--build`: what the application calls the code that runs."""

from __future__ import annotations

from typing import Annotated

import typer

Build = Annotated[
    str | None,
    typer.Option(
        "--build",
        metavar="NAME",
        help="What you call the code that runs: a release, a commit. Shown with the worker and what it ran.",
    ),
]
