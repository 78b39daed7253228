"""The public names are a contract: which there are, that they are documented, and that they come lazily."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

import mbplugin as mb
from command_line import ROOT

NAMES = {
    "ActuatorForces",
    "Agreement",
    "Analysis",
    "Calibration",
    "Closing",
    "ConstraintMatrix",
    "Envelope",
    "Equilibrium",
    "Linearization",
    "TimedConstraint",
    "Lock",
    "MbPluginError",
    "Mechanism",
    "MisfitResponse",
    "ModelDiff",
    "Report",
    "Scene",
    "StopReport",
    "StoppingTable",
    "Trajectory",
    "analyze",
    "calibrate",
    "close",
    "constraint_matrix",
    "crosscheck",
    "diff",
    "engines",
    "envelope",
    "equilibrium",
    "linearize",
    "SideBySide",
    "estop",
    "fix",
    "inverse_dynamics",
    "lint",
    "load",
    "misfit_response",
    "reactions",
    "replay",
    "show",
    "simulate",
    "stop_zone",
    "stopping_table",
    "tolerance_bound",
    "worst_stop",
    "ConstraintMatrices",
    "PoseAnalyses",
    "PoseReactions",
    "ForwardDynamics",
    "InverseDynamics",
    "bias_forces",
    "forward_kinematics",
    "jacobian",
    "mass_matrix",
    "ReactionMask",
    "reaction_mask",
    "protective_distance",
    "separation_distance",
    "Body",
    "Contact",
    "Coupling",
    "Driver",
    "Freedom",
    "KnifeEdge",
    "MotionProfile",
    "Pair",
    "Pose",
    "Rolling",
    "Term",
    "WORLD",
    "Brake",
    "Finding",
    "JointSpring",
    "Load",
    "Payload",
    "Rule",
    "Spring",
    "Swept",
    "UserEvent",
    "matrix",
    "page",
    "rule",
    "rules",
    "stop_table",
    "sweep",
    "view",
    "watch",
}
#: A name of the ground, not a class.
CONSTANTS = {"WORLD"}


def printed(code: str, *flags: str) -> str:
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, check=True, timeout=120)
    assert done.stderr == b""
    return done.stdout.decode()


def test_the_names() -> None:
    assert set(mb.__all__) == NAMES
    assert list(mb.__all__) == sorted(mb.__all__)
    assert set(mb.__all__) <= set(dir(mb))


@pytest.mark.parametrize("name", sorted(NAMES - CONSTANTS))
def test_each_name_exists_and_is_documented(name: str) -> None:
    value = getattr(mb, name)
    assert callable(value)
    assert len(inspect.getdoc(value) or "") > 30


#: A unit as numpydoc prose writes it: "rad and m", "(6,), N", "at, s."
UNIT = re.compile(r"(?<![\w.])(m|s|rad|kg|N|J|m/s|rad/s|N·m|kg·m²)(?![\w(])")
WITHOUT_NUMBERS = {"Rule", "rule", "rules", "Finding", "page"}
#: Those that take and give names, files and other values, and no number with a unit.
WITHOUT_UNIT = {"MbPluginError", "Report", "fix", "Scene", "load", "Pose", "WORLD", *WITHOUT_NUMBERS}


@pytest.mark.parametrize("name", sorted(NAMES - WITHOUT_UNIT))
def test_each_number_has_its_unit(name: str) -> None:
    assert UNIT.search(inspect.getdoc(getattr(mb, name)) or "")


@pytest.mark.parametrize("name", sorted(name for name in NAMES if name[0].islower()))
def test_each_function_shows_its_parameters_and_can_be_pickled(name: str) -> None:
    function = getattr(mb, name)
    parameters = inspect.signature(function).parameters
    assert (parameters or name == "rules") and "args" not in parameters
    assert pickle.loads(pickle.dumps(function)) is function
    documented = pydoc.render_doc(function)
    assert all(parameter in documented for parameter in parameters)


def test_each_name_is_the_one_that_type_checkers_see() -> None:
    """The lazy table and the imports of ``TYPE_CHECKING`` name the same objects."""
    tree = ast.parse((ROOT / "mbplugin" / "__init__.py").read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in nodes for alias in node.names if alias.asname in NAMES}
    assert seen.keys() == NAMES
    for name, module in seen.items():
        assert getattr(importlib.import_module(str(module)), name) is getattr(mb, name)


def test_what_the_documentation_names_exists() -> None:
    texts = [(ROOT / "README.md").read_text(), *(file.read_text() for file in (ROOT / "docs").glob("*.md"))]
    used = {name for text in texts for name in re.findall(r"\bmb\.([A-Za-z]\w*)", text)}
    assert used and used <= set(mb.__all__)


def test_the_import_takes_less_than_a_tenth_of_a_second() -> None:
    code = "import time; t = time.process_time(); import mbplugin; print(time.process_time() - t)"
    assert min(float(printed(code)) for _ in range(5)) < 0.1


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        mb.analyse  # noqa: B018


@pytest.mark.long
def test_star_import_gives_the_names() -> None:
    assert set(printed("from mbplugin import *; print(*[n for n in dir() if n[0] != '_'])").split()) == NAMES


def test_import_is_silent_and_light() -> None:
    code = "import sys, mbplugin; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    modules = printed(code, "-W", "error").split()
    assert "mbplugin" in modules
    assert not {"numpy", "scipy", "pybullet", "typer", "lxml", "pydantic", "pxr"} & set(modules)


def test_the_command_line_loads_what_computes_only_when_it_computes() -> None:
    modules = printed("import sys, mbplugin.cli.app; print(*sys.modules)").split()
    assert not {"numpy", "scipy", "pybullet", "lxml", "pydantic", "pxr", "mujoco"} & set(modules)


@pytest.mark.long
def test_lint_can_be_called_after_its_room_was_imported() -> None:
    code = "import mbplugin as mb, mbplugin.linter.rule; from mbplugin import lint; print(lint is mb.lint)"
    assert printed(code) == "True\n"
    urdf = "<robot name='r'><link name='a'/></robot>"
    code = f"import mbplugin.linter.run, mbplugin as mb; print(mb.lint('r', text={urdf!r}).exit_code)"
    assert printed(code) == "0\n"


@pytest.mark.long
def test_every_module_imports_without_a_warning() -> None:
    code = (
        "import importlib, pkgutil, mbplugin\n"
        "for module in pkgutil.walk_packages(mbplugin.__path__, 'mbplugin.'):\n"
        "    if module.name != 'mbplugin.__main__':\n"
        "        importlib.import_module(module.name)\n"
    )
    # pybullet and friends are binary packages that warn by themselves
    assert "Traceback" not in printed(code, "-W", "error::SyntaxWarning")


def test_the_version_is_the_distribution_s() -> None:
    from importlib.metadata import version

    assert version("mbplugin") == mb.__version__


def test_each_error_has_its_code() -> None:
    import mbplugin.errors as errors

    base = errors.MbPluginError
    kinds = [base, *(k for k in vars(errors).values() if inspect.isclass(k) and base in k.__bases__)]
    codes = [kind.code for kind in kinds]
    assert len(set(codes)) == len(codes)
    assert all(code.startswith("MB9") for code in codes)
    error = errors.BadNumber("the mass is 'x'", where="r.urdf:3", expected="a number", remedy="correct it")
    assert str(error) == "r.urdf:3: the mass is 'x'; expected a number; correct it."


@pytest.mark.parametrize("function", [mb.analyze, mb.constraint_matrix, mb.reactions, mb.estop])
@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param(7, "no PyBullet client", marks=pytest.mark.bullet),
        ("robot.urdf", "no such file"),
        (
            2.5,
            "is 2.5; expected a path, a PyBullet client, a Scene, a Mechanism, or a model of MuJoCo, Pinocchio, yourdf",
        ),
    ],
)
def test_what_is_not_there_is_refused(function: Callable[..., object], source: object, words: str) -> None:
    with pytest.raises(mb.MbPluginError, match=words):
        function(source)
