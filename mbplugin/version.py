"""The version of the distribution, the commit that it was made from, and what it is for, as reports name it."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

__version__ = "0.1.0"
SUMMARY = "Find overconstraint, undetermined joint reactions and what brakes do to a robot."
_HASH = re.compile(r"[0-9a-f]{40,64}")
#: Digits that reports show.
_DIGITS = 12


@cache
def commit() -> str | None:
    """Return the commit of the package: as it was installed from a repository, or that of its checkout; else None."""
    found = _installed() or _checked_out(Path(__file__).resolve().parent.parent / ".git")
    return found[:_DIGITS] if found else None


def _installed() -> str | None:
    try:
        stated = distribution("mbplugin").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    made = json.loads(stated or "{}").get("vcs_info", {}).get("commit_id", "")
    return made if _HASH.fullmatch(made) else None


def _checked_out(git: Path) -> str | None:
    """Return the commit of a checkout from its files, without running git."""
    try:
        if git.is_file():
            # a worktree names its folder
            git = Path(git.read_text(encoding="ascii").removeprefix("gitdir:").strip())
        head = (git / "HEAD").read_text(encoding="ascii").strip()
        if not head.startswith("ref:"):
            return head if _HASH.fullmatch(head) else None
        name = head.removeprefix("ref:").strip()
        common = git / "commondir"
        folder = git / common.read_text(encoding="ascii").strip() if common.is_file() else git
        loose = folder / name
        if loose.is_file():
            return loose.read_text(encoding="ascii").strip()
        packed = (folder / "packed-refs").read_text(encoding="ascii")
        return next((line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}")), None)
    except (OSError, UnicodeDecodeError):
        return None
