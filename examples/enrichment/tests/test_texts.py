"""The finder of texts: prose is kept, everything else is left out, nothing comes twice."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from examples.enrichment.texts.found import LEAST_CHARACTERS, MOST_CHARACTERS, FoundText, text_of
from examples.enrichment.texts.gather import gather, mix
from examples.enrichment.texts.manuals import translated_manuals
from examples.enrichment.texts.markdown import sections
from examples.enrichment.texts.prose import paragraphs

SENTENCE = "A windmill turns its whole body into the wind, and the miller needs no more than one post for it."


def test_prose_leaves_out_code_tables_directives_and_headings() -> None:
    source = f"""
Title of it
===========

{SENTENCE}

>>> mill.turn()
'done'

.. note::

   A note that belongs to a directive and not to the running text of the chapter.

    indented = code("that goes on and on, long enough to count as a paragraph.")

| table | of | columns |

--option  does something that is told here in a whole sentence.

See :class:`Mill <postmill.Mill>` and ``mill.turn`` or the `manual <https://example.org/x>`_ for all of it.
"""
    found = list(paragraphs(source))
    assert found == [SENTENCE, "See Mill and mill.turn or the manual for all of it."]


def test_markdown_sections_have_their_headings_and_only_what_a_reader_sees() -> None:
    source = f"""[![Badge](https://example.org/b.svg)](https://example.org)

# Mill

{SENTENCE} See [the manual](https://example.org/manual) and `turn()`.

```python
import mill
```

| a | b |
|---|---|
| {SENTENCE} | x |

## Turning it

- {SENTENCE}
- short
"""
    first, mill, turning = sections(source)
    assert (first.heading, first.paragraphs) == ("", [])
    assert (mill.heading, mill.paragraphs) == ("Mill", [f"{SENTENCE} See the manual and turn()."])
    assert (turning.heading, turning.paragraphs) == ("Turning it", [SENTENCE])


def test_a_text_has_a_least_and_a_greatest_length_and_can_be_stored() -> None:
    assert text_of("readme", "x", "Heading", [SENTENCE]) is None
    long = text_of("readme", "x", "", [SENTENCE] * 100)
    assert long is not None
    assert LEAST_CHARACTERS <= len(long.body) <= MOST_CHARACTERS + 200
    odd = text_of("readme", "x", "", [f"nul\0 and \ud800 surrogate. {SENTENCE}"] * 4)
    assert odd is not None
    assert "\0" not in odd.body
    odd.body.encode()


def test_texts_that_differ_only_in_their_copyright_line_are_one() -> None:
    first = FoundText("licence", "a", f"Copyright 2001 Ann Example\n\n{SENTENCE}")
    second = FoundText("licence", "b", f"Copyright 2019 Bob Example and others\n\n{SENTENCE.upper()}")
    other = FoundText("licence", "c", f"Copyright 2019 Bob Example\n\n{SENTENCE} Not.")
    assert mix([[first, second], [other]], limit=10) == [first, other]


def test_sources_take_turns() -> None:
    def many(kind: str) -> list[FoundText]:
        return [FoundText(kind, f"{kind}{number}", f"{kind} {'x' * number}") for number in range(1, 4)]

    assert [text.source for text in mix([many("a"), many("b")], limit=3)] == ["a1", "b1", "a2"]


def test_manual_pages_lose_their_markup_and_keep_their_letters(tmp_path: Path) -> None:
    page = tmp_path / "de" / "man1" / "muehle.1.gz"
    page.parent.mkdir(parents=True)
    roff = r""".\" a comment
.TH MUEHLE 1
.SH BESCHREIBUNG
.B muehle
dreht den ganzen K\(:orper in den Wind, und der M\[u00FC]ller braucht daf\(:ur nur \fBeinen\fR Pfosten.
.PP
Das Mahlwerk l\(:auft \-\- so steht es im Handbuch \-\- bei jedem Wetter.
.TP
.B \-\-wind
sagt, woher er weht.
""" + "\n.PP\n".join(
        [""]
        + [
            f"Absatz {number} sagt, dass ein Mahlwerk l\\(:auft, solange der Wind weht."
            for number in range(9)
        ]
    )
    page.write_bytes(gzip.compress(roff.encode()))
    (page.parent / "dangling.1.gz").symlink_to("nowhere.gz")
    [text] = translated_manuals(tmp_path)
    assert text.source == "man muehle.1 (de)"
    assert text.body.startswith("muehle dreht den ganzen Körper in den Wind")
    assert "einen Pfosten" in text.body
    assert "läuft -- so steht" in text.body
    assert "\\" not in text.body
    assert "comment" not in text.body


@pytest.mark.parametrize("limit", [1, 120])
def test_this_machine_has_texts_in_the_same_order_each_time(limit: int) -> None:
    found = gather(limit)
    assert len(found) == limit
    assert len({text.fingerprint for text in found}) == limit
    assert found == gather(limit)
    assert all(len(text.body) >= LEAST_CHARACTERS for text in found)
