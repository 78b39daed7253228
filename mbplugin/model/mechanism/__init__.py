"""Bodies, pairs, couplings, drivers, locks and Pfaffian constraints: pure data and topology."""

from mbplugin.model.mechanism.body import WORLD, Body
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock, Term
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair, PairType
from mbplugin.model.mechanism.pfaffian import KnifeEdge, Pfaffian, Rolling

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
