"""More than a hundred wrong calls, in the shell and in Python: each is answered by the next step, or simply works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from command_line import call
from places import ASSETS

BAR, ARM = str(ASSETS / "four_bar.scene.toml"), str(ASSETS / "arm_6r.scene.toml")
URDF = str(ASSETS / "arm_6r.urdf")
ROBOT = '<robot name="r"><link name="a"/></robot>'
#: Results, which functions make.
RESULTS = {
    *(
        "ActuatorForces",
        "Agreement",
        "Analysis",
        "Calibration",
        "Closing",
        "ConstraintMatrices",
        "ConstraintMatrix",
    ),
    *(
        "Envelope",
        "Finding",
        "MisfitResponse",
        "ModelDiff",
        "PoseAnalyses",
        "PoseReactions",
        "ReactionMask",
        "Report",
    ),
    *(
        "Equilibrium",
        "Linearization",
        "SideBySide",
        "StopReport",
        "StoppingTable",
        "Swept",
        "Trajectory",
        "Freedom",
    ),
}
#: What is typed in the shell, and what the answer says; a call that works says it on stdout.
SHELL: tuple[tuple[str, str], ...] = (
    # the way to the output
    (f"lint {BAR} -o r.json && cat r.json", '"schema_version": 1'),
    (f"lint {BAR} -o r.html && cat r.html", "<!doctype html>"),
    ("rule MB201 -o r.txt && cat r.txt", "MB201"),
    (f"reactions {BAR} -o r.txt && cat r.txt", "four_bar"),
    (f"matrix {BAR} -o r.json && cat r.json", '"schema_version": 1'),
    (f"lint {BAR} --json", "write --output-format json"),
    (f"lint {BAR} --html", "write --output-format html"),
    (f"lint {BAR} --sarif", "write --output-format sarif"),
    (f"reactions {BAR} --json", "write --output-format json"),
    (f"estop {ARM} --csv", "see 'mbplugin estop --help'"),
    (f"matrix {BAR} --pdf", "see 'mbplugin matrix --help'"),
    (f"lint {BAR} --format json", "--output-format"),
    (f"lint {BAR} --fmt json", "--output-format"),
    (f"lint {BAR} --out r.txt", "--output"),
    (f"lint {BAR} --outfile r.txt", "--output"),
    (f"lint {BAR} --save r.txt", "--output"),
    (f"lint {BAR} --silent", "write --quiet"),
    (f"lint {BAR} --debug", "write -v"),
    (f"lint {BAR} --details", "write -v"),
    # other words for options
    (f"simulate {BAR} --time 2", "write --duration 2"),
    (f"simulate {BAR} -t 2", "write --duration 2"),
    (f"simulate {BAR} --seconds 2", "write --duration 2"),
    (f"simulate {BAR} --dt 0.01 --duration 0.1", "write --step 0.01"),
    (f"simulate {BAR} --velocity j0=1 --duration 1", "write --qd j0=1"),
    (f"simulate {BAR} --method rk4 --duration 1", "write --integrator rk4"),
    (f"simulate {BAR} --solver rk4 --duration 1", "write --integrator rk4"),
    (f"simulate {BAR} --duration 1 --plt m.png", "--plot"),
    (f"estop {ARM} --mass 5", "write --payload 5"),
    (f"estop {ARM} --cat 1", "write --category 1"),
    (f"estop {ARM} --vel j1=1", "write --qd j1=1"),
    (f"estop {ARM} --pose j1=1", "write --q j1=1"),
    (f"lint {BAR} --pose j0=1", "write --q j0=1"),
    (f"lint {BAR} --joints j0=1", "write --q j0=1"),
    (f"lint {BAR} --tol 1e-3", "--tolerance"),
    (f"lint {BAR} --fixed", "write --base fixed"),
    (f"lint {URDF} --fixed-base", "write --base fixed"),
    (f"lint {URDF} --free", "write --base free"),
    (f"lint {BAR} --package-path .", "--package-dir"),
    (f"lint {BAR} --rule MB201", "write --select MB201"),
    (f"lint {BAR} --rules MB201", "write --select MB201"),
    (f"lint {BAR} --exclude MB201", "write --ignore MB201"),
    (f"lint {BAR} --exclude old", "write exclude = ['PATTERN'] in mbplugin.toml"),
    (f"lint {BAR} --recursive", "write a folder, which is searched with those in it"),
    ("lint http://example.org/robot.urdf", "download"),
    ("lint package://arm/robot.urdf", "itself"),
    ("rule --list", "write rule alone, which lists them"),
    ("help nothing", "write mbplugin --help"),
    (f"--json lint {BAR}", f"write mbplugin lint {BAR} --output-format json"),
    (f"lint {BAR} --disable MB201", "write --ignore MB201"),
    (f"lint {BAR} --strict", "write --fail-on note"),
    (f"lint {BAR} --werror", "write --fail-on warning"),
    (f"lint {BAR} --explain MB201", "write mbplugin explain MB201"),
    (f"lint {BAR} --explain", "write mbplugin explain CODE"),
    ("--explain MB201", "write mbplugin explain MB201"),
    (f"reactions {BAR} --wrench coupler:0,0,1", "write --load coupler:0,0,1"),
    (f"reactions {BAR} --time 1", "no such option: --time"),
    (f"lint {BAR} -o json", "--output json names a format; expected a file; write --output-format json"),
    (f"lint --lint {BAR}", "write mbplugin lint FILE: it is the command"),
    (f"reactions {BAR} --load coupler 0 100 0", "write --load coupler:0,100,0"),
    ("--list-rules", "write mbplugin rule."),
    (f"explain {BAR}", "mbplugin lint"),
    # what only a help text leads to is shown with that text, so that a wrong guess is seen
    (f"lint {BAR} --xml", "write --target (report the mimics and closures that this simulator ignores)"),
    (f"lint {BAR} --ground", "write --base (fix or free the root links), or"),
    # words in the place of a command
    ("help", "write mbplugin --help"),
    ("help lint", "write mbplugin lint --help"),
    ("version", "write mbplugin --version"),
    ("-V", "write mbplugin --version"),
    ("-v", "write mbplugin --version"),
    ("explain MB201", "MB201"),
    ("rules", "MB201"),
    ("stop", "did you mean 'estop'?"),
    ("run robot.urdf", "write mbplugin simulate robot.urdf"),
    ("check robot.urdf", "write mbplugin lint robot.urdf"),
    ("validate robot.urdf", "write mbplugin lint robot.urdf"),
    ("convert robot.urdf", "write mbplugin close robot.urdf"),
    ("compare a.urdf b.urdf", "write mbplugin diff a.urdf b.urdf"),
    ("forces robot.urdf", "write mbplugin reactions robot.urdf"),
    # servers and watches
    ("server --port 8080", "write mbplugin server, which speaks on stdin and stdout"),
    ("server --tcp", "write mbplugin server, which speaks on stdin and stdout"),
    ("server robot.urdf", "the editor names the files"),
    ("server --timeout 5", "write --lint-seconds 5"),
    ("server --lint-second 5", "--lint-seconds"),
    ("server --lint-seconds 0", "expected a positive number up to 3600"),
    ("lsp", "write mbplugin server"),
    ("language-server --stdio", "write mbplugin server --stdio"),
    ("watch robot.urdf", "write mbplugin lint robot.urdf --watch"),
    ("lint robot.urdf -w", "write --watch"),
    ("lint robot.urdf --wach", "--watch"),
    ("lint robot.urdf --watch --fix", "--watch is given with --fix"),
    # fixes
    ("fix robot.urdf", "write mbplugin lint robot.urdf --fix"),
    ("lint robot.urdf --fixx", "did you mean --fix?"),
    ("lint robot.urdf --autofix", "write --fix"),
    ("lint robot.urdf --unsafe", "--unsafe-fixes"),
    ("lint robot.urdf --dry-run", "write --diff"),
    ("lint robot.urdf --patch", "write --diff"),
    ("lint robot.urdf --base-line b.json", "--baseline"),
    ("lint robot.urdf --output-format SARIF", "write --output-format sarif"),
    ("lint robot.urdf --output-format junt", "write --output-format junit"),
    # revisions and envelopes
    ("diff HEAD~1 HEAD robot.urdf", "write mbplugin diff HEAD~1:robot.urdf HEAD:robot.urdf"),
    ("diff HEAD:robot.urdf", "write mbplugin diff HEAD:robot.urdf robot.urdf"),
    ("diff robot.urdf HEAD", "write HEAD:FILE for a file at that revision"),
    ("diff robot.urdf --rev HEAD", "write REV:PATH for a file at a revision"),
    ("diff HEAD:robt.urdf robot.urdf", "change to a folder of the repository"),
    ("diff robot.urdf robot.urdf --markdown", "write --output-format github"),
    ("diff robot.urdf robot.urdf --output-format md", "write --output-format github"),
    ("diff robot.urdf robot.urdf --stop", "did you mean --stops?"),
    ("envelope robot.urdf", "write mbplugin reactions robot.urdf --envelope MOTION"),
    (f"reactions {BAR} --envelope", "write --envelope VALUE"),
    (f"reactions {BAR} --units deg mm", "write --units deg,mm"),
    (f"reactions {BAR} --units gradians", "deg, rev, m, cm"),
    # found by people who typed a hundred other things
    (f"estop {ARM} --speed 1", "write --qd NAME=VALUE"),
    (f"estop {ARM} --joint j1", "write --qd NAME=VALUE"),
    (f"reactions {BAR} --gravity off", "write gravity = [0, 0, 0] in a scene file"),
    (f"reactions {BAR} --force coupler=0,0,100", "write --load BODY:FX,FY,FZ for a force"),
    (f"simulate {BAR} --duration 1 --csv t.csv", "write --save t.csv"),
    (f"lint {BAR} -q j0=1", "write --q j0=1"),
    (f"lint {BAR} --write", "write --fix"),
    (f"lint {BAR} --in-place", "write --fix"),
    (f"close {BAR} --format mjcf", "write --to mjcf"),
    (f"export {BAR} --to sdf", f"write mbplugin close {BAR} --to sdf"),
    (f"dof {BAR}", f"write mbplugin lint {BAR}"),
    (f"jacobian {BAR}", f"write mb.jacobian({BAR!r}, LINK) in Python"),
    # words of ROS, MuJoCo, Pinocchio and Drake
    ("check_urdf robot.urdf", "write mbplugin lint robot.urdf"),
    ("verify-model robot.urdf", "write mbplugin lint robot.urdf"),
    ("urdf_to_graphviz robot.urdf", "write mbplugin view robot.urdf"),
    ("xacro robot.urdf.xacro len:=0.3", "write mbplugin lint robot.urdf.xacro --xacro-arg len=0.3."),
    ("lint robot.urdf len:=0.3", "write --xacro-arg len=0.3"),
    ("lint /robot_description", "pipe the text of the parameter"),
    ("compile robot.urdf out.xml", "write mbplugin close robot.urdf --to mjcf --write out.xml."),
    ("fk robot.urdf", "write mb.forward_kinematics('robot.urdf') in Python"),
    ("rnea robot.urdf", "write mb.inverse_dynamics('robot.urdf') in Python"),
    ("ik robot.urdf", "inverse kinematics is not computed here: state a pose as --q"),
    ("torque robot.urdf", "write mb.inverse_dynamics('robot.urdf') in Python"),
    ("lint robot.urdf --free-flyer", "write --base free"),
    ("lint robot.urdf --use_fixed_base", "write --base fixed"),
    ("lint robot.urdf --no-gravity", "write gravity = [0, 0, 0] in a scene file"),
    ("lint robot.urdf --Werror", "write --fail-on warning"),
    ("lint robot.urdf --no-color", "write NO_COLOR=1 before the command"),
    ("lint robot.urdf --exit-zero", "write || true behind the command"),
    ("lint robot.urdf --rank-tol 1e-6", "write --tolerance 1e-6"),
    (f"lint {BAR} --pose 'j0: 1.2'", "write --q j0=1.2"),
    (f"lint {BAR} --q 'j0=0.5 j1=0.3'", "write --q j0=0.5,j1=0.3"),
    (f"lint {BAR} --select MB2xx", "did you mean 'MB2'?"),
    (f"lint {BAR} --select redundant", "'redundant-constraints'"),
    (f"simulate {BAR} --q0 j0=45deg", "write --q j0=45deg"),
    (f"simulate {BAR} --qvel j0=1", "write --qd j0=1"),
    (f"simulate {BAR} --initial-velocity j0=2", "write --qd j0=2"),
    (f"simulate {BAR} --end-time 2", "write --duration 2"),
    (f"simulate {BAR} --plot", "write --plot motion.png"),
    (f"simulate {BAR} --duration 1 --output t.npz", "write --save t.npz"),
    (f"matrix {BAR} --output C.npz", "write --save C.npz"),
    (f"lint {BAR} --output r.yaml", "write --output r.json"),
    (f"reactions {BAR} --force coupler 0 0 -100", "write --load BODY:FX,FY,FZ"),
    (f"reactions {BAR} --external-force coupler:0,0,1", "write --load coupler:0,0,1"),
    (f"reactions {BAR} --load coupler 0,0,-10", "write --load coupler:0,0,-10"),
    (f"estop {ARM} --payload 5@hand", "expected MASS, or BODY:MASS"),
    (f"view {ARM} --screenshot a.png", "write --picture a.png"),
    (f"close {BAR} --to xml", "write --to mjcf"),
    (f"close {BAR} --to urdf --save out.urdf", "write --write out.urdf"),
    (f"close {BAR} --output out.sdf", "--to sdf --write out.sdf"),
    ("lint *.sdf", "check the pattern: beside it are 'robot.urdf'"),
    # options of another command, before the command, by their letter or a part, and with values of another kind
    (f"lint {BAR} --duration 2", "write it behind a command that has it: simulate, estop"),
    (f"lint {BAR} --integrator rk4", "write mbplugin simulate FILE --integrator rk4"),
    (f"lint {BAR} --version", "write mbplugin --version"),
    (f"--output-format json lint {BAR}", f"write mbplugin lint {BAR} --output-format json"),
    ("-o out.json robot.urdf", "write mbplugin lint robot.urdf -o out.json"),
    (f"lint {BAR} -q", "write --quiet"),
    (f"lint {BAR} -n 4", "see 'mbplugin lint --help'"),
    (f"lint {BAR} --dryrun", "write --diff"),
    (f"lint {BAR} --no-warn", "write --quiet"),
    (f"lint {BAR} --list-rules", "write mbplugin rule."),
    (f"lint {BAR} --explain-rule MB109", "write mbplugin explain MB109"),
    (f"lint {BAR} --rule-file my.toml", "see 'mbplugin lint --help'"),
    ("lint --robot robot.urdf", "write FILE without an option: mbplugin lint robot.urdf"),
    (f"lint {BAR} --output-format excel", "write --output-format xlsx"),
    (f"reactions {BAR} --gravity-off", "write gravity = [0, 0, 0] in a scene file"),
    (f"reactions {BAR} --gravity 0,0,-1.62", "write gravity = [0, 0, -1.62] in a scene file"),
    (f"simulate {BAR} --apply-force coupler:0,0,1", "write --load coupler:0,0,1"),
    (f"simulate {BAR} --viscous 0.1", "see 'mbplugin simulate --help'"),
    (f"simulate {BAR} --physics pybullet", "see 'mbplugin simulate --help'"),
    ("describe MB201", "write mbplugin explain MB201"),
    ("fixes robot.urdf", "write mbplugin lint robot.urdf --fix"),
    (f"reactions {BAR} --load coupler=0,0,-10", "write --load coupler:0,0,-10"),
    (f"simulate {BAR} --plot-file out.png", "write --plot out.png"),
    (f"simulate {BAR} --friction 0.3", "--friction takes no value"),
    (f"simulate {BAR} --no-friction=true", "write --no-friction alone"),
    (f"simulate {BAR} --duration 2 seconds", "write --duration 2seconds"),
    (f"simulate {BAR} --duration 2,5", "write 2.5"),
    (f"simulate {BAR} 2", "give values to options, for example mbplugin simulate robot.urdf"),
    (f"simulate {BAR} {BAR}", "give one FILE to each call"),
    ("simulate lint robot.urdf", "write one command, mbplugin lint robot.urdf"),
    (f"view {ARM} --save out.png", "write --picture out.png"),
    (f"render {ARM} out.png", f"write mbplugin view {ARM} --picture out.png"),
    (f"estop {ARM} --payload tool=5", "write --payload tool:5"),
    ("rule MB999", "'mbplugin rule' lists all rules"),
    (f"lint {BAR} --select MB99", "mbplugin rule lists the rules"),
    ("plan robot.urdf", "paths are not planned here"),
    ("upgrade", "updated and removed with pip"),
    ("robot.ur", "of files, did you mean 'robot.urdf'?"),
    # files
    ("lint robot.xml", "did you mean 'robot.urdf'?"),
    (f"lint {BAR} --q j1=0.3 j2=0.1", "join values with commas"),
    ("lint -- --fix", "write options before '--'"),
    ("lint robot", "did you mean 'robot.urdf'?"),
    ("lint robt.urdf", "did you mean 'robot.urdf'?"),
    ("lint robot.urfd", "did you mean 'robot.urdf'?"),
    ("lint ROBOT.URDF", "did you mean 'robot.urdf'?"),
    ("simulate robot --duration 1", "did you mean 'robot.urdf'?"),
    ("reactions robt.urdf", "did you mean 'robot.urdf'?"),
    ("lint -f robot.urdf", "write mbplugin lint robot.urdf."),
    ("close robot.urdf out.sdf", "write mbplugin close robot.urdf --to sdf --write out.sdf."),
    ("convert robot.urdf out.xml", "write mbplugin close robot.urdf --to mjcf --write out.xml."),
    ("reactions robot.urdf --joint j1", "write no joint: the reactions of all are listed."),
    ("lint nothing_like_it.sdf", "check the path"),
    (f"lint '{ROBOT}'", "pipe it to mbplugin with - for FILE"),
    (f"reactions '{ROBOT}'", "pipe it to mbplugin with - for FILE"),
)
#: What is called in Python, and what the answer says; of what works, what it returns.
PYTHON: tuple[tuple[str, Callable[[], Any], str], ...] = (
    ("a reader of another library", lambda: mb.Scene.from_file(URDF), 'write mb.load("robot.urdf")'),
    (
        "a reader of a mechanism",
        lambda: mb.Mechanism.from_urdf(URDF),
        'write mb.load("robot.urdf").mechanism',
    ),
    ("a field of the class", lambda: mb.Scene.mechanism, 'write mb.load("robot.urdf").mechanism'),
    (
        "a joint of a motion",
        lambda: mb.simulate(BAR, 0.01)["j1"],
        "write motion.q[:, 1] or motion.qd[:, 1] or motion.reactions('j1').",
    ),
    (
        "no joint of a motion",
        lambda: mb.simulate(BAR, 0.01)["j9"],
        "a motion has no parts by name, such as 'j9'",
    ),
    (
        "a word of the function itself",
        lambda: mb.reactions(URDF).forces,
        "has no attribute 'forces'; known names are",
    ),
    ("parts of the mechanism", lambda: mb.analyze(URDF).joints, "write mechanism.pairs"),
    ("words of Pinocchio", lambda: mb.rnea, "did you mean 'inverse_dynamics' or 'InverseDynamics'?"),
    ("camels", lambda: mb.computeJointJacobians, "did you mean 'jacobian'?"),
    ("a part of a name", lambda: mb.load_robot, "did you mean 'load'?"),
    ("a setter", lambda: mb.setGravity(0, 0, -9.81), "state 'gravity' in a scene file"),
    ("a state", lambda: mb.resetJointState(0, 0), "give q=… to mb.simulate(…)"),
    ("a maker", lambda: mb.createConstraint(), "state 'closure' in a scene file"),
    ("a server", lambda: mb.connect(), "there is nothing to connect to"),
    ("a count of others", lambda: mb.getNumJoints(), "write len(scene.mechanism.pairs)"),
    ("file=", lambda: mb.lint(file=BAR), "did you mean 'source'?"),  # type: ignore[call-arg]
    ("format=", lambda: mb.close(BAR, format="mjcf"), "did you mean 'to'?"),  # type: ignore[call-arg]
    ("a part", lambda: mb.analyze(BAR).constraints[0].is_unique, "did you mean 'unique'?"),  # type: ignore[attr-defined]
    (
        "a number",
        lambda: mb.analyze(BAR).number_of_redundant_constraints,
        "did you mean 'degree_of_redundancy'?",
    ),
    ("n_dofs", lambda: mb.load(BAR).n_dofs, "write mb.analyze(scene).mobility"),
    ("positions", lambda: mb.load(BAR).joint_positions, "write scene.state.q"),
    ("a function", lambda: mb.analyze(BAR).constraint_matrix, "write mb.constraint_matrix(…)"),
    ("valid", lambda: mb.lint(BAR).is_valid, "did you mean 'exit_code'?"),
    ("no targets", lambda: mb.ik, "inverse kinematics is not computed here"),
    ("a class of files", lambda: mb.Mechanism("arm.urdf"), "mb.load('arm.urdf') reads a file"),  # type: ignore[arg-type,call-arg]
    ("counts", lambda: mb.load(BAR).njoints, "write len(scene.mechanism.pairs)"),
    ("a getter", lambda: mb.load(BAR).get_joint("j0"), "write scene.mechanism.pair_by_name[NAME]"),
    ("names", lambda: mb.load(BAR).link_names, "write [body.name for body in scene.mechanism.bodies]"),
    ("a model to write", lambda: mb.load(BAR).to_mjcf(), "write mb.close(scene, 'mjcf').text"),
    ("a question", lambda: mb.analyze(BAR).is_overconstrained, "did you mean 'degree_of_redundancy'?"),
    ("a place", lambda: mb.lint(BAR).findings[0].line_number, "did you mean 'line'?"),
    ("format", lambda: mb.lint(BAR, format="json"), "call .save('report.json') on the result"),  # type: ignore[call-arg]
    ("t", lambda: mb.simulate(BAR, t=2), "did you mean 'duration'?"),  # type: ignore[call-arg]
    ("ctrl", lambda: mb.simulate(BAR, 1, ctrl=lambda t: 0), "did you mean 'controller'?"),  # type: ignore[call-arg]
    ("order", lambda: mb.jacobian(URDF, [0.0] * 6, "hand"), "write jacobian(model, link, q)"),  # type: ignore[arg-type]
    ("free base", lambda: mb.mass_matrix(URDF, [0.0] * 6), "mb.load(FILE, base='fixed') has no free base"),  # type: ignore[arg-type]
    ("pose", lambda: mb.Pose([0, 0, 0], [0, 0, 0]), "R has the shape (3,)"),  # type: ignore[arg-type]
    ("position first", lambda: mb.Pose([0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]), "mb.Pose.from_xyz_rpy"),  # type: ignore[arg-type]
    ("lists", lambda: mb.Pose([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 1]).inverse().p[2], "-1.0"),  # type: ignore[arg-type]
    ("angles", lambda: mb.Pose([0, 0, 0], rpy=[0, 0, 0]), "write mb.Pose.from_xyz_rpy(…)"),  # type: ignore[call-arg,arg-type]
    ("a rate", lambda: mb.Driver("d", "j0", rate="30deg/s"), "convert it to rad, m, kg, s and N"),  # type: ignore[arg-type]
    ("a word of the field", lambda: mb.rule("overconstrained"), "MB201 redundant-constraints"),
    ("unit in a field", lambda: mb.Body("b", mass="5kg"), "write mass=5, converted to SI"),  # type: ignore[arg-type]
    ("word in a field", lambda: mb.Body("b", mass="heavy"), "mass is 'heavy'; expected a number in SI"),  # type: ignore[arg-type]
    ("save", lambda: mb.lint(BAR).save(), "write save('result.json')"),
    ("save motion", lambda: mb.simulate(BAR, 0.01).save(reactions=["j0"]), "write save('result.json')"),
    ("joint", lambda: mb.reactions(BAR, joint="j0"), "the result has all joints"),  # type: ignore[call-arg]
    ("summary", lambda: mb.lint(BAR).summary(), "write print(result)"),  # type: ignore[attr-defined]
    ("to_csv", lambda: mb.lint(BAR).to_csv(), "did you mean 'save'?"),  # type: ignore[attr-defined]
    ("address", lambda: mb.lint("https://example.org/r.urdf"), "download it and name that file"),
    ("severity", lambda: mb.lint(BAR, severity="high"), "did you mean 'fail_on'?"),  # type: ignore[call-arg]
    ("fix=", lambda: mb.lint(BAR, fix=True), "call mb.fix(FILE)"),  # type: ignore[call-arg]
    ("missing to fix", lambda: mb.fix("nope.urdf"), "nope.urdf: no such file"),
    ("scene.nq", lambda: mb.load(BAR).nq, "write len(scene.mechanism.q_names)"),
    ("scene.dof", lambda: mb.load(BAR).dof, "write mb.analyze(scene).mobility"),
    ("scene.fk", lambda: mb.load(BAR).fk(), "write mb.forward_kinematics(scene)"),
    ("scene.simulate", lambda: mb.load(BAR).simulate(1), "write mb.simulate(scene)"),
    ("t_end", lambda: mb.simulate(BAR, t_end=2), "did you mean 'duration'?"),  # type: ignore[call-arg]
    ("solver=", lambda: mb.simulate(BAR, 2.0, solver="rk4"), "did you mean 'integrator'?"),  # type: ignore[call-arg]
    ("pose=", lambda: mb.analyze(BAR, pose="home"), "did you mean 'q'?"),  # type: ignore[call-arg]
    ("MjModel", lambda: mb.MjModel, "did you mean 'load'?"),
    ("missing", lambda: mb.lint("missing.urdf"), "missing.urdf: no such file; check the path"),
    ("misspelt", lambda: mb.lint("robt.urdf"), "did you mean 'robot.urdf'?"),
    ("no ending", lambda: mb.load("robot"), "did you mean 'robot.urdf'?"),
    ("path", lambda: mb.analyze(Path("robt.urdf")), "did you mean 'robot.urdf'?"),
    ("text to load", lambda: mb.load(ROBOT), "the text of a model"),
    ("text to lint", lambda: mb.lint(ROBOT), "mb.lint('robot.urdf', text=…)"),
    ("text to simulate", lambda: mb.simulate(ROBOT, 1), "the text of a model"),
    ("time as text", lambda: mb.simulate(BAR, "20ms").time[-1], "0.02"),
    ("seconds as text", lambda: mb.simulate(BAR, duration="0.02 s").time[-1], "0.02"),
    ("not a time", lambda: mb.simulate(BAR, "2kg"), "duration is '2kg', which is a mass"),
    ("plain text", lambda: mb.simulate(BAR, "2"), "duration is '2'; expected a number; write 2"),
    ("mass as text", lambda: mb.estop(ARM, payload="5kg", qd={"j1": 0.1}).outcome, "stopped"),
    ("not a mass", lambda: mb.estop(ARM, payload="5m"), "payload is '5m', which is a length"),
    ("table mass", lambda: mb.worst_stop(ARM, payload="heavy"), "payload is 'heavy'; expected"),
    ("drivers", lambda: mb.simulate(BAR, 0.01, drivers=mb.Driver("d", "j0", rate=1.0)).qd[-1][0], "1.0"),
    ("driver", lambda: mb.simulate(BAR, 0.01, driver=[mb.Driver("d", "j0", rate=1.0)]).qd[-1][0], "1.0"),
    ("no driver", lambda: mb.simulate(BAR, 0.01, drivers=["j0"]), "expected a Driver"),
    (
        "driver of nothing",
        lambda: mb.simulate(BAR, 1, drivers=mb.Driver("d", "j9")),
        "known names are j0, j1, j2",
    ),
    ("a speed", lambda: mb.Driver("d", "j0", speed=1), "there is no field 'speed'; did you mean 'rate'?"),
    ("only a speed", lambda: mb.Driver(speed=1), "Driver(): there is no field 'speed'; did you mean 'rate'?"),
    ("no joint", lambda: mb.Driver("d"), "'joint' is missing; expected Driver(name, joint, freedoms"),
    ("a time to lock at", lambda: mb.Lock("j0", time=1), "did you mean 'at'?"),
    ("kilograms", lambda: mb.Payload("hand", kg=5), "did you mean 'mass'?"),
    ("too many values", lambda: mb.Term("j0", "rz", 1, 2), "4 values are given, of 3 fields"),
    ("twice", lambda: mb.Lock("j0", joint="j1"), "'joint' is given twice"),
    ("errors", lambda: mb.lint(BAR).errors, "did you mean 'findings'?"),
    ("passed", lambda: mb.lint(BAR).passed, "did you mean 'exit_code'?"),
    ("nothing like it", lambda: mb.lint(BAR).zebra, "known names are analysis, consequences, exit_code"),
    ("a key", lambda: mb.lint(BAR)["findings"], "write .findings, or .to_dict()['findings']"),
    ("joints", lambda: mb.load(BAR).joints, "did you mean 'mechanism.pairs'?"),
    ("bodies", lambda: mb.load(BAR).bodies, "did you mean 'mechanism.bodies'?"),
    ("joints of it", lambda: mb.load(BAR).mechanism.joints, "did you mean 'pairs'?"),
    ("t", lambda: mb.simulate(BAR, 0.01).t, "did you mean 'time'?"),
    ("positions", lambda: mb.simulate(BAR, 0.01).positions, "did you mean 'q'?"),
    ("A", lambda: mb.constraint_matrix(BAR).A, "did you mean 'C'?"),
    ("fixed base", lambda: mb.load(BAR, fixed_base=True), "did you mean 'base'?"),
    ("speed of a stop", lambda: mb.estop(ARM, speed=1), "did you mean 'qd'?"),
    ("read", lambda: mb.read(BAR), "did you mean 'load'?"),
    ("bytes", lambda: mb.lint(BAR.encode()), "write os.fsdecode(…)"),
    ("bytes to load", lambda: mb.load(BAR.encode()), "write os.fsdecode(…)"),
    ("bytes to fix", lambda: mb.fix(BAR.encode()), "write os.fsdecode(…)"),
    ("list of files", lambda: mb.lint([BAR, ARM]), "call it for each file"),
    ("list of one path", lambda: mb.analyze([Path(BAR)]), "call it for each file"),
    ("open file", lambda: mb.load(Path(BAR).open()), "give its path"),  # noqa: SIM115
    ("nothing", lambda: mb.load(None), "expected a path"),
    ("units", lambda: mb.reactions(BAR, units="deg"), "texts state units, as in q={'j0': '30deg'}"),
    ("units of lint", lambda: mb.lint(BAR, units="mm"), "texts state units, as in q={'j0': '30deg'}"),
    ("degrees", lambda: mb.simulate(BAR, 0.01, q={"j0": "30deg"}).q[0][0], "0.5235"),
    ("a step", lambda: mb.simulate(BAR, 0.01, dt=0.001), "did you mean 'step'?"),
    ("an integrator", lambda: mb.simulate(BAR, 0.1, integrator="rk45"), "did you mean 'rk4'?"),
    ("unsafe fixes", lambda: mb.fix(BAR, unsafe_fixes=True), "did you mean 'unsafe'?"),
    ("no motion", lambda: mb.envelope(BAR), "write motion=…"),
    ("a file to watch", lambda: mb.watch(BAR), "expected a whole number or a PyBullet client"),
    ("one model", lambda: mb.diff(BAR), "write b=…"),
    ("a base", lambda: mb.lint(BAR, base="floating"), "expected 'fixed' or 'free'"),
    ("write", lambda: mb.lint(BAR).write("r.json"), "did you mean 'save'?"),
    ("attribute", lambda: mb.lint(BAR).finding, "did you mean 'findings'?"),
    ("exit code", lambda: mb.lint(BAR).exitcode, "did you mean 'exit_code'?"),
    ("redundancy", lambda: mb.analyze(BAR).redundancy, "did you mean 'degree_of_redundancy'?"),
    ("remedy", lambda: mb.analyze(BAR).remedys, "did you mean 'remedies'?"),
    ("dofs", lambda: mb.analyze(BAR).dofs, "did you mean 'dof'?"),
    ("times", lambda: mb.simulate(BAR, 0.01).times, "did you mean 'time'?"),
    ("html", lambda: mb.lint(BAR).html(), "did you mean 'to_html'?"),
    ("frame", lambda: mb.lint(BAR).to_dataframe(), "did you mean 'to_frame'?"),
    ("json", lambda: mb.lint(BAR).to_json(), "did you mean 'to_dict'?"),
    ("events", lambda: mb.simulate(BAR, 0.01).event, "did you mean 'events'?"),
    ("stop", lambda: mb.estop(ARM, qd={"j1": 0.1}).outcomes, "did you mean 'outcome'?"),
    ("mobility", lambda: mb.analyze(BAR).mobility.dof, "1"),
    ("matrix", lambda: mb.matrix(BAR).row, "did you mean 'rows'?"),
    ("rule", lambda: mb.rule("MB201").sumary, "did you mean 'summary'?"),
    ("function", lambda: mb.stoptable, "did you mean 'stop_table'?"),
    ("class", lambda: mb.analyse(BAR), "did you mean 'analyze'?"),
    ("cell", lambda: mb.load(BAR)._repr_html_(), "four_bar"),
    ("cell of a report", lambda: mb.lint(BAR)._repr_html_(), "four_bar"),
)


def test_there_are_a_hundred() -> None:
    assert len({text for text, _ in SHELL}) + len({name for name, _, _ in PYTHON}) >= 150


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(ROBOT)
    return tmp_path


def test_only_files_that_mbplugin_reads_are_named(workplace: Path) -> None:
    """A model may name any path; what else lies there is told to nobody."""
    (workplace / "secret_key").write_text("")
    with pytest.raises(mb.MbPluginError, match="check the path"):
        mb.load("secret_ke")
    with pytest.raises(mb.MbPluginError, match=r"did you mean 'robot\.urdf'\?"):
        mb.load("robot_urdf")
    (workplace / "models").mkdir()
    for name in ("arm.urdf", "arm.sdf", "arm.key"):
        (workplace / "models" / name).write_text("")
    with pytest.raises(mb.MbPluginError, match=r"did you mean 'models/arm\.sdf' or 'models/arm\.urdf'\?"):
        mb.load("arm.sdf")
    # a path, which a model may state as well, is not searched below
    (workplace / "models" / "own").mkdir()
    (workplace / "models" / "own" / "leg.urdf").write_text("")
    with pytest.raises(mb.MbPluginError, match=r"check the path: beside it are 'arm"):
        mb.load("models/leg.sdf")
    with pytest.raises(mb.MbPluginError, match=r"check the path: beside it are 'robot\.urdf'"):
        mb.load("leg.sdf")


@pytest.mark.parametrize(("typed", "said"), SHELL, ids=[typed for typed, _ in SHELL])
def test_a_wrong_command_line_is_answered(typed: str, said: str, workplace: Path) -> None:
    import shlex

    command, _, shown = typed.partition(" && cat ")
    done = call(*shlex.split(command))
    assert said in (workplace / shown).read_text() if shown else said in done.out + done.err
    assert "Traceback" not in done.err and len(done.err.splitlines()) <= 1


CONSTRUCTORS = [
    found
    for name in mb.__all__
    if isinstance(found := getattr(mb, name), type) and is_dataclass(found) and name not in RESULTS
]


@pytest.mark.parametrize("constructor", CONSTRUCTORS, ids=lambda kind: kind.__name__)
def test_every_constructor_answers(constructor: Callable[..., Any]) -> None:
    """A misspelt field, one too many, and none: never a TypeError, always the fields."""
    known = [field.name for field in fields(constructor) if field.init]
    with pytest.raises(mb.MbPluginError, match=rf"there is no field '{known[0]}{known[0]}x'"):
        constructor(**{f"{known[0]}{known[0]}x": 1})
    with pytest.raises(mb.MbPluginError, match=r"\d+ values are given, of \d+ fields?; expected"):
        constructor(*range(len(known) + 1))
    with pytest.raises(mb.MbPluginError, match=r"(is|are) missing; expected"):
        constructor()


@pytest.mark.parametrize(("name", "called", "said"), PYTHON, ids=[name for name, _, _ in PYTHON])
def test_a_wrong_call_is_answered(name: str, called: Callable[[], Any], said: str) -> None:
    try:
        answer = str(called())
    except (mb.MbPluginError, AttributeError) as error:
        answer = str(error)
    assert said in answer


def test_a_motion_that_refuses_parts_by_name_is_no_sequence() -> None:
    motion = mb.simulate(BAR, 0.01)
    for wrong in (list, lambda m: 0 in m, lambda m: [*m]):
        with pytest.raises(TypeError, match=r"is not (iterable|a container)"):
            wrong(motion)
