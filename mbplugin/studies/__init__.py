"""Studies from the literature: public functions that no command uses.

``closing_conditions``
    The dependent joints of all loops as functions of the independent ones (blajer1993 (5)–(7)).
``projective_criterion``
    Suitability of every joint rate as an independent one (blajer1994 (23)).
``rank_cuts``
    The projective criterion of each way to cut a loop (blajer1994 §3).
``pair_forces``
    Forces of pairs along physical directions by three equivalent solutions (blajer1994 (35)–(38)).
``divide_and_conquer``
    Accelerations and reactions by assembly and back-substitution, and their cost (pekal2024 (1)–(7), (22)).
``elimination_variants``
    The sets of redundant rows that can be dropped, and the λ of each choice (wojtyra2013 §4.4).
``impulse_shares``
    The impulses of all pairs in a transition, by compliance.
"""

from mbplugin.closing.drift import rank_cuts
from mbplugin.studies.divide_and_conquer import divide_and_conquer, impulse_shares
from mbplugin.studies.elimination import (
    closing_conditions,
    elimination_variants,
    pair_forces,
    projective_criterion,
)

__all__ = [
    "closing_conditions",
    "divide_and_conquer",
    "elimination_variants",
    "impulse_shares",
    "pair_forces",
    "projective_criterion",
    "rank_cuts",
]
