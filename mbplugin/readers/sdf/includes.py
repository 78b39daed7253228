"""Reading an SDF file and the local files it includes into scopes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from mbplugin.errors import BrokenModel, UnresolvedPath
from mbplugin.model.scene import Defect, Request
from mbplugin.readers.common.paths import find, gazebo_caches, read_text, real_path
from mbplugin.readers.common.unread import unread_defects
from mbplugin.readers.common.xml import Element, child, children, local_name, origin, parse_xml, where
from mbplugin.readers.sdf.document import MODEL_FRAME, Member, Reading, Scope
from mbplugin.readers.sdf.values import (
    Version,
    WrittenPose,
    flag_of,
    pose_of,
    require_known_version,
    text_of,
    version_of,
)
from mbplugin.readers.sdf.vocabulary import SDF

#: What a file may hold besides a world.
_CONTENTS = ("model", "include", "light", "actor")
#: Elements of a model that become members, by tag.
_MEMBERS = {"link": "link", "joint": "joint", "frame": "frame", "drake:joint": "joint"}

#: The light that nearly every world includes; it has no bodies, so its file is not needed.
_SUN = "sun"
#: A model on the server of Gazebo, which Gazebo keeps on the machine: owner, name, and maybe a version.
_FUEL = re.compile(
    r"https?://fuel\.(?:gazebosim|ignitionrobotics)\.org/1\.0/([^/]+)/models/([^/]+?)(?:/(\d+|tip))?"
)

#: Models in each other, and files in all: two includes in each of 30 files are a thousand million models.
_DEEPEST, _MOST_FILES = 100, 1000


def read_document(text: str, reading: Reading) -> Scope:
    """Return the world of a document; a lone model stands in an empty world.

    Raises
    ------
    BrokenModel
        No ``<sdf>`` root, nothing in it, an element without a name, or an include that includes itself.
    UnresolvedPath
        An included file that is not found.
    """
    request = reading.request
    reading.files.append(request.path)
    root = _sdf_root(text, request.path)
    reading.defects += unread_defects(root, SDF, "sdf")
    worlds = children(root, "world")
    for extra in worlds[1:]:
        name = str(extra.get("name", "world"))
        reading.not_read(extra, name, f"world {name!r} is not read, only the first world of a file is")
    container = worlds[0] if worlds else root
    if not worlds and not any(children(root, name) for name in _CONTENTS):
        raise BrokenModel("the file has no model", where=request.path, expected="a <model> or a <world>")
    state = child(container, "state")
    if state is not None:
        reading.not_read(state, "state", "a saved <state> is not read; the poses of the models count")
    world = _scope(container, version_of(root), reading, request, (_identity(request.path),))
    return replace(world, models=tuple(_told_apart(world.models, reading)))


def _told_apart(models: tuple[Scope, ...], reading: Reading) -> Iterator[Scope]:
    """Number the later ones of models with one name; nothing in one can refer to the other."""
    taken = {model.name for model in models}
    seen: set[str] = set()
    for model in models:
        name, count = model.name, 1
        while name in seen or (count > 1 and name in taken):
            count += 1
            name = f"{model.name}#{count}"
        if name != model.name:
            message = f"two models are called {model.name!r}; the later one is read as {name!r}"
            reading.defects.append(
                Defect("MB107", model.name, message, origin(model.element), severity="warning")
            )
        seen.add(name)
        yield replace(model, name=name)


def _sdf_root(text: str, file: str) -> Element:
    root = parse_xml(text, file)
    if local_name(root) not in ("sdf", "gazebo"):
        raise BrokenModel(
            f"the root element is <{local_name(root)}>", where=where(root), expected="<sdf version=...>"
        )
    require_known_version(root)
    return root


def _identity(path: str) -> str:
    return str(real_path(path))


def _required_name(element: Element) -> str:
    name = str(element.get("name", "")).strip()
    if not name:
        raise BrokenModel(
            f"a <{local_name(element)}> has no name", where=where(element), remedy="add a name attribute"
        )
    return name


def _scope(
    element: Element, version: Version, reading: Reading, request: Request, stack: tuple[str, ...]
) -> Scope:
    """Read a ``<world>``, ``<sdf>`` or ``<model>`` element; ``stack`` holds the files and models around."""
    if len(stack) > _DEEPEST:
        raise BrokenModel(
            "the models nest too deeply", where=where(element), expected=f"at most {_DEEPEST} in each other"
        )
    snap = request.snap_angles
    members: list[Member] = []
    models: list[Scope] = []
    for item in element:
        tag = local_name(item) if isinstance(item.tag, str) else ""
        if tag in _MEMBERS:
            pose = pose_of(item, snap=snap)
            members.append(Member(_MEMBERS[tag], _required_name(item), item, version, pose))
        elif tag == "drake:ball_constraint":
            name = str(item.get("name", ""))
            members.append(Member("constraint", name, item, version, WrittenPose.none(item)))
        elif tag == "model":
            models.append(_scope(item, version, reading, request, (*stack, where(item))))
        elif tag == "include":
            _add_include(item, version, reading, request, stack, members, models)
    is_model = local_name(element) == "model"
    return Scope(
        name=_required_name(element) if is_model else str(element.get("name", "")),
        element=element,
        pose=pose_of(element, snap=snap) if is_model else WrittenPose.none(element),
        members=tuple(members),
        models=tuple(models),
        placement=str(element.get("placement_frame", "")),
        canonical_link=str(element.get("canonical_link", "")),
        static=flag_of(element, "static"),
    )


def _add_include(
    item: Element,
    version: Version,
    reading: Reading,
    request: Request,
    stack: tuple[str, ...],
    members: list[Member],
    models: list[Scope],
) -> None:
    """Read an ``<include>``: a model of its own, or with ``merge`` more members of this one."""
    try:
        model = _included_model(item, reading, request, stack)
    except UnresolvedPath as error:
        # the rest of the file is analyzed without it
        message = f"{error.what}; the file is analyzed without it, expected {error.expected}"
        name = text_of(item, "name") or text_of(item, "uri")
        reading.missing.append(error)
        reading.defects.append(Defect("MB906", name, message, origin(item), severity="warning"))
        return
    if model is None:
        return
    if str(item.get("merge", "false")).lower() not in ("1", "true"):
        models.append(model)
        return
    frame = f"_merged__{model.name}__model__"
    members.append(Member("merged", frame, item, version, model.pose, placement=model.placement))
    members.extend(replace(m, home=frame) if m.home == MODEL_FRAME else m for m in model.members)
    models.extend(replace(m, home=frame) for m in model.models)


def _included_model(
    item: Element, reading: Reading, request: Request, stack: tuple[str, ...]
) -> Scope | None:
    """Return the included model with the include's name, pose and flags; None for a light."""
    uri = text_of(item, "uri")
    if not uri:
        raise BrokenModel("an <include> has no <uri>", where=where(item), remedy="name the file to include")
    if uri.rstrip("/").rpartition("/")[2].lower() == _SUN:
        return None
    file = _locate(uri, request, where(item))
    if _identity(file) in stack:
        raise BrokenModel(f"{uri!r} includes itself", where=where(item), remedy="break the cycle")
    root = _sdf_root(read_text(file), file)
    reading.files.append(file)
    if len(reading.files) > _MOST_FILES:
        raise BrokenModel(f"more than {_MOST_FILES} files are included", where=where(item))
    # names in the included file are looked up beside it, then where the including file looks
    folders = (*request.package_dirs, str(request.folder))
    inner_request = replace(request, path=file, text=None, package_dirs=folders)
    element = child(root, "model")
    if element is None:
        if child(root, "light") is not None or child(root, "actor") is not None:
            return None
        raise BrokenModel("the included file has no <model>", where=f"{file}:{root.sourceline}")
    reading.defects += unread_defects(root, SDF, "sdf")
    model = _scope(element, version_of(root), reading, inner_request, (*stack, _identity(file)))
    return replace(
        model,
        name=text_of(item, "name") or model.name,
        pose=model.pose if child(item, "pose") is None else pose_of(item, snap=request.snap_angles),
        placement=text_of(item, "placement_frame") or model.placement,
        static=flag_of(item, "static", model.static),
    )


