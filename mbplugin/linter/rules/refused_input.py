"""Rules about unusable input: their findings are made from the error that stopped the run.

If no scene could be read, there is nothing to check. These rules exist for their names and their
documentation; ``lint`` converts the error into the finding.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.rule import Finding, Rule, Severity
from mbplugin.model import Scene


class RefusedInput(Rule):
    """Base of these rules."""

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield nothing: none of these errors can occur once there is a scene."""
        return ()


class UnusableInput(RefusedInput):
    """The input cannot be used for a reason without a specific rule.

    What it does
    ------------
    Stops if a reader or the analysis cannot use its input; the message states what is wrong,
    where, what was expected and what to do.

    Why it matters
    --------------
    The mechanism cannot be analyzed; the exit code is 2.

    Example
    -------
    Any unusable input that is not covered by MB901 to MB910.

    Remedy
    ------
    Follow the remedy in the message.

    References
    ----------
    The exit codes of ``mbplugin lint``.
    """

    code, name = "MB900", "unusable-input"
    severity: Severity = "error"


class UnreadableFile(RefusedInput):
    """A file is missing, empty, a directory, binary, or may not be read.

    What it does
    ------------
    Opens the model and every file that it names.

    Why it matters
    --------------
    There is nothing to analyze; the exit code is 2.

    Example
    -------
    ``mbplugin lint robto.urdf``, where the file is called ``robot.urdf``.

    Remedy
    ------
    Correct the path or the permissions; export binary models as text.

    References
    ----------
    The exit codes of ``mbplugin lint``.
    """

    code, name = "MB901", "unreadable-file"
    severity: Severity = "error"


class BrokenXml(RefusedInput):
    """The text is not well-formed XML.

    What it does
    ------------
    Parses the file with entities disabled, and accepts the same errors as PyBullet's parser: text before
    ``<?xml``, two hyphens in a comment, and prefixes that are not declared.

    Why it matters
    --------------
    Elements after the error would be lost, and a truncated file would look like a smaller robot.

    Example
    -------
    ``<link name="arm">`` without its ``</link>``.

    Remedy
    ------
    Correct the text at the given line; copy a truncated file again.

    References
    ----------
    Extensible Markup Language (XML) 1.0, section 2.1.
    """

    code, name = "MB902", "broken-xml"
    severity: Severity = "error"


class UnknownFormat(RefusedInput):
    """The format of the file is not supported.

    What it does
    ------------
    Checks the root element, and the file name suffix if the root element is ambiguous.

    Why it matters
    --------------
    A reader that guesses the format could read another robot.

    Example
    -------
    A file that begins with ``<svg>``.

    Remedy
    ------
    Pass a URDF, SDF, MJCF, xacro or ``.scene.toml`` file.

    References
    ----------
    The formats in the documentation of ``mbplugin.load``.
    """

    code, name = "MB903", "unknown-format"
    severity: Severity = "error"


class BrokenModel(RefusedInput):
    """No mechanism can be built from the model.

    What it does
    ------------
    Reports models that are inconsistent: no links, an unknown joint type, a joint without parent or
    child, a link that does not exist, two links with the same name.

    Why it matters
    --------------
    Any automatic repair would be a guess; PyBullet ends the process on several of these.

    Example
    -------
    ``<parent link="bse"/>`` where the link is called ``base``.

    Remedy
    ------
    Correct the named element; the message lists the existing names or types.

    References
    ----------
    The URDF and SDF specifications.
    """

    code, name = "MB904", "broken-model"
    severity: Severity = "error"


class BadNumber(RefusedInput):
    """A value is not the expected number or list of finite numbers.

    What it does
    ------------
    Reads every number of the file, checks their count, and reports words, NaN and infinity.

    Why it matters
    --------------
    One NaN makes every result NaN, and simulators propagate it without a warning.

    Example
    -------
    ``<origin xyz="0 0 nan"/>``, or an ``xyz`` of two numbers.

    Remedy
    ------
    Correct the text at the given line.

    References
    ----------
    The URDF and SDF specifications.
    """

    code, name = "MB905", "bad-number"
    severity: Severity = "error"


class UnknownName(RefusedInput):
    """A name refers to no body, pair or coordinate.

    What it does
    ------------
    Resolves every name in closures, couplings, drivers, locks and coordinates.

    Why it matters
    --------------
    A closure on the wrong body gives another mechanism, so a similar name is never used instead.

    Example
    -------
    ``body_b = "lower_lge"`` in a ``[[closure]]``.

    Remedy
    ------
    Correct the name; the message proposes the nearest one.

    References
    ----------
    The scene schema, ``mbplugin schema scene``.
    """

    code, name = "MB907", "unknown-name"
    severity: Severity = "error"


class BadScene(RefusedInput):
    """A scene file does not follow the schema.

    What it does
    ------------
    Reads the TOML and compares tables, keys and values with the schema; unknown keys are errors.

    Why it matters
    --------------
    If an unknown key were ignored, a closure could be missing without a warning.

    Example
    -------
    ``[[closuer]]``, or ``xyz_a = [0, 1]``.

    Remedy
    ------
    Correct the given line; where a key is unknown, the message proposes the nearest one.

    References
    ----------
    The scene schema, ``mbplugin schema scene``; TOML 1.0.
    """

    code, name = "MB908", "bad-scene"
    severity: Severity = "error"


