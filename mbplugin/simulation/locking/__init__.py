"""Transitions: what the velocities do when constraints close or open, and the impulses that go with it."""

from mbplugin.simulation.locking.activate import FORMS, activate
from mbplugin.simulation.locking.holds import Hold
from mbplugin.simulation.locking.transition import Transition

__all__ = ["FORMS", "Hold", "Transition", "activate"]
