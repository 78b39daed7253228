"""A composed stage for the reader: values in SI units, prims with their locations, and records of unread items."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from mbplugin.errors import (
    BadNumber,
    BrokenModel,
    MbPluginError,
    MissingDependency,
    UnreadableFile,
    UnresolvedPath,
)
from mbplugin.files import read_bounded, working_in
from mbplugin.model import LARGEST, Array, Defect, Origin, Pose, Request, unit
from mbplugin.processes.supervised import files_allowed, no_more_files
from mbplugin.readers.paths import is_file, may_read, real_path

#: Names of layers in memory contain an address, which changes from run to run.
_ANONYMOUS = re.compile(r"anon:0x[0-9a-f]+:")
#: Maximum length of a quoted composition error, characters.
_SHOWN = 240
#: Maximum number of layers of a stage; a model has a few dozen.
_MOST_LAYERS = 10_000
#: Maximum number of prims of a composed stage; nested instances can produce any number.
MOST_PRIMS = 200_000
#: Smallest and largest permitted unit of length and mass in SI: OpenUSD names nanometres and light-years.
_UNITS = (1e-30, 1e30)
#: Maximum length of a quoted OpenUSD error, characters.
_LAYERS_SHOWN = 300
#: OpenUSD's message for a layer that it could not open; a name may contain any of these characters.
_NOT_OPENED = re.compile(
    r"Could not (?:load sublayer|open asset) @(.*)@ (?:of layer|for \w+ introduced by) @(.*?)@", re.DOTALL
)
#: Working folder for OpenUSD, which looks there for relative names that are not beside their layer.
_NO_LAYERS_HERE = Path(__file__).parent
#: The start of a prim, with its specifier; the braces of its content may be many lines below.
_PRIM = re.compile(r'\s*(?:def|over|class)\s+(?:[\w]+\s+)?"([^"]+)"')
_MARK = re.compile(r"[(){}]")
#: Texts, asset paths and comments, which may contain such brackets.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|@[^@]*@|#.*')
_MODULES = ("Ar", "Gf", "Plug", "Sdf", "Usd", "UsdGeom", "UsdPhysics", "UsdShade", "UsdUtils")


class Stage:
    """A composed stage.

    Parameters
    ----------
    pxr : namespace
        The modules of OpenUSD.
    text : str
        The root layer, if the request has it as text.
    request : Request

    Raises
    ------
    MbPluginError
        The stage cannot be opened.
    """

    def __init__(self, pxr: Any, text: str, request: Request) -> None:
        self.pxr, self.request = pxr, request
        self.defects: list[Defect] = []
        self.layers = open_root(pxr, text, request)
        try:
            self.stage = self.layers.compose()
        except RuntimeError as error:
            raise BrokenModel(
                f"OpenUSD cannot compose the stage: {_ANONYMOUS.sub('', str(error))[:_SHOWN]}",
                where=request.path,
            ) from None
        self._lines = Lines(str(self.layers.root.realPath), text or request.text)
        self.time = pxr.Usd.TimeCode.EarliestTime()
        self.transforms = pxr.UsdGeom.XformCache(self.time)
        self._note_composition()

    @cached_property
    def prims(self) -> tuple[Any, ...]:
        """All active, loaded and defined prims, including those of instances, in depth-first order.

        Raises
        ------
        BrokenModel
            There are too many prims.
        """
        found = []
        everywhere = self.pxr.Usd.TraverseInstanceProxies(self.pxr.Usd.PrimDefaultPredicate)
        for prim in self.pxr.Usd.PrimRange(self.stage.GetPseudoRoot(), everywhere):
            found.append(prim)
            if len(found) > MOST_PRIMS:
                raise BrokenModel(
                    f"the stage has more than {MOST_PRIMS} prims",
                    where=self.request.path,
                    remedy="leave out what does not move",
                )
        return tuple(found)

    @cached_property
    def metre(self) -> float:
        """Metres per unit of length."""
        return self._unit("metersPerUnit", 0.01)

    @cached_property
    def kilogram(self) -> float:
        """Kilograms per unit of mass."""
        return self._unit("kilogramsPerUnit", 1.0)

    @property
    def up_axis(self) -> str:
        """Axis opposite to default gravity: X, Y or Z.

        Raises
        ------
        BrokenModel
            The stage states anything else.
        """
        axis = self._stated("upAxis", "Y")
        if axis not in ("X", "Y", "Z"):
            raise BrokenModel("upAxis is not an axis", where=self.request.path, expected='"X", "Y" or "Z"')
        return str(axis)

    @property
    def default_prim(self) -> Any:
        """Default prim of the stage; an invalid prim if it names none.

        Raises
        ------
        BrokenModel
            The stated default is not a name.
        """
        if not isinstance(self._stated("defaultPrim", ""), str):
            raise BrokenModel(
                "defaultPrim is not a name", where=self.request.path, expected="that of a root prim"
            )
        return self.stage.GetDefaultPrim()

    def _unit(self, name: str, default: float) -> float:
        value = self._stated(name, default)
        smallest, largest = _UNITS
        if not isinstance(value, float) or not smallest <= value <= largest:
            said = f"{value:g}" if isinstance(value, float) else "no number"
            expected = f"a number from {smallest:g} to {largest:g}"
            raise BadNumber(f"{name} is {said}", where=self.request.path, expected=expected)
        return value

    def _stated(self, name: str, default: str | float) -> Any:
        """Return a metadata value of the stage, of any type; integers become floats."""
        root = self.stage.GetPseudoRoot()
        value = root.GetMetadata(name) if root.HasAuthoredMetadata(name) else default
        return float(value) if isinstance(value, int) else value

    def place(self, prim: Any) -> Origin:
        """Return the location of a prim in its file; for an instance, of its prototype."""
        for spec in prim.GetPrimStack():
            line = self._lines.line(str(spec.layer.realPath), str(spec.path.StripAllVariantSelections()))
            return Origin(self.layers.shown(spec.layer), line, str(prim.GetPath()))
        return Origin(self.request.path, 0, str(prim.GetPath()))

    def where(self, prim: Any) -> str:
        """Return the file, line and path of a prim for messages."""
        return f"{self.place(prim)} <{prim.GetPath()}>"

    def not_read(
        self, prim: Any, message: str, severity: Literal["", "note", "warning"] = "", **evidence: Any
    ) -> None:
        """Record an item that is missing or that the mechanism cannot represent."""
        self.defects.append(
            Defect("MB113", str(prim.GetPath()), message, self.place(prim), evidence, severity=severity)
        )

    def value(self, prim: Any, name: str) -> Any:
        """Return the value of an attribute or its fallback, None without either."""
        attribute = prim.GetAttribute(name)
        return attribute.Get(self.time) if attribute else None

    def authored(self, prim: Any, name: str) -> bool:
        """Return True if a file states a value for an attribute."""
        attribute = prim.GetAttribute(name)
        return bool(attribute) and attribute.HasAuthoredValue()

    def number(self, prim: Any, name: str, default: float) -> float:
        """Return a number, which may be ±inf.

        Raises
        ------
        BadNumber
            The value is NaN, or not a number.
        """
        value = self.value(prim, name)
        if value is None:
            return default
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = float("nan")
        if isnan(found):
            raise BadNumber(f"{name} is {value!s:.40}", where=self.where(prim), expected="a number")
        return found

    def vector(self, prim: Any, name: str, default: tuple[float, ...]) -> Array:
        """Return the numbers of a vector (n,), n as in ``default``, which may be ±inf.

        Raises
        ------
        BadNumber
            Wrong count, NaN, or not numbers.
        """
        value = self.value(prim, name)
        if value is None:
            return np.array(default)
        try:
            found = np.array([float(x) for x in value])
        except (TypeError, ValueError):
            found = np.array([np.nan])
        if found.shape != (len(default),) or np.isnan(found).any():
            raise BadNumber(
                f"{name} is {value!s:.60}", where=self.where(prim), expected=f"{len(default)} numbers"
            )
        return found

    def quaternion(self, prim: Any, name: str) -> Array:
        """Return the quaternion xyzw (4,) of an attribute, normalised; the identity if it is zero or absent.

        Raises
        ------
        BadNumber
            A number is not finite.
        """
        value = self.value(prim, name)
        if value is None:
            return np.array([0.0, 0.0, 0.0, 1.0])
        try:
            found = np.array([*map(float, value.GetImaginary()), float(value.GetReal())])
        except AttributeError:
            found = np.array([np.nan])
        if not np.isfinite(found).all():
            raise BadNumber(f"{name} is {value!s:.60}", where=self.where(prim), expected="a quaternion")
        return unit(found) if found.any() else np.array([0.0, 0.0, 0.0, 1.0])

    def targets(self, prim: Any, name: str) -> list[Any]:
        """Return the target paths of a relationship.

        Raises
        ------
        BrokenModel
            OpenUSD cannot compose a target, such as one outside the content of a reference.
        """
        relationship = prim.GetRelationship(name)
        try:
            return list(relationship.GetForwardedTargets()) if relationship else []
        except RuntimeError:
            raise BrokenModel(
                f"OpenUSD cannot compose the targets of {name}",
                where=self.where(prim),
                expected="paths of prims of the stage",
                remedy="check the file with usdchecker",
            ) from None

    def matrix(self, prim: Any) -> tuple[Array, Array]:
        """Return A (3, 3) and p (3,) of a prim: a point x in its local axes is at A x + p in the world, stage units.

        Raises
        ------
        BadNumber
            The transformation is not finite, or too large.
        BrokenModel
            OpenUSD cannot evaluate it.
        """
        try:
            M = np.array(self.transforms.GetLocalToWorldTransform(prim), dtype=float)
        except RuntimeError:
            # OpenUSD raises RuntimeError here if xformOpOrder lists an invalid operation
            raise BrokenModel(
                "its xformOpOrder, or that of a prim above it, lists an operation that is not a transformation",
                where=self.where(prim),
                remedy="check the file with usdchecker",
            ) from None
        if not (np.abs(M) <= LARGEST).all():
            raise BadNumber("the transformation has numbers that cannot be used", where=self.where(prim))
        return M[:3, :3].T, M[3, :3]

    def frame(self, prim: Any) -> Pose:
        """Return the world pose of a prim without its scale, m."""
        A, p = self.matrix(prim)
        return Pose(self.rotation(prim, A), self.metre * p)

    def rotation(self, prim: Any, A: Array) -> Array:
        """Return the rotation (3, 3) in a matrix A (3, 3) of a prim; if it mirrors, all axes are reversed, as in USD.

        Raises
        ------
        BrokenModel
            A scale is zero.
        """
        lengths = np.linalg.norm(A, axis=0)
        if lengths.min() < 1e-12 * max(1.0, float(lengths.max())):
            raise BrokenModel("the scale is zero", where=self.where(prim), remedy="give it another scale")
        R = A / lengths
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-5:
            self.not_read(
                prim, f"<{prim.GetPath()}> is sheared by scales above it; the nearest rotation is read"
            )
        # also removes errors of single precision
        U, _, Vt = np.linalg.svd(R)
        R = U @ Vt
        return np.asarray(-R if np.linalg.det(R) < 0 else R)

    def schemas(self, prim: Any) -> tuple[str, ...]:
        """Return the applied schemas of a prim, including those not installed here."""
        return tuple(str(name) for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas())

    def ancestors(self, prim: Any) -> Iterator[Any]:
        """Yield a prim and its ancestors, up to a root prim."""
        while prim and not prim.IsPseudoRoot():
            yield prim
            prim = prim.GetParent()

    def _note_composition(self) -> None:
        """Report missing layers, cycles, and other composition errors."""
        for name, layer in self.layers.missing.items():
            message = f"layer {name!r} cannot be found; what it holds is not read"
            remedy = {"named_in": layer}
            self.defects.append(Defect("MB906", name, message, Origin(layer, 0), remedy))
        for error in self.stage.GetCompositionErrors():
            if did_not_open(error) in self.layers.missing:
                continue
            text = " ".join(self._words(error).split())[:_SHOWN]
            path = self._words(getattr(error, "rootSite", None) or "")
            self.defects.append(
                Defect(
                    "MB113",
                    path or "stage",
                    f"OpenUSD does not compose all of it: {text}",
                    Origin(self.request.path, 0),
                )
            )

    def _words(self, told: object) -> str:
        """Return OpenUSD's message, with the model named as by the caller and without memory addresses."""
        return _ANONYMOUS.sub("", str(told).replace(str(self.layers.root.identifier), self.request.path))


