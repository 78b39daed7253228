"""The parameters of two models side by side: what PyBullet reads from a file, or holds, against ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
from lxml import etree

from mbplugin.bullet.reader.client import read_client
from mbplugin.bullet.session import quiet, session
from mbplugin.comparison.agreement import Row
from mbplugin.comparison.joints import READ, pair_rows
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.scene import Scene

#: A mass (kg) or an inertia (kg·m²) that is none, beside which there is no relative error.
_NOTHING = 1e-9


def own_file(scene: Scene) -> str | None:
    """Return the one URDF from which a scene comes and that PyBullet can read."""
    request = scene.request
    if request is None or request.text is not None or request.snap_angles:
        return None
    files = [file for file in scene.files if file.endswith(".urdf")]
    return files[0] if len(files) == 1 and Path(files[0]).is_file() else None


def read_in_pybullet(path: str) -> Mechanism:
    """Return what PyBullet reads from a URDF; to be called in a process of its own.

    It refuses a file whose meshes it does not find; such a file is read without its shapes, which have no
    part in what is compared.

    Raises
    ------
    BrokenModel
        PyBullet refuses it.
    """
    with session() as (bullet, client):
        bullet.setAdditionalSearchPath(str(Path(path).parent), physicsClientId=client)
        if not _loaded(bullet, client, path):
            with TemporaryDirectory() as folder:
                gravity_only = Path(folder) / "bare.urdf"
                gravity_only.write_bytes(_without_shapes(path))
                if not _loaded(bullet, client, str(gravity_only)):
                    raise BrokenModel("PyBullet refuses to load it", where=path, expected="a URDF")
        return read_client(client).mechanism


def _loaded(bullet: ModuleType, client: int, path: str) -> bool:
    flags = bullet.URDF_USE_INERTIA_FROM_FILE
    with quiet():
        try:
            body: int = bullet.loadURDF(path, flags=flags, physicsClientId=client)
        except bullet.error:
            return False
    return body >= 0


def _without_shapes(path: str) -> bytes:
    tree = etree.fromstring(Path(path).read_bytes(), etree.XMLParser(resolve_entities=False, recover=True))
    if tree is None or tree.tag != "robot":
        raise BrokenModel("PyBullet refuses to load it", where=path, expected="a URDF")
    for link in tree.iter("link"):
        for shape in [*link.iterfind("visual"), *link.iterfind("collision")]:
            link.remove(shape)
    return bytes(etree.tostring(tree))


def model_rows(ours: Mechanism, theirs: Mechanism) -> tuple[list[Row], tuple[str, ...]]:
    """Return one row per parameter of all bodies and joints that both have, and notes on the others.

    What PyBullet never reads as it is written is a note: links without an inertia, inertias that no body
    can have, the masses of what stands still.

    Raises
    ------
    BadUsage
        PyBullet holds several models with the names of ours.
    """
    rows: list[Row] = []
    notes: list[str] = []
    prefix = _prefix(ours, theirs)
    others = {body.name.removeprefix(prefix): body for body in theirs.bodies}
    still = _standing(ours) | {name.removeprefix(prefix) for name in _standing(theirs)}
    for body in ours.bodies:
        if body.name not in others:
            notes.append(f"PyBullet has no body {body.name!r}")
        elif body.name in still:
            continue
        elif note := _misread(body, others[body.name]):
            notes.append(note)
        else:
            rows += _body_rows(body, others[body.name])
    pairs = {pair.name.removeprefix(prefix): pair for pair in theirs.pairs}
    inner = {joint.inner for joint in ours.tree.joints}
    idle = {body.name for body in ours.bodies if body.massless and body.name not in inner}
    for pair in ours.pairs:
        if pair.name in pairs:
            found = list(pair_rows(pair, pairs[pair.name]))
            if pair.body_b in idle and not all(row.agrees for row in found):
                notes.append(f"PyBullet places {pair.body_b!r} otherwise, which carries no mass")
            else:
                rows += found
        elif pair.body_a != WORLD and not pair.closure:
            notes.append(f"PyBullet has no joint {pair.name!r}")
    return rows, tuple(notes)


def lacking(ours: Mechanism, theirs: Mechanism) -> list[Row]:
    """Return a row for every moving body of ours that PyBullet lacks: its mass there is none."""
    prefix = _prefix(ours, theirs)
    held = _standing(ours) | {body.name.removeprefix(prefix) for body in theirs.bodies}
    gone = [body for body in ours.bodies if body.name not in held and not body.massless]
    return [Row("mass", body.name, "kg", body.mass, READ * body.mass) for body in gone]


def _prefix(ours: Mechanism, theirs: Mechanism) -> str:
    """Return what stands before the names of ours where a client holds other models besides."""
    known = {body.name for body in theirs.bodies}
    if any(body.name in known for body in ours.bodies):
        return ""
    found = Counter(
        name.removesuffix(body.name)
        for body in ours.bodies
        for name in known
        if name.endswith(f"/{body.name}")
    )
    (first, most), (second, next_most) = (*found.most_common(2), ("", 0), ("", 0))[:2]
    if most and most == next_most:
        raise BadUsage(
            f"PyBullet holds {first[:-1]!r} and {second[:-1]!r}, and either may be {ours.name!r}",
            remedy="leave one in the client",
        )
    return first


def _standing(mech: Mechanism) -> set[str]:
    """Return bodies that are fixed to the ground."""
    found = {WORLD}
    for joint in mech.tree.joints:
        if joint.inner in found and joint.pair is not None and not joint.pair.kind.free:
            found.add(joint.outer)
    return found


def _misread(ours: Body, theirs: Body) -> str:
    """Return what PyBullet is known to make of a body, or nothing."""
    unit = theirs.mass == 1.0 and np.array_equal(theirs.I_C, np.eye(3))
    if ours.massless and unit:
        return f"PyBullet gives {ours.name!r}, which states no inertia, 1 kg and 1 kg·m²"
    a, b, c = np.linalg.eigvalsh(ours.I_C)
    if not theirs.I_C.any() and ours.I_C.any() and (a < 0 or a + b < c):
        return f"PyBullet sets the inertia of {ours.name!r} to zero, since no body can have it"
    return ""


def _body_rows(ours: Body, theirs: Body) -> Iterator[Row]:
    mass = max(ours.mass, _NOTHING)
    yield Row("mass", ours.name, "kg", abs(theirs.mass - ours.mass), READ * mass)
    shift = float(np.linalg.norm(theirs.p_LC - ours.p_LC))
    yield Row("centre of mass", ours.name, "m", shift, READ * max(1.0, float(np.abs(ours.p_LC).max())))
    size = max(float(np.abs(ours.I_C).max()), _NOTHING)
    yield Row("inertia", ours.name, "kg·m²", float(np.abs(theirs.I_C - ours.I_C).max()), READ * size)
