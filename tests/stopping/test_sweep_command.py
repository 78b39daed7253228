"""``mbplugin sweep``: its report against its part files, states of a motion, backends, bad input."""

from __future__ import annotations

import io
import ipaddress
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.cli.braking import count_bar
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.processes.supervised import exit_code_of, termination_interrupts
from mbplugin.simulation.run import simulate
from mbplugin.stopping.scenario.start import Recorded
from rod_arms import arm

pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("joblib")

SCENE = """
gravity = [0, -9.81, 0]
body = [
  { name = "upper", mass = 3.0, com = [0.25, 0, 0], inertia = [0.01, 0.06, 0.06] },
  { name = "lower", mass = 2.0, com = [0.2, 0, 0], inertia = [0.01, 0.03, 0.03] },
]
pair = [
  { name = "j0", type = "revolute", body_a = "world", body_b = "upper", xyz_a = [0, 0, 0] },
  { name = "j1", type = "revolute", body_a = "upper", body_b = "lower", xyz_a = [0.5, 0, 0] },
]
brake = [
  { joint = "j0", torque = 90.0, viscous = 1.0, delay = 0.01, engagement = 0.01 },
  { joint = "j1", torque = 30.0, delay = 0.01 },
]
"""
STATE = ("--q", "j0=0.3,j1=-0.4", "--qd", "j0=1.5,j1=-1", "--payload", "2", "--jobs", "1")
VARIED = ("--q-spread", "0.3", "--speed-range", "0.2,1", "--torque-tolerance", "0.2")
VARIED = (*VARIED, "--delay-tolerance", "0.3", "--payload-range", "0,1.5", "--seed", "7")


RAMPS = ("--deceleration", "j0=8,j1=9")


@pytest.fixture(name="scene")
def scene_file(tmp_path: Path) -> str:
    path = tmp_path / "arm.scene.toml"
    path.write_text(SCENE, encoding="utf-8")
    return str(path)


def test_the_function_goes_on_in_the_folder_of_the_command(scene: str, tmp_path: Path) -> None:
    """Another plan would be refused there."""
    folder = tmp_path / "s"
    assert call("sweep", scene, "--out", str(folder), "--number", "12", *STATE, *VARIED, *RAMPS).code == 0
    swept = mb.sweep(
        scene,
        folder,
        12,
        {"j0": 0.3, "j1": -0.4},
        {"j0": 1.5, "j1": -1.0},
        payload=2.0,
        jobs=1,
        q_spread=0.3,
        speed_range=(0.2, 1.0),
        torque_tolerance=0.2,
        delay_tolerance=0.3,
        payload_range=(0.0, 1.5),
        seed=7,
        decelerations={"j0": 8.0, "j1": 9.0},
    )
    assert swept.report.count == 12 and not swept.report.replaced


def listed(values: dict[str, float]) -> str:
    return ",".join(f"{name}={value!r}" for name, value in values.items())


def table_in(folder: Path) -> dict[str, list[float]]:
    tables = [pq.read_table(file).to_pydict() for file in sorted(folder.glob("part-*.parquet"))]
    return {name: [value for table in tables for value in table[name]] for name in tables[0]}


