"""A numba whose insides are not known compiles in its own way, and one line says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mbplugin as mb
from own_process import python
from rod_arms import arm

PROGRAM = """
import sys
import numba
numba.__version__ = sys.argv[1]
for name in ("dispatch", "pipeline"):
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
    ran = python(str(program), version, XDG_CACHE_HOME=str(tmp_path))
    assert (ran.returncode, ran.stdout) == (0, "2.0 3.0 numba.core.registry\n"), ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert f"numba {version} is newer than 0.68" in ran.stderr
    assert "install numba<0.69" in ran.stderr


MOTIONS = """
import json, sys
import numba
numba.__version__ = "1.0"
for name in ("dispatch", "pipeline"):
    sys.modules["mbplugin.dynamics.compiler." + name] = None  # importing it fails
import test_unknown_numba

print(json.dumps(test_unknown_numba.numbers()))
"""


def numbers() -> list[float]:
    """The end of a pendulum's motion, and accelerations of an arm at more states than there are lanes."""
    motion = mb.simulate(arm((0.5,)), 0.05, q=[0.3], qd=[1.0])
    q = [[0.1 * k, 0.2] for k in range(9)]
    qdd = mb.ForwardDynamics(arm((0.5, 0.4))).many(q, q)
    return [len(motion.time), *motion.q[-1].tolist(), *motion.qd[-1].tolist(), *qdd.ravel().tolist()]


@pytest.mark.long
def test_its_numbers_are_the_same() -> None:
    ran = python("-c", MOTIONS, folder=str(Path(__file__).parent), timeout=600)
    assert ran.returncode == 0 and "newer than 0.68" in ran.stderr, ran.stderr
    assert json.loads(ran.stdout) == pytest.approx(numbers(), rel=1e-12, abs=1e-12)
