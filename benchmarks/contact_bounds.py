"""Contacts of bricks: time for the balance, the redundancy and the bounds of all contact forces.

    python benchmarks/contact_bounds.py [--contacts 500] [--wall 12]

Each brick stands on four points of the floor or of the brick below it, with friction 0.5. Columns are independent of
each other, so their linear programs are small. In a wall each brick stands on two others, and every force depends on
all of them: a program for 500 contacts takes a quarter of a second, and there are 3000.
The time is that of the processor in the second call of each kind.
"""

from __future__ import annotations

import argparse
import os
import platform
from time import process_time

import numpy as np

import mbplugin as mb

SIDE, STEP = 0.1, 0.12
UP = np.array([0.0, 0.0, 1.0])


def bricks(columns: int, layers: int) -> tuple[mb.Mechanism, list[mb.Contact]]:
    """Return columns of bricks of 1 kg, ``layers`` high, and their contacts, four under each brick."""
    bodies, contacts = [], []
    for column in range(columns):
        for layer in range(layers):
            name, below = f"brick {column} {layer}", f"brick {column} {layer - 1}" if layer else "world"
            center = np.array([STEP * column + 0.01 * (layer % 2), 0.0, SIDE * (layer + 0.5)])
            bodies.append(mb.Body(name, 1.0, center, 1e-3 * np.eye(3)))
            contacts += [
                mb.Contact(
                    f"{name} {x} {y}", name, center + 0.4 * SIDE * np.array([x, y, -1.25]), UP, 0.5, below
                )
                for x in (-1, 1)
                for y in (-1, 1)
            ]
    return mb.Mechanism(f"{columns} x {layers} bricks", tuple(bodies)), contacts


def wall(length: int) -> tuple[mb.Mechanism, list[mb.Contact]]:
    """Return a wall of bricks of 1 kg that ends in a gable, two courses high, and its contacts."""
    bodies, contacts = [], []
    for course in range(2):
        for k in range(length - course):
            name = f"brick {course} {k}"
            center = np.array([2 * SIDE * (k + 0.5 * course), 0.0, SIDE * (course + 0.5)])
            bodies.append(mb.Body(name, 1.0, center, 1e-3 * np.eye(3)))
            for x in (-1, 1):
                below = f"brick 0 {k + (x + 1) // 2}" if course else "world"
                contacts += [
                    mb.Contact(
                        f"{name} {x} {y}",
                        name,
                        center + SIDE * np.array([0.8 * x, 0.4 * y, -0.5]),
                        UP,
                        0.5,
                        below,
                    )
                    for y in (-1, 1)
                ]
    return mb.Mechanism(f"wall of {len(bodies)} bricks", tuple(bodies)), contacts


def main() -> None:
    """Print a row for each arrangement of bricks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contacts", type=int, default=500, help="number of contacts of the columns")
    parser.add_argument("--wall", type=int, default=5, help="length of the wall, in bricks")
    args = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors")
    print(f"{'bricks':>20} {'contacts':>9} {'p':>6} {'s':>8}")
    cases = [bricks(args.contacts // (4 * layers), layers) for layers in (1, 2, 5)]
    for mech, contacts in (*cases, wall(args.wall)):
        for _ in range(2):
            start = process_time()
            found = mb.reactions(mech, contacts=contacts)
            spent = process_time() - start
        print(f"{mech.name:>20} {len(contacts):9} {found.degree_of_redundancy:6} {spent:8.2f}")


if __name__ == "__main__":
    main()