def test_the_report_is_that_of_the_part_files(scene: str, tmp_path: Path) -> None:
    out = tmp_path / "stops"
    command = ("sweep", scene, "--out", str(out), "--number", "300", *STATE, *VARIED)
    outcome = call(*command, "--output-format", "json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    jsonschema.validate(found, json.loads(call("schema", "sweep").out))
    assert found["tolerance"] == DEFAULT_TOLERANCE
    table = table_in(out)
    assert len(table["stop"]) == 300 == found["stops"]
    rested = np.array(table["outcome"]) == "stopped"
    assert {o["outcome"]: o["stops"] for o in found["outcomes"]}["stopped"] == rested.sum()
    for quantity in found["quantities"]:
        values = np.abs(np.array(table[quantity["name"]]))[rested]
        for one in quantity["quantiles"]:
            assert one["value"] == pytest.approx(np.quantile(values, one["share"]))
        assert abs(table[quantity["name"]][quantity["worst"]["stop"]]) == values.max()
    units = {quantity["name"]: quantity["unit"] for quantity in found["quantities"]}
    assert units["time j0"] == "s" and units["travel j0"] == "rad" and units["tool_distance"] == "m"
    # the folder is complete, so it is only read
    kept = {file: file.stat().st_mtime_ns for file in out.iterdir()}
    text = call(*command)
    assert text.code == 0 and "computed, not measured" in text.out and "stopped: " in text.out
    assert {file: file.stat().st_mtime_ns for file in out.iterdir()} == kept


@pytest.mark.parametrize("category", [(), ("--category", "1", *RAMPS), ("--category", "2", *RAMPS)])
def test_a_case_is_the_stop_that_estop_computes(
    scene: str, tmp_path: Path, category: tuple[str, ...]
) -> None:
    """The worst stop, computed by itself from what the report says that it starts from."""
    command = ("sweep", scene, "--out", str(tmp_path / "stops"), "--number", "40", *STATE, *VARIED, *category)
    text = call(*command).out
    assert f"40 stops of category {category[1] if category else 0}, seed 7" in text
    found = json.loads(call(*command, "--output-format", "json").out)
    worst = next(q["worst"] for q in found["quantities"] if q["name"] == "travel j0")
    case = next(case for case in found["cases"] if case["stop"] == worst["stop"])
    named = {key: listed(case[key]) for key in ("q", "qd")}
    assert case.get("decelerations") == ({"j0": 8.0, "j1": 9.0} if category else None)
    (payload,) = case["payloads"]
    keys = {"torque": "torque", "static_torque": "static", "viscous": "viscous", "delay": "delay"}
    brakes = [
        f"{b['joint']}:"
        + ",".join(f"{k}={b[key]!r}" for k, key in {**keys, "engagement": "engagement"}.items())
        for b in case["brakes"]
    ]
    alone = call(
        *("estop", scene, "--q", named["q"], "--qd", named["qd"], "--payload", repr(payload["mass"])),
        *(part for brake in brakes for part in ("--brake", brake)),
        *("--output-format", "json", *category[:2]),
        *(("--deceleration", listed(case["decelerations"])) if category else ()),
    )
    joint = json.loads(alone.out)["joints"][0]
    assert abs(joint["travel"]) == pytest.approx(worst["value"], rel=1e-4)


def test_states_of_a_motion_from_either_file(scene: str, tmp_path: Path) -> None:
    motion = (
        "simulate",
        scene,
        "--duration",
        "0.3",
        "--q",
        "j0=0.3,j1=-0.4",
        "--qd",
        "j0=1.5",
        "--samples",
        "9",
    )
    tables = []
    for ending in ("csv", "npz"):
        file = tmp_path / f"motion.{ending}"
        assert call(*motion, "--save", str(file)).code == 0
        out = tmp_path / f"stops-{ending}"
        command = ("sweep", scene, "--out", str(out), "--number", "30", "--jobs", "1", "--limits", "ignore")
        assert call(*command, "--trajectory", str(file)).code == 0
        tables.append(table_in(out))
    assert tables[0] == tables[1]
    rates = np.load(tmp_path / "motion.npz")["qd"]
    for pair in zip(tables[0]["rate j0"], tables[0]["rate j1"], strict=True):
        assert (np.abs(rates - pair).max(axis=1) < 1e-12).any()
    assert len(set(tables[0]["rate j0"])) > 4


def test_a_stop_starts_at_a_moment_of_saved_arrays(tmp_path: Path) -> None:
    mech = arm((0.5, 0.4))
    motion = simulate(mech, 0.4, qd0={"j0": 2.0}, rtol=1e-11, samples=80)
    for ending in ("npz", "csv"):
        motion.save(tmp_path / f"motion.{ending}")
        q, qd, qdd = Recorded(tmp_path / f"motion.{ending}", 0.2025).state(mech, np.zeros(2))
        there = motion.resample(np.array([0.2025]))
        assert q == pytest.approx(there.q[0], abs=1e-8)
        assert qd == pytest.approx(there.qd[0], abs=1e-5)
        assert qdd == pytest.approx(there.qdd[0], abs=1e-2)


@pytest.mark.long
def test_a_cluster_at_an_address_gives_the_same_files(scene: str, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    command = ("sweep", scene, "--number", "30", *STATE, *VARIED)
    assert call(*command, "--out", str(tmp_path / "one")).code == 0
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = ("--backend", "dask", "--address", cluster.scheduler_address)
        assert call(*command, "--out", str(tmp_path / "dask"), *address).code == 0
    assert table_in(tmp_path / "one") == table_in(tmp_path / "dask")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_of_this_machine_gives_the_same_files(
    backend: str, scene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[backend])
    # nothing is left in the user's home, and nobody is told
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    command = ("sweep", scene, "--number", "600", *STATE, *VARIED)
    assert call(*command, "--out", str(tmp_path / "one")).code == 0
    there = call(*command, "--out", str(tmp_path / "two"), "--backend", backend, "--jobs", "2")
    assert there.code == 0, there.err
    assert table_in(tmp_path / "one") == table_in(tmp_path / "two")


@pytest.mark.long
@pytest.mark.parametrize(("backend", "fewest"), [("dask", 2), ("ray", 4)])
def test_nobody_else_reaches_a_cluster_of_this_machine(
    backend: str, fewest: int, scene: str, tmp_path: Path
) -> None:
    """Its processes run whatever they are sent: all sockets that listen are looked at while a sweep runs."""
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[backend])
    psutil = pytest.importorskip("psutil")
    command = ("sweep", scene, "--out", str(tmp_path / "out"), "--number", "50", *STATE, *VARIED)
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    code = "from mbplugin.cli import main; main()"
    sweep = subprocess.Popen(
        [sys.executable, "-c", code, *command, "--backend", backend],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    listening = set()
    until = time.monotonic() + 300
    while sweep.poll() is None and time.monotonic() < until:
        try:
            mine = {sweep.pid, *(child.pid for child in psutil.Process(sweep.pid).children(recursive=True))}
        except psutil.NoSuchProcess:
            break
        listening |= {
            tuple(one.laddr)
            for one in psutil.net_connections("inet")
            if one.status == psutil.CONN_LISTEN and one.pid in mine
        }
        time.sleep(0.3)
    _, err = sweep.communicate(timeout=60)
    assert sweep.returncode == 0, err
    assert len(listening) >= fewest
    addresses = {ipaddress.ip_address(address) for address, _ in listening}
    assert all((getattr(one, "ipv4_mapped", None) or one).is_loopback for one in addresses), addresses


@pytest.mark.long
def test_an_interrupted_sweep_goes_on(scene: str, tmp_path: Path) -> None:
    out = tmp_path / "stops"
    command = ("sweep", scene, "--out", str(out), "--number", "20000", *STATE, *VARIED)
    # a job in the background ignores Ctrl-C
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heed}; from mbplugin.cli import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until = time.monotonic() + 120
    while not list(out.glob("part-*")) and child.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGINT)
    progress, complaint = child.communicate(timeout=60)
    assert child.returncode == 130 and progress == b""
    assert complaint.decode() == f"mbplugin: interrupted; run the same command again to resume in {out}.\n"
    assert 1 <= len(list(out.glob("part-*.parquet"))) < 80
    assert not list(out.glob(".mbplugin-*"))