# The files of a stage: each is checked before it is opened, and composing a stage can open no other.
#
# Only OpenUSD can determine which layers a stage needs: expressions, variants, clips and arguments of file formats
# have rules of their own. A stage is therefore composed while this process can open no file. The layers that it
# could not open are checked against the model's package and opened here, and the stage is composed again, until
# no more of them can be opened.


@dataclass(eq=False)
class Layers:
    """The layers of a stage.

    Parameters
    ----------
    pxr : namespace
        The modules of OpenUSD.
    root : Sdf.Layer
    request : Request
    border : Request
        The same with absolute names, since the working folder changes while a stage is read.
    files : list of str
        Every file that was opened, the root first.
    missing : dict of str to str
        Names without a file, as written, each with the layer that names it.
    """

    pxr: Any
    root: Any
    request: Request
    border: Request
    files: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    # references that keep layers open: composing a stage could not open closed ones again
    _opened: dict[str, Any] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)

    def compose(self) -> Any:
        """Return the composed stage, after checking that all its layers are in the model's package.

        Raises
        ------
        BrokenModel
            A layer cannot be parsed, or there are too many.
        UnresolvedPath
            A layer lies outside the model's package.
        """
        self._open_dependencies(self.root)
        while True:
            with nothing_opens():
                stage = self.pxr.Usd.Stage.Open(self.root, self.pxr.Usd.Stage.LoadAll)
                wanted = list(_wanted(self.pxr, stage))
            before = len(self._opened)
            for name, layer in wanted:
                self._open(name, self.request.path if layer == str(self.root.identifier) else layer)
            if len(self._opened) == before:
                self.require_checked(stage)
                return stage

    def require_checked(self, stage: Any) -> None:
        """Refuse a stage that has used a layer outside the model's package.

        Raises
        ------
        UnresolvedPath
        """
        for layer in stage.GetUsedLayers(True):
            file = _file_of(self.pxr, str(layer.realPath))
            if layer.anonymous or layer == self.root or file in self._checked:
                continue
            # on systems that cannot prevent it, OpenUSD has itself opened layers with computed names
            if not may_read(Path(file), self.border):
                raise _outside(file, self.request.path)
            self._checked.add(file)
            self.files.append(file)

    def shown(self, layer: Any) -> str:
        """Return the file of a layer for messages; for the root, as in the request."""
        return self.request.path if layer == self.root else str(layer.realPath or layer.identifier)

    def _open_dependencies(self, layer: Any) -> None:
        """Open the layers that a layer names literally, and theirs in turn: most stages need no others."""
        todo = [layer]
        while todo:
            layer = todo.pop()
            for name in layer.GetCompositionAssetDependencies():
                if not name or self.pxr.Sdf.VariableExpression.IsExpression(name):
                    continue
                try:
                    path = str(self.pxr.Sdf.ComputeAssetPathRelativeToLayer(layer, name))
                except RuntimeError:
                    # not a file name
                    path = name
                inner = self._open(path, self.shown(layer), name)
                if inner is not None:
                    todo.append(inner)

    def _open(self, path: str, named_in: str, written: str = "") -> Any:
        """Open a layer and return it; None if it does not exist, or is already open."""
        if path in self._opened:
            return None
        with working_in(_NO_LAYERS_HERE):
            file = _file_of(self.pxr, self._resolved(path))
        if not file or not is_file(Path(file)):
            self.missing.setdefault(written or path, named_in)
            return None
        if len(self._opened) > _MOST_LAYERS:
            raise BrokenModel(f"the stage has more than {_MOST_LAYERS} layers", where=self.request.path)
        if not may_read(Path(file), self.border):
            raise _outside(path, named_in)
        self._checked.add(file)
        with working_in(_NO_LAYERS_HERE):
            try:
                layer = self.pxr.Sdf.Layer.FindOrOpen(path)
            except RuntimeError as error:
                raise _broken(path, error) from None
        if layer is None and not self.pxr.Ar.IsPackageRelativePath(path):
            raise _broken(path, None)
        if layer is not None and _file_of(self.pxr, str(layer.realPath)) != file:
            raise _outside(path, named_in)
        if layer is None or layer.identifier in self._opened or layer == self.root:
            self._opened.setdefault(path, layer)
            return None
        self._opened[path] = self._opened[layer.identifier] = layer
        if file not in self.files and file != self.border.path:
            self.files.append(file)
        return layer

    def _resolved(self, path: str) -> str:
        Ar = self.pxr.Ar
        # look up a package without its inner path, which would open the package before it is checked
        file = _file_of(self.pxr, str(self.pxr.Sdf.Layer.SplitIdentifier(path)[0]))
        with Ar.ResolverContextBinder(Ar.GetResolver().CreateDefaultContextForAsset(self.border.path)):
            return str(Ar.GetResolver().Resolve(file))


