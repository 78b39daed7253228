"""The files of a stage: what its layers name is checked before anything opens it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mbplugin.errors import BrokenModel, UnresolvedPath
from mbplugin.model.scene import Request
from mbplugin.readers.common.paths import is_file, may_read

#: Layers of a stage that are looked into; a model has a few dozen.
_MOST_LAYERS = 10_000


@dataclass(eq=False)
class Layers:
    """The layers of a stage.

    Parameters
    ----------
    root : Sdf.Layer
    files : list of str
        Every file that was opened, the root first.
    missing : dict of str to str
        Names that lead to no file, as written, each with the layer that names it.
    """

    root: Any
    files: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


def open_layers(pxr: Any, text: str, request: Request) -> Layers:
    """Return the root layer of a stage and all layers below it, each of them in the model's package.

    Raises
    ------
    BrokenModel
        A layer that cannot be parsed.
    UnresolvedPath
        A layer outside the model's package.
    """
    found = Layers(_root_layer(pxr, text, request))
    found.files.append(request.path)
    todo, seen = [found.root], {found.root.identifier}
    while todo:
        layer = todo.pop()
        for name in layer.GetCompositionAssetDependencies():
            path = _absolute(pxr, layer, name)
            if path in seen:
                continue
            seen.add(path)
            if len(seen) > _MOST_LAYERS:
                raise BrokenModel(f"the stage has more than {_MOST_LAYERS} layers", where=request.path)
            inner = _layer(pxr, path, request, layer)
            if inner is None:
                found.missing[name] = _shown(layer)
            else:
                todo.append(inner)
                file = _file_of(path)
                if file not in found.files:
                    found.files.append(file)
    return found


def _root_layer(pxr: Any, text: str, request: Request) -> Any:
    try:
        if request.text is not None:
            layer = pxr.Sdf.Layer.CreateAnonymous(".usda")
            return layer if layer.ImportFromString(text) else _refuse(request)
        return pxr.Sdf.Layer.FindOrOpen(str(Path(request.path).absolute())) or _refuse(request)
    except RuntimeError as error:
        raise _broken(request.path, error) from None


def _refuse(request: Request) -> Any:
    raise _broken(request.path, None)


def _absolute(pxr: Any, layer: Any, name: str) -> str:
    """Return the path of an asset that a layer names; its own where it names none, as inner references do."""
    try:
        return str(pxr.Sdf.ComputeAssetPathRelativeToLayer(layer, name)) if name else str(layer.identifier)
    except RuntimeError:
        # whatever this is, it is no file
        return name


def _layer(pxr: Any, path: str, request: Request, named_in: Any) -> Any:
    """Return an inner layer; None where there is no file, or not on this machine."""
    file = Path(_file_of(path))
    if not is_file(file):
        return None
    if not may_read(file, request):
        raise UnresolvedPath(
            f"{path!r} lies outside the model's package",
            where=_shown(named_in),
            expected="every layer that the model names in its own package",
            remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds it",
        )
    try:
        layer = pxr.Sdf.Layer.FindOrOpen(path)
    except RuntimeError as error:
        raise _broken(path, error) from None
    if layer is None and "[" not in path:
        raise _broken(path, None)
    return layer


def _broken(path: str, error: Exception | None) -> BrokenModel:
    reason = ""
    if error is not None:
        lines = [line.split(" -- ", 1)[-1] for line in str(error).splitlines() if line.strip()]
        reason = f": {' '.join(lines)[:300]}"
    return BrokenModel(
        f"OpenUSD cannot open the layer{reason}",
        where=path,
        expected="a .usda, .usdc or .usdz file",
        remedy="check the file with usdchecker",
    )


def _file_of(path: str) -> str:
    """Return the file of a layer's path; a layer in a package is ``package.usdz[layer.usda]``."""
    return path.partition("[")[0]


def _shown(layer: Any) -> str:
    return str(layer.realPath or layer.identifier)
