"""Contacts of stacked bricks: time for the balance, the redundancy and the bounds of all contact forces.

    python benchmarks/contact_bounds.py

Each brick stands on four points of the floor or of the brick below it, with friction 0.5.
"""

from __future__ import annotations

import argparse
from time import perf_counter

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


def main() -> None:
    """Print a row for each arrangement of bricks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contacts", type=int, default=500, help="number of contacts")
    count = parser.parse_args().contacts
    print(f"{'bricks':>16} {'contacts':>9} {'p':>6} {'s':>8}")
    mb.reactions(*bricks(1, 1)[:1], contacts=bricks(1, 1)[1])
    for layers in (1, 2, 5):
        mech, contacts = bricks(count // (4 * layers), layers)
        start = perf_counter()
        found = mb.reactions(mech, contacts=contacts)
        print(
            f"{mech.name:>16} {len(contacts):9} {found.degree_of_redundancy:6} {perf_counter() - start:8.2f}"
        )


if __name__ == "__main__":
    main()