def open_root(pxr: Any, text: str, request: Request) -> Layers:
    """Return the layers of a stage with only the root open.

    Raises
    ------
    BrokenModel
        The root cannot be parsed.
    """
    folders = tuple(os.path.abspath(folder) for folder in request.package_dirs)  # noqa: PTH100
    # a text for a file that was read stands in its place
    given = bool(text) or request.text is not None
    # relative names of a text are those of its folder, as of a file that lies there
    path = str(request.folder / "text.usda") if given else os.path.abspath(request.path)  # noqa: PTH100
    border = replace(request, path=path, text=None, package_dirs=folders)
    try:
        root = _of_text(pxr, path, text) if given else pxr.Sdf.Layer.FindOrOpen(path)
    except RuntimeError as error:
        raise _broken(request.path, error) from None
    # a file name may contain what looks like arguments of a file format
    if root is None or (not given and real_path(_file_of(pxr, str(root.realPath))) != real_path(path)):
        raise _broken(request.path, None)
    return Layers(
        pxr, root, request, border, files=[request.path], _checked={_file_of(pxr, str(root.realPath))}
    )


@contextmanager
def nothing_opens() -> Iterator[None]:
    """Prevent files from being opened in a block, and names from being looked up in the working folder."""
    with working_in(_NO_LAYERS_HERE), no_more_files():
        yield


