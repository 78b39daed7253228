"""A Python process of its own, for what depends on how the interpreter starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def python(
    *arguments: str, folder: str = "", typed: str | None = None, timeout: float = 280.0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments, with the package, ``tests/support`` and a folder of tests on its path.

    Parameters
    ----------
    folder : str
        Folder of tests whose modules it imports; empty if none.
    typed : str or None
        What stands on its standard input.
    environment : str
        Variables besides those of this process.
    """
    path = (_ROOT, *([folder] if folder else []), _ROOT / "tests" / "support")
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        input=typed,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **environment},
    )
