"""Load scenes from files: one reader per format, selected by the content of the file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import pi
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mbplugin.choices import LARGEST, Base, Massless, library_model
from mbplugin.errors import BadUsage, BrokenModel, MbPluginError, Template, UnknownFormat, UnreadableFile
from mbplugin.files import hash_when_read, read_bounded, read_instead
from mbplugin.formats import FORMATS
from mbplugin.model import WORLD, Array, Body, Contact, Freedom, Mechanism, Pair, Pose, align_z
from mbplugin.model.scene import Actuator, Request, Scene, state_at_home
from mbplugin.phrases import Assumption
from mbplugin.readers.meshes import mesh_paths
from mbplugin.readers.paths import read_text, refuse_pointer, require_few_links, require_ordinary_size
from mbplugin.readers.unread import with_fixed_roots
from mbplugin.readers.xml import root_name

Reader = Callable[[str, Request], Scene]

_FORMATS = {one.name: one for one in FORMATS}
_ROOTS = {root: one.name for one in FORMATS for root in one.roots}
#: Suffixes of USD files; some are binary, so OpenUSD opens them itself.
_USD = (".usd", ".usda", ".usdc", ".usdz")


def load(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    base: Base | None = None,
    snap_angles: bool = False,
    xacro_unsafe: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    massless: Massless = "zero",
) -> Scene:
    """Return the scene of a URDF, xacro, SDF, MJCF, USD or scene file.

    Parameters
    ----------
    path : str or path
        The file; only a name for messages if ``text`` is given.
    text : str, optional
        The content, if it is not to be read from the file.
    package_dirs : sequence of str or path
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    snap_angles : bool
        Read rounded angle literals (1.5707) as the fraction of π they stand for.
    xacro_unsafe : bool
        Expand xacro as the xacro program does, whatever it runs or reads; see ``docs/trust.md``.
    xacro_args : mapping of str to str, optional
        Values of the xacro arguments, given to the program as ``name:=value``.
    massless : "zero" or "pybullet"
        Mass of URDF links without ``<inertial>``: zero, or 1 kg with 1 kg·m² as in PyBullet.

    Raises
    ------
    MbPluginError
        UnreadableFile, UnknownFormat, or any error of the reader of the format.
    """
    name = os.fspath(path)
    if text is None and isinstance(name, str) and name.lstrip().startswith("<"):
        raise BadUsage(
            "the argument is the text of a model",
            expected="the path of a file",
            remedy="write it to a file, pipe it to mbplugin with - for FILE, or mb.lint('robot.urdf', text=…)",
        )
    if isinstance(name, str) and name != name.encode("utf-8", "replace").decode():
        raise UnreadableFile(
            "the path of the file is not UTF-8",
            where=name,
            expected="names in UTF-8",
            remedy="rename it",
        )
    if base not in (None, "fixed", "free"):
        raise BadUsage(f"the base cannot be {base!r}", expected="fixed or free")
    if massless not in ("zero", "pybullet"):
        raise BadUsage(f"massless links cannot be {massless!r}", expected="zero or pybullet")
    folders = tuple(os.fspath(folder) for folder in package_dirs)
    arguments = tuple((xacro_args or {}).items())
    return _read(Request(name, text, folders, base, snap_angles, xacro_unsafe, arguments, massless))


def reload(scene: Scene, *, snap_angles: bool) -> Scene:
    """Load a scene again with or without snapped angles, keeping its state if the coordinates are the same.

    Raises
    ------
    BadUsage
        The scene was not loaded from a file, so it has no angle literals.
    """
    if scene.request is None:
        raise BadUsage(
            "angles cannot be snapped in a live client",
            expected="a scene that was loaded from a file",
            remedy="load the file that the client was made from",
        )
    again = _read(replace(scene.request, snap_angles=snap_angles))
    if again.mechanism.q_names == scene.mechanism.q_names:
        return replace(again, state=scene.state)
    return again


def read_again(text: str, request: Request) -> Scene:
    """Return the scene of a text that replaces a file; relative file names start from that file's folder.

    Parameters
    ----------
    text : str
    request : Request
        The request for the file.

    Raises
    ------
    MbPluginError
        Any error of the reader of the format.
    """
    return _reader(_format(text, request.path))(text, request)


def _read(request: Request) -> Scene:
    if _is_usd(request):
        refuse_pointer(read_bounded(Path(request.path)), request.path)
        # OpenUSD opens files itself, so a content that stands in place of a file's is given as its text
        text = (read_instead(request.path) or b"").decode("utf-8", "surrogateescape")
        return _reader("usd")(text, request)
    text = read_text(request.path) if request.text is None else request.text
    if not text.strip():
        raise UnreadableFile("the text is empty", where=request.path, expected="a model")
    require_ordinary_size(text, request.path)
    try:
        scene = _reader(_format(text, request.path))(text, request)
    except Template:
        if request.text is not None:
            raise
        # many repositories give a xacro file the suffix of the format it expands to
        scene = _reader("xacro")(text, request)
    require_few_links(len(scene.mechanism.bodies), request.path)
    return scene


def _reader(name: str) -> Reader:
    # imported only when a file of its format is read
    module = import_module(f"mbplugin.readers.{_FORMATS[name].module}")
    reader: Reader = getattr(module, _FORMATS[name].function)
    return reader


def format_name(request: Request) -> str:
    """Return the name of the format of a requested file, as in ``mbplugin.formats.FORMATS``.

    Raises
    ------
    UnreadableFile, UnknownFormat
    """
    if _is_usd(request):
        return "usd"
    return _format(read_text(request.path) if request.text is None else request.text, request.path)


def _is_usd(request: Request) -> bool:
    """Return True if the suffix of a file is one of USD; its content may be binary."""
    return request.text is None and request.path.lower().endswith(_USD)


def _format(text: str, name: str) -> str:
    """Return the format, from the root element and the suffix of the file."""
    ending = Path(name).suffix.lower()
    if text.startswith("#usda"):
        return "usd"
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        for known in FORMATS:
            if known.plain and name.lower().endswith(known.endings):
                return known.name
    root = root_name(text)
    if root in ("robot", "sdf") and ending == ".xacro":
        return "xacro"
    if root in _ROOTS:
        return _ROOTS[root]
    raise UnknownFormat(
        f"the root element is <{root}>" if root else "the text is not XML",
        where=f"{name}:1",
        expected=f"{', '.join(known.described for known in FORMATS[:-1])} or {FORMATS[-1].described}",
        remedy="check the file",
    )


#: The reader of live clients; it needs PyBullet, and is imported only for a client.
_CLIENTS = "mbplugin.bullet.reader"


class BulletClient(Protocol):
    """A client of ``pybullet_utils``."""

    _client: int


class MuJoCoModel(Protocol):
    """A mujoco ``MjModel``."""

    nbody: int


class MuJoCoData(Protocol):
    """A mujoco ``MjData``: a model in a state."""

    qpos: Any


class MuJoCoSpec(Protocol):
    """A mujoco ``MjSpec``, which is compiled."""

    worldbody: Any


class UrdfObject(Protocol):
    """A robot of yourdfpy or urchin."""

    link_map: Any


class PinocchioModel(Protocol):
    """A pinocchio ``Model``."""

    njoints: int


#: A file, a PyBullet client (its id, or an object), or a model of another library in memory.
FileOrClient = (
    str
    | os.PathLike[str]
    | int
    | BulletClient
    | MuJoCoModel
    | MuJoCoData
    | MuJoCoSpec
    | PinocchioModel
    | UrdfObject
)

#: The same, or a scene or mechanism.
ModelSource = FileOrClient | Scene | Mechanism


def model_of(source: ModelSource) -> Scene | Mechanism:
    """Return the scene of a file or live client; return a scene or mechanism unchanged.

    Raises
    ------
    MbPluginError
        The file or client cannot be used.
    """
    return source if isinstance(source, Scene | Mechanism) else loaded(source)


def loaded(source: FileOrClient, *, base: Base | None = None, **options: Any) -> Scene:
    """Return the scene of a file, a live client, or a model of another library in memory.

    Parameters
    ----------
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    **options
        For a file, as for ``readers.load``.

    Raises
    ------
    BadUsage
        The source is none of these.
    MbPluginError
        The source cannot be used.
    """
    if (client := client_id(source)) is not None:
        scene: Scene = import_module(_CLIENTS).read_client(client, base=base)
        return scene
    if isinstance(source, str | os.PathLike):
        return load(source, base=base, **options)
    if library_model(source) is not None:
        return read_library_model(source, base)
    raise BadUsage(
        f"a {type(source).__name__} is not a model",
        expected="a file, a PyBullet client, a scene, a mechanism, or a model of MuJoCo, Pinocchio, yourdfpy or urchin",
    )


def contacts_in(source: ModelSource) -> tuple[Contact, ...]:
    """Return the points at which bodies touch in a live PyBullet client, as it found them in its last step.

    Raises
    ------
    BadUsage
        The source is not a client.
    """
    client = client_id(source)
    if client is None:
        raise BadUsage(
            "contacts can be read only from a live PyBullet client",
            expected="contacts as tables, or a stance",
        )
    found: tuple[Contact, ...] = import_module(_CLIENTS).read_contact_points(client)
    return found


def resting(source: ModelSource, scene: Scene) -> tuple[Scene, tuple[str, ...]]:
    """Return the scene of a live client without its rates, and that they are left out, if it only buzzes.

    Otherwise, and for any other source, return the scene unchanged and no sentence.
    """
    client = client_id(source)
    if client is None or not scene.state.qd.any():
        return scene, ()
    speed: float | None = import_module(_CLIENTS).idle_speed(client, scene)
    if speed is None:
        return scene, ()
    still = replace(scene, state=replace(scene.state, qd=np.zeros_like(scene.state.qd)))
    sentence = (
        f"every model moves with less energy than a time step of free fall gives it ({speed:.2g} m/s), and is taken as "
        "at rest; pass its rates (qd=...) to have them"
    )
    return still, (Assumption(sentence, "the client taken as at rest (qd=...)"),)


def in_memory(source: object) -> str:
    """Return the name in messages of a client or a model of another library in memory; empty for anything else."""
    if (client := client_id(source)) is not None:
        return f"<client {client}>"
    return f"<{type(source).__name__}>" if library_model(source) else ""


def client_id(source: object) -> int | None:
    """Return the id of a PyBullet client, given as the id or an object; None for anything else."""
    if isinstance(source, bool):
        return None
    found = source if isinstance(source, int) else getattr(source, "_client", None)
    return found if isinstance(found, int) else None


# The files of a model with their hashes, to document the origin of results.


@dataclass(frozen=True)
class Source:
    """A file that was read, and its SHA-256; None if it could not be read again."""

    path: str
    sha256: str | None

    def __str__(self) -> str:
        """Return the file with its hash."""
        return f"{self.path}, " + (
            f"SHA-256 {self.sha256}" if self.sha256 else "which could not be read again"
        )


def sources_of(scene: Scene, also: tuple[str, ...] = ()) -> tuple[Source, ...]:
    """Return the files of a scene, those in ``also``, and the meshes that were read.

    A hash is that of the content read if a command records it (:func:`mbplugin.files.remember_reads`),
    else of the current content.
    """
    read = [path for path in map(str, mesh_paths(scene)) if hash_when_read(path)]
    text = {} if scene.request is None else {scene.request.path: scene.request.text}
    return tuple(
        Source(path, _hash(path, text.get(path))) for path in dict.fromkeys((*scene.files, *also, *read))
    )


def _hash(path: str, text: str | None) -> str | None:
    """Return the hash of a file, or of the text given in its place; None if it can no longer be read."""
    if text is None and (known := hash_when_read(path)) is not None:
        return known
    try:
        data = read_bounded(Path(path)) if text is None else text.encode(errors="surrogateescape")
    except MbPluginError:
        return None
    return hashlib.sha256(data).hexdigest()


# Models of other libraries in memory: MuJoCo, Pinocchio, yourdfpy, urchin.


def read_library_model(source: Any, base: Base | None = None) -> Scene:
    """Return the scene of a model of another library.

    Parameters
    ----------
    source : MjModel, MjData, MjSpec, pinocchio.Model, yourdfpy.URDF or urchin.URDF
        An ``MjModel`` is read at ``qpos0``, an ``MjData`` in its state; an ``MjSpec`` is compiled from a copy.
        yourdfpy and urchin robots are read from the URDF that their library writes.
    base : "fixed" or "free", optional
        Overrides the base of the root links.

    Raises
    ------
    MbPluginError
        The model is not a mechanism.
    """
    kind = library_model(source)
    if kind == ("yourdfpy", "URDF"):
        text = source.write_xml_string()
        return _urdf(text.decode() if isinstance(text, bytes) else text, source.robot.name, base)
    if kind == ("urchin", "URDF"):
        with tempfile.TemporaryDirectory() as folder:
            # urchin writes the meshes into the folder of the file
            file = Path(folder) / "robot.urdf"
            source.save(str(file))
            return _urdf(read_text(file), source.name, base)
    if kind == ("pinocchio", "Model"):
        return scene_of_pinocchio(source, base)
    from mbplugin.readers.mjcf import scene_of_model

    if kind == ("mujoco", "MjData"):
        return scene_of_model(source.model, source, base)
    return scene_of_model(_compiled(source) if kind == ("mujoco", "MjSpec") else source, None, base)


def _compiled(spec: Any) -> Any:
    try:
        own = spec.copy()
    except TypeError:
        # MuJoCo 3.2 cannot copy a spec in Python; compiling leaves it unchanged
        own = spec
    return own.compile()


def _urdf(text: str, name: str, base: Base | None) -> Scene:
    scene = load(f"<{name or 'robot'}>", text=text, base=base)
    return replace(scene, files=())


#: Joints with several degrees of freedom that have an equivalent pair, by their Pinocchio name.
_SEVERAL: dict[str, str] = {"JointModelSpherical": "spherical", "JointModelSphericalZYX": "spherical"}
_FREE = "JointModelFreeFlyer"
#: Norm up to which a part of a motion subspace counts as zero.
_NONE = 1e-12


def scene_of_pinocchio(model: Any, base: Base | None = None) -> Scene:
    """Return the scene of a Pinocchio model at its neutral configuration.

    A body has the name of its first link, since Pinocchio merges links connected by fixed joints. Its models have
    neither loops nor shapes.

    Parameters
    ----------
    model : pinocchio.Model
    base : "fixed" or "free", optional
        ``fixed`` fixes a free root; ``free`` is accepted only if the root is free.

    Raises
    ------
    BadUsage
        A free base was requested that the model does not have.
    BrokenModel
        A joint has an unsupported type.
    """
    names = _body_names(model)
    bodies, pairs, armatures = [], [], []
    free: dict[str, Pose] = {}
    for i in range(1, model.njoints):
        X_PJ = _pose(model.jointPlacements[i])
        inertia = model.inertias[i]
        bodies.append(Body(names[i], float(inertia.mass), np.array(inertia.lever), np.array(inertia.inertia)))
        parent = names[int(model.parents[i])]
        if model.joints[i].shortname() == _FREE and parent == WORLD:
            free[names[i]] = X_PJ
            continue
        pair = _pair(model, i, parent, names[i], X_PJ)
        pairs.append(pair)
        if len(pair.freedoms) == 1 and (armature := _number(model, "armature", i)):
            armatures.append(Actuator(pair.name, armature))
    if base == "free" and not free:
        raise BadUsage(
            "a Pinocchio model states its own base, by its first joint",
            remedy="build it with a JointModelFreeFlyer as its root joint",
        )
    gravity = np.array(model.gravity.linear, dtype=float)
    mech = Mechanism(str(model.name) or "model", tuple(bodies), tuple(pairs), gravity=gravity)
    mech = with_fixed_roots(mech, free) if base == "fixed" else mech
    return Scene(mech, state_at_home(mech), actuators=tuple(armatures))


def _body_names(model: Any) -> list[str]:
    """Return the name of the body that each joint moves; the first entry is the ground."""
    found = [WORLD, *("" for _ in range(1, model.njoints))]
    for frame in model.frames:
        joint = int(getattr(frame, "parentJoint", getattr(frame, "parent", 0)))
        if str(frame.type).endswith("BODY") and not found[joint]:
            found[joint] = str(frame.name)
    for i, name in enumerate(found):
        if not name or found.index(name) < i:
            found[i] = f"body_of_{model.names[i]}"
    return found


def _pose(placement: Any) -> Pose:
    return Pose(np.array(placement.rotation), np.array(placement.translation))


def _pair(model: Any, i: int, parent: str, child: str, X_PJ: Pose) -> Pair:
    """Return the pair of a joint, from its motion subspace S (6, k), [linear; angular] in the joint frame."""
    joint, name = model.joints[i], str(model.names[i])
    if joint.shortname() in _SEVERAL:
        return Pair(name, _SEVERAL[joint.shortname()], parent, child, X_PJ, Pose.identity())
    S = _subspace(model, i)
    # a mimic joint has no rate of its own, and the parts of a composite joint move in different frames
    if S.shape[1] != 1 or int(joint.nv) != 1 or "Composite" in joint.shortname():
        raise BrokenModel(
            f"joint {name!r} is a {joint.shortname().removeprefix('JointModel')}, which is not read",
            where=str(model.name) or "the model",
            expected="joints of one freedom, Spherical, or a FreeFlyer as the root",
            remedy="load the file that the model was made of",
        )
    v, w = S[:3, 0], S[3:, 0]
    turns, slides = np.linalg.norm(w) > _NONE, np.linalg.norm(v) > _NONE
    axis = w if turns else v
    X_JZ = Pose(align_z(axis / np.linalg.norm(axis)), np.zeros(3))
    lead = 0.0
    type = "revolute" if turns else "prismatic"
    if turns and slides:
        type, lead = "screw", float(2 * pi * (v @ w) / (w @ w))
    elif turns and int(joint.nq) > 1:
        type = "continuous"
    freedoms = (_freedom(model, i, bounded=type != "continuous"),)
    return Pair(name, type, parent, child, X_PJ @ X_JZ, X_JZ, lead=lead, freedoms=freedoms)


def _subspace(model: Any, i: int) -> Array:
    """Return the motion subspace of a joint at its neutral configuration, (6, k)."""
    import pinocchio

    joint = model.joints[i]
    data = joint.createData()
    joint.calc(data, np.array(pinocchio.neutral(model)))
    S = np.asarray(data.S, dtype=float)
    return S[:, None] if S.ndim == 1 else S


def _freedom(model: Any, i: int, *, bounded: bool) -> Freedom:
    joint = model.joints[i]
    lower, upper = (
        (float(model.lowerPositionLimit[joint.idx_q]), float(model.upperPositionLimit[joint.idx_q]))
        if bounded
        else (-np.inf, np.inf)
    )
    return Freedom(
        lower=lower if lower > -LARGEST else -np.inf,
        upper=upper if upper < LARGEST else np.inf,
        velocity=_limit(model, "velocityLimit", "upperVelocityLimit", i),
        effort=_limit(model, "effortLimit", "upperEffortLimit", i),
        damping=_number(model, "damping", i),
        friction=_number(model, "friction", i),
    )


def _limit(model: Any, name: str, newer: str, i: int) -> float:
    """Return a joint limit, which newer versions state for both directions; inf if there is none."""
    values = getattr(model, newer, None)
    value = float((getattr(model, name) if values is None else values)[model.joints[i].idx_v])
    return value if value < LARGEST else np.inf


def _number(model: Any, name: str, i: int) -> float:
    values = getattr(model, name, None)
    return 0.0 if values is None or not len(values) else float(values[model.joints[i].idx_v])
