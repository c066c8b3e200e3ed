"""The pages as a whole: all in the navigation, every link leads somewhere, words as the glossary has them."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from postmill.domain.settings import Settings
from tests.cli.support import cli
from tests.support.docs.blocks import FOLLOWED_ELSEWHERE, blocks_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
MADE_LATER = {"docs/assets/peers.md"}
"""Written by `make bench-peers`."""

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`|<!--.*?-->", re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def navigation(entries: Any) -> Iterator[str]:
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from navigation(value) if isinstance(value, list) else [value]


def test_every_page_is_in_the_navigation() -> None:
    found = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = set(navigation(found["nav"]))
    there = {page.relative_to(DOCS).as_posix() for page in PAGES if page.parent.name != "assets"}
    assert listed == there


def slug(heading: str) -> str:
    """The anchor that the Markdown processor gives a heading."""
    text = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"[-\s]+", "-", text)


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    lost = []
    for found in [*_LINK.finditer(text), *_IMAGE.finditer(text)]:
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("http://", "https://")):
            continue
        file = (page.parent / target).resolve() if target else page
        if name(file) in MADE_LATER:
            continue
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(found["target"])
    assert lost == []


WRONG = {
    r"cancell(?!ation)": "canceled, with one l",
    r"\bDLQ\b|dead[- ]letter queue": "dead letters",
    r"\bretr(?:y|ies) count\b": "attempts",
    r"\bseeds?\b": "(a word of the designs, not of the product)",
    r"\bTODO\b|\bFIXME\b|\bcoming soon\b": "(nothing is promised)",
}


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_words_are_those_of_the_glossary(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    found = {word: right for word, right in WRONG.items() if re.search(word, text, re.IGNORECASE)}
    assert found == {}


def test_every_guide_is_found_from_the_first_page() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\((how-to/[\w-]+\.md)", index))
    assert {
        path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs/how-to").glob("*.md")
    } == linked


def blocks(language: str) -> list[str]:
    """All blocks of a language that the pages' own test does not run."""
    pages = [page for page in TEXTS if name(page) not in FOLLOWED_ELSEWHERE]
    return [block.text for page in pages for block in blocks_of(page) if block.language == language]


def test_commands_that_are_not_run_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][\w-]*):.*##", makefile, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in "".join(blocks("sh")).splitlines():
        if found := re.match(r"make (\S+)", line):
            assert found[1] in targets, line
        elif re.match(r"(cd|cp|docker|helm|kubectl|systemctl) ", line):
            for path in re.findall(r"(?<!\S)deploy/\S+", line):
                assert (ROOT / path).exists(), line
        elif found := re.match(r'curl "\$SERVER([^"]*)"', line):
            paths = json.loads((ROOT / "docs/reference/openapi.json").read_text(encoding="utf-8"))["paths"]
            assert re.sub(r"\$\w+", "{}", found[1]) in {re.sub(r"{\w+}", "{}", path) for path in paths}, line
        elif found := re.match(r"pip install -e '\.\[(\w+)\]'", line):
            assert found[1] in project["optional-dependencies"], line
        else:
            assert re.match(
                r"(POSTMILL_KEY=\S+ )?(postmill|echo|node|psql|pg_dump|curl|python3 -m venv|python manage\.py|flask --app|\.) ",
                line,
            ), line  # the examples of the reference: tests/cli


def test_settings_in_the_text_can_be() -> None:
    """What is shown of a postmill.toml, and not followed: it is TOML, and the settings know it. An .ini is another program's."""
    for text in blocks("toml"):
        Settings.model_validate(tomllib.loads(text))
    for text in blocks("ini"):
        assert "postmill.toml" not in text


def test_the_unit_of_systemd_gives_a_drain_its_time() -> None:
    # The server's and the worker's.
    text = next(one for one in blocks("ini") if "postmill worker" in one)
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    service = unit["Service"]
    assert float(service["TimeoutStopSec"]) > Settings().worker.grace
    assert service["KillMode"] == "mixed"
    command = service["ExecStart"].split()
    assert command[0].endswith("/postmill")
    assert "Usage: postmill worker" in cli(command[1], "--help").out


def test_the_site_builds(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").exists()
