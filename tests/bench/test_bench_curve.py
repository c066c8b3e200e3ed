"""Rates, tenths and percentiles."""

from __future__ import annotations

import pytest

from postmill.bench.curve import Curve, percentiles


def steady(rate: float, count: int) -> Curve:
    curve = Curve(100.0)
    for n in range(1, 21):
        curve.add(100.0 + count * n / 20 / rate, count * n // 20)
    return curve


def test_a_steady_curve_is_flat() -> None:
    curve = steady(50.0, 1000)
    assert curve.seconds(1000) == pytest.approx(20.0)
    assert curve.rate(1000) == pytest.approx(50.0)
    assert curve.flatness(1000) == pytest.approx(1.0)
    assert curve.tenths(1000) == pytest.approx([50.0] * 10)


def test_flatness_is_the_last_tenth_by_the_first() -> None:
    curve = Curve(0.0)
    curve.add(1.0, 100)
    curve.add(5.0, 900)
    curve.add(7.0, 1000)
    assert curve.flatness(1000) == pytest.approx(0.5)


def test_between_two_looks_by_proportion() -> None:
    curve = Curve(0.0)
    curve.add(2.0, 0)
    curve.add(4.0, 200)
    assert curve.reached(0) == 0.0
    assert curve.reached(50) == pytest.approx(2.5)
    with pytest.raises(ValueError, match="never"):
        curve.reached(201)


def test_several_processes_are_summed_in_the_order_of_time() -> None:
    curve = Curve.merged(0.0, [[(1.0, 10), (3.0, 20)], [(2.0, 5), (4.0, 30)]])
    assert [curve.reached(n) for n in (10, 15, 25, 50)] == [1.0, 2.0, 3.0, 4.0]
    assert curve.total == 50


def test_percentiles_name_their_unit() -> None:
    assert percentiles([float(n) for n in range(1, 101)]) == {
        "p50_ms": 51.0,
        "p90_ms": 91.0,
        "p99_ms": 100.0,
        "max_ms": 100.0,
    }
    assert percentiles([1.5], "s") == {"p50_s": 1.5, "p90_s": 1.5, "p99_s": 1.5, "max_s": 1.5}
