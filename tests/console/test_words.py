"""Everything that people read comes from one catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.messages import CATALOGUE, CONSOLE, made

TEMPLATES = sorted((CONSOLE / "templates").rglob("*.html"))

# What is the same in every language: names, units and signs.
SAME = """Postmill UTC CSV NDJSON JSON API SLA DST ID P50 P95 P99 PID SQL s ms min h B kB MB GB"""
READ = ("aria-label", "placeholder", "title", "alt", "summary")


def test_the_catalogue_is_that_of_the_sources() -> None:
    assert CATALOGUE.read_text(encoding="utf-8") == made(), "make messages writes it anew"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(CONSOLE)))
def test_a_template_says_nothing_of_its_own(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    text = re.sub(r"{#.*?#}", "", text, flags=re.DOTALL)
    text = re.sub(r"{%-?\s*trans\b.*?{%-?\s*endtrans\s*-?%}", "", text, flags=re.DOTALL)
    # Expressions stand for what they say; loose quotes in them must not end an attribute.
    text = re.sub(r"{{.*?}}|{%.*?%}", "\ufffc", text, flags=re.DOTALL)
    for name in READ:
        for value in re.findall(rf'\b{name}="([^"]*)"', text):
            assert not words(value), f"{name}={value!r}"
    text = re.sub(r"<(kbd|code)\b[^>]*>.*?</\1>", "", text, flags=re.DOTALL)
    assert not words(re.sub(r"<[^>]*>", " ", text))


def words(text: str) -> list[str]:
    return [word for word in re.findall(r"[A-Za-z][A-Za-z-]*", text) if word not in SAME.split()]
