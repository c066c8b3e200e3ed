"""Run by the package of the version before: it is imported once, and each program that is asked for is forked.

A line of stdin is one order: `run WORD…` (the command line of `postmill`), `producer FILE PACE` or `wait PID`; the answer is a
line: a process id, or an exit code. Imports nothing of the tests, which are newer.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import sys
import time

import postmill.cli.working  # noqa: F401 - so that those that are forked have it
from postmill import Client
from postmill.cli.main import main as command


def _produce(stop: str, pace: str) -> None:
    from jobs import step  # type: ignore[import-not-found]

    with Client() as client:
        for n in itertools.count():
            if pathlib.Path(stop).exists():
                break
            client.enqueue(step.new(n=n))
            time.sleep(float(pace))
    sys.stderr.write(f"made {n}\n")


def _program(words: list[str]) -> None:
    os.setsid()
    os.dup2(2, 1)  # stdout is for answers
    if words[0] == "run":
        sys.argv = ["postmill", *words[1:]]
        command()
    else:
        _produce(*words[1:])


def main() -> None:
    """Until stdin ends."""
    for line in sys.stdin:
        words = line.split()
        if words[0] == "wait":
            answer = os.waitstatus_to_exitcode(os.waitpid(int(words[1]), 0)[1])
        else:
            answer = os.fork()
            if answer == 0:
                _program(words)
                sys.stderr.flush()
                os._exit(0)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


main()
