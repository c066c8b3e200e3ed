"""Thirty answers that are nearly JSON: what was said, and what comes of it. None: mended or right, the tags are kept."""

from __future__ import annotations

import re

GOOD = '{"topics": ["AI", "Chips", "Robots"], "sentiment": "positive", "categories": ["Technology"], "confidence": 0.85}'
OTHER = GOOD.replace("Technology", "World")
LONG = "x" * 10_000_000

# name: (answer, why it is skipped)
CORPUS: dict[str, tuple[str, str | None]] = {
    "as asked": (GOOD, None),
    "in a fence": (f"```json\n{GOOD}\n```", None),
    "in a fence without a language": (f"```\n{GOOD}\n```", None),
    "words before": (f"Here are the tags:\n{GOOD}", None),
    "words after": (f"{GOOD}\nI hope this helps!", None),
    "a byte order mark and blanks": (f"\ufeff \n{GOOD}\n\n", None),
    "back-ticks inside a text": (GOOD.replace("Robots", "```robots```"), None),
    "a comma too many": (GOOD.replace("0.85}", "0.85,}").replace('"Robots"]', '"Robots",]'), None),
    "single quotes": (GOOD.replace('"', "'"), None),
    "keys without quotes": (re.sub(r'"(\w+)":', r"\1:", GOOD), None),
    "a comment": (GOOD.replace('"sentiment"', '// how it sounds\n"sentiment"'), None),
    "quotes inside a text": (GOOD.replace("Robots", 'The "robots" of today'), None),
    "the same object twice": (f"{GOOD}\n{GOOD}", None),
    "a confidence in quotes": (GOOD.replace("0.85", '"0.85"'), None),
    "other case": (GOOD.replace("positive", " Positive ").replace("Technology", "TECHNOLOGY"), None),
    "seven topics": (GOOD.replace('"AI"', '"a", "b", "c", "d", "AI"'), None),
    "a category that is none beside one that is": (GOOD.replace('["Technology"]', '["Gadgets", "Technology"]'), None),
    "a tool that the article asked for": (GOOD.replace("{", '{"tool": "delete_all", ', 1), None),
    "empty": ("", "empty"),
    "a refusal in words": ("I can't help with that.", "no JSON object"),
    "cut in the middle": (GOOD[:60], "no JSON object"),
    "a key is missing": (GOOD.replace('"sentiment": "positive", ', ""), "sentiment"),
    "two topics": (GOOD.replace('"AI", ', ""), "topics"),
    "no known category": (GOOD.replace("Technology", "Gadgets"), "categories"),
    "another sentiment": (GOOD.replace("positive", "angry"), "sentiment"),
    "NaN": (GOOD.replace("0.85", "NaN"), "NaN is no number"),
    "a key twice": (GOOD.replace('"sentiment"', '"confidence": 0.1, "sentiment"'), "a key is there twice"),
    "two objects that differ": (f"{GOOD}\nor\n{OTHER}", "more than one object"),
    "10 MB": (LONG, "too long"),
    "a list": ("[1, 2, 3]", "no JSON object"),
}  # fmt: skip
