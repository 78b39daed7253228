"""Bodies, pairs, couplings, drivers, locks and Pfaffian constraints: only data and topology."""

from mbplugin.model.mechanism.mechanism import (
    WORLD,
    Body,
    Constraint,
    Coupling,
    Driver,
    KnifeEdge,
    Lock,
    Mechanism,
    Pfaffian,
    Rolling,
    Term,
)
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair, PairType

__all__ = [
    "PAIR_TYPES",
    "WORLD",
    "Body",
    "Constraint",
    "Coupling",
    "Driver",
    "Freedom",
    "KnifeEdge",
    "Lock",
    "Mechanism",
    "Pair",
    "PairType",
    "Pfaffian",
    "Rolling",
    "Term",
]
