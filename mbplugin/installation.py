"""What of an installation works here: packages, caches, git, a display and a browser.

Each package is imported and used in a child process: one that crashes or hangs is a result, not the end of the answer.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mbplugin.errors import PACKAGES, command_for
from mbplugin.files import OF_A_STATE, cache_root, folder_objection
from mbplugin.phrases import cut_short, visible
from mbplugin.processes.git import git_program
from mbplugin.version import __version__

#: Chromium-based browsers, in the order of the search.
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "msedge",
)
#: Packages without which no command works, and the module of each that mbplugin imports.
CORE = {
    "numpy": "numpy",
    "scipy": "scipy.linalg",
    "trimesh": "trimesh",
    "numba": "numba",
    "pydantic": "pydantic",
    "lxml": "lxml.etree",
    "typer": "typer",
    "rich": "rich.console",
}
#: The module that mbplugin imports of each optional package, where its name is another one.
_MODULES = {
    "usd-core": "pxr.UsdPhysics",
    "PyYAML": "yaml",
    "matplotlib": "matplotlib.figure",
    "playwright": "playwright.sync_api",
    "pygls": "pygls.lsp.server",
    "pin": "pinocchio",
    "Pillow": "PIL.Image",
    "imageio-ffmpeg": "imageio_ffmpeg",
    "pyarrow": "pyarrow.parquet",
    "dask[distributed]": "distributed",
    "usd-validation-nvidia": "usd_validation_nvidia",
    "pycollada": "collada",
}
#: What is done with the imported ``module`` of a package: the least that shows that its machine code runs.
_USES = {
    "numpy": "assert module.linalg.solve([[2.0, 0.0], [0.0, 1.0]], [2.0, 1.0]).tolist() == [1.0, 1.0]",
    "scipy": "module.qr([[2.0, 1.0], [0.0, 1.0]], pivoting=True)",
    "numba": "assert module.njit(lambda x: x + 1)(1) == 2",
    "lxml": "module.fromstring(b'<robot/>')",
    "pybullet": "client = module.connect(module.DIRECT); assert client >= 0; module.stepSimulation(client)",
    "mujoco": """
model = module.MjModel.from_xml_string(
    "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>")
data = module.MjData(model)
module.mj_step(model, data)
assert data.qvel[2] < 0
""",
    "pin": "model = module.Model(); module.forwardKinematics(model, model.createData(), module.neutral(model))",
    "usd-core": "from pxr import Usd; module.Scene.Define(Usd.Stage.CreateInMemory(), '/scene')",
    "xacro": """
document = module.parse(
    "<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='${1 + 1}'/></robot>")
module.process_doc(document)
assert "name=\\"2\\"" in document.toxml()
""",
    "pandas": "assert module.DataFrame({'a': [1, 2]})['a'].sum() == 3",
    "Pillow": "module.new('RGB', (2, 2)).resize((1, 1))",
    "shapely": "assert module.Point(0, 0).buffer(1).area > 3",
}
#: What reads meshes as COLLADA (.dae); trimesh asks for it, no extra.
_BESIDE_EXTRAS = ("pycollada",)
#: Time limit of one import, s, and of one call of another program.
_IMPORT_SECONDS, _PROGRAM_SECONDS = 60.0, 20.0
#: Most files of which the sizes are added.
_MOST_FILES = 200_000
_LONGEST_REASON, _MOST_PRINTED = 120, 1_000_000
#: Imports a module with the search path of the parent, and nothing of the working folder, and runs code with it.
#: The last line of stderr is the reason; before it, the step.
_TRY = """
import importlib, sys
name, code, *sys.path[:] = sys.argv[1:]
def step(label, action):
    print(label, file=sys.stderr, flush=True)
    try:
        return action()
    except BaseException as error:
        lines = str(error).strip().splitlines() or [""]
        sys.exit(f"{type(error).__name__}: {lines[0]}")
module = step("STEP import", lambda: importlib.import_module(name))
step("STEP use", lambda: exec(code, {"module": module}))
"""


#: Prints the place of the browser that Playwright downloads.
_DOWNLOADED = """
import sys
sys.path[:] = sys.argv[1:]
from playwright.sync_api import sync_playwright
with sync_playwright() as driver:
    print(driver.chromium.executable_path)