def _locate(uri: str, request: Request, place: str) -> str:
    """Return the file an include means: itself, or the model file of the folder it names."""
    listed = ""
    for file in _model_files(uri.rstrip("/"), request):
        if Path(file).exists():
            return file
        listed = listed or Path(file).name
    raise UnresolvedPath(
        f"{uri!r} lists {listed!r}, which is missing" if listed else f"{uri!r} cannot be found",
        where=place,
        expected="a local SDF file, or a folder with model.config or model.sdf",
        remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds the model, "
        "or set GZ_SIM_RESOURCE_PATH",
    )


def _model_files(uri: str, request: Request) -> Iterator[str]:
    if fuel := _FUEL.fullmatch(uri):
        for kept in _kept_from_fuel(*fuel.groups()):
            yield from _model_files(str(kept), request)
        return
    folder = uri.rpartition("/")[2]
    config = find(f"{uri}/model.config", request)
    # a package name may be left out in the search; the folder itself may not
    if config and real_path(config).parent.name == folder:
        yield str(Path(config).parent / _listed_file(config))
    model = find(f"{uri}/model.sdf", request)
    if model and real_path(model).parent.name == folder:
        yield model
    if (file := find(uri, request)) is not None:
        yield file


def _kept_from_fuel(owner: str, name: str, version: str | None) -> list[Path]:
    """Return the folders in which Gazebo keeps the versions of a model of its server, the newest first."""
    kept = (
        versions
        for root in gazebo_caches()
        for host in ("fuel.gazebosim.org", "fuel.ignitionrobotics.org")
        for versions in (root / host / owner.lower() / "models" / unquote(name).lower()).glob("*")
    )
    numbered = [folder for folder in kept if folder.name.isdecimal()]
    wanted = [folder for folder in numbered if version in (None, "tip", folder.name)]
    return sorted(wanted, key=lambda folder: -int(folder.name))


def _listed_file(config: str) -> str:
    """Return the newest SDF file that a ``model.config`` lists."""
    listed = children(parse_xml(read_text(config), config), "sdf")
    if not listed:
        raise BrokenModel(
            "the file lists no <sdf>", where=config, expected="<sdf version=...>model.sdf</sdf>"
        )
    newest = max(listed, key=version_of)
    return (newest.text or "").strip()
