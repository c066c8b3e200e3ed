"""The words of pages: English in the source, and one catalogue (GNU gettext) for every other language."""

from __future__ import annotations

import gettext as catalogues
from functools import lru_cache
from importlib.resources import files

DOMAIN = "console"


@lru_cache(maxsize=1)
def catalogue() -> catalogues.NullTranslations:
    """The translations in force; without a compiled catalogue the source's own words."""
    return catalogues.translation(
        DOMAIN, str(files("postmill") / "console" / "locale"), languages=["en"], fallback=True
    )


def _(message: str) -> str:
    """A message in the reader's language."""
    return catalogue().gettext(message)


def many(one: str, more: str, n: int) -> str:
    """The form for a number of things."""
    return catalogue().ngettext(one, more, n)
