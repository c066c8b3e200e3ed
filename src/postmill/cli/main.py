"""The entry point."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """`postmill` and `python -m postmill`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as the process
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        sys.stderr.write("error: the command line needs an extra: pip install 'postmill[cli]'\n")
        raise SystemExit(1) from None
    try:
        from postmill.cli.tree import app

        app(prog_name="postmill")
    except KeyboardInterrupt:  # while the program is being loaded
        sys.stderr.write("error: interrupted\n")
        raise SystemExit(130) from None
