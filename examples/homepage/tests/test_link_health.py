"""Dead links: what is one, after how many failures, and that no host is asked for two things at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network

import pytest

from examples.homepage.directory.links import LinkChecker
from examples.homepage.jobs import link_health_check
from examples.homepage.outbound.addresses import Addresses
from examples.homepage.statements import rows
from examples.homepage.tests.directory import now, ran, submitted
from examples.homepage.tests.site import Row, Site
from examples.upstreams.websites.server import WebsiteServer

CHECKED = "select status, failures, last_error, moved_to from good_sites where url = %s"
MANNERS = [
    # the page, failures after a check, the error that is noted, where it has moved to
    ("/fine/a", 0, None, None),
    ("/head/405", 0, None, None), ("/head/403", 0, None, None), ("/head/501", 0, None, None),
    ("/head/404", 0, None, None), ("/head/500", 0, None, None), ("/hangs-up", 0, None, None),
    ("/status/404", 1, "http_404", None), ("/status/500", 1, "http_500", None), ("/status/403", 0, "http_403", None),
    ("/moved/301/fine", 0, None, "/fine"), ("/moved/308/moved/302/fine", 0, None, "/moved/302/fine"),
    ("/moved/302/fine", 0, None, None), ("/moved/302/moved/301/fine", 0, None, None),
    ("/moved/301/status/404", 1, "http_404", None), ("/loop", 1, "TooManyRedirects: more than 10 redirects", None),
    ("/busy/60", 0, "http_429", None), ("/slow", 1, "TimeoutError: ", None),
]  # fmt: skip


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebsiteServer]:
    """Other people's websites."""
    monkeypatch.setenv("LINK_TIMEOUT", "0.3")
    server = WebsiteServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def checked(site: Site, url: str) -> Row:
    return await site.row(CHECKED, url)


async def test_pages_of_all_manners(site: Site, web: WebsiteServer) -> None:
    """One request at a time. The busy one is the last of its host: after it the rest would be left alone."""
    for path, *_ in sorted(MANNERS, key=lambda line: "busy" in line[0]):
        await submitted(site, web.url + path)
    await site.rows(
        "update good_sites set last_checked_at = postmill.now() - interval '1 day' where url ~ 'busy'"
    )
    assert await ran(site, "LINK_HEALTH_CHECK") == {"sites": len(MANNERS), "handed_over": 1}
    for path, failures, error, moved_to in MANNERS:
        found = await checked(site, web.url + path)
        wanted = None if moved_to is None else web.url + moved_to
        assert (path, found["failures"], found["last_error"], found["moved_to"]) == (
            path,
            failures,
            error,
            wanted,
        )
    assert web.asked["GET", "/fine/a"] == web.asked["GET", "/busy/60"] == 0
    assert web.most == 1


async def test_dead_after_three_in_a_row_and_back_by_one(site: Site, web: WebsiteServer) -> None:
    url = web.url + "/fine"
    await submitted(site, url)
    for week, (status, wanted) in enumerate(
        [(500, "live"), (404, "live"), (200, "live"), (404, "live"), (429, "live"), (404, "live"), (404, "dead"),
         (429, "dead"), (404, "dead"), (200, "live")]
    ):  # fmt: skip
        web.statuses["/fine"] = status
        await ran(site, "LINK_HEALTH_CHECK", f"{7 * week} days")
        assert (week, (await checked(site, url))["status"]) == (week, wanted)
    assert (await checked(site, url))["failures"] == 0


async def left_alone(site: Site, web: WebsiteServer, *paths: str) -> None:
    """A run in which the first site of a host, a busy one, is the only one that is asked for."""
    for path in (*paths, "/fine/b", "/fine/c"):
        await submitted(site, web.url + path)
    # Those that have waited for equally long are asked for in the order of their ids, which is any.
    await site.rows(
        "update good_sites set last_checked_at = postmill.now() - case when url ~ 'fine' then interval '1 day'"
        " else interval '2 days' end where url <> %s",
        web.url + paths[0],
    )
    await ran(site, "LINK_HEALTH_CHECK")
    assert web.asked == {("HEAD", paths[0]): 1}


