"""Starts everything, plays the story, and tells what came out.

Ends with 0 only if every picture was synced, no job failed and the tags are good; with 1 if not, 2 if it could not go on,
130 after Ctrl-C.
"""

from __future__ import annotations

import io
import signal
import sys

import httpx
import psycopg
from rich.console import Console

from examples.photos.demo.options import Options, parse
from examples.photos.demo.progress import Display
from examples.photos.demo.stage import stage
from examples.photos.demo.story import Story, Unfinished
from examples.photos.demo.summary import print_summary
from examples.staging.children import ChildFailed
from examples.staging.control import ApiRefused
from examples.staging.steps import Steps
from postmill import PostmillError

FAULTS = (PostmillError, ChildFailed, ApiRefused, Unfinished, psycopg.Error, httpx.HTTPError, OSError)


def main() -> int:
    """The whole demo; returns the exit code."""
    options = parse()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        return _play(options, console)
    except KeyboardInterrupt:
        console.print(f"\nStopped. What there is is in {options.data}; the next run goes on from there.")
        return 130
    except FAULTS as error:
        console.print(f"[bold red]The demo cannot go on:[/] {error}", highlight=False)
        return 2


def _play(options: Options, console: Console) -> int:
    console.print("[bold]Postmill: the photo demo[/]  two tenants, four commands, a Dropbox each\n")
    with stage(options, Steps(console)) as running:
        console.print()
        with Display(console, options.pictures + options.new) as display:
            Story(options, running, display).play()
        console.print()
        return 0 if print_summary(console, running, options.data.absolute()) else 1


if __name__ == "__main__":
    sys.exit(main())
