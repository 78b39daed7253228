"""What holds for every motion and every stop, whatever moves: asserted from public results alone.

``check_motion`` and ``check_stop`` are called for every motion and stop that any test of the suite
computes (see ``conftest.py``), and for random mechanisms (``test_motion_invariants.py``). Each invariant is
a function of its own, which says where it comes from.
"""

from __future__ import annotations

from document_invariants import document_of_motion_is_valid, document_of_stop_is_valid
from looked import INSTANTS, Looked
from mbplugin.simulation.options import Options
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import StopReport
from sample_invariants import between_samples_all_holds, samples_are_returned
from state_invariants import (
    energies_are_those_of_the_states,
    forces_are_admissible,
    jumps_are_made_by_what_holds_afterwards,
    loops_stay_closed,
    numbers_are_finite_and_in_order,
    what_holds_stands_still,
)
from stop_invariants import energies_of_stop_are_balanced, stopped_means_at_rest
from work_invariants import (
    dissipation_is_the_work_of_what_resists,
    dissipation_never_falls,
    energy_is_balanced,
    loads_do_their_work,
)


def check_motion(
    motion: Trajectory, options: Options | None = None, *, thorough: bool = False, by_steps: bool = True
) -> None:
    """Assert every invariant of a motion.

    Parameters
    ----------
    options : Options, optional
        How it was computed; by default as ``simulate`` does when nothing is asked for.
    thorough : bool
        Whether to look at forces at more instants, and at the motion between samples.
    by_steps : bool
        Whether the samples are the steps of the integrator (not the coarse ones that a user asks for).
    """
    look = Looked(motion, options or Options(max(float(motion.time[-1]), 1e-9)))
    numbers_are_finite_and_in_order(look)
    energies_are_those_of_the_states(look)
    dissipation_never_falls(look)
    loops_stay_closed(look)
    what_holds_stands_still(look)
    if by_steps and motion.qd.shape[1]:
        dissipation_is_the_work_of_what_resists(look)
        loads_do_their_work(look)
        energy_is_balanced(look)
    forces_are_admissible(look, 40 if thorough else INSTANTS)
    jumps_are_made_by_what_holds_afterwards(look)
    samples_are_returned(look)
    document_of_motion_is_valid(motion)
    if thorough:
        between_samples_all_holds(look)


def check_stop(report: StopReport, *, peaks: bool = False) -> None:
    """Assert every invariant of a stop; those of its motion are asserted where it is computed.

    Parameters
    ----------
    peaks : bool
        Whether to compute the peaks for its document as well.
    """
    energies_of_stop_are_balanced(report)
    stopped_means_at_rest(report)
    document_of_stop_is_valid(report, peaks=peaks)


__all__ = ["check_motion", "check_stop"]
