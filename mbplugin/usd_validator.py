"""Rules for NVIDIA's validator of USD stages, whose command line and applications then show lint findings.

The validator (``usd-validation-nvidia``, formerly ``omniverse-asset-validator``) finds this module by its entry point.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mbplugin.choices import Simulator
from mbplugin.linter.rule import Finding

#: Simulators that read USD; the lint includes their rules.
TARGETS: tuple[Simulator, ...] = ("isaac", "newton")
CATEGORY = "Mbplugin"
#: Current and former package name of the validator.
_PRESENT, _FORMER = "usd_validation_nvidia", "omni.asset_validator"


@dataclass(frozen=True)
class Family:
    """The rules of one checker: its name, its description, and the prefixes of the rule codes."""

    name: str
    about: str
    codes: tuple[str, ...]


FAMILIES = (
    Family(
        "MbpluginArticulationChecker",
        "Loops inside articulations, and what simulators drop of joints that close loops.",
        ("MB129", "MB16"),
    ),
    Family("MbpluginRedundancyChecker", "Redundant constraints, locked and shaky loops.", ("MB2", "MB5")),
    Family(
        "MbpluginReactionChecker",
        "Joint reactions that a rigid model does not determine.",
        ("MB3", "MB4", "MB6"),
    ),
    Family(
        "MbpluginModelChecker", "Masses, inertias, limits and names that cannot be meant.", ("MB1", "MB9")
    ),
)


class ValidatorPlugin:
    """The plugin that the validator starts and stops; it registers one checker per family."""

    def __init__(self) -> None:
        self._registered: list[tuple[Any, type]] = []

    def on_startup(self) -> None:
        """Register the checkers."""
        validator = import_module(_PRESENT if find_spec(_PRESENT) else _FORMER)
        for checker in checkers(validator):
            validator.register_rule(CATEGORY)(checker)
            self._registered.append((validator, checker))

    def on_shutdown(self) -> None:
        """Unregister the checkers."""
        while self._registered:
            validator, checker = self._registered.pop()
            validator.unregister_rule(checker)


def checkers(validator: Any) -> list[type]:
    """Return the checkers as classes of a validator.

    Parameters
    ----------
    validator : module
        Provides ``BaseRuleChecker`` and ``Suggestion``.
    """
    return [_checker(validator, family) for family in FAMILIES]


def _checker(validator: Any, family: Family) -> type:
    def check_stage(self: Any, stage: Any) -> None:
        for finding in findings_of(stage, family):
            _add(self, validator, stage, finding)

    return type(
        family.name,
        (validator.BaseRuleChecker,),
        {"__doc__": family.about, "__module__": __name__, "CheckStage": check_stage},
    )


def _add(checker: Any, validator: Any, stage: Any, finding: Finding) -> None:
    """Report a finding to the validator at its prim, with a fix if there is one."""
    at = prim_of(stage, finding.element) or stage
    told = f"{finding.code} {finding.message}" + (f" ({finding.help})" if finding.help else "")
    if finding.severity == "note":
        checker._AddInfo(message=told, at=at, code=finding.code)
        return
    suggestions = []
    if finding.code in _FIXES and at is not stage:
        said, fix = _FIXES[finding.code]
        suggestions.append(validator.Suggestion(callable=fix, message=said))
    add = checker._AddFailedCheck if finding.severity == "error" else checker._AddWarning
    add(message=told, at=at, code=finding.code, suggestions=suggestions or None)


def findings_of(stage: Any, family: Family) -> list[Finding]:
    """Return the lint findings of a stage for the rules of one family.

    Parameters
    ----------
    stage : Usd.Stage
        A stage with unsaved changes is linted as it is in memory.
    family : Family
    """
    return [finding for finding in _linted(stage) if _family_of(finding.code) is family]


def _family_of(code: str) -> Family | None:
    """Return the first family to which a code belongs."""
    return next((family for family in FAMILIES if code.startswith(family.codes)), None)


def _linted(stage: Any) -> Sequence[Finding]:
    layer = stage.GetRootLayer()
    path = str(layer.realPath)
    if path and not any(used.dirty for used in stage.GetUsedLayers()):
        status = Path(path).stat()
        return _lint_file(path, status.st_mtime_ns, status.st_size)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stage.usda"
        stage.Export(str(file))
        return _lint_file.__wrapped__(str(file), 0, 0)


@lru_cache(maxsize=8)
def _lint_file(path: str, changed: int, size: int) -> Sequence[Finding]:
    """Return the findings of a file, cached until its modification time or size changes."""
    from mbplugin.linter.run import lint

    return tuple(lint(path, targets=TARGETS).findings)


def prim_of(stage: Any, name: str) -> Any:
    """Return the prim of a joint or body by its name in mbplugin, the end of its path; None if there is none."""
    return next(_prims(stage, name), None)


def _prims(stage: Any, name: str) -> Iterator[Any]:
    physics = import_module("pxr.UsdPhysics")
    for prim in stage.Traverse():
        physical = prim.IsA(physics.Joint) or prim.HasAPI(physics.RigidBodyAPI)
        if name and physical and str(prim.GetPath()).endswith(f"/{name.partition('#')[0]}"):
            yield prim


# Fixes, called by the validator with the stage and the prim.


def _exclude(stage: Any, prim: Any) -> None:
    import_module("pxr.UsdPhysics").Joint(prim).CreateExcludeFromArticulationAttr().Set(True)


def _state_axes(stage: Any, prim: Any) -> None:
    axes = import_module("pxr.Gf").Quatf(1, 0, 0, 0)
    import_module("pxr.UsdPhysics").MassAPI(prim).CreatePrincipalAxesAttr().Set(axes)


_FIXES: dict[str, tuple[str, Callable[[Any, Any], None]]] = {
    "MB129": ("Excludes the joint from the articulation.", _exclude),
    "MB147": ("States that the moments of inertia are along the axes of the prim.", _state_axes),
}
