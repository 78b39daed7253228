"""Curves of the pages are where their values are, and their labels fit and differ."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from html_pages import parsed
from mbplugin.model.spatial import Array
from mbplugin.report.html.chart import Chart, Curve, figure, most_moving, tick_labels, ticks


def test_curves_are_where_their_values_are() -> None:
    x = np.linspace(0.0, 4.0, 50)
    chart = Chart("t", "time [s]", "[rad]", (Curve("a", x, 2 * x), Curve("b", x, 1.0 - x)))
    tree = parsed(figure(chart))
    labels = {float(t.text): float(t.get("x")) for t in tree.xpath("//text[contains(@class,'middle')]")}
    heights = {
        float(t.text): float(t.get("y")) - 4
        for t in tree.xpath("//text[contains(@class,'tick')][contains(@class,'end')]")
    }
    for line, value in zip(tree.xpath("//polyline"), (lambda t: 2 * t, lambda t: 1 - t), strict=True):
        points = np.array([[float(v) for v in p.split(",")] for p in line.get("points").split()])
        assert points.min() > 0 and (points.max(axis=0) < [460, 250]).all()
        time = np.interp(points[:, 0], list(labels.values()), list(labels))
        shown = np.interp(-points[:, 1], [-h for h in heights.values()], list(heights))
        inside = (points[:, 1] <= max(heights.values())) & (points[:, 1] >= min(heights.values()))
        assert shown[inside] == pytest.approx(value(time)[inside], abs=0.06)


def test_steps_stand_until_the_next() -> None:
    chart = Chart("t", "x", "y", (Curve("a", np.arange(3.0), np.array([1.0, 5.0, 5.0])),), steps=True)
    (points,) = parsed(figure(chart)).xpath("//polyline/@points")
    pairs = [tuple(map(float, p.split(","))) for p in points.split()]
    assert len(pairs) == 5
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(pairs))


def test_counts_have_whole_numbers_and_all_labels_fit() -> None:
    tolerances = Curve("p", np.array([-12.0, -2.0]), np.zeros(2))
    tree = parsed(figure(Chart("t", "tolerance", "number", (tolerances,), steps=True, powers="x")))
    assert tree.xpath("//text[@class='tick end']/text()") == ["0", "1"]
    for label in tree.xpath("//text[@class='tick middle']"):
        # a character of 14 px, as on a narrow page, is 8 px wide
        assert float(label.get("x")) + 4 * len(label.text) <= 460


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3e-9, 8e-9), (1e6, 1.0001e6), (-7.0, 123.0)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 11
    assert all(low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low) for tick in found)
    assert np.ptp(np.diff(found)) < 1e-6 * (high - low)


def test_of_many_curves_those_that_vary_most_are_drawn() -> None:
    curves = [Curve(str(k), np.arange(2.0), np.array([0.0, float(k % 7)])) for k in range(40)]
    kept, note = most_moving(curves)
    assert len(kept) == 12 and "12 of 40" in note
    left_out = [c for c in curves if c not in kept]
    assert min(c.y[1] for c in kept) >= max(c.y[1] for c in left_out)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (-3e-9, 8e-9), (1000.001, 1000.007), (-1.5e-4, 2e-4), (2e6, 8e6), (5.0, 5.0)],
)
def test_labels_fit_the_margin_and_differ_where_the_ticks_do(low: float, high: float) -> None:
    values = ticks(low, high) if high > low else [low]
    labels = tick_labels(values)
    assert len(set(labels)) == len(values)
    assert [float(label) for label in labels] == pytest.approx(values, abs=1e-3 * (high - low))
    # 8 px a character, as on a narrow page, in a margin of 70 px less a gap of 6
    assert max(map(len, labels)) <= 8


def test_labels_of_powers_are_short() -> None:
    assert tick_labels([-3.5, -3.0, 0.0], powers=True) == ["0.00032", "0.001", "1"]
    assert tick_labels([-12.0], powers=True) == ["1e-12"]


@pytest.mark.parametrize(("size", "drawn"), [(1e-14, 0.0), (1e-9, 1e-9)])
def test_what_is_only_rounding_is_drawn_as_0(size: float, drawn: float) -> None:
    x = np.arange(5.0)
    tree = parsed(
        figure(Chart("t", "time [s]", "[rad]", (Curve("a", x, size * np.array([0, 1, -1, 1, 0])),)))
    )
    (points,) = tree.xpath("//polyline/@points")
    heights: Array = np.array([float(p.split(",")[1]) for p in points.split()])
    assert bool(np.ptp(heights)) is bool(drawn)