class MissingDependency(RefusedInput):
    """A package that this input needs is not installed.

    What it does
    ------------
    Requires an optional package only if a file needs it: MuJoCo for MJCF, xacro for xacro files,
    PyBullet for overlaps.

    Why it matters
    --------------
    Without it the file cannot be read.

    Example
    -------
    ``mbplugin lint humanoid.xml`` without the ``mujoco`` package.

    Remedy
    ------
    Run the command that the message names, such as ``python -m pip install mujoco``.

    References
    ----------
    The optional dependencies in ``pyproject.toml``.
    """

    code, name = "MB909", "missing-dependency"
    severity: Severity = "error"


class NotClosed(RefusedInput):
    """No pose was found at which a group of loops closes.

    What it does
    ------------
    Closes the loops from the pose of the file. Loops that do not close from there are separated into groups,
    and every group starts again from random poses: turns anywhere in ±π or inside their limits, travels inside
    theirs. The message states how many starts there were, the best gap and the group, and names constraints
    that do not close without the rest of the group either. Another pose may exist: the search is numerical.

    Why it matters
    --------------
    At a pose that is not assembled the rank, and with it every result, is not valid.

    Example
    -------
    A four-bar whose coupler is 0.1 m longer than crank and rocker can reach.

    Remedy
    ------
    Correct the frames of the named constraints, first of those that do not close on their own, or give an
    initial pose nearer to the closed one with ``--q`` or ``[state]``.

    References
    ----------
    wojtyra2013 (1): the constraint equations must hold before their Jacobian is used.
    """

    code, name = "MB910", "not-closed"
    severity: Severity = "error"


class FailedRule(RefusedInput):
    """A rule failed, or cannot be loaded.

    What it does
    ------------
    Runs every rule separately. A rule that raises an exception, or yields anything but findings of its own, is
    reported with its code, its name and the reason; the traceback is in the evidence. The same holds for a plug-in
    rule that takes longer than ``--rule-seconds`` (60 s) for a file or needs more than 4 GiB, and for an entry point
    of the group ``mbplugin.rules`` that cannot be imported or violates the rule contract.

    Why it matters
    --------------
    The other rules have run, but the findings of this one are missing: the lint is not
    complete, so the exit code is 2.

    Example
    -------
    A rule ``ACME101`` of your own that reads ``analysis.rank`` where the analysis is None.

    Remedy
    ------
    Report the traceback in the JSON to the maintainer of the rule; until it is fixed, ``--ignore`` its code.

    References
    ----------
    The rule contract in the documentation of ``mbplugin.linter.rule.Rule``.
    """

    code, name = "MB911", "failed-rule"
    severity: Severity = "error"


class CrashedRun(RefusedInput):
    """Linting a file failed with an unexpected error.

    What it does
    ------------
    Lints each file separately: an error in one, including the end of its process, is reported for that
    file, and the others are linted.

    Why it matters
    --------------
    There is no result for this file, so the exit code is 2.

    Example
    -------
    A mesh library that ends the process; memory that runs out.

    Remedy
    ------
    This is a bug in mbplugin: please report it with the traceback in the JSON and the file.

    References
    ----------
    The exit codes of ``mbplugin lint``.
    """

    code, name = "MB912", "crashed-run"
    severity: Severity = "error"


class UnusedIgnore(RefusedInput):
    """A waiver of the configuration matches nothing.

    What it does
    ------------
    Compares every ``[[waive]]`` with the findings in its files. A waiver is not checked if its rule was not
    run, if none of its files was linted, or if one of them was unusable.

    Why it matters
    --------------
    The model was corrected, or the element has a new name; the remaining waiver could suppress a new finding
    without a review.

    Example
    -------
    ``element = "elbow"`` after the joint was renamed to ``elbow_joint``.

    Remedy
    ------
    Delete the waiver, or correct its element.

    References
    ----------
    The configuration in ``docs/teams.md``.
    """

    code, name = "MB913", "unused-ignore"
    severity: Severity = "warning"


class RefusedXacro(RefusedInput):
    """A xacro file contains an expression that is expanded only with permission.

    What it does
    ------------
    Checks every expression and substitution of a xacro file, and of what it includes, before anything is
    expanded. Allowed are numbers, texts, names, arithmetic, comparisons, conditions, indexing, lists and
    dictionaries; calls of xacro's own functions and of methods that only compute; ``$(find)``, ``$(arg)``, and
    ``$(env)`` of ROS's variables; files of the packages. The same holds for ``$(env)`` in a URDF.

    Why it matters
    --------------
    xacro evaluates expressions as Python: a file from an unknown author could run any program, and copy any file
    or environment variable into a report.

    Example
    -------
    ``value="${(lambda: ().__class__)()}"``, or ``$(env HOME)``.

    Remedy
    ------
    Write the value with allowed expressions. For a file that you trust like a program:
    ``--xacro-unsafe``, or ``[xacro] unsafe = true`` in a configuration that is named with ``--config``.

    References
    ----------
    What is trusted, and what is not: ``docs/trust.md``.
    """

    code, name = "MB914", "refused-xacro"
    severity: Severity = "error"


class NotLinted(RefusedInput):
    """The time of the whole run was over before a file was linted.

    What it does
    ------------
    Ends the run when its time is over (``--max-seconds``, 900 s): files that are being linted are ended, and
    those that were not reached are reported one by one.

    Why it matters
    --------------
    Nothing is known about this file, so the exit code is 2. Without a limit, a hundred files that each use the
    whole time of an engine would block a server for hours.

    Example
    -------
    A folder with a hundred files that each take a minute.

    Remedy
    ------
    Lint fewer files per run, use more processes (``--jobs``), or state a longer ``--max-seconds``.

    References
    ----------
    The exit codes of ``mbplugin lint``.
    """

    code, name = "MB915", "not-linted"
    severity: Severity = "error"
