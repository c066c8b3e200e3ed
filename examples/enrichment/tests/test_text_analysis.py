"""What the stand-in finds out about a text, on texts that everybody can judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from examples.upstreams.text_analysis import Analysis

ENGLISH = """Post mill

A post mill is the earliest type of European windmill. Its whole body, which houses the machinery, is mounted
on a single vertical post, around which it can be turned to bring the sails into the wind. The post is held by
a trestle. Post mills dominated the scene in Europe until the nineteenth century, when tower mills replaced
them."""

TEXTS = {
    "en": ENGLISH,
    "de": "Eine Bockwindmühle steht mit ihrem ganzen Körper auf einem einzigen Pfosten. Der Müller dreht die "
    "Mühle mit dem Steert in den Wind. Bockwindmühlen waren bis ins neunzehnte Jahrhundert weit verbreitet.",
    "fr": "Un moulin à pivot repose tout entier sur un seul poteau de bois. Le meunier tourne la cabine du "
    "moulin pour mettre les ailes face au vent. Ces moulins étaient répandus dans toute l'Europe.",
    "ru": "Столбовая мельница целиком держится на одном столбе. Мельник поворачивает весь корпус мельницы "
    "навстречу ветру. Такие мельницы были распространены в Европе до девятнадцатого века.",
    "ja": "ポストミルは、風車の本体全体が一本の柱に支えられている。粉屋は本体を回して帆を風に向ける。"
    "この形の風車は十九世紀までヨーロッパ各地で使われていた。",
}


def analyse(text: str) -> Analysis:
    """Imports what is large where it is used: every test process reads this file, and few run these tests."""
    from examples.upstreams import text_analysis

    return text_analysis.analyse(text)


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_told_apart(language: str) -> None:
    assert analyse(TEXTS[language]).language == language


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_part_has_its_bounds_and_comes_from_the_text(text: str) -> None:
    from examples.upstreams.text_analysis import KEY_PHRASES, SUMMARY_CHARACTERS, TITLE_CHARACTERS

    found = analyse(text)
    assert 0 < len(found.title) <= TITLE_CHARACTERS
    assert 0 < len(found.summary) <= SUMMARY_CHARACTERS
    assert len(found.key_phrases) <= KEY_PHRASES
    assert found.summary.rstrip("…")[:20] in " ".join(text.split())
    assert found == analyse(text)


def test_a_heading_is_the_title_and_no_part_of_the_summary() -> None:
    found = analyse(ENGLISH)
    assert found.title == "Post mill"
    assert "mill" in " ".join(found.key_phrases).lower()
    assert not found.summary.startswith("Post mill\n")
    assert found.summary.count(". ") <= 1


def test_a_heading_of_one_word_is_explained() -> None:
    found = analyse(
        "zipimport\n\nSupport for importing modules from archives. It is seldom used directly by anybody."
    )
    assert found.title == "zipimport: Support for importing modules from archives"


@pytest.mark.parametrize("text", ["x", "One short line", "?!", "a\n\nb", "word " * 4_000])
def test_odd_texts_have_an_answer_too(text: str) -> None:
    found = analyse(text)
    assert found.language
    assert found.title
    assert found.summary
