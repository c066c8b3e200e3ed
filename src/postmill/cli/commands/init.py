"""`postmill init`: a first job to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from postmill.cli.run import Run

FILES = {"jobs.py": "jobs.py.txt", "postmill.toml": "postmill.toml.txt"}

NEXT = """
Next:
  postmill up jobs.py                               starts database, worker, console and API here"""
GREET = (
    "  postmill enqueue greet name=Ada times=5 --wait    in another terminal: runs the job, shows its result"
)
"""What a jobs.py of one's own does not have."""


def init(
    run: Run,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to write; made if missing.")
    ] = Path(),
) -> None:
    """Write jobs.py with one job, and a commented postmill.toml. Never overwrites a file."""
    folder.mkdir(parents=True, exist_ok=True)
    done = {name: _write(folder / name, template) for name, template in FILES.items()}
    if run.out.as_json:
        run.out.document([{"file": str(folder / name), "status": status} for name, status in done.items()])
        return
    for name, status in done.items():
        run.out.say(f"{status:8} {folder / name}", style="green" if status == "written" else "yellow")
    if folder != Path():
        run.out.say(f"\nGo there: cd {folder}")
    run.out.say(NEXT)
    if done["jobs.py"] == "written":
        run.out.say(GREET)


def _write(file: Path, template: str) -> str:
    text = (files("postmill") / "cli" / "templates" / template).read_text(encoding="utf-8")
    try:
        # "x" refuses a file that is there, also one that appeared a moment ago.
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        return "kept"
    return "written"
