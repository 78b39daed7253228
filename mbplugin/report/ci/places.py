"""Files as other tools want them: seen from the root of the repository, with forward slashes."""

from __future__ import annotations

import os
from pathlib import Path


def repository_root() -> Path:
    """Return the folder that other tools take paths from: the workspace of a CI run, else of git."""
    if workspace := os.environ.get("GITHUB_WORKSPACE"):
        return Path(workspace).resolve()
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def in_repository(file: str) -> str:
    """Return a file as seen from the root of the repository; absolute where it is not below.

    Nothing for what is no file: stdin, a live client.
    """
    if not file or file.startswith("<"):
        return ""
    # links stay as they are called: the repository knows them by these names
    path = Path(os.path.abspath(file))  # noqa: PTH100
    root = repository_root()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
