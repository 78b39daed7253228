"""A stage as the reader sees it: its values in SI units, its prims with their places, and what was not read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import isnan
from typing import Any, Literal

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Defect, Origin, Request
from mbplugin.model.spatial import Array, Pose, unit
from mbplugin.readers.usd.layers import MOST_PRIMS, did_not_open, open_root
from mbplugin.readers.usd.lines import Lines

#: What of a composition error is shown.
_SHOWN = 240


class Stage:
    """A composed stage.

    Parameters
    ----------
    pxr : namespace
        The modules of OpenUSD.
    text : str
        The root layer, where the request has it as text.
    request : Request

    Raises
    ------
    MbPluginError
        It cannot be opened.
    """

    def __init__(self, pxr: Any, text: str, request: Request) -> None:
        self.pxr, self.request = pxr, request
        self.defects: list[Defect] = []
        self.layers = open_root(pxr, text, request)
        try:
            self.stage = self.layers.compose()
        except RuntimeError as error:
            raise BrokenModel(
                f"OpenUSD cannot compose the stage: {str(error)[:_SHOWN]}", where=request.path
            ) from None
        self._lines = Lines(str(self.layers.root.realPath), request.text)
        self.time = pxr.Usd.TimeCode.EarliestTime()
        self.transforms = pxr.UsdGeom.XformCache(self.time)
        self._note_composition()

    @cached_property
    def prims(self) -> tuple[Any, ...]:
        """All prims that are active, loaded and defined, those of instances too, in depth-first order.

        Raises
        ------
        BrokenModel
            There are more than are read.
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

    def _unit(self, name: str, default: float) -> float:
        root = self.stage.GetPseudoRoot()
        value = float(root.GetMetadata(name)) if root.HasAuthoredMetadata(name) else default
        if not 0 < value <= LARGEST:
            raise BadNumber(f"{name} is {value:g}", where=self.request.path, expected="a positive number")
        return value

    def place(self, prim: Any) -> Origin:
        """Return where a prim is written; in instances, where their prototype is."""
        for spec in prim.GetPrimStack():
            line = self._lines.line(str(spec.layer.realPath), str(spec.path.StripAllVariantSelections()))
            return Origin(self.layers.shown(spec.layer), line, str(prim.GetPath()))
        return Origin(self.request.path, 0, str(prim.GetPath()))

    def where(self, prim: Any) -> str:
        """Return the file, line and path of a prim for a message."""
        return f"{self.place(prim)} <{prim.GetPath()}>"

    def not_read(
        self, prim: Any, message: str, severity: Literal["", "note", "warning"] = "", **evidence: Any
    ) -> None:
        """Note what has no place in the mechanism, or is not there."""
        self.defects.append(
            Defect("MB113", str(prim.GetPath()), message, self.place(prim), evidence, severity=severity)
        )

    def value(self, prim: Any, name: str) -> Any:
        """Return the value of an attribute, with its fallback; None where there is none."""
        attribute = prim.GetAttribute(name)
        return attribute.Get(self.time) if attribute else None

    def authored(self, prim: Any, name: str) -> bool:
        """Return whether a file states a value for an attribute."""
        attribute = prim.GetAttribute(name)
        return bool(attribute) and attribute.HasAuthoredValue()

    def number(self, prim: Any, name: str, default: float) -> float:
        """Return a number, ±inf included.

        Raises
        ------
        BadNumber
            NaN, or no number.
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
        """Return the numbers of a vector (n,), n as in ``default``, ±inf included.

        Raises
        ------
        BadNumber
            Another count, or NaN.
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
        """Return the quaternion xyzw (4,) of an attribute; the identity where it is zero or not there.

        Raises
        ------
        BadNumber
            A number that is not finite.
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
        """Return the paths that a relationship leads to."""
        relationship = prim.GetRelationship(name)
        return list(relationship.GetForwardedTargets()) if relationship else []

    def matrix(self, prim: Any) -> tuple[Array, Array]:
        """Return A (3, 3) and p (3,) of a prim: a point x in its axes is at A x + p in the world, stage units.

        Raises
        ------
        BadNumber
            A transformation that is not finite, or too large.
        BrokenModel
            One that OpenUSD cannot evaluate.
        """
        try:
            M = np.array(self.transforms.GetLocalToWorldTransform(prim), dtype=float)
        except RuntimeError:
            # OpenUSD raises its own errors here: an operation that is listed and is none
            raise BrokenModel(
                "its xformOpOrder, or that of a prim above it, lists what is no transformation",
                where=self.where(prim),
                remedy="check the file with usdchecker",
            ) from None
        if not (np.abs(M) <= LARGEST).all():
            raise BadNumber("the transformation has numbers that cannot be used", where=self.where(prim))
        return M[:3, :3].T, M[3, :3]

    def frame(self, prim: Any) -> Pose:
        """Return the pose of a prim in the world without its scale, m."""
        A, p = self.matrix(prim)
        return Pose(self.rotation(prim, A), self.metre * p)

    def rotation(self, prim: Any, A: Array) -> Array:
        """Return the rotation (3, 3) in a matrix A (3, 3) of a prim; a mirror image has all axes reversed, as in USD.

        Raises
        ------
        BrokenModel
            A scale of zero.
        """
        lengths = np.linalg.norm(A, axis=0)
        if lengths.min() < 1e-12 * max(1.0, float(lengths.max())):
            raise BrokenModel("the scale is zero", where=self.where(prim), remedy="give it another scale")
        R = A / lengths
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-5:
            self.not_read(
                prim, f"<{prim.GetPath()}> is sheared by scales above it; the nearest rotation is read"
            )
        # also takes away what single precision has left
        U, _, Vt = np.linalg.svd(R)
        R = U @ Vt
        return np.asarray(-R if np.linalg.det(R) < 0 else R)

    def schemas(self, prim: Any) -> tuple[str, ...]:
        """Return the applied schemas of a prim, those that are not installed here too."""
        return tuple(str(name) for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas())

    def ancestors(self, prim: Any) -> Iterator[Any]:
        """Yield a prim and those above it, up to a root prim."""
        while prim and not prim.IsPseudoRoot():
            yield prim
            prim = prim.GetParent()

    def _note_composition(self) -> None:
        """Note missing layers, cycles, and whatever else did not compose."""
        for name, layer in self.layers.missing.items():
            message = f"layer {name!r} cannot be found; what it holds is not read"
            remedy = {"named_in": layer}
            self.defects.append(Defect("MB906", name, message, Origin(layer, 0), remedy))
        for error in self.stage.GetCompositionErrors():
            if did_not_open(error) in self.layers.missing:
                continue
            text = str(error).replace(str(self.layers.root.identifier), self.request.path)
            text = " ".join(text.split())[:_SHOWN]
            path = str(getattr(error, "rootSite", "") or "")
            self.defects.append(
                Defect(
                    "MB113",
                    path or "stage",
                    f"OpenUSD does not compose all of it: {text}",
                    Origin(self.request.path, 0),
                )
            )
