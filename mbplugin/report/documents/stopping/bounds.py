"""A tolerance bound in the JSON documents of sweeps and calibrations."""

from __future__ import annotations

from math import isfinite

from mbplugin.report.documents.part import Count, Part, Size, key
from mbplugin.stopping.order_statistics import ToleranceBound


class Bound(Part):
    """An upper bound of a share of all stops, from order statistics."""

    share: Size = key("at least this share of all stops has no larger value")
    confidence: Size
    value: Size | None = key("null where there are too few values, or the one of this rank is infinite")
    rank: Count = key("of the bound among the values, 1 for the largest; 0 where there are too few")
    count: Count = key("values")
    infinite: Count = key("values of stops that did not come to rest or met a limit")
    required: Count = key("the fewest values whose largest one is such a bound")
    largest: Size | None = key("value; null where it is infinite")
    share_of_largest: Size = key("of all stops that have no larger value than largest, with this confidence")


def bound_entries(bound: ToleranceBound) -> dict[str, object]:
    """Return the entries of a bound; infinite values are null."""
    entries: dict[str, object] = dict(vars(bound))
    for name in ("value", "largest"):
        value = getattr(bound, name)
        entries[name] = value if value is not None and isfinite(value) else None
    return entries
