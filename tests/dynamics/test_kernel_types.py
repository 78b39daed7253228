"""For what types of arguments the kernels are compiled, and which of them Python can call."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

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


def is_compiled(function: ast.FunctionDef, module: ast.Module) -> bool:
    """Whether a function of a module is compiled: by its decorator, or handed to the compiler."""
    if any(isinstance(one, ast.Name) and one.id == "kernel" for one in function.decorator_list):
        return True
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    names = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
    handed = [
        call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "compiled"
    ]
    return "compiled" in names and any(isinstance(a, ast.Name) and a.id == function.name for a in handed)


def read_by_python(node: ast.AST, module: ast.Module) -> Iterator[str]:
    """Yield the names that a module reads outside its compiled functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and is_compiled(child, module):
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            yield child.id
        yield from read_by_python(child, module)


def test_no_private_kernel_is_called_from_python() -> None:
    """It would need an entry for Python, which takes the compiler as long as many kernels."""
    found = 0
    for path in sorted((ROOT / "mbplugin").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "@kernel" not in text:
            continue
        module = ast.parse(text)
        kernels = {f.name for f in module.body if isinstance(f, ast.FunctionDef) and is_compiled(f, module)}
        private = {name for name in kernels if name.startswith("_") and f"@kernel\ndef {name}(" in text}
        found += len(private)
        assert private.isdisjoint(read_by_python(module, module)), path
    assert found > 50
