"""The table of commands: each with its purpose, a summary, an example and the module that holds it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One command.

    Parameters
    ----------
    purpose : str
        Heading in the list of all commands.
    module : str
        Module in this folder; its function is named after the command, such as ``stop_table_command``.
    summary : str
        What the command does, for the list of all commands.
    example : str
        A command line of it, for its own help.
    """

    purpose: str
    module: str
    summary: str
    example: str


#: The commands in the order of use.
COMMANDS = {
    "lint": Entry(
        "Look for defects",
        "lint",
        "Find redundant constraints, non-unique reactions, model errors.",
        "mbplugin lint robot.urdf",
    ),
    "rule": Entry(
        "Look for defects",
        "lookup",
        "List all rules, search them by a word, or explain one.",
        "mbplugin rule MB201",
    ),
    "view": Entry(
        "Look for defects",
        "view",
        "Draw the robot, coloured by result, in a window or a file.",
        "mbplugin view robot.urdf --picture robot.png",
    ),
    "close": Entry(
        "Look for defects",
        "compare",
        "Write a model in another format, with its loops closed.",
        "mbplugin close robot.scene.toml --to mjcf --allow-loss all --write robot.xml",
    ),
    "reactions": Entry(
        "Compute forces and motions",
        "reactions",
        "Print the force in each joint, and whether it is unique.",
        "mbplugin reactions robot.urdf --load tool:0,0,-100",
    ),
    "simulate": Entry(
        "Compute forces and motions",
        "simulate",
        "Compute a motion: its range, energies, events, reactions.",
        "mbplugin simulate robot.urdf --duration 2 --save motion.npz",
    ),
    "modes": Entry(
        "Compute forces and motions",
        "modes",
        "Find the pose of rest, and its natural frequencies.",
        "mbplugin modes robot.urdf --hold j1,j2",
    ),
    "matrix": Entry(
        "Compute forces and motions",
        "lookup",
        "Print the rows of the constraint matrix C v + b = 0.",
        "mbplugin matrix robot.urdf --save C.npz",
    ),
    "estop": Entry(
        "Compute stops",
        "stops",
        "Compute how a moving robot stops: times, distances, loads.",
        "mbplugin estop robot.urdf --qd j1=90deg/s --payload 5",
    ),
    "stop-table": Entry(
        "Compute stops",
        "stops",
        "Compute a table of stopping times and distances.",
        "mbplugin stop-table robot.urdf --payload 5 --output stops.html",
    ),
    "worst-stop": Entry(
        "Compute stops",
        "searches",
        "Search poses, payloads and brakes for the worst stops.",
        "mbplugin worst-stop robot.urdf --payload 5",
    ),
    "sweep": Entry(
        "Compute stops",
        "searches",
        "Compute many random stops: quantiles and worst cases.",
        "mbplugin sweep robot.urdf --out stops --number 99 --qd j1=1",
    ),
    "calibrate": Entry(
        "Compute stops",
        "figures",
        "Fit the brakes and ramps of a robot to measured stops.",
        "mbplugin calibrate robot.urdf measured.csv",
    ),
    "distance": Entry(
        "Compute stops",
        "figures",
        "Compute a separation distance from stops and other terms.",
        "mbplugin distance stop.json --term K=1.6,t1=0.1,D_DS=0.1,Z=0.1",
    ),
    "crosscheck": Entry(
        "Compare",
        "compare",
        "Compare motions with PyBullet and MuJoCo at smaller steps.",
        "mbplugin crosscheck robot.urdf",
    ),
    "engines": Entry(
        "Compare",
        "compare",
        "Compare joint forces with PyBullet, MuJoCo and Pinocchio.",
        "mbplugin engines robot.urdf --load tool:0,0,-100",
    ),
    "diff": Entry(
        "Compare",
        "compare",
        "Compare two models: list the differences and probable causes.",
        "mbplugin diff before.urdf after.urdf",
    ),
    "init": Entry(
        "Set up",
        "init",
        "Write configuration, baseline, hook and CI of a repository.",
        "mbplugin init --dry-run",
    ),
    "doctor": Entry(
        "Set up",
        "lookup",
        "Check what works here: extras, engines, caches, git, browser.",
        "mbplugin doctor",
    ),
    "config": Entry(
        "Set up",
        "lookup",
        "Print the settings that apply to a file, and where each comes from.",
        "mbplugin config robot.urdf",
    ),
    "schema": Entry(
        "Set up",
        "lookup",
        "Print the JSON schema of a command's output, or of scene files.",
        "mbplugin schema lint",
    ),
    "server": Entry(
        "Set up",
        "server",
        "Serve an editor: findings while a model is written, and fixes.",
        "mbplugin server",
    ),
    "warmup": Entry(
        "Set up",
        "lookup",
        "Compile everything in advance, for images and CI.",
        "mbplugin warmup",
    ),
}
#: Other names of commands, among them those of the Python functions, and that of other linters for a rule's text.
ALIASES = {
    "analyze": "lint",
    "explain": "rule",
    "rules": "rule",
    "show": "view",
    "stopping-table": "stop-table",
    "stop_table": "stop-table",
    "stopping_table": "stop-table",
    "worst_stop": "worst-stop",
    "constraint-matrix": "matrix",
    "constraint_matrix": "matrix",
}
