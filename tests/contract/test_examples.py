"""The tables of the examples' READMEs are true: what they name is there, and no line of a design is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.planner.queues import QUEUES
from tests.support.designs import evidence
from tests.support.designs.named import named
from tests.support.designs.tables import EXAMPLES, ROOT, Line, examples, lines, spans
from tests.support.docs import readmes
from tests.support.reference.homepage_flows import FLOWS

SCHEMA = ROOT / "src/postmill/sql/schema.sql"
LINK = re.compile(r"\]\([^)]*\)")
"""Where a link goes to differs from the page to the README."""
PAGES = sorted((ROOT / "docs/examples").glob("*.md"))


def rows() -> Iterator[Line]:
    for example in examples():
        yield from lines(example)


def told(row: Line, missing: list[str]) -> str:
    return f"examples/{row.example}/README.md, {row.what!r}: {', '.join(missing)}"


def test_every_file_that_a_row_names_exists() -> None:
    lost = []
    for row in rows():
        named_here = [
            span for cell in (row.where, row.test) for span in spans(cell) if evidence.is_file(span)
        ]
        missing = [span for span in named_here if not evidence.place(row.example, span).exists()]
        lost += [told(row, missing)] if missing else []
    assert lost == []


def test_every_test_that_a_row_names_exists() -> None:
    lost = []
    for row in rows():
        found = evidence.tests(row)
        missing = [name for file, name in found if not evidence.holds(row.example, file, name)]
        lost += [told(row, missing)] if missing else []
    assert lost == []


def test_every_row_has_a_test() -> None:
    assert [str(row) for row in rows() if not spans(row.test)] == []


def test_every_name_in_the_code_that_a_row_gives_is_there() -> None:
    """In the files that the row names, or else in the example: each word of it."""
    lost = []
    for row in rows():
        given = [span for span in spans(row.where) if not evidence.is_file(span)]
        text = evidence.whole(row.example) + "".join(map(evidence.text, evidence.files(row)))
        text += "".join(evidence.text(SCHEMA) for span in given if span.startswith("postmill."))
        words = [word for span in given for word in re.findall(r"[A-Za-z_]\w{2,}", span)]
        missing = [word for word in words if word not in text and word not in COMMANDS]
        lost += [told(row, missing)] if missing else []
    assert lost == []


COMMANDS = {"GET", "POST", "PATCH", "metrics", "dead", "postmill", "processes"}
"""Words of requests and command lines."""


@pytest.mark.parametrize("example", examples())
def test_no_section_of_a_design_is_left_out(example: str) -> None:
    """Each has a row, and what it names stands in its rows or in the files that they point at."""
    lost = {}
    for section, names in named(example).items():
        here = [row for row in lines(example) if section in row.sections]
        assert here, f"examples/{example}/README.md has no row of {section}"
        text = "\n".join([f"{row.what}\n{row.where}\n{row.test}" for row in here])
        text += "\n".join(evidence.text(file) for row in here for file in evidence.files(row))
        flat = " ".join(text.replace("`", "").lower().split())
        missing = [name for name in names if name.lower() not in flat]
        if missing:
            lost[section] = missing
    assert lost == {}, lost


def test_every_example_has_its_page() -> None:
    assert [page.stem for page in PAGES] == examples()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_tables_of_its_readme(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    file = f"examples/{page.stem}/README.md"
    taken = [heading for source, heading in readmes.parts(text) if source == file]
    readme = (EXAMPLES / page.stem / "README.md").read_text(encoding="utf-8")
    assert taken == [one for one in re.findall(r"^## (.+)$", readme, re.MULTILINE) if one in taken]
    assert {one.partition(",")[0] for one in taken} >= {"The design", "Choices"}
    shown = LINK.sub("", readmes.filled(text))
    for line in readme.splitlines():
        if line.startswith("| **"):
            assert LINK.sub("", line) in shown, "a row that the page leaves out"


def test_every_file_that_a_flow_names_exists() -> None:
    named_there = {step.where for flow in FLOWS.values() for step in flow.says() if step.where}
    assert [where for where in sorted(named_there) if not (ROOT / where).exists()] == []


def test_the_open_questions_have_the_slos_of_the_planner() -> None:
    page = (ROOT / "docs/explanation/open-questions.md").read_text(encoding="utf-8")
    units = {"s": 1, "min": 60, "h": 3600}
    shown = re.findall(r"^\| `(q:\w+)` \| (\d+) (s|min|h) \|", page, re.MULTILINE)
    assert {queue: int(number) * units[unit] for queue, number, unit in shown} == {
        queue.name: queue.sla for queue in QUEUES
    }