"""


@dataclass(frozen=True)
class Package:
    """A package that mbplugin uses.

    Parameters
    ----------
    name : str
        What ``pip`` installs.
    extras : tuple of str
        The extras that need it; empty of a core package, and of one that no extra has.
    installed : bool
    version : str
        Empty if it is not installed, or states none.
    reason : str
        Why it does not work here; empty if it does.
    """

    name: str
    extras: tuple[str, ...]
    installed: bool
    version: str
    reason: str

    @property
    def works(self) -> bool:
        """Return True if the package can be imported, and does what it is tried with."""
        return not self.reason


@dataclass(frozen=True)
class Extra:
    """An extra: the names of its packages that are not installed or do not work, and the command for them."""

    name: str
    lacks: tuple[str, ...]
    install: str


@dataclass(frozen=True)
class Cache:
    """A folder of the user's caches.

    Parameters
    ----------
    content : str
        What is kept in it.
    folder : str
    exists : bool
    size : int
        Bytes of its files.
    reason : str
        Why it is not used: others can write to it, or this user cannot; empty if it is.
    """

    content: str
    folder: str
    exists: bool
    size: int
    reason: str


@dataclass(frozen=True)
class Facility:
    """A program or a display: whether it works, and its version or place, or the reason why it does not."""

    works: bool
    what: str


@dataclass(frozen=True)
class Installation:
    """What works here.

    Parameters
    ----------
    version, python, system : str
        Of mbplugin and of Python, and the system with its processor.
    core, optional : tuple of Package
    extras : tuple of Extra
    caches : tuple of Cache
        Empty if this user has no folder for them.
    git, display, browser : Facility
    """

    version: str
    python: str
    system: str
    core: tuple[Package, ...]
    optional: tuple[Package, ...]
    extras: tuple[Extra, ...]
    caches: tuple[Cache, ...]
    git: Facility
    display: Facility
    browser: Facility

    @property
    def works(self) -> bool:
        """Return True if every package of the core works."""
        return all(package.works for package in self.core)


def examine(seconds: float = _IMPORT_SECONDS) -> Installation:
    """Examine the installation; each package is imported and used in a process of its own.

    Parameters
    ----------
    seconds : float
        Time limit of each process, s.
    """
    needed_by: dict[str, tuple[str, ...]] = dict.fromkeys(_BESIDE_EXTRAS, ())
    for extra, names in PACKAGES.items():
        for name in names:
            needed_by[name] = (*needed_by.get(name, ()), extra)
    # as many imports at a time as there are cores
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        core = threads.map(lambda name: _package(name, (), seconds), CORE)
        optional = threads.map(lambda name: _package(name, needed_by[name], seconds), needed_by)
        facilities = [threads.submit(one) for one in (_git, _display, _browser)]
        packages = {package.name: package for package in optional}
    return Installation(
        version=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        core=tuple(core),
        optional=tuple(packages.values()),
        extras=tuple(_extras(packages)),
        caches=tuple(_caches(cache_root())),
        git=facilities[0].result(),
        display=facilities[1].result(),
        browser=facilities[2].result(),
    )


def _git() -> Facility:
    return _program(git_program(), lambda text: text.removeprefix("git version "), "is not installed")


def installed_browser() -> str | None:
    """Return the program of the first browser that is found; None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _extras(packages: Mapping[str, Package]) -> Iterator[Extra]:
    for extra, names in PACKAGES.items():
        lacks = tuple(name for name in names if not packages[name].works)
        yield Extra(extra, lacks, command_for(lacks) if lacks else "")


# Packages: their versions from their metadata, and whether they can be imported.


def _package(name: str, extras: tuple[str, ...], seconds: float) -> Package:
    module = CORE.get(name) or _MODULES.get(name, name)
    if not _is_found(module.partition(".")[0]):
        return Package(name, extras, False, "", "is not installed")
    try:
        version = importlib.metadata.version(name.partition("[")[0])
    # conda's packages may have no metadata of this name
    except importlib.metadata.PackageNotFoundError:
        version = ""
    return Package(name, extras, True, version, _failure(module, _USES.get(name, ""), seconds))


