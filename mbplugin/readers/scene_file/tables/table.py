"""What all tables of a scene share: strict types, and the numbers and names that keys have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import CoreSchema, core_schema

from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Request
from mbplugin.readers.common.paths import resolve

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


@dataclass(frozen=True)
class FileName:
    """The name of a file that a scene states: the type of every key that names one.

    It is no text, so that nothing opens it by accident: only :meth:`path` says where the file is, and that is
    in the scene's repository or in a folder that the user gave.

    Parameters
    ----------
    written : str
        As in the scene.
    """

    written: str

    def path(self, request: Request, where: str) -> Path:
        """Return where the file is.

        Parameters
        ----------
        request : Request
            Of the scene.
        where : str
            The place of the key, for messages.

        Raises
        ------
        UnresolvedPath
            There is none, it is no ordinary file, or it lies outside.
        """
        return resolve(self.written, request, where)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Return the schema of a text that is not empty."""
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema(min_length=1))


class Table(BaseModel):
    """A table of the file: strict types (an integer is a number), finite values, no further keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)
