"""Lint a robot in its tests with ``assert_lints``; ``pytest --mbplugin`` does so without written tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbplugin.choices import Base, Simulator
    from mbplugin.linter.rule import Severity
    from mbplugin.linter.run import Report


def assert_lints(
    path: str | os.PathLike[str],
    *,
    q: Mapping[str, float] | None = None,
    base: Base | None = None,
    fail_on: Severity | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    targets: Sequence[Simulator] = (),
    package_dirs: Sequence[str] = (),
    xacro_unsafe: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    **options: Any,
) -> Report:
    """Lint a file with its nearest configuration, and fail the test if the lint fails.

    Parameters
    ----------
    path : str or path
        A model or scene file.
    q : mapping of joint coordinate to value, optional
        Pose, rad and m.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    fail_on, select, targets
        Override the configuration.
    ignore, extend_select, package_dirs
        Are added to the configuration.
    xacro_unsafe : bool
        Expand Xacro without restrictions, as the ``xacro`` program does: the file may run code and read any file.
    xacro_args : mapping of str to str, optional
        Values of the Xacro arguments, in addition to those of the configuration.
    **options
        Options of ``mbplugin.lint``: ``tolerance``, ``planar``, ``samples``, ``method``, ``groups``,
        ``snap_angles``.

    Returns
    -------
    Report
        The report, for further assertions such as ``report.analysis.dof == 6``.

    Raises
    ------
    AssertionError
        There are findings at or above ``fail_on``, or the input is unusable; the message lists the findings.
    """
    __tracebackhide__ = True
    requested: dict[str, Any] = {"fail_on": fail_on, "select": tuple(select), "ignore": tuple(ignore)}
    requested |= {"extend_select": tuple(extend_select), "targets": tuple(targets)}
    requested |= {"package_dirs": tuple(package_dirs), "xacro_unsafe": xacro_unsafe or None}
    requested |= {"xacro_args": dict(xacro_args or {})}
    report = lint_as_configured(path, requested, q=q, base=base, **options)
    if report.exit_code:
        from mbplugin.report.text.lint import failure_text

        raise AssertionError(failure_text(report))
    return report


def lint_as_configured(
    path: str | os.PathLike[str], requested: Mapping[str, Any] | None = None, **options: Any
) -> Report:
    """Lint a file with its nearest configuration.

    Parameters
    ----------
    path : str or path
        A model or scene file.
    requested : mapping, optional
        Settings that take precedence over the configuration: ``select``, ``fail_on`` and so on.
    **options
        Options of ``mbplugin.lint``.
    """
    from mbplugin.linter.batch import lint_target
    from mbplugin.linter.targets import settings_for, target_of

    settings = settings_for(Path(path)).overridden(requested or {})
    return lint_target(target_of(os.fspath(path), settings), options)
