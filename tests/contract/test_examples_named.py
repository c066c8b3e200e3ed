"""`make example NAME=…`: an unknown name is answered with those there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_an_unknown_example_is_refused_with_those_there_are() -> None:
    words = [sys.executable, "-m", "examples", "enrichmnt"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        "there is no example 'enrichmnt'; did you mean 'enrichment'? known examples: enrichment, "
        in done.stderr
    )
    assert '-m examples "$(NAME)"' in (ROOT / "Makefile").read_text()