SWALLOWED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

def swallow():
    try:
        os.kill(os.getpid(), {number})
        signal.sigwait([signal.SIGUSR1])
    except KeyboardInterrupt:
        pass

from mbplugin import cli
from mbplugin.cli import app
from mbplugin.stopping.sweep import run
sweep, begin = run.sweep, app.run
if {where!r} == "import":
    app.run = lambda arguments: swallow() or begin(arguments)
else:
    run.sweep = lambda *given, **named: swallow() or sweep(*given, **named)
cli.main()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "number", "code"),
    [("import", signal.SIGINT, 130), ("sweep", signal.SIGINT, 130), ("sweep", signal.SIGTERM, 143)],
)
def test_an_interrupt_that_a_library_swallows(
    where: str, number: int, code: int, scene: str, tmp_path: Path
) -> None:
    """As some do that look for optional modules, or by a destructor: the sweep must not look whole."""
    program = SWALLOWED.format(where=where, number=int(number))
    command = ("sweep", scene, "--out", str(tmp_path / "stops"), "--number", "300", *STATE)
    done = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    goes_on = f"mbplugin: interrupted; run the same command again to resume in {tmp_path / 'stops'}.\n"
    assert (done.returncode, done.stdout, done.stderr) == (code, "", goes_on)


def test_a_signal_that_an_extension_module_turns_into_another_error() -> None:
    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt) as caught, termination_interrupts():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt as interrupt:
            raise ImportError("no such module") from interrupt
    assert exit_code_of(caught.value) == 143


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with count_bar("stops") as progress:
            assert (progress is None) is not stream.isatty()
            if progress is not None:
                progress(250, 1000)
                progress(500, 1000)
        assert ("500 of 1000 stops" in stream.getvalue()) is stream.isatty()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--number", "0"), "a sweep of 0 stops"),
        (("--seed", "-2"), "the seed is -2"),
        (("--speed-range", "1"), "--speed-range has '1'"),
        (("--speed-range", "2,1"), "the speed range is 2 to 1"),
        (("--payload-range", "-1,1", "--payload", "2"), "the payload range is -1 to 1"),
        (("--payload-range", "0,1"), "a payload is to vary, and there is none"),
        (("--torque-tolerance", "1"), "the torque tolerance is 1"),
        (("--delay-tolerance", "nan"), "the delay tolerance is nan"),
        (("--q-spread", "-0.1"), "the q spread is -0.1"),
        (("--trajectory", "missing.csv"), "no such file"),
        (("--trajectory", "missing.npz"), "the arrays cannot be read"),
        (("--backend", "spark"), "'spark'"),
        (("--jobs", "0"), "0 processes were requested"),
        (("--jobs", "1025"), "expected 1 to 1024"),
        (("--jobs", "9" * 400), "9999… processes were requested"),
        (("--address", "host:8786"), "'loky' has no address"),
        (("--brake", "j2:torque=1"), "unknown joint 'j2'"),
    ],
)
def test_bad_input_is_one_sentence(options: tuple[str, ...], words: str, scene: str, tmp_path: Path) -> None:
    outcome = call("sweep", scene, "--out", str(tmp_path / "stops"), "--number", "3", *options)
    assert outcome.code == 2 and outcome.out == ""
    assert words in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.long
