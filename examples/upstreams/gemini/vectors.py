"""Deterministic embeddings: the letter n-grams of a text's words, hashed into a vector. No model, and yet no keywords.

Texts are near each other whose words are built of the same pieces: `bakery`, `baker` and `bakkery` are neighbours, which
no index of words knows. That is what a test of semantic search needs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from hashlib import blake2b

DIMENSIONS = 3072
"""Of the model itself; `outputDimensionality` asks for fewer."""

# Words that say nothing about what a text is about.
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by for from has have in into is it its of on or our that the their them they this to we"
        " with you your",
    )
)
_GRAMS = (3, 4, 5)


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of length 1 (all zero for a text without words); the same for the same text, on every machine."""
    vector = [0.0] * dimensions
    for feature, count in features(text).items():
        digest = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
        sign = 1.0 if digest & 1 else -1.0
        vector[(digest >> 1) % dimensions] += sign * (1.0 + math.log(count))
    length = math.sqrt(math.fsum(value * value for value in vector)) or 1.0
    return [round(value / length, 6) for value in vector]


def features(text: str) -> Counter[str]:
    """The words, and the n-grams of their letters with marks at both ends."""
    found: Counter[str] = Counter()
    for word in re.findall(r"[^\W_]+", text.lower()):
        if word in _STOP:
            continue
        found[word] += 1
        marked = f"^{word}$"
        for size in _GRAMS:
            found.update(marked[at : at + size] for at in range(len(marked) - size + 1))
    return found
