"""Search: by meaning where the API says what the words mean, by the words where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from examples.yellowbook.gemini.client import Gemini
from examples.yellowbook.gemini.errors import GeminiError
from examples.yellowbook.resources import Pool
from examples.yellowbook.statements import Row, rows, vector

Mode = Literal["semantic", "keyword"]


@dataclass(frozen=True, slots=True)
class Found:
    """`fallback` says why a search that was to be by meaning was by words."""

    mode: Mode
    fallback: str | None
    results: list[Row]


async def search(pool: Pool, gemini: Gemini, words: str, *, mode: Mode = "semantic", most: int = 10) -> Found:
    """The best entries. Never fails for the API's sake; entries without an embedding are found by their words."""
    values: dict[str, object] = {"words": words, "most": most}
    name, fallback = "search_words", None
    if mode == "semantic":
        try:
            embedding = await gemini.embed(words, "RETRIEVAL_QUERY")
        except GeminiError as error:
            fallback = str(error)
        else:
            name = "search_meaning"
            values["vector"] = vector(embedding)
    async with pool.connection() as conn:
        found = await rows(conn, name, **values)
    return Found("semantic" if name == "search_meaning" else "keyword", fallback, found)
