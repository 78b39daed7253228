"""``--profile``: motions of drivers and joints from CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbplugin.cli.shared.options import put_once
from mbplugin.errors import BadUsage, UnknownName, suggestion

if TYPE_CHECKING:
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.model.mechanism.motion_profile import MotionProfile

ProfileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="NAME=FILE.csv",
        help="A driver or joint and its motion: columns time, value [, rate, acceleration]; repeatable.",
    ),
]


def profile_files(texts: Sequence[str] | None) -> dict[str, Path]:
    """Return the files of ``--profile`` by driver or joint.

    Raises
    ------
    BadUsage
        Another form, or two files of one name.
    """
    found: dict[str, Path] = {}
    for text in texts or ():
        name, equals, path = text.partition("=")
        name = name.strip()
        if not (equals and name and path.strip()):
            raise BadUsage(f"--profile has {text!r}", expected="NAME=FILE.csv")
        put_once(found, name, Path(path.strip()), "--profile")
    return found


def read_profiles(files: Mapping[str, Path], mech: Mechanism) -> dict[str, MotionProfile]:
    """Return the motions of drivers or joints.

    Raises
    ------
    UnknownName
        Neither a driver nor a joint.
    UnreadableFile, BadUsage, BadNumber
        As for :func:`read_profile`.
    """
    from mbplugin.model.component import is_turn
    from mbplugin.readers.common.profile_file import read_profile

    drivers = {driver.name: driver for driver in mech.drivers}
    found = {}
    for name, path in files.items():
        driver = drivers.get(name)
        joint = name if driver is None else driver.joint
        pair = mech.pair_by_name.get(joint)
        freedoms = ((driver.freedoms if driver else ()) or pair.kind.free) if pair is not None else ()
        if not freedoms:
            known = (*drivers, *(pair.name for pair in mech.pairs if pair.kind.free))
            raise UnknownName(
                f"--profile names {name!r}, which is no driver and no joint that moves",
                remedy=suggestion(name, known),
            )
        found[name] = read_profile(path, is_turn(freedoms[0]))
    return found
