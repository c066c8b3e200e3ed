"""What browsers load: under names that change, small, without a colour too pale, and nothing that nobody uses."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files
from pathlib import Path

import pytest

from postmill.console.live.topics import TOPICS
from postmill.console.static_files import CSS, JS, asset, static_files
from tests.console.harness import Console, anybody

CONSOLE = Path(str(files("postmill.console")))
STYLES = "\n".join((CONSOLE / "static" / "css" / f"{name}.css").read_text() for name in CSS)
SCRIPT = "\n".join((CONSOLE / "static" / "js" / f"{name}.js").read_text() for name in JS)
TEMPLATES = {str(path.relative_to(CONSOLE)): path.read_text() for path in CONSOLE.rglob("*.html")}
PYTHON = "\n".join(path.read_text() for path in CONSOLE.rglob("*.py"))

FOR_PAGES = frozenset(
    re.findall(
        r"\S+",
        """
        page stack row split grid card cards toolbar bar tabs pager banner empty muted mono num wrap nowrap tag state sev
        btn btn-primary btn-danger btn-small link-btn field field-error hint kv table-wrap log payload timeline chart meter
        steps visually-hidden stale skip ok warn bad
        """,
    )
)
"""What pages may use, whether one does at present or not."""


def test_names_change_with_what_is_in_them() -> None:
    for name, file in static_files().items():
        assert re.fullmatch(rf"/static/[0-9a-f]{{16}}/{re.escape(name)}", asset(name))
        assert gzip.decompress(file.compressed) == file.content
    here = {path.name for folder in ("css", "js") for path in (CONSOLE / "static" / folder).iterdir()}
    assert here == {f"{name}.css" for name in CSS} | {f"{name}.js" for name in JS}


def test_the_first_view_is_small() -> None:
    sizes = {name: len(file.compressed) for name, file in static_files().items()}
    assert sizes["console.css"] <= 10_000, sizes
    assert sizes["console.js"] <= 15_000, sizes
    assert sum(sizes.values()) <= 30_000, sizes


@pytest.mark.asyncio(loop_scope="module")
async def test_files_are_kept_for_ever_and_need_no_login(console: Console) -> None:
    client = anybody(console.api)
    for name, file in static_files().items():
        answer = await client.get(file.path, headers={"Accept-Encoding": "gzip"})
        assert (answer.status_code, answer.content, answer.headers["content-encoding"]) == (
            200,
            file.content,
            "gzip",
        )
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["vary"] == "Accept-Encoding"
        plain = await client.get(file.path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == file.content
        head = await client.head(file.path)
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) > 0
        assert (await client.get(f"/static/0123456789abcdef/{name}")).status_code == 404
    for path in (
        "/static/",
        "/static/x",
        "/static/../ops/queues",
        "/static/%2e%2e/ops/queues",
        "/static/a/../../ops/queues",
    ):
        assert (await client.get(path)).status_code in (303, 404), path


def test_every_class_is_known_and_used() -> None:
    styled = set(
        re.findall(r"\.([a-z][a-z0-9_-]*)", re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", STYLES, flags=re.DOTALL))
    )
    used: dict[str, str] = {}
    for name, text in TEMPLATES.items():
        for value in re.findall(r'class="([^"]*)"', text):
            # What is worked out in a template is a word of the glossary behind a known beginning: state-{{ word }}.
            plain = re.sub(r"[\w-]*\{\{.*?\}\}[\w-]*|\{%.*?%\}", " ", value)
            used |= dict.fromkeys(plain.split(), name)
    used |= dict.fromkeys(re.findall(r'\bcls="([a-z][a-z0-9-]*)"', PYTHON), "charts")
    unknown = {name: where for name, where in used.items() if name not in styled | {"icon"}}
    assert not unknown, "classes that the style sheet does not know"
    worked_out = re.compile(r"(state|sev|flash|series|env|btn)-")
    words = set(re.findall(r"[a-z][a-z0-9_-]*", SCRIPT + PYTHON))
    unused = {name for name in styled - FOR_PAGES - set(used) - words if not worked_out.match(name)}
    assert not unused, "classes that nothing has"
    assert styled >= FOR_PAGES


def test_words_topics_and_icons_are_there() -> None:
    there = set(re.findall(r'data-([a-z-]+)="', TEMPLATES["templates/frame/words.html"]))
    asked = set(re.findall(r'word\((?:[a-z.]+ \? )?"(\w+)"', SCRIPT))
    asked |= set(re.findall(r'word\([^)"]*\? "(\w+)" : "(\w+)"', SCRIPT)[0]) | {
        "fresh",
        "paused",
        "held",
        "stale",
        "new",
        "gone",
    }
    kebab = {re.sub("([A-Z])", lambda found: "-" + found[1].lower(), name) for name in asked}
    assert kebab <= there, kebab - there
    flat = set(re.findall(r'"(\w+)"', SCRIPT))
    assert {
        name for name in there if re.sub("-(.)", lambda found: found[1].upper(), name) not in flat
    } == set()
    icons = set(re.findall(r'<symbol id="([^"]+)"', (CONSOLE / "static" / "icons.svg").read_text()))
    for name, text in TEMPLATES.items():
        for topics in re.findall(r'data-topic="([^"{]*)"', text):
            assert set(topics.split()) <= TOPICS, (name, topics)
        for icon in re.findall(r"icons\.svg'\) \}\}#([a-z][a-z_-]*)\"", text):
            assert icon in icons, (name, icon)


THEME = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLES
    )
}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_stand_out(theme: int) -> None:
    """WCAG 2.2: 4.5:1 for text (1.4.3), 3:1 for borders of controls, focus and what charts draw (1.4.11)."""
    grounds = ("bg", "surface", "raised")
    text = {(one, ground) for one in ("text", "muted", "link") for ground in (*grounds, "idle-bg")}
    text |= {
        (one, ground)
        for one in ("ok", "warn", "bad", "info")
        for ground in ("bg", "surface", "raised", f"{one}-bg")
    }
    text |= {("text", f"{one}-bg") for one in ("ok", "warn", "bad", "info")} | {
        ("muted", "info-bg"),
        ("link", "info-bg"),
    }
    text |= {("link", f"{one}-bg") for one in ("ok", "warn", "bad")} | {("danger", "bg"), ("bg", "text")}
    text |= {("on-accent", "accent"), ("on-danger", "danger")}
    drawn = {
        (one, ground)
        for one in ("edge", "focus", *(f"series-{n}" for n in range(1, 7)))
        for ground in grounds
    }
    pale = {
        (one, ground): round(found, 2)
        for pairs, least in ((text, 4.5), (drawn, 3.0))
        for one, ground in pairs
        if (found := contrast(THEME[one][theme], THEME[ground][theme])) < least
    }
    assert not pale
    assert not re.findall(
        r"(?<!light-dark\()#[0-9a-f]{3,8}\b",
        re.sub(r"light-dark\([^)]*\)|/\*.*?\*/", "", STYLES, flags=re.DOTALL),
    )


def contrast(one: str, other: str) -> float:
    """Of two colours, 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """WCAG 2.2, "relative luminance"."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
