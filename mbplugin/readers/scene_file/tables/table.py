"""What all tables of a scene share: strict types, and the numbers and names that keys have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mbplugin.model.bounds import LARGEST

Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Name = Annotated[str, Field(min_length=1)]
#: Where numbers come from, in words.
Origin = Annotated[str, Field(max_length=500)]
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST)]
Share = Annotated[float, Field(ge=0, le=1)]
#: inf is rigid.
StiffnessNumber = Annotated[float, Field(allow_inf_nan=True)]
#: ixx iyy izz, or ixx ixy ixz iyy iyz izz as in a URDF.
Inertia = Annotated[list[Number], Field(min_length=3, max_length=6)]
#: Description of an orientation.
RPY = "roll, pitch, yaw about the fixed axes x, y, z as in a URDF, rad"


class Table(BaseModel):
    """A table of the file: strict types (an integer is a number), finite values, no further keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)
