"""An example that was copied as examples/README.md says needs nothing of the checkout any more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.designs.tables import EXAMPLES, ROOT, examples

OF_THE_CHECKOUT = re.compile(
    rf"\bexamples[./](?:{'|'.join(examples())})\b|^ *(?:from|import) (?:tests|examples)\b", re.MULTILINE
)
LOAD = "import sys; sys.path.insert(0, ''); from postmill import Registry; print(len(Registry.collect('planner.jobs')))"


def commands() -> str:
    """What the section says to run."""
    section = (EXAMPLES / "README.md").read_text(encoding="utf-8").partition("## Copy one")[2]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One of somebody's own, with a copy of each example."""
    target = tmp_path / "my project"
    target.mkdir()
    for example in examples():
        words = {"APP": example, "TO": str(target)}
        subprocess.run(["bash", "-euc", commands()], check=True, cwd=ROOT, env=os.environ | words)
    return target


def test_no_copy_needs_the_checkout(project: Path) -> None:
    files = [
        file for file in project.rglob("*") if file.suffix in (".py", ".toml", ".yaml", ".json", ".sql", "")
    ]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.is_file()}
    assert len({file.relative_to(project).parts[0] for file in texts}) == len(examples()) > 1
    assert [
        (file, found[0]) for file, text in texts.items() for found in OF_THE_CHECKOUT.finditer(text)
    ] == []
    done = subprocess.run(
        [sys.executable, "-P", "-c", LOAD],
        check=False, cwd=project, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5


@pytest.mark.parametrize("example", examples())
def test_every_example_says_what_it_needs_and_how_it_is_copied(example: str) -> None:
    text = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")
    assert "(../README.md#copy-one)" in text
    assert "(../README.md#run-one-yourself)" in text.partition("## Run it yourself")[2]
