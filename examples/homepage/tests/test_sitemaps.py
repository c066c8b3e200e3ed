"""Sitemaps: what the protocol asks for, the bounds, escapes, and that a reader never sees half of a generation."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from examples.homepage.directory.generation import publish
from examples.homepage.directory.sitemap import File, files, index
from examples.homepage.tests.directory import ran, submitted
from examples.homepage.tests.site import Site

BASE = "https://homepage.example/sitemaps/"
THEN = datetime(2026, 11, 29, 3, tzinfo=UTC)
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def locations(body: bytes, kind: str) -> list[str]:
    """What a document names, after a look at its structure: one namespace, each entry with one loc and one lastmod."""
    root = ElementTree.fromstring(body)
    assert root.tag == NAMESPACE + kind
    assert not root.attrib
    for entry in root:
        assert entry.tag == NAMESPACE + {"urlset": "url", "sitemapindex": "sitemap"}[kind]
        assert [part.tag for part in entry] == [NAMESPACE + "loc", NAMESPACE + "lastmod"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry[1].text or "")
        assert 12 <= len(entry[0].text or "") <= 2048
    return [entry[0].text or "" for entry in root]


def generation(folder: Path) -> list[str]:
    """All that the index of a folder leads to."""
    names = locations((folder / "sitemap.xml").read_bytes(), "sitemapindex")
    bodies = [gzip.decompress((folder / name.removeprefix(BASE)).read_bytes()) for name in names]
    return [url for body in bodies for url in locations(body, "urlset")]


def urls(number: int) -> list[tuple[str, datetime]]:
    return [(f"https://homepage.example/good-sites/{n}", THEN) for n in range(number)]


def test_the_bounds() -> None:
    """At most 50,000 addresses, and so many bytes, in each file; none is lost."""
    made = list(files(urls(100_001)))
    counts = [gzip.decompress(file.body).count(b"<url>") for file in made]
    assert counts == [50_000, 50_000, 1]
    small = list(files(urls(20), most_bytes=500))
    bodies = [gzip.decompress(file.body) for file in small]
    assert max(map(len, bodies)) <= 500
    assert [url for body in bodies for url in locations(body, "urlset")] == [url for url, _ in urls(20)]


def test_what_is_special_in_xml() -> None:
    odd = "https://homepage.example/?a=<1>&b='2'\"é"
    [file] = files([(odd, THEN)])
    assert locations(gzip.decompress(file.body), "urlset") == [odd]


def test_one_generation_replaces_another(tmp_path: Path) -> None:
    """The same content: the same bytes, not written again. Another: whoever has the old index still finds its files."""
    publish(tmp_path, BASE, files(urls(5), most_urls=2))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    publish(tmp_path, BASE, files(urls(5), most_urls=2))
    assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.iterdir()} == before
    publish(tmp_path, BASE, files(urls(6), most_urls=2))
    assert generation(tmp_path) == [url for url, _ in urls(6)]
    assert before.keys() <= {path.name for path in tmp_path.iterdir()}
    publish(tmp_path, BASE, files(urls(7), most_urls=2))
    assert len(list(tmp_path.glob("sites-*"))) == 4, "that of five alone is named by neither index"


def test_a_run_that_dies_changes_nothing(tmp_path: Path) -> None:
    """Readers keep the generation that there was; what the dead run has left goes with the next."""
    publish(tmp_path, BASE, files(urls(3)))

    def dying() -> Iterator[File]:
        yield from files(urls(9), most_urls=4)
        raise KeyboardInterrupt

    (tmp_path / ".new-left").write_bytes(b"half of a fi")
    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path, BASE, dying())
    assert generation(tmp_path) == [url for url, _ in urls(3)]
    publish(tmp_path, BASE, files(urls(3)))
    assert sorted(path.name[:6] for path in tmp_path.iterdir()) == ["sitema", "sites-"]


def test_an_empty_directory(tmp_path: Path) -> None:
    assert publish(tmp_path, BASE, files([])) == 0
    assert locations((tmp_path / "sitemap.xml").read_bytes(), "sitemapindex") == []
    assert index(BASE, []) == (tmp_path / "sitemap.xml").read_bytes()


async def test_the_job(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of what is alive, and each of them is there."""
    monkeypatch.setenv("SITEMAP_FOLDER", str(tmp_path))
    monkeypatch.setenv("SITE_URL", BASE.removesuffix("/sitemaps/"))
    good, dead = await submitted(site), await submitted(site, "https://dead.example/")
    await site.rows("update good_sites set status = 'dead' where id = %s", dead)
    assert await ran(site, "SITEMAP_GENERATION") == {"urls": 1, "files": 1}
    [url] = generation(tmp_path)
    assert url.endswith(f"/good-sites/{good}")
    assert (await site.http.get(url.removeprefix("https://homepage.example"))).status_code == 200
    served = await site.http.get("/sitemap.xml")
    assert (served.content, served.headers["content-type"]) == (
        (tmp_path / "sitemap.xml").read_bytes(), "application/xml",
    )  # fmt: skip
    [name] = locations(served.content, "sitemapindex")
    file = await site.http.get("/sitemaps/" + name.removeprefix(BASE))
    assert locations(gzip.decompress(file.content), "urlset") == [url]
    for other in ("/sitemaps/sites-0.xml.gz", "/sitemaps/..%2fsitemap.xml", "/sitemaps/sitemap.previous.xml"):
        assert (await site.http.get(other)).status_code == 404
