"""Transitions: what the velocities do when constraints close or open, and the impulses that go with it."""

from mbplugin.simulation.impact.activate import FORMS, activate
from mbplugin.simulation.impact.timed import TimedConstraint
from mbplugin.simulation.impact.transition import Transition

__all__ = ["FORMS", "TimedConstraint", "Transition", "activate"]
