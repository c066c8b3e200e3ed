"""Search by meaning finds what search by words cannot, and by words what has no embedding."""

from __future__ import annotations

from examples.yellowbook.demo.businesses import BUSINESSES
from examples.yellowbook.tests.book import Book, Row

QUERIES = {
    "veternary for hamsters": "Paws & Claws Clinic",
    "fotographer weddings": "Golden Hour Studio",
    "bycicle repairing": "Spoke & Chain",
    "dentistry for kids": "Molar & Sons",
    "shoes resoled": "Sole Survivor",
}
"""Words that no entry has, or not in this form, and the entry that is meant."""


async def found(book: Book, words: str, mode: str = "semantic") -> Row:
    answer = await book.http.get("/api/yellow-books/search", params={"q": words, "mode": mode, "limit": 5})
    assert answer.status_code == 200, answer.text
    results: Row = answer.json()
    return results


async def test_meaning_beats_words_and_words_are_always_there(book: Book) -> None:
    """The ranking, then the same book without a service, then entries that have no embedding among those that have."""
    for business in BUSINESSES[:12]:
        await book.add(**business)
    before = await found(book, "sourdough loaves")
    assert (before["mode"], before["fallback"]) == ("semantic", None)
    assert [(one["name"], one["foundBy"]) for one in before["results"]] == [("Ember & Crumb", "words")]
    await book.run()
    for words, name in QUERIES.items():
        by_meaning, by_words = await found(book, words), await found(book, words, "keyword")
        assert by_meaning["results"][0]["name"] == name
        assert by_meaning["results"][0]["foundBy"] == "meaning"
        assert name not in [one["name"] for one in by_words["results"]]

    # One whose embedding failed is found by its words, high among the others.
    book.service.key = "another key"
    await book.add(name="Tidewater Welding", description="Welding of anchors and gates")
    await book.run()
    down = await found(book, "welding")
    assert (down["mode"], [one["name"] for one in down["results"]]) == ("keyword", ["Tidewater Welding"])
    assert down["fallback"].startswith("401")
    book.service.key = "a-key-of-the-stand-in"
    up = await found(book, "welding gates")
    assert "Tidewater Welding" in [one["name"] for one in up["results"][:2]]