async def test_a_host_gets_the_time_that_it_asks_for(site: Site, web: WebsiteServer) -> None:
    """And no more: its other sites are asked for when that is over, by a job of its own, which waits again if it has to."""
    await left_alone(site, web, "/busy/60", "/busy/40")
    [own] = await site.rows("select id, payload->>'host' as host from postmill.jobs where status = 'queued'")
    assert own["host"] == web.url.removeprefix("http://")
    await site.run("45 s")
    assert web.asked.total() == 1
    await site.run("61 s")
    assert web.asked == {("HEAD", "/busy/60"): 1, ("HEAD", "/busy/40"): 1}
    assert (await site.job(own["id"]))["state"] == "scheduled"
    await site.run("102 s")
    assert (await site.job(own["id"]))["result"] == {"alive": 2}
    assert set(web.asked.values()) == {1}


@pytest.mark.parametrize("asked", ["soon", "86400", "", "-"])
async def test_a_host_that_does_not_say_for_how_long(site: Site, web: WebsiteServer, asked: str) -> None:
    """Nothing that can be read, or more than a run lasts: until the next run, which begins with what has waited."""
    await left_alone(site, web, f"/busy/{asked}")
    assert await site.rows("select id from postmill.jobs where status = 'queued'") == []
    await ran(site, "LINK_HEALTH_CHECK", "7 days")
    assert web.asked == {
        ("HEAD", path): 1 + ("busy" in path) for path in (f"/busy/{asked}", "/fine/b", "/fine/c")
    }


async def test_private_addresses_are_not_asked(
    site: Site, web: WebsiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOMEPAGE_ALLOW_PRIVATE", "")
    await submitted(site, web.url + "/fine")
    await ran(site, "LINK_HEALTH_CHECK")
    found = await checked(site, web.url + "/fine")
    assert (found["failures"], (found["last_error"] or "")[:15]) == (1, "AddressRefused:")
    assert not web.asked


async def test_in_parts_and_on_from_where_it_was(
    site: Site, web: WebsiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each site is in one part, those of a host in the same; what was asked since the run began is not asked again."""
    monkeypatch.setattr(link_health_check, "PART", 2)
    for number in range(4):
        await submitted(site, f"{web.url}/fine/{number}")
    await submitted(site, "http://127.0.0.1:9/fine")
    assert await ran(site, "LINK_HEALTH_CHECK") == {"sites": 5, "handed_over": 3}
    assert sorted(web.asked.values()) == [1] * 4
    assert web.most == 1
    since = await now(site) - timedelta(hours=1)
    await site.rows("update good_sites set last_checked_at = null where url ~ '[23]$'")
    job = await site.enqueue("LINK_HEALTH_CHECK", since=since.isoformat(), part=0, parts=1)
    await site.run()
    assert (await site.job(job))["result"] == {"alive": 2}
    assert sorted(web.asked.values()) == [1, 1, 2, 2]


async def test_ten_thousand_sites_are_split(site: Site) -> None:
    """In jobs of about five hundred; each host in one of them, and none left out."""
    many = (
        "insert into good_sites (url, host, title, rank)"
        " select 'https://' || mod(i, 4000) || '.example/' || i, mod(i, 4000) || '.example', 'S', 0"
        " from generate_series(1, 10000) i"
    )
    await site.rows(many)
    parts = [
        await rows(site.conn, "sites_to_check", since=await now(site), part=part, parts=20, only="")
        for part in range(20)
    ]
    assert len({one["id"] for part in parts for one in part}) == sum(map(len, parts)) == 10_000
    assert sum(len({one["host"] for one in part}) for part in parts) == 4000
    assert max(map(len, parts)) < 1000


async def test_no_host_is_asked_for_two_things_at_once(web: WebsiteServer) -> None:
    """Whoever asks: other jobs of the process, and redirects, too."""
    web.latency = 0.01
    checker = LinkChecker(Addresses([ip_network("127.0.0.1/32")]), user_agent="test", timeout=5.0, most=20)
    found = await asyncio.gather(*(checker.check(f"{web.url}/moved/302/fine/{n}") for n in range(10)))
    await checker.aclose()
    assert {one.outcome for one in found} == {"alive"}
    assert (web.most, web.asked.total()) == (1, 20)
