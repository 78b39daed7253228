"""The table of the analysis: ``[lint]``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mbplugin.model.enumerations import NamedPlane, Simulator
from mbplugin.readers.scene_file.tables.table import Positive, Table


class LintTable(Table):
    """``[lint]``: options of the analysis, and the degree of redundancy that is intended."""

    tolerance: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="below which a singular value counts as zero, relative to the largest of its block",
    )
    planar: NamedPlane | None = Field(default=None, description="analyse the motion in this plane only")
    samples: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="poses at which the rank is looked at"
    )
    degree_of_redundancy: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="that is intended: another one is an error, this one is not reported"
    )
    misfit_limit: Positive | None = Field(
        default=None, description="largest joint force by a misfit of 0.1 mm, N"
    )
    ignore: list[str] = Field(default=[], description="codes of rules that are not reported, such as MB601")
    extend_select: list[str] = Field(
        default=[], description="codes of rules that are reported besides the usual ones"
    )
    targets: list[Simulator] = Field(default=[], description="simulators that have to run the model")