def test_a_sweep_of_a_loop(tmp_path: Path) -> None:
    scene = str(ROOT / "assets" / "four_bar.scene.toml")
    command = ("sweep", scene, "--out", str(tmp_path / "s"), "--number", "3", "--brake", "j0:torque=30")
    outcome = call(*command, "--q-spread", "0.2", "--output-format", "json")
    document = json.loads(outcome.out)
    assert outcome.code == 0 and document["stops"] == 3


def test_what_is_only_rounding_is_0(tmp_path: Path) -> None:
    # joints that rest travel by the rounding of their coordinates
    options = (
        "--number",
        "60",
        "--out",
        str(tmp_path / "s"),
        "--q-spread",
        "0.1",
        "--jobs",
        "1",
        "--bound",
        "0.95",
    )
    rates = ",".join(f"j{k}={int(k == 1)}" for k in range(1, 7))
    text = call("sweep", str(ROOT / "assets/arm_6r.scene.toml"), "--qd", rates, *options).out
    lines = [line.split() for line in text.splitlines() if line.startswith("  travel j4")]
    assert [line[3:-1] for line in lines] == [["0"] * 4, ["0", "1"]]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_process_of_a_sweep_is_left_when_its_report_is_printed(tmp_path: Path) -> None:
    """Left to themselves they take seconds to end, in which the terminal stands still."""
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    # in category 0 threads compute them
    options = ("--number", "600", "--jobs", "2", "--out", str(tmp_path / "out"))
    assert call("sweep", arm, "--category", "1", *options).code == 0
    children = " ".join(file.read_text() for file in Path("/proc/self/task").glob("*/children")).split()
    commands = [Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8") for child in children]
    assert not [one for one in commands if "popen_loky" in one]
