"""The console's catalogue of messages, made anew from its sources: `python -m tests.support.messages`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

ROOT = Path(__file__).parents[2]
CONSOLE = ROOT / "src" / "postmill" / "console"
CATALOGUE = CONSOLE / "locale" / "console.pot"

METHODS = [("**.py", "python"), ("templates/**.html", "jinja2")]
OPTIONS = {
    "templates/**.html": {
        "trimmed": "true",
        "newstyle_gettext": "true",
        "trim_blocks": "true",
        "lstrip_blocks": "true",
    }
}
KEYWORDS = {"_": None, "N_": None, "gettext": None, "many": (1, 2), "ngettext": (1, 2)}


def made() -> str:
    """The catalogue as text. Without lines and dates: those change with everything."""
    catalogue = Catalog(project="postmill", charset="utf-8")
    for path, _, message, comments, context in sorted(
        extract_from_dir(CONSOLE, METHODS, OPTIONS, KEYWORDS, ("Translators:",)),
        key=lambda one: (one[0], one[1]),
    ):
        catalogue.add(message, None, [(path, 0)], auto_comments=comments, context=context)
    text = BytesIO()
    write_po(text, catalogue, width=110, omit_header=True, sort_output=False, include_lineno=False)
    return text.getvalue().decode()


if __name__ == "__main__":
    CATALOGUE.parent.mkdir(exist_ok=True)
    CATALOGUE.write_text(made(), encoding="utf-8")
