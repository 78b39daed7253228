"""Transitions: jumps of the velocities when constraints close or open, and the impulses."""

from mbplugin.model.mechanism.coupling import TimedConstraint
from mbplugin.simulation.impact.activate import FORMS, activate
from mbplugin.simulation.impact.transition import Transition

__all__ = ["FORMS", "TimedConstraint", "Transition", "activate"]
