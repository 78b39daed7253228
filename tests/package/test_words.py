"""Identifiers are terms of the field: private words that were replaced do not come back."""

from __future__ import annotations

import tokenize
from pathlib import Path

import pytest

from places import ROOT

#: Words that stand for nothing in the field, wherever they are.
NOWHERE = (
    "March CompiledMarch ReadableMarch march_rk4 march_dop853 march_variational CONFIGURE SPLIT PUSH LEAP "
    "Machine lend lent lay_down make_room look_out WATCH Crossed Setting Hold take_out put_in guarded "
    "NOTHING StopMachine QuickStop is_quick led_stop Naive Poser Course Shown Board Paper Corridor told "
    "impel leap "
)
#: Words that mean something else in other rooms.
IN_ROOMS = {
    "dynamics/kernels": "me one solids ends stretches jump",
    "simulation": "act do room solids marks health trusted weak chosen stretches asked turns leave decide",
    "simulation/singularity": "cross",
    "stopping/compiled": "act room one led grips leaves way mark far held",
    "constraints": "Link fronts _Work Ends",
    "bullet/motion": "push touch tie asked",
    "comparison": "ask parted bare",
    "analysis/tools": "judge",
    "visualization": "Stage Layer judge",
}
#: Where such a word is what the standard library or the field calls a thing.
MEANT = {
    ("constraints/reduction/frontal_qr.py", "fronts"),
    ("cli/reactions.py", "Hold"),
}


def identifiers(file: Path) -> set[str]:
    with file.open(encoding="utf-8") as lines:
        return {t.string for t in tokenize.generate_tokens(lines.readline) if t.type == tokenize.NAME}


FILES = {str(f.relative_to(ROOT / "mbplugin")): f for f in (ROOT / "mbplugin").rglob("*.py")}


@pytest.mark.parametrize("name", sorted(FILES))
def test_identifiers_are_terms_of_the_field(name: str) -> None:
    words = set(NOWHERE.split())
    for room, more in IN_ROOMS.items():
        if name.startswith(f"{room}/"):
            words |= set(more.split())
    found = {word for word in identifiers(FILES[name]) & words if (name, word) not in MEANT}
    assert not found
