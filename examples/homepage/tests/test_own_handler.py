"""A handler of one's own, as the README says, word by word, in a copy of the application."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOMEPAGE = Path(__file__).parents[1]
SHOW = """
import json
from postmill import Registry
found = Registry.collect("examples.homepage.jobs")
own = found["MY_CUSTOM_JOB"]
print(json.dumps({"queue": own.queue, "labels": sorted(trigger.label for _, trigger in found.triggers)}))
"""


def code() -> list[str]:
    """The indented blocks of the section, each without its indentation."""
    section = (HOMEPAGE / "README.md").read_text(encoding="utf-8").partition("## A handler of your own")[2]
    lines = section.partition("\n## ")[0]
    found = re.findall(r"(?:^ {7}.*\n|^\n(?= {7}))+", lines, re.MULTILINE)
    return [re.sub(r"^ {7}", "", block, flags=re.MULTILINE).strip() + "\n" for block in found]


def put(file: Path, line: str, before: str) -> None:
    text = file.read_text(encoding="utf-8")
    at = text.index(before) if before != "}\n" else text.rindex(before)
    file.write_text(f"{text[:at]}    {line}{text[at:]}", encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The application without its tests and its demo, below `examples` as it is here."""
    there = tmp_path / "examples/homepage"
    shutil.copytree(
        HOMEPAGE, there, ignore=shutil.ignore_patterns("tests", "demo", "__pycache__", "__main__.py")
    )
    (tmp_path / "examples/__init__.py").touch()
    return there


def test_the_section_can_be_followed(copy: Path) -> None:
    types, handler, periodically, test = code()
    name, _, registered = types.partition("\n\n")
    put(copy / "job_types.py", name + "\n", "\n\n@dataclass")
    put(copy / "job_types.py", registered, "}\n")
    cadence, _, schedule = periodically.partition("\n\n")
    put(copy / "cadences.py", cadence + "\n", "}\n")
    (copy / "jobs/my_custom_job.py").write_text(f"{handler}\n{schedule}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        check=False, cwd=copy.parents[1], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(copy.parents[1]), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["queue"] == "LOW"
    assert "my custom job" in shown["labels"]
    compile(test, "the test of the README", "exec")
