"""The entry point."""

from __future__ import annotations

import sys


def main() -> None:
    """`postmill` and `python -m postmill`."""
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        sys.stderr.write("error: the command line needs an extra: pip install 'postmill[cli]'\n")
        raise SystemExit(1) from None
    from postmill.cli.tree import app

    app(prog_name="postmill")
