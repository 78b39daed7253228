"""The tables of ``mbplugin.toml`` as pydantic models; unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from mbplugin.model.enumerations import Simulator

#: Not blank, and without the null that no name of a file holds.
Text = Annotated[str, Field(pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]


class Table(BaseModel):
    """A table: strict types, keys in kebab-case, no further keys."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.replace("_", "-"),
    )


class WaiveTable(Table):
    """``[[waive]]``: a rule is silent about an element, for a reason."""

    rule: Annotated[Text, Field(description="code or name of a rule")]
    element: Annotated[Text, Field(description="a body, pair or model; * stands for anything")]
    reason: Annotated[Text, Field(description="why this may stay")]
    file: Annotated[Text, Field(description="only in these files, seen from the configuration")] | None = None


class XacroTable(Table):
    """``[xacro]``: how xacro files are expanded."""

    unsafe: Annotated[
        bool,
        Field(
            description="expand xacro that may run programs and read any file; read only where the "
            "configuration is named with --config"
        ),
    ] = False
    arguments: Annotated[
        dict[Text, dict[Text, str | bool | int | float]],
        Field(description="values of xacro's arguments, by file or pattern, seen from the configuration"),
    ] = {}


class UnitsTable(Table):
    """``[units]``: of numbers in options that state none, and of texts."""

    angle: Annotated[Literal["rad", "mrad", "deg", "rev"], Field(description="of angles; rates follow")] = (
        "rad"
    )
    length: Annotated[Literal["m", "cm", "mm", "um"], Field(description="of lengths; speeds follow")] = "m"


def _kind(value: Any) -> str:
    return "table" if isinstance(value, dict | WaiveTable) else "code"


class ConfigFile(Table):
    """A whole ``mbplugin.toml``, or the table ``[tool.mbplugin]`` of a ``pyproject.toml``."""

    select: Annotated[list[Text], Field(description="only these codes, or beginnings of codes")] = []
    extend_select: Annotated[
        list[Text],
        Field(description="these codes, or beginnings of codes, too: rules that are off by default"),
    ] = []
    targets: Annotated[list[Simulator], Field(description="simulators that shall load the models")] = []
    ignore: Annotated[
        list[
            Annotated[
                Annotated[Text, Tag("code")] | Annotated[WaiveTable, Tag("table")], Discriminator(_kind)
            ]
        ],
        Field(description="codes that are not reported; [[ignore]] tables are read as [[waive]]"),
    ] = []
    waive: Annotated[
        list[WaiveTable], Field(description="findings about one element that are not reported")
    ] = []
    fail_on: Annotated[
        Literal["error", "warning", "note"], Field(description="from which severity on the exit code is 1")
    ] = "error"
    tolerance: (
        Annotated[float, Field(gt=0, lt=1, description="relative rank tolerance of scenes that state none")]
        | None
    ) = None
    misfit_limit: (
        Annotated[
            float,
            Field(
                gt=0, description="largest joint force by a misfit of 0.1 mm, N, of scenes that state none"
            ),
        ]
        | None
    ) = None
    package_dirs: Annotated[list[Text], Field(description="where package:// is looked up")] = []
    exclude: Annotated[list[Text], Field(description="patterns passed over in folders")] = []
    xacro: Annotated[XacroTable, Field(description="how xacro files are expanded")] = XacroTable()
    units: Annotated[UnitsTable, Field(description="units of options and texts")] = UnitsTable()
    scenes: Annotated[dict[str, Text], Field(description="robot = scene that is linted in its place")] = {}
