"""The result of a change of constraints, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class Transition:
    """Velocities before and after an instant at which constraints close, and the impulses.

    Parameters
    ----------
    outcome : str
        ``regular``; ``singular`` where the constraints lose rank at this very pose (mueller2026 Def. 1),
        so that momentum balance decides nothing; ``contradictory`` where no velocities satisfy them all.
        Unless it is regular, velocities after, impulses and energy after are NaN.
    form : str
        How it was computed.
    qd_minus, qd_plus : (n,) array
        Velocities in the coordinates of the equations, rad/s and m/s.
    labels : tuple of (constraint, component)
        One per row, persistent ones included.
    activated : (m,) array of bool
        Which rows close now.
    impulses : (m,) array
        Λ with M Δq̇ = U + CᵀΛ, N·s and N·m·s, given to the successor. Where they are not unique, the
        smallest ones (lengths counted in characteristic lengths).
    unique : (m,) array of bool
        Whether the rigid model determines each impulse.
    energy_before, energy_after : float
        Kinetic, J.
    """

    outcome: str
    form: str
    qd_minus: Array
    qd_plus: Array
    labels: tuple[tuple[str, str], ...]
    activated: AnyArray
    impulses: Array
    unique: AnyArray
    energy_before: float
    energy_after: float

    @property
    def jump(self) -> Array:
        """Δq̇ (n,), rad/s and m/s."""
        return self.qd_plus - self.qd_minus

    @property
    def loss(self) -> float:
        """Kinetic energy that is lost, J."""
        return self.energy_before - self.energy_after

    @property
    def impulse(self) -> dict[tuple[str, str], float]:
        """Impulses by (constraint, component), N·s and N·m·s."""
        return dict(zip(self.labels, self.impulses.tolist(), strict=True))

    @property
    def open_impulses(self) -> tuple[tuple[str, str], ...]:
        """The rows whose impulse a rigid model leaves open."""
        return tuple(label for label, one in zip(self.labels, self.unique.tolist(), strict=True) if not one)
