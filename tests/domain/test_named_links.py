"""Links in descriptions."""

from __future__ import annotations

import pytest

from postmill.domain.named_links import named_links


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("Runbook: https://a.test/x.", [("Runbook", "https://a.test/x")]),
        ("see https://a.test/x, or not", [("https://a.test/x", "https://a.test/x")]),
        ("javascript:alert(1) http:no ftp://x", []),
        (
            "\n".join(f"D{n}: http://a.test/{n}" for n in range(9)),
            [(f"D{n}", f"http://a.test/{n}") for n in range(5)],
        ),
    ],
)
def test_links_of_a_description(text: str, links: list[tuple[str, str]]) -> None:
    assert named_links(text) == links
