"""A numba whose insides are not known compiles in its own way, and one line says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import numba
numba.__version__ = sys.argv[1]
for name in ("dispatch", "pipeline", "code_library", "code_cache", "kept_form", "short_code", "elements", "borrowing"):
    sys.modules["mbplugin.dynamics.compiler." + name] = None  # importing it fails
from mbplugin.dynamics.compiler import address_of, compiled, function_at, kernel

@kernel
def half(x):
    return x / 2

signature = numba.float64(numba.float64)
quarter = lambda x: half(half(x))
entry = compiled(quarter, signature, address=True)
at = function_at(numba.types.FunctionType(signature))
called = compiled(lambda address, x: at(address)(x), numba.float64(numba.intp, numba.float64))
print(entry(8.0), called(address_of(entry, signature), 12.0), type(half).__module__)
"""


@pytest.mark.long
@pytest.mark.parametrize("version", ["0.69.0rc1", "1.0", "0+unknown"])
def test_an_unknown_numba_compiles_in_its_own_way(version: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, str(program), version],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert (ran.returncode, ran.stdout) == (0, "2.0 3.0 numba.core.registry\n"), ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert f"numba {version} is newer than 0.68" in ran.stderr
    assert "install numba<0.69" in ran.stderr