def _is_found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _failure(module: str, use: str, seconds: float) -> str:
    """Return the reason why a module cannot be imported, or why code with it fails; empty if both work."""
    path = [entry for entry in sys.path if Path(entry).is_absolute()]
    with tempfile.TemporaryFile() as printed:
        try:
            code = subprocess.run(
                [sys.executable, "-I", "-c", _TRY, module, use, *path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=printed,
                timeout=seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        except OSError as error:
            return f"cannot be tried ({(error.strerror or 'no reason given').lower()})"
        printed.seek(0)
        lines = printed.read(_MOST_PRINTED).decode(errors="replace").strip().splitlines()
    if code == 0:
        return ""
    verb = "is imported" if "STEP use" not in lines else "is used"
    if code is None:
        return f"does not answer within {seconds:g} s when it {verb}"
    if code < 0:
        return f"ends its process with signal {-code} when it {verb}"
    reason = lines[-1] if lines and not lines[-1].startswith("STEP ") else f"exit code {code}"
    return f"fails when it {verb} ({cut_short(visible(reason), _LONGEST_REASON)})"


# Caches: reports of lints, numbers of meshes, and machine code.


def _caches(root: Path | None) -> Iterator[Cache]:
    if root is None:
        return
    top = root / "mbplugin"
    yield _cache("reports", top / "reports", [top / "reports"])
    yield _cache("meshes", top / "meshes", [top / "meshes"])
    yield _cache("machine code", top, _states(top))


def _states(top: Path) -> list[Path]:
    try:
        return sorted(one for one in top.iterdir() if OF_A_STATE.fullmatch(one.name))
    except OSError:
        return []


def _cache(content: str, folder: Path, parts: Iterable[Path]) -> Cache:
    present = [part for part in parts if os.path.lexists(part)]
    reasons = [*filter(None, (folder_objection(part.lstat()) for part in present)), _unwritable(folder)]
    size = sum(_size(part) for part in present)
    return Cache(content, str(folder), bool(present), size, next(filter(None, reasons), ""))


def _unwritable(folder: Path) -> str:
    """Return the reason why nothing can be written to a folder, which may have to be made; empty if it can."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"mbplugin")
    except OSError as error:
        return f"cannot be written ({(error.strerror or 'no reason given').lower()})"
    return ""


def _size(folder: Path) -> int:
    """Return the sum of the sizes of the files below a folder, bytes; links are not followed."""
    total, seen = 0, 0
    for place, _, names in os.walk(folder):
        for name in names:
            seen += 1
            if seen > _MOST_FILES:
                return total
            try:
                total += (Path(place) / name).lstat().st_size
            # another process may remove files meanwhile
            except OSError:
                continue
    return total


# Programs, and the display.


def _browser() -> Facility:
    none = "no Chromium, Chrome or Edge is found"
    # on Windows browsers open a window when they are asked for their version
    if sys.platform == "win32":
        found = installed_browser()
        return Facility(found is not None, found or none)
    found = _program(installed_browser(), str, none)
    return _browser_of_playwright() or found if installed_browser() is None else found


def _browser_of_playwright() -> Facility | None:
    """Return the Chromium that Playwright has downloaded; None if there is none, or no Playwright."""
    path = [entry for entry in sys.path if Path(entry).is_absolute()]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _DOWNLOADED, *path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PROGRAM_SECONDS,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    program = os.fsdecode(done.stdout).strip()
    return _program(program, str, "") if program and Path(program).is_file() else None


def _program(program: str | None, shown: Callable[[str], str], none: str) -> Facility:
    """Check that a program states its version, and return the answer or the reason."""
    if program is None:
        return Facility(False, none)
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PROGRAM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Facility(False, f"{program} does not answer within {_PROGRAM_SECONDS:g} s")
    except OSError as error:
        return Facility(False, f"{program} does not start ({(error.strerror or 'no reason given').lower()})")
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    if done.returncode or not lines:
        return Facility(False, f"{program} --version ends with exit code {done.returncode}")
    return Facility(True, f"{cut_short(visible(shown(lines[0].strip())), _LONGEST_REASON)}, {program}")


def _display() -> Facility:
    """Check that windows can open: PyBullet's need an X server on Linux."""
    if sys.platform in ("win32", "darwin"):
        return Facility(True, "that of the system")
    stated = os.environ.get("DISPLAY", "")
    if not stated:
        return Facility(False, "DISPLAY is not set")
    host, _, rest = stated.rpartition(":")
    number = rest.partition(".")[0]
    if host not in ("", "unix") or not number.isdigit():
        return Facility(True, f"{visible(stated)}, on another machine: not tried")
    # an X server listens on a socket of the file system, or on an abstract one
    for address in (f"/tmp/.X11-unix/X{number}", f"\0/tmp/.X11-unix/X{number}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PROGRAM_SECONDS)
            try:
                connection.connect(address)
            except OSError:
                continue
            return Facility(True, visible(stated))
    return Facility(False, f"no X server listens on DISPLAY {visible(stated)}")
