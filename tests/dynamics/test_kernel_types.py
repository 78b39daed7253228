"""For what types of arguments the kernels are compiled."""

from __future__ import annotations

import subprocess
import sys

import pytest

from places import ROOT

PROGRAM = """
import sys
from numba.core.dispatcher import Dispatcher
import mbplugin as mb
arm = mb.load("assets/arm_6r.scene.toml")
assert mb.estop(arm, qd={"j1": 0.5}).peaks
assert mb.stopping_table(arm, axes=["j1"], categories=[0]).rows
mb.simulate(mb.load("assets/four_bar.scene.toml"), 0.05).reactions("j2")
modules = [module for name, module in list(sys.modules.items()) if name.startswith("mbplugin.")]
kernels = {id(one): one for module in modules for one in vars(module).values() if isinstance(one, Dispatcher)}
assert len(kernels) > 50
for kernel in kernels.values():
    for signature in kernel.signatures:
        if any(str(argument).startswith("readonly array(float64") for argument in signature):
            print(kernel.py_func.__qualname__, signature)
"""


@pytest.mark.long
def test_no_kernel_is_compiled_for_frozen_arrays() -> None:
    """They are a type of their own: a kernel that gets one is compiled once more, which takes seconds."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