def _of_text(pxr: Any, path: str, text: str) -> Any:
    # reuse the layer of an earlier text
    layer = pxr.Sdf.Layer.Find(path) or pxr.Sdf.Layer.New(pxr.Sdf.FileFormat.FindByExtension("usda"), path)
    return layer if layer.ImportFromString(text) else None


def _wanted(pxr: Any, stage: Any) -> Iterator[tuple[str, str]]:
    """Yield the names of layers that a stage could not open or will open later, and the layers that name them."""
    for error in stage.GetCompositionErrors():
        for name, layer in _NOT_OPENED.findall(str(error)):
            yield name, layer
    # value clips are opened only when a value is needed
    everywhere = pxr.Usd.TraverseInstanceProxies(pxr.Usd.PrimAllPrimsPredicate)
    for count, prim in enumerate(pxr.Usd.PrimRange(stage.GetPseudoRoot(), everywhere)):
        if count > MOST_PRIMS:
            break
        if not prim.HasAuthoredMetadata("clips"):
            continue
        layer = str(next((s.layer.realPath for s in prim.GetPrimStack() if s.HasInfo("clips")), ""))
        api = pxr.Usd.ClipsAPI(prim)
        for name, clips in api.GetClips().items():
            # clips of a template, and listed clips, with their expressions evaluated
            assets = [*api.ComputeClipAssetPaths(name), *clips.get("assetPaths", ())]
            for asset in (*assets, clips.get("manifestAssetPath")):
                path = asset.resolvedPath or asset.path if isinstance(asset, pxr.Sdf.AssetPath) else ""
                if path and not pxr.Sdf.VariableExpression.IsExpression(path):
                    yield str(path), layer


