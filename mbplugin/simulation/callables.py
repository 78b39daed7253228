"""Calls of a user's functions, whose errors are reported with the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, MbPluginError
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.simulation.options import Options, Profile, breaks_of
from mbplugin.visible import one_line


def checked_callbacks(actions: AppliedForces, options: Options) -> tuple[AppliedForces, Options]:
    """Return the same with every function of the user watched."""
    controller = actions.controller
    if controller is not None:
        actions = replace(actions, controller=_told("the controller", controller))
    events = tuple(replace(e, function=_told(f"event {e.name!r}", e.function)) for e in options.events)
    profiles = {name: _profile(name, profile) for name, profile in options.profiles.items()}
    return actions, replace(options, events=events, profiles=profiles)


def _told(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(time: float, *state: Any) -> Any:
        try:
            return function(time, *state)
        except MbPluginError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {one_line(error)}"
            raise BadUsage(f"{what} failed at t = {time:.9g} s: {reason}") from error

    return call


@dataclass(frozen=True, eq=False)
class _WatchedProfile:
    """A prescribed motion of the user, watched."""

    name: str
    profile: Callable[..., Any]
    breaks: tuple[float, ...]

    def __call__(self, time: float) -> tuple[float, float, float]:
        values = np.asarray(self.profile(time), dtype=float).reshape(-1)
        if values.shape != (3,) or not np.isfinite(values).all():
            raise BadNumber(
                f"the profile of {self.name!r} returned {values} at t = {time:.9g} s",
                expected="value, rate and acceleration, three finite numbers",
            )
        return float(values[0]), float(values[1]), float(values[2])


def _profile(name: str, profile: Profile) -> Profile:
    breaks = breaks_of(profile)
    if not np.isfinite(breaks).all():
        raise BadNumber(f"the profile of {name!r} breaks at {breaks}", expected="times in s")
    return _WatchedProfile(name, _told(f"the profile of {name!r}", profile), breaks)
