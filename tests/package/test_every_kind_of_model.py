"""Every public function takes a path, the id of a client, a BulletClient, a Scene or a Mechanism, with one answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage
from public_values import too_long

#: Links of boxes; joints with limits of their effort, so that stops have brakes.
URDF = """<robot name="arm">
  <link name="world"/>
  {}
</robot>"""
LINK = """<link name="l{k}">
    <inertial><origin xyz="0.2 0 0"/><mass value="2"/>
      <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.1"/></geometry></collision>
  </link>
  <joint name="j{k}" type="revolute">
    <parent link="{parent}"/><child link="l{k}"/><origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="{effort}" velocity="2"/>
  </joint>"""
CSV = "joint,category,speed [%],time [ms],distance [deg]\n" + "".join(
    f"{joint},1,{speed},{400 * speed / 100},{23 * (speed / 100) ** 2}\n"
    for joint in ("j1", "j2")
    for speed in (33, 66, 100)
)
KINDS = ("path", "text", "client id", "BulletClient", "Scene", "Mechanism")
MOVING = {"qd": {"j1": 1.0, "j2": -0.5}}


def stop_of(scene: Any) -> mb.StopReport:
    return mb.estop(scene, **MOVING)


def swung(scene: Any) -> mb.Trajectory:
    return mb.simulate(scene, 0.02, samples=1)


def on_one_line(value: Any) -> Any:
    assert not too_long(value, "")
    return value


def nullity(matrix: mb.ConstraintMatrix) -> int:
    """Return the mobility, whether or not a fixed ground is a body."""
    dense = matrix.C.toarray()
    return int(dense.shape[1] - np.linalg.matrix_rank(dense))


def unique_of_first_joint(scene: Any) -> int:
    mask = mb.reaction_mask(scene)
    return int(mask.mask[mask.joints.index("j1")].sum())


#: What takes a model, and one number of its answer; the folder is for what writes and what else is read.
FUNCTIONS: dict[str, Callable[[Any, Path], float]] = {
    "analyze": lambda m, _: mb.analyze(m).dof,
    "bias_forces": lambda m, _: mb.bias_forces(m, {"j1": 0.3})[0],
    "calibrate": lambda m, folder: mb.calibrate(m, folder / "stops.csv").rows[0].time_deviation,
    "close": lambda m, _: mb.close(m, "sdf", measure_drift=False).after.dof,
    "constraint_matrix": lambda m, _: nullity(mb.constraint_matrix(m)),
    "crosscheck": lambda m, _: mb.crosscheck(m, 0.02).agrees,
    "diff": lambda m, folder: mb.diff(m, folder / "arm.urdf").a.mass + mb.diff(folder / "arm.urdf", m).b.mass,
    "engines": lambda m, _: mb.engines(m, only=["mujoco"]).joints[-1].wrenches["MuJoCo"][2],
    "envelope": lambda m, _: mb.envelope(m, swung(m))["j1"]["radial"].value,
    "equilibrium": lambda m, _: mb.equilibrium(m, q={"j1": 0.3}).q[0],
    "estop": lambda m, _: stop_of(m).time,
    "forward_kinematics": lambda m, _: mb.forward_kinematics(m, {"j1": 0.3}, links=["l2"])[0, 0, 3],
    "inverse_dynamics": lambda m, _: mb.inverse_dynamics(m).values[0],
    "jacobian": lambda m, _: mb.jacobian(m, "l2", {"j1": 0.3})[1, 0],
    "lint": lambda m, _: mb.lint(m).analysis.dof,
    "linearize": lambda m, _: mb.linearize(m, q={"j1": 0.3}).mass[0, 0],
    "load": lambda m, _: sum(body.mass for body in mb.load(m).mechanism.bodies),
    "mass_matrix": lambda m, _: mb.mass_matrix(m, {"j1": 0.3})[0, 0],
    "misfit_response": lambda m, _: mb.misfit_response(m).degree_of_redundancy,
    "reaction_mask": lambda m, _: unique_of_first_joint(m),
    "reactions": lambda m, _: mb.reactions(m, {"j1": 0.3}, hold=["j1", "j2"])["j1"]["tz"].value,
    "replay": lambda m, folder: len(mb.replay(m, stop_of(m), picture=folder / "p.png", size=(64, 64))) > 0,
    "show": lambda m, folder: len(mb.show(m, picture=folder / "p.png", size=(64, 64))) > 0,
    "simulate": lambda m, _: mb.simulate(m, 0.1).q[-1, 0],
    "stop_zone": lambda m, _: on_one_line(mb.stop_zone(m, stop_of(m))).area,
    "stopping_table": lambda m, _: mb.stopping_table(m, axes=["j1"], categories=[0]).rows[0]["time"],
    "sweep": lambda m, folder: mb.sweep(m, folder / "s", 2, **MOVING, jobs=1).report.quantiles["time"][1.0],
    "worst_stop": lambda m, _: mb.worst_stop(m, axes=["j1"], samples=4).found[0].value,
}
ALIASES = {"matrix", "stop_table", "view"}
#: What takes none, its file only, or a running simulation.
WITHOUT_A_MODEL = {
    "fix",
    "page",
    "protective_distance",
    "rule",
    "rules",
    "separation_distance",
    "tolerance_bound",
    "watch",
}
#: What draws or steps in PyBullet, and what an extra brings.
NEEDS = {"crosscheck": "pybullet", "replay": "pybullet", "show": "pybullet", "engines": "mujoco"}
NEEDS |= {"stop_zone": "shapely", "sweep": "pyarrow"}
SLOW = {"crosscheck", "engines", "worst_stop"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    links = (("world", 0.0, 60.0), ("l1", 0.4, 30.0))
    text = "".join(LINK.format(k=k, parent=p, x=x, effort=e) for k, (p, x, e) in enumerate(links, 1))
    (folder / "arm.urdf").write_text(URDF.format(text))
    (folder / "stops.csv").write_text(CSV)
    return folder


@pytest.fixture
def model(folder: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    kind, path = request.param, folder / "arm.urdf"
    if kind in ("path", "text"):
        yield path if kind == "path" else str(path)
    elif kind in ("Scene", "Mechanism"):
        scene = mb.load(path)
        yield scene if kind == "Scene" else scene.mechanism
    else:
        bullet = pytest.importorskip("pybullet")
        from pybullet_utils.bullet_client import BulletClient

        client = BulletClient(bullet.DIRECT)
        client.setGravity(0, 0, -9.81)
        client.loadURDF(str(path), useFixedBase=True, flags=bullet.URDF_USE_INERTIA_FROM_FILE)
        yield client if kind == "BulletClient" else client._client
        client.disconnect()


_FROM_PATH: dict[str, float] = {}


def from_path(name: str, folder: Path, tmp_path: Path) -> float:
    if name not in _FROM_PATH:
        (tmp_path / "path").mkdir()
        for file in ("arm.urdf", "stops.csv"):
            (tmp_path / "path" / file).write_text((folder / file).read_text())
        _FROM_PATH[name] = FUNCTIONS[name](tmp_path / "path" / "arm.urdf", tmp_path / "path")
    return _FROM_PATH[name]


@pytest.mark.parametrize(
    "model",
    [pytest.param(kind, marks=[pytest.mark.bullet] * ("lient" in kind)) for kind in KINDS],
    indirect=True,
    ids=KINDS,
)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in FUNCTIONS]
)
def test_it_takes(name: str, model: Any, folder: Path, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if name == "stop_zone" and isinstance(model, mb.Mechanism):
        with pytest.raises(BadUsage, match="shape"):
            FUNCTIONS[name](model, folder)
        return
    for file in ("arm.urdf", "stops.csv"):
        (tmp_path / file).write_text((folder / file).read_text())
    answer = FUNCTIONS[name](model, tmp_path)
    # an outline grows by the sagitta of its path, which depends on the frames of the links
    rel = 5e-3 if name == "stop_zone" else 1e-6
    assert answer == pytest.approx(from_path(name, folder, tmp_path), rel=rel)


def test_options_of_reading_need_something_to_read(folder: Path) -> None:
    scene = mb.load(folder / "arm.urdf")
    assert mb.load(scene) is scene
    with pytest.raises(BadUsage, match="was read; give its file"):
        mb.load(scene, base="free")


def test_each_function_is_here() -> None:
    functions = {name for name in mb.__all__ if inspect.isfunction(getattr(mb, name))}
    assert functions - ALIASES - WITHOUT_A_MODEL == set(FUNCTIONS)
