"""The runner of the documentation notices what a page gets wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.docs.blocks import blocks_of, database_of
from tests.support.docs.console import Step, steps_of
from tests.support.docs.matching import Ids, match, substituted

ONE = "01a21f52-5700-7c30-a010-8764d318c4de"
OTHER = "01a21f52-80cd-72c7-b69f-4cc124d9e7ab"


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("a  b", "a b  \n"),
        ("done in 3.0 s", "done in 12 ms"),
        ("paused for 30 min", "paused for 1 h 30 min"),
        ("name …", "name of something"),
        ("…\nlast", "first\nsecond\nlast"),
        ("…\nlast", "last"),
        ("first\n…", "first"),
        ("head\n\nrow", "head\n────────\nrow"),
        ("01a2… runs again as 01a3…", f"{ONE}  runs again as {OTHER}"),
        ("01a2… and 01a2…", f"{ONE} and {ONE}"),
    ],
)
def test_what_looks_alike(expected: str, output: str) -> None:
    assert match(expected, output, {})


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("a", "a\nb"),
        ("a\nb", "a"),
        ("3 jobs", "4 jobs"),
        ("3.0 s", "3.0 jobs"),
        ("a …\nb", "a\nx\nb"),
        ("01a2… and 01a2…", f"{ONE} and {OTHER}"),
        ("(x)", "x"),
    ],
)
def test_what_does_not(expected: str, output: str) -> None:
    assert not match(expected, output, {})


def test_an_id_stays_the_same_on_a_page() -> None:
    ids: Ids = {}
    assert match("made 01a2…", f"made {ONE}", ids)
    assert match("again 01a2…", f"again {ONE}", ids)
    assert not match("again 01a2…", f"again {OTHER}", ids)
    assert substituted("show 01a2…", ids) == f"show {ONE}"
    with pytest.raises(KeyError):
        substituted("show 01ff…", ids)


def test_steps_of_a_console_block() -> None:
    text = "$ postmill up jobs.py\nready\n^C\ndrained\n$ echo $?\n$ long \\\n  line\n"
    assert steps_of(text) == [
        Step("postmill up jobs.py", "ready"),
        Step("^C", "drained"),
        Step("echo $?", None),
        Step("long \\\n  line", None),
    ]


def page(folder: Path, text: str) -> Path:
    file = folder / "page.md"
    file.write_text(text, encoding="utf-8")
    return file


def test_blocks_of_a_page(tmp_path: Path) -> None:
    text = 'x\n\n```python title="jobs.py"\na = 1\n```\n\n```text\n1\n```\n\ny\n\n```text\n2\n```\n'
    blocks = blocks_of(page(tmp_path, text))
    assert [(b.language, b.title, b.text, b.line, b.below) for b in blocks] == [
        ("python", "jobs.py", "a = 1\n", 4, False),
        ("text", None, "1\n", 8, True),
        ("text", None, "2\n", 14, False),
    ]


@pytest.mark.parametrize("text", ["```\nx\n```\n", "```python\nx\n", "```pyhton\nx\n```\n"])
def test_a_block_that_nobody_would_run_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"code block|neither run"):
        blocks_of(page(tmp_path, text))


def test_a_page_says_which_database_it_wants(tmp_path: Path) -> None:
    assert database_of(page(tmp_path, "# Title")) == "migrated"
    assert database_of(page(tmp_path, "<!-- database: none -->\n# Title")) == "none"