def did_not_open(error: Any) -> str:
    """Return the name that a composition error reports as not opened, empty for another error."""
    match = _NOT_OPENED.search(str(error))
    return match.group(1) if match else ""


def not_utf8(request: Request, error: UnicodeDecodeError) -> BrokenModel:
    """Return the error for a text, from OpenUSD or quoted by it, that is not UTF-8."""
    data = request.text.encode(errors="surrogateescape") if request.text is not None else b""
    if request.text is None and request.path.lower().endswith((".usd", ".usda")):
        data = read_bounded(Path(request.path))
    line = 0
    if data.startswith(b"#usda"):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as first:
            line = data[: first.start].count(b"\n") + 1
    return BrokenModel(
        f"a text of the stage is not UTF-8: {error.reason}",
        where=f"{request.path}:{line}" if line else request.path,
        remedy="save the layer as UTF-8",
    )


def _file_of(pxr: Any, path: str) -> str:
    """Return the file of a layer path; layers in a package are written ``package.usdz[layer.usda]``."""
    return str(pxr.Ar.SplitPackageRelativePathOuter(path)[0]) if path else ""


def _outside(path: str, named_in: str) -> MbPluginError:
    return UnresolvedPath(
        f"{path!r} lies outside the model's package",
        where=named_in,
        expected="every layer that the model names in its own package",
        remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds it",
    )


