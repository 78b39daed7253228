"""The files of a stage: each is checked before it is opened, and composing a stage can open no other.

OpenUSD finds out itself what a stage needs: expressions, variants, clips and arguments of file formats have rules of
their own. A stage is therefore composed while this process can open no file. What it did not get is compared with
the model's package, opened here, and the stage is composed again, until nothing more is missing that is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mbplugin.errors import BrokenModel, MbPluginError, UnresolvedPath
from mbplugin.files import read_bounded
from mbplugin.model.scene import Request
from mbplugin.processes.rlimits import no_more_files
from mbplugin.readers.common.paths import is_file, may_read, real_path

#: Layers of a stage that are looked into; a model has a few dozen.
_MOST_LAYERS = 10_000
#: Prims of a composed stage; instances of instances can have any number.
MOST_PRIMS = 200_000
#: What of an error of OpenUSD is shown.
_SHOWN = 300
#: How OpenUSD says what it did not get; a name may hold any of these marks.
_NOT_OPENED = re.compile(
    r"Could not (?:load sublayer|open asset) @(.*)@ (?:of layer|for \w+ introduced by) @(.*?)@", re.DOTALL
)
#: Where OpenUSD looks for a relative name that is not beside its layer: the working folder, thus this one.
_NO_LAYERS_HERE = Path(__file__).parent


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
        The same with absolute names: while a stage is read, the working folder is another.
    files : list of str
        Every file that was opened, the root first.
    missing : dict of str to str
        Names that lead to no file, as written, each with the layer that names it.
    """

    pxr: Any
    root: Any
    request: Request
    border: Request
    files: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    # layers that nothing refers to are closed, and composing a stage could not open them again
    _opened: dict[str, Any] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)

    def compose(self) -> Any:
        """Return the composed stage; all that it has read and will read is in the model's package.

        Raises
        ------
        BrokenModel
            A layer that cannot be parsed, or too many of them.
        UnresolvedPath
            A layer outside the model's package.
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
        """Refuse a stage that has used a layer outside of the model's package.

        Raises
        ------
        UnresolvedPath
        """
        for layer in stage.GetUsedLayers(True):
            file = _file_of(self.pxr, str(layer.realPath))
            if layer.anonymous or layer == self.root or file in self._checked:
                continue
            # where the system cannot keep OpenUSD from opening files, it has opened those that it computed
            if not may_read(Path(file), self.border):
                raise _outside(file, self.request.path)
            self._checked.add(file)
            self.files.append(file)

    def shown(self, layer: Any) -> str:
        """Return the file of a layer for a message; that of the root as the request has it."""
        return self.request.path if layer == self.root else str(layer.realPath or layer.identifier)

    def _open_dependencies(self, layer: Any) -> None:
        """Open what a layer names in plain words, and what that names: most stages need nothing else."""
        todo = [layer]
        while todo:
            layer = todo.pop()
            for name in layer.GetCompositionAssetDependencies():
                if not name or self.pxr.Sdf.VariableExpression.IsExpression(name):
                    continue
                try:
                    path = str(self.pxr.Sdf.ComputeAssetPathRelativeToLayer(layer, name))
                except RuntimeError:
                    # whatever this is, it is no file
                    path = name
                inner = self._open(path, self.shown(layer), name)
                if inner is not None:
                    todo.append(inner)

    def _open(self, path: str, named_in: str, written: str = "") -> Any:
        """Open a layer and return it; None where there is no such file, or it is open already."""
        if path in self._opened:
            return None
        with _away():
            file = _file_of(self.pxr, self._resolved(path))
        if not file or not is_file(Path(file)):
            self.missing.setdefault(written or path, named_in)
            return None
        if len(self._opened) > _MOST_LAYERS:
            raise BrokenModel(f"the stage has more than {_MOST_LAYERS} layers", where=self.request.path)
        if not may_read(Path(file), self.border):
            raise _outside(path, named_in)
        self._checked.add(file)
        with _away():
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
        # a package is found without what is in it: looking into it opens it, and it is not checked yet
        file = _file_of(self.pxr, str(self.pxr.Sdf.Layer.SplitIdentifier(path)[0]))
        with Ar.ResolverContextBinder(Ar.GetResolver().CreateDefaultContextForAsset(self.border.path)):
            return str(Ar.GetResolver().Resolve(file))


def open_root(pxr: Any, text: str, request: Request) -> Layers:
    """Return the layers of a stage of which only the root is open.

    Raises
    ------
    BrokenModel
        It cannot be parsed.
    """
    folders = tuple(os.path.abspath(folder) for folder in request.package_dirs)  # noqa: PTH100
    given = request.text is not None
    # relative names of a text are those of its folder, as of a file that lies there
    path = str(request.folder / "text.usda") if given else os.path.abspath(request.path)  # noqa: PTH100
    border = replace(request, path=path, text=None, package_dirs=folders)
    try:
        root = _of_text(pxr, path, text) if given else pxr.Sdf.Layer.FindOrOpen(path)
    except RuntimeError as error:
        raise _broken(request.path, error) from None
    # the name of a file can hold what looks like arguments of a format
    if root is None or (not given and real_path(_file_of(pxr, str(root.realPath))) != real_path(path)):
        raise _broken(request.path, None)
    return Layers(
        pxr, root, request, border, files=[request.path], _checked={_file_of(pxr, str(root.realPath))}
    )


@contextmanager
def nothing_opens() -> Iterator[None]:
    """Let no file be opened in a block, and no name be found in the working folder."""
    with _away(), no_more_files():
        yield


@contextmanager
def _away() -> Iterator[None]:
    """Stand in a folder without layers: OpenUSD looks for relative names in the working folder too."""
    before = Path.cwd()
    os.chdir(_NO_LAYERS_HERE)
    try:
        yield
    finally:
        os.chdir(before)


def _of_text(pxr: Any, path: str, text: str) -> Any:
    # one that an earlier text has left is used again
    layer = pxr.Sdf.Layer.Find(path) or pxr.Sdf.Layer.New(pxr.Sdf.FileFormat.FindByExtension("usda"), path)
    return layer if layer.ImportFromString(text) else None


def _wanted(pxr: Any, stage: Any) -> Iterator[tuple[str, str]]:
    """Yield the names of the layers that a stage could not open or opens later, and the layers that name them."""
    for error in stage.GetCompositionErrors():
        for name, layer in _NOT_OPENED.findall(str(error)):
            yield name, layer
    # value clips are opened when a value is needed
    everywhere = pxr.Usd.TraverseInstanceProxies(pxr.Usd.PrimAllPrimsPredicate)
    for count, prim in enumerate(pxr.Usd.PrimRange(stage.GetPseudoRoot(), everywhere)):
        if count > MOST_PRIMS:
            break
        if not prim.HasAuthoredMetadata("clips"):
            continue
        layer = str(next((s.layer.realPath for s in prim.GetPrimStack() if s.HasInfo("clips")), ""))
        api = pxr.Usd.ClipsAPI(prim)
        for name, clips in api.GetClips().items():
            # those of a template, and those that are listed, with their expressions evaluated
            assets = [*api.ComputeClipAssetPaths(name), *clips.get("assetPaths", ())]
            for asset in (*assets, clips.get("manifestAssetPath")):
                path = asset.resolvedPath or asset.path if isinstance(asset, pxr.Sdf.AssetPath) else ""
                if path and not pxr.Sdf.VariableExpression.IsExpression(path):
                    yield str(path), layer


def did_not_open(error: Any) -> str:
    """Return the name that a composition error says could not be opened; empty for another error."""
    match = _NOT_OPENED.search(str(error))
    return match.group(1) if match else ""


def not_utf8(request: Request, error: UnicodeDecodeError) -> BrokenModel:
    """Return what to say of a text that OpenUSD gave, or quotes in an error, and that is not UTF-8."""
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
    """Return the file of a layer's path; a layer in a package is ``package.usdz[layer.usda]``."""
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
        lines = [line.split(" -- ", 1)[-1] for line in str(error).splitlines() if line.strip()]
        reason = f": {' '.join(lines)[:_SHOWN]}"
    return BrokenModel(
        f"OpenUSD cannot open the layer{reason}",
        where=path,
        expected="a .usda, .usdc or .usdz file",
        remedy="check the file with usdchecker",
    )
