"""The pytest plugin: ``pytest --mbplugin`` collects models as tests. It does not slow down other sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mbplugin.linter import Settings
    from mbplugin.linter.run import Report

#: User properties by which an item reports ignores to the session, also from another process: locations of the used
#: ones, [location, sentence] of the unused ones.
_USED, _UNUSED = "mbplugin_used_ignores", "mbplugin_unused_ignores"
#: Files that the tests of a session lint.
_LINTED: pytest.StashKey[set[str]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--mbplugin``."""
    group = parser.getgroup("mbplugin")
    group.addoption(
        "--mbplugin", action="store_true", help="lint robots: *.urdf, *.sdf and *.scene.toml are tests"
    )
    group.addoption(
        "--mbplugin-config", metavar="FILE", help="the configuration of all robots, not the nearest to each"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the tracking of ignores if the session lints."""
    if config.getoption("--mbplugin"):
        config.pluginmanager.register(_Ignores(), "mbplugin-ignores")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector for a model file; None for other files."""
    if not parent.config.getoption("--mbplugin"):
        return None
    from mbplugin.linter.targets import is_model

    if not is_model(str(file_path)):
        return None
    model: ModelFile = ModelFile.from_parent(parent, path=file_path)
    return model


class ModelFile(pytest.File):
    """A model file."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the single test of the file, unless the configuration excludes a file that was not named explicitly."""
        from mbplugin.linter.targets import excluded, target_of

        settings = _settings(self)
        if excluded(self.path, settings) and not self.session.isinitpath(self.path):
            return
        # a robot that is linted through its scene is one test with that scene
        place = os.path.abspath(target_of(_seen_from_here(self.path), settings).file)  # noqa: PTH100
        linted = self.config.stash.setdefault(_LINTED, set())
        if place not in linted:
            linted.add(place)
            yield ModelItem.from_parent(self, name="lint")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return an error of the configuration in one sentence."""
        return _sentence(excinfo) or super().repr_failure(excinfo)


def _settings(node: pytest.File | pytest.Item) -> Settings:
    """Return the settings for a model: of the configuration given by option, or else of the nearest one."""
    from mbplugin.linter.targets import named_settings, settings_for

    named = node.config.getoption("--mbplugin-config")
    return named_settings(Path(named)) if named else settings_for(node.path)


class LintFailed(Exception):
    """The lint of a model failed."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(report.source)


class ModelItem(pytest.Item):
    """The lint of a model with its configuration, as a test."""

    def runtest(self) -> None:
        """Lint the model, and fail if the lint fails.

        Raises
        ------
        LintFailed
            The exit code of the lint is not 0.
        """
        from mbplugin.linter.batch import lint_target, skipped, unused_ignores
        from mbplugin.linter.targets import stated_baselines, target_of, without_known
        from mbplugin.report.documents.part import violation

        target = target_of(_seen_from_here(self.path), _settings(self))
        report = lint_target(target, {})
        known = stated_baselines([target], lambda document: violation(document, "lint"))
        if known is not None:
            (report,) = without_known([report], known)
        if not self.session.isinitpath(self.path):
            report = skipped(report)
        unused = [[f"{f.file}:{f.line}", f.message] for f in unused_ignores(target, [report])]
        used = [f"{s.ignore.config}:{s.ignore.line}" for s in report.suppressed]
        if target.settings.ignores:
            self.user_properties += [(_USED, used), (_UNUSED, unused)]
        if report.exit_code:
            raise LintFailed(report)
        if report.skipped:
            pytest.skip(report.findings[0].message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the findings, or an error of the configuration in one sentence."""
        if isinstance(excinfo.value, LintFailed):
            from mbplugin.report.text.lint import failure_text

            return failure_text(excinfo.value.report)
        return _sentence(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return path, line and name of the test for the report."""
        return self.path, None, f"mbplugin lint {_seen_from_here(self.path)}"


class _Ignores:
    """Lists at the end of a session the ignores that matched nothing in any of its files."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.unused: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            properties: dict[str, Any] = dict(report.user_properties)
            self.used.update(properties.get(_USED, ()))
            self.unused.update(properties.get(_UNUSED, ()))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        unused = {place: said for place, said in self.unused.items() if place not in self.used}
        if unused:
            terminalreporter.section("mbplugin: waivers to look at")
            for place, said in sorted(unused.items()):
                terminalreporter.line(f"{place}: {said} in the files of this session")


@pytest.fixture
def lint_model(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """``lint_model(path, **options)``: the lint report of a file; the path is relative to the folder of the test."""
    from mbplugin.testing import lint_as_configured

    def lint(path: str | os.PathLike[str], **options: Any) -> Report:
        return lint_as_configured(request.path.parent / path, **options)

    return lint


def _sentence(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    from mbplugin.errors import MbPluginError

    return str(excinfo.value) if isinstance(excinfo.value, MbPluginError) else ""


def _seen_from_here(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