def _broken(path: str, error: Exception | None) -> BrokenModel:
    reason = ""
    if error is not None:
        lines = [
            line.split(" -- ", 1)[-1] for line in _ANONYMOUS.sub("", str(error)).splitlines() if line.strip()
        ]
        reason = f": {' '.join(' '.join(lines).split())[:_LAYERS_SHOWN]}"
    return BrokenModel(
        f"OpenUSD cannot open the layer{reason}",
        where=path,
        expected="a .usda, .usdc or .usdz file",
        remedy="check the file with usdchecker",
    )


# Locations of prims: lines of text layers.


def prim_lines(text: str) -> dict[str, int]:
    """Return the line, from 1, of each prim of a ``.usda`` text by its path, without variant selections."""
    found: dict[str, int] = {}
    names: list[str] = []
    # one entry per open brace: True if it opened the content of a prim
    opened: list[bool] = []
    waiting, metadata = False, 0
    for number, line in enumerate(text.splitlines(), start=1):
        match = None if metadata else _PRIM.match(line)
        if match is not None:
            names.append(match.group(1))
            found.setdefault("/" + "/".join(names), number)
            waiting = True
            line = line[match.end() :]
        for mark in _MARK.findall(_QUOTED.sub("", line)):
            if mark in "()":
                metadata = max(metadata + (1 if mark == "(" else -1), 0)
            elif not metadata and mark == "{":
                opened.append(waiting)
                waiting = False
            elif not metadata and opened and opened.pop() and names:
                names.pop()
    return found


class Lines:
    """The lines of prims in the text layers of a stage, each layer read once."""

    def __init__(self, root: str, text: str | None) -> None:
        self._of: dict[str, dict[str, int]] = {} if text is None else {root: prim_lines(text)}

    def line(self, file: str, path: str) -> int:
        """Return the line of a prim in a layer; 0 if the layer is not text or the line is unknown."""
        if file not in self._of:
            with files_allowed():
                self._of[file] = _lines_of(Path(file))
        return self._of[file].get(path, 0)


def _lines_of(file: Path) -> dict[str, int]:
    try:
        with file.open("rb") as stream:
            if stream.read(5) != b"#usda":
                return {}
        return prim_lines(read_bounded(file).decode("utf-8", "replace"))
    except (OSError, UnreadableFile):
        return {}


# The usd-core package, imported only when a stage is read.


def pxr_modules() -> Any:
    """Return a namespace with the required modules of ``pxr``, after loading everything that they load on demand.

    Files are located by OpenUSD's default resolver without a search path; plug-ins from the environment are ignored.

    Raises
    ------
    MissingDependency
        The package is not installed.
    """
    # its threads take up address space, which is limited
    os.environ.setdefault("PXR_WORK_THREAD_LIMIT", "1")
    os.environ.pop("PXR_PLUGINPATH_NAME", None)
    try:
        found = {name: importlib.import_module(f"pxr.{name}") for name in _MODULES}
    except ImportError:
        raise MissingDependency.of("reading USD", "usd-core", "usd") from None
    pxr = SimpleNamespace(**found)
    pxr.Ar.SetPreferredResolver("ArDefaultResolver")
    pxr.Ar.DefaultResolver.SetDefaultSearchPath([])
    # libraries and schemas load on first use, but no file can be opened while a stage is read
    for plugin in pxr.Plug.Registry().GetAllPlugins():
        plugin.Load()
    pxr.Usd.SchemaRegistry().BuildComposedPrimDefinition("Xform", ["PhysicsRigidBodyAPI"])
    return pxr
