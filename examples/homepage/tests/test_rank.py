"""Ranks: the formula by numbers, its properties, and that the database has the same one and writes what has changed."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.homepage.directory.rank import CLICK_WEIGHT, EPOCH, rank, score
from examples.homepage.tests.directory import clicked, ran, submitted, voted
from examples.homepage.tests.site import Site

WEEK = timedelta(days=7)
moments = st.datetimes(EPOCH.replace(tzinfo=None), datetime(2046, 1, 1)).map(
    lambda naive: naive.replace(tzinfo=EPOCH.tzinfo)
)
marks = st.tuples(moments, st.sampled_from([1.0, CLICK_WEIGHT, 40 * CLICK_WEIGHT]))
histories = st.lists(marks, min_size=1, max_size=30)
NOISE = 1e-9
OLD = """
    insert into good_site_votes
    select %s, gen_random_uuid(), postmill.now() - i * interval '20 days' from generate_series(1, 60) i
"""


def test_the_formula_by_numbers() -> None:
    """A half-life of a week."""
    assert score(1e6, EPOCH, WEEK) > score(5, EPOCH, WEEK) > score(-1e6, EPOCH, WEEK) > 0
    assert rank([(EPOCH, 1)], WEEK) == 0
    assert rank([(EPOCH + WEEK, 1)], WEEK) == 1
    assert rank([(EPOCH, 1), (EPOCH, 1)], WEEK) == 1
    assert rank([(EPOCH, 1)] * 10, WEEK) == pytest.approx(3.321928)
    assert rank([(EPOCH, 1), (EPOCH + WEEK, 1)], WEEK) == pytest.approx(1.584963)  # log2(1 + 2)
    assert rank([(EPOCH, 1), (EPOCH, 30 * CLICK_WEIGHT)], WEEK) == pytest.approx(2)
    assert [score(3, EPOCH + weeks * WEEK, WEEK) for weeks in range(5)] == [8, 4, 2, 1, 0.5]
    assert rank([(EPOCH, 1), (EPOCH + 5000 * WEEK, 1)], WEEK) == 5000
    with pytest.raises(ValueError, match="empty"):
        rank([], WEEK)


@given(histories, marks)
def test_more_is_never_less(history: list[tuple[datetime, float]], more: tuple[datetime, float]) -> None:
    before, after = rank(history, WEEK), rank([*history, more], WEEK)
    assert after >= before - NOISE
    assert rank([*history, (max(history)[0], 1.0)], WEEK) > before


@given(histories, moments, st.timedeltas(timedelta(0), timedelta(days=365)))
def test_it_decays_by_half_in_a_half_life(
    history: list[tuple[datetime, float]], moment: datetime, passed: timedelta
) -> None:
    place, moment = rank(history, WEEK), max(moment, *(when for when, _ in history), EPOCH)
    then, later = score(place, moment, WEEK), score(place, moment + passed, WEEK)
    assert later <= then
    assert later == pytest.approx(then * 2.0 ** -(passed / WEEK), rel=NOISE)


@given(histories, histories, st.randoms(), st.timedeltas(timedelta(0), timedelta(days=3650)))
def test_the_order_stays(
    one: list[tuple[datetime, float]], other: list[tuple[datetime, float]], rng: object, passed: timedelta
) -> None:
    """Neither the order of votes nor time alone changes which site is before which."""
    assert rank(one, WEEK) == pytest.approx(rank(sorted(one), WEEK), abs=NOISE)
    if rank(one, WEEK) - rank(other, WEEK) > NOISE:
        shifted = [[(moment + passed, weight) for moment, weight in history] for history in (one, other)]
        assert rank(shifted[0], WEEK) > rank(shifted[1], WEEK)


async def test_the_database_has_the_same_formula(site: Site) -> None:
    """Over what has come by HTTP, and a vote of ages ago; the first is what has most of it."""
    quiet, busy = await submitted(site), await submitted(site, "https://busy.example/")
    await voted(site, busy, 3)
    for _ in range(5):
        assert await clicked(site, busy)
    await site.rows(OLD, quiet)
    await ran(site, "CLICK_ROLLUP")
    assert await ran(site, "RANK_RECALCULATION") == {"sites": 2, "changed": 2}
    for good in (quiet, busy):
        found = await site.rows(
            "select submitted_at as moment, 1 as weight, rank from good_sites where id = %(id)s union all"
            " select voted_at, 1, 0 from good_site_votes where site_id = %(id)s union all"
            " select hour, clicks * 0.1, 0 from click_rollup where site_id = %(id)s".replace("%(id)s", "%s"),
            good, good, good,
        )  # fmt: skip
        wanted = rank([(one["moment"], float(one["weight"])) for one in found], timedelta(days=14))
        assert found[0]["rank"] == pytest.approx(wanted, abs=NOISE)
    listed = (await site.http.get("/good-sites")).json()
    assert [one["id"] for one in listed] == [str(busy), str(quiet)]
    assert 4.4 < listed[0]["score"] < 4.5 + NOISE  # 1 + 3 + 5 × 0.1


async def test_what_has_not_changed_is_not_written(site: Site) -> None:
    """However much time passes; then a vote changes its own site only."""
    sites = [await submitted(site, f"https://good.example/{number}") for number in range(3)]
    await voted(site, sites[0])
    await voted(site, sites[1])
    assert (await ran(site, "RANK_RECALCULATION"))["changed"] == 2
    versions = await site.rows("select id, xmin::text from good_sites order by id")
    assert await ran(site, "RANK_RECALCULATION", "70 days") == {"sites": 3, "changed": 0}
    assert await site.rows("select id, xmin::text from good_sites order by id") == versions
    await voted(site, sites[2])
    assert (await ran(site, "RANK_RECALCULATION"))["changed"] == 1
