"""Rules of a plug-in, each with a way of its own to hide what the others find."""

import contextlib
import itertools
import os
import sys

import numpy

from mbplugin.linter.rule import Rule


class Leaves(Rule):
    """It ends the program politely."""

    code, name, severity = "ACME201", "leaves", "error"

    def check(self, scene, analysis):
        sys.exit(0)


class Dies(Leaves):
    """It ends the process."""

    code, name = "ACME202", "dies"

    def check(self, scene, analysis):
        os._exit(0)


class Writes(Leaves):
    """What it raises and what it finds begin lines of their own."""

    code, name = "ACME203", "writes"

    def check(self, scene, analysis):
        yield self.finding(
            "found\n::error file=x::forged", element="a\r::warning::b", help="do\n::notice::this"
        )
        raise ValueError("raised\n::error title=forged::by a rule\x1b[31m")


class Finds(Writes):
    """It raises nothing."""

    code, name = "ACME204", "finds"

    def check(self, scene, analysis):
        yield next(iter(super().check(scene, analysis)))


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


class Mute(Leaves):
    """Its error cannot be printed."""

    code, name = "ACME205", "mute"

    def check(self, scene, analysis):
        raise Unspeakable


class Unwritable(Leaves):
    """Its finding has a number for a message."""

    code, name = "ACME206", "unwritable"

    def check(self, scene, analysis):
        yield self.finding(3)


class Hangs(Leaves):
    """It never ends."""

    code, name = "ACME207", "hangs"

    def check(self, scene, analysis):
        while True:
            with contextlib.suppress(Exception):
                len("")


class HangsInC(Leaves):
    """It never ends, and no line of it is reached meanwhile."""

    code, name = "ACME208", "hangs-in-c"

    def check(self, scene, analysis):
        sum(itertools.repeat(0))


class Hardened(Leaves):
    """It never ends, and nothing stops it."""

    code, name = "ACME209", "hardened"

    def check(self, scene, analysis):
        while True:
            with contextlib.suppress(BaseException):
                while True:
                    len("")


class Eats(Leaves):
    """It takes all memory there is, and writes to none of it."""

    code, name = "ACME210", "eats"

    def check(self, scene, analysis):
        eaten = []
        while len(eaten) < 1000:
            eaten.append(numpy.empty(64 << 20))
