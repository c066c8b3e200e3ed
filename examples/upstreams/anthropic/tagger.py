"""A model of few words: it tags an article by the words that it finds there, and always in the same way."""

from __future__ import annotations

import json
import re
from collections import Counter

_CATEGORIES = {
    "Technology": "ai app apple chip computer cyber data google internet robot software startup tech",
    "Business": "bank business company deal economy market price profit shares stock trade",
    "Science": "climate discovery laboratory nasa physics planet research science scientists space study",
    "Health": "cancer disease doctor drug health hospital medical patients vaccine virus",
    "Politics": "congress election government law minister parliament party policy president senate vote",
    "Entertainment": "actor album award celebrity film movie music show star tv",
    "Sports": "championship club coach football goal league match season sport team win",
}
_WORDS = re.compile(r"\w+")
_GOOD = frozenset(_WORDS.findall("award best breakthrough gain growth success win wins won"))
_BAD = frozenset(_WORDS.findall("attack crash crisis dead death fear killed loss war worst"))
_STOP = frozenset(
    _WORDS.findall(
        "about after again also and are article been but can content description for from had has have her his how into its"
        " more new not now off one only other our out over said she than that the their them then there these they this"
        " title was were what when which who will with would you your"
    )
)


def tags(text: str) -> str:
    """The tags of an article, as JSON."""
    words = re.findall(r"[a-z]+", text.lower())
    found = Counter(word for word in words if len(word) > 2 and word not in _STOP)
    topics = [word.capitalize() for word, _ in found.most_common(5)] or ["General"]
    topics += [f"{topics[0]} {kind}" for kind in ("news", "report")][: max(0, 3 - len(topics))]
    hits = {name: sum(found[word] for word in its.split()) for name, its in _CATEGORIES.items()}
    categories = [name for name, count in sorted(hits.items(), key=lambda hit: -hit[1]) if count][:3]
    good, bad = (sum(found[word] for word in side) for side in (_GOOD, _BAD))
    sentiment = "mixed" if good and bad else "positive" if good else "negative" if bad else "neutral"
    return json.dumps(
        {
            "topics": topics,
            "sentiment": sentiment,
            "categories": categories or ["World"],
            "confidence": 0.9 if categories else 0.4,
        }
    )
