"""Explicit closing conditions q_D = g(q_I), and minimal equations without constraint violation."""

from mbplugin.dynamics.explicit_closure.closing import Closing, closing_conditions, minimal_accelerations

__all__ = ["Closing", "closing_conditions", "minimal_accelerations"]
