"""Lint in the tests of a robot: ``assert_lints``; ``pytest --mbplugin`` needs no test to be written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbplugin.linter.finding import Severity
    from mbplugin.linter.run import Report
    from mbplugin.model.enumerations import Base, Simulator


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
    """Lint a file with the configuration that is nearest to it, and fail the test as the lint fails.

    Parameters
    ----------
    path : str or path
        A model or scene file.
    q : mapping of joint coordinate to value, optional
        rad and m.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    fail_on, select, targets
        Instead of what the configuration says.
    ignore, extend_select, package_dirs
        Beside what the configuration says.
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads.
    xacro_args : mapping of str to str, optional
        Values of xacro's arguments, beside those of the configuration.
    **options
        Of ``mbplugin.lint``: ``tolerance``, ``planar``, ``samples``, ``method``, ``groups``,
        ``snap_angles``.

    Returns
    -------
    Report
        For further assertions, such as ``report.analysis.dof == 6``.

    Raises
    ------
    AssertionError
        Findings at or above ``fail_on``, or unusable input; its text is the findings.
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
    """Lint a file with the configuration that is nearest to it.

    Parameters
    ----------
    path : str or path
        A model or scene file.
    requested : mapping, optional
        Settings that go before those of the configuration: ``select``, ``fail_on`` and so on.
    **options
        Of ``mbplugin.lint``.
    """
    from mbplugin.linter.batch import lint_target
    from mbplugin.linter.targets import settings_for, target_of

    settings = settings_for(Path(path)).overridden(requested or {})
    return lint_target(target_of(os.fspath(path), settings), options)
