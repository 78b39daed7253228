"""The public functions: each takes what a user has in hand and calls one room."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.model.scene import Scene
    from mbplugin.model.spatial import Array

    Model = Scene | Mechanism
    Values = Mapping[str, float] | Array | None


def load(
    source: str | os.PathLike[str] | int,
    *,
    package_dirs: Sequence[str] = (),
    base: Literal["fixed", "free"] | None = None,
    xacro_unsafe: bool = False,
) -> Scene:
    """Read a model file, a scene file or a live PyBullet client.

    Parameters
    ----------
    source : path or int
        A URDF, Xacro, SDF, MJCF or ``.scene.toml`` file, or a PyBullet client id.
    package_dirs : sequence of str
        Folders in which ``package://`` and relative names are looked up.
    base : "fixed" or "free", optional
        Overrides what the file says about root links.
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads.

    Raises
    ------
    MbPluginError
        Unusable input, told in one sentence.
    """
    if isinstance(source, int):
        from mbplugin.bullet.reader.client import read_client

        return read_client(source, base=base)
    from mbplugin.readers import load as load_file

    return load_file(source, package_dirs=tuple(package_dirs), base=base, xacro_unsafe=xacro_unsafe)


def constraint_matrix(
    mech: Model, q: Values = None, qd: Values = None, *, planar: str | None = None
) -> ConstraintMatrix:
    """Return the labelled constraint matrix of a scene or mechanism at a pose (m, rad, s).

    Loops are not closed first; what q does not name keeps the scene's value.
    """
    from mbplugin.constraints.matrix import constraint_matrix as build
    from mbplugin.model.mechanism.kinematics import joint_vector, rate_vector

    mechanism, base_q, base_qd = _state(mech)
    return build(
        mechanism,
        joint_vector(mechanism, q, base_q),
        rate_vector(mechanism, qd, base_qd),
        planar=planar or _option(mech, "planar", None),
    )


def analyze(
    mech: Model,
    q: Values = None,
    *,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    snap_angles: bool = False,
    groups: Sequence[Sequence[str]] = (),
) -> Analysis:
    """Close the pose of a scene or mechanism and analyze its constraints there.

    Parameters
    ----------
    mech : Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; what is not named keeps the scene's value. Named ones are held
        while the loops are closed, where that is possible.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else 1e-4.
    method : "qr", "svd", "rank", "nullspace" or "dca"
    planar : "xy", "yz" or "zx", optional
    samples : int, optional
        Poses sampled to tell redundancy from a singular pose; the scene's, else 8.
    snap_angles : bool
        Read rounded angle literals as the fraction of π they stand for.
    groups : sequence of sequences of constraint names
    """
    from mbplugin.analysis.analysis import DEFAULT_SAMPLES, DEFAULT_TOLERANCE, analyze_mechanism
    from mbplugin.errors import BadUsage
    from mbplugin.model.duties import duties
    from mbplugin.model.mechanism.kinematics import joint_vector
    from mbplugin.model.scene import Scene

    if snap_angles:
        if not isinstance(mech, Scene):
            raise BadUsage("snap_angles needs the angles as they were written", remedy="pass a scene")
        from mbplugin.readers import reload

        mech = reload(mech, snap_angles=True)
    mechanism, base_q, _ = _state(mech)
    given = set(q) if isinstance(q, Mapping) else set()
    if isinstance(mech, Scene):
        given |= mech.state.given
    return analyze_mechanism(
        mechanism,
        joint_vector(mechanism, q, base_q),
        given=sorted(given),
        tolerance=_option(mech, "tolerance", DEFAULT_TOLERANCE) if tolerance is None else tolerance,
        method=method,
        planar=planar or _option(mech, "planar", None),
        samples=_option(mech, "samples", DEFAULT_SAMPLES) if samples is None else samples,
        groups=groups,
        kept={name: tuple(duty.text for duty in own) for name, own in duties(mech).items()},
    )


def with_coordinates(scene: Scene, values: Mapping[str, float]) -> Scene:
    """Return the scene with some joint coordinates (rad, m) given; they are held when loops close."""
    from mbplugin.model.mechanism.kinematics import joint_vector

    q = joint_vector(scene.mechanism, values, scene.state.q)
    return replace(scene, state=replace(scene.state, q=q, given=scene.state.given | set(values)))


def _state(model: Model) -> tuple[Mechanism, Array | None, Array | None]:
    from mbplugin.model.scene import Scene, mechanism_of

    mechanism = mechanism_of(model)
    if isinstance(model, Scene):
        return mechanism, model.state.q, model.state.qd
    return mechanism, None, None


def _option(model: Model, name: str, default: Any) -> Any:
    from mbplugin.model.scene import Scene

    value = getattr(model.options, name) if isinstance(model, Scene) else None
    return default if value is None else value
