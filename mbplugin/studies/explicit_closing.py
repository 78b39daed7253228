"""Explicit closing conditions of a model: inverse kinematics of its loops (blajer1993 (5)–(7))."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.dynamics.explicit_closure import Closing
from mbplugin.dynamics.explicit_closure import closing_conditions as conditions_of
from mbplugin.joint_reactions.state import closed_state
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.readers.source import ModelSource, model_of


def closing_conditions(
    model: ModelSource, q: JointValues = None, independent: Sequence[str] | None = None
) -> Closing:
    """Return q_D = g(q_I, t), with A, η and ξ, of all loops and couplings of a model.

    Loops with a closed form are solved in it, others by Newton's method; ``steps`` says how each is solved.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; the loops are closed first, and the pose selects the branches. The
        coordinates that a mapping names hold; a vector is where the search for a closed pose starts.
    independent : sequence of str, optional
        Joint rates inside loops that are to be independent; by default those that move most.

    Returns
    -------
    Closing
        With ``g(q_I)``, ``A(q)``, ``xi(q, qd)``, ``eta(q, time)``, ``margin(q)``, ``residuals(q)``.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    ContradictedState
        Coordinates that are named contradict each other.
    UnknownName, BadUsage
        An independent rate that does not exist; too few or too many of them.
    """
    state = closed_state(model_of(model), q, None, None, None, None, closing=True)
    return conditions_of(state.mech, state.q, independent)
