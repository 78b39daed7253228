"""Files: what cannot be read, and where a named file is looked up."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from mbplugin.errors import UnreadableFile, UnresolvedPath
from mbplugin.files import read_bounded
from mbplugin.model.scene import Request
from mbplugin.readers import load
from mbplugin.readers.paths import find, read_text, resolve


@pytest.fixture(autouse=True)
def no_ros(monkeypatch) -> None:
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def put(file: Path, text: str = "x") -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b"\0\0\0", "the file is empty"),
        (b"<robot>\0</robot>", "the file is binary"),
        (b"x" * 10000 + b"\0x", "the file is binary"),
    ],
)
def test_unreadable(tmp_path, content: bytes | None, said: str) -> None:
    file = tmp_path / "r.urdf"
    if content is not None:
        file.write_bytes(content)
    for read in (read_text, load):
        with pytest.raises(UnreadableFile) as caught:
            read(file)
        assert str(caught.value).startswith(f"{file}: {said}")


def test_a_directory(tmp_path) -> None:
    with pytest.raises(UnreadableFile, match="this is a directory"):
        load(tmp_path)


def test_no_permission(tmp_path, monkeypatch) -> None:
    file = tmp_path / "r.urdf"
    file.write_text("<robot/>")

    def refuse(path: Path, mode: str) -> bytes:
        # root may read everything, so the refusal has to be made
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UnreadableFile, match="permission denied"):
        load(file)


def test_handed_over_text_that_is_empty() -> None:
    with pytest.raises(UnreadableFile, match=r"^<stdin>: the text is empty"):
        load("<stdin>", text=" ")


def test_encodings(tmp_path) -> None:
    file = tmp_path / "r.urdf"
    file.write_bytes("grün".encode())
    assert read_text(file) == "grün"
    file.write_bytes("grün".encode("latin-1"))
    assert read_text(file) == "grün"


def test_a_trailing_nul_is_the_end_of_a_c_string(tmp_path) -> None:
    file = tmp_path / "r.urdf"
    file.write_bytes(b'<robot><link name="a"/></robot>\r\n\0')
    assert load(file).mechanism.bodies[0].name == "a"


def test_order_of_folders(tmp_path, monkeypatch) -> None:
    """Beside the model, then package folders, then the ROS paths."""
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    request = Request(str(tmp_path / "model" / "r.urdf"), package_dirs=(str(tmp_path / "packages"),))
    assert find("m.stl", request) is None
    places = ["ament/share", "ament", "ros/share", "ros", "packages", "model"]
    for place in places:
        wanted = put(tmp_path / place / "m.stl")
        assert find("m.stl", request) == wanted


def test_package_scheme(tmp_path) -> None:
    request = Request(str(tmp_path / "model" / "r.urdf"), package_dirs=(str(tmp_path / "packages"),))
    wanted = put(tmp_path / "packages" / "arm" / "m.stl")
    assert str(resolve("package://arm/m.stl", request, "r.urdf:3")) == wanted
    # the folder itself may be the package
    wanted = put(tmp_path / "packages" / "n.stl")
    assert str(resolve("package://arm/n.stl", request, "r.urdf:3")) == wanted


def test_package_around_the_model(tmp_path) -> None:
    wanted = put(tmp_path / "arm" / "meshes" / "m.stl")
    request = Request(str(tmp_path / "arm" / "urdf" / "r.urdf"))
    assert str(resolve("package://arm/meshes/m.stl", request, "x")) == wanted


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_absolute_names(tmp_path, scheme: str) -> None:
    wanted = put(tmp_path / "a" / "b" / "m.stl")
    elsewhere, beside = (Request(str(tmp_path / folder / "r.urdf")) for folder in ("x/y/z", "a/c"))
    # a scene and a model name only files of their own repository, and of folders that the user gave
    with pytest.raises(UnresolvedPath, match="outside the scene's repository"):
        resolve(scheme + wanted, elsewhere, "x")
    given = replace(elsewhere, package_dirs=(str(tmp_path / "a"),))
    assert str(resolve(scheme + wanted, given, "x")) == wanted
    assert find(scheme + wanted, beside) == wanted
    assert find(scheme + wanted, elsewhere) is None
    assert find(scheme + wanted, replace(elsewhere, package_dirs=(str(tmp_path / "a"),))) == wanted


@pytest.mark.parametrize(
    "name",
    [
        *("package://../../secret.stl", "package://pkg/../../secret.stl", "model://../secret.stl"),
        *("../../secret.stl", "../../pkg/../secret.stl", "meshes/link.stl", "package://pkg/meshes/link.stl"),
    ],
)
def test_a_model_does_not_leave_its_package(tmp_path, name: str) -> None:
    put(tmp_path / "home" / "pkg" / "package.xml")
    secret = put(tmp_path / "home" / "secret.stl")
    folder = tmp_path / "home" / "pkg" / "urdf"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "link.stl").symlink_to(secret)
    (tmp_path / "home" / "pkg" / "meshes").symlink_to(folder / "meshes")
    request = Request(str(folder / "r.urdf"))
    assert find(name, request) is None
    # a folder that the user gives is trusted with its links
    assert find("meshes/link.stl", replace(request, package_dirs=(str(folder),))) is not None


def test_meshes_beside_the_folder_of_the_model_are_its_own(tmp_path) -> None:
    put(tmp_path / "pkg" / "meshes" / "m.stl")
    (tmp_path / "pkg" / "urdf").mkdir()
    assert find("../meshes/m.stl", Request(str(tmp_path / "pkg" / "urdf" / "r.urdf"))) is not None


def test_names_that_no_file_can_have(tmp_path) -> None:
    for name in ("x" * 5000, "a\0b", "~nobody-at-all/x", "file://a\0b", "package://", "/dev/zero", "", "/"):
        assert find(name, Request(str(tmp_path / "r.urdf"))) is None


def test_a_file_without_end() -> None:
    with pytest.raises(UnreadableFile, match="larger than"):
        read_bounded(Path("/dev/zero"), 1000)


def test_unresolved_says_what_to_pass(tmp_path) -> None:
    with pytest.raises(UnresolvedPath, match=r"^r\.urdf:3: 'package://gone/m\.stl' cannot .*--package-dir"):
        resolve("package://gone/m.stl", Request(str(tmp_path / "r.urdf")), "r.urdf:3")


@pytest.mark.bullet
def test_pybullet_data_is_found_without_importing_it() -> None:
    found = find("r2d2.urdf", Request("nowhere/r.urdf"))
    assert found is not None and Path(found).parent.name == "pybullet_data"


@pytest.mark.parametrize(
    "written",
    ["file://{}/my%20robot/a.stl", "file://localhost{}/my%20robot/a.stl", "file://{}/my robot/a.stl"],
)
def test_addresses_of_files_are_read_as_addresses(written: str, tmp_path: Path) -> None:
    folder = tmp_path / "my robot"
    folder.mkdir()
    (tmp_path / ".git").mkdir()
    (folder / "a.stl").write_bytes(b"solid a\nendsolid a\n")
    request = Request(str(folder / "r.urdf"))
    assert str(resolve(written.format(tmp_path), request, "x")) == str(folder / "a.stl")
    # a percent sign may be one
    (folder / "b%20.stl").write_bytes(b"solid b\nendsolid b\n")
    assert str(resolve(f"file://{folder}/b%20.stl", request, "x")) == str(folder / "b%20.stl")
    with pytest.raises(UnresolvedPath, match="outside"):
        resolve(f"file://{folder}/%2e%2e/%2e%2e/secret.stl", request, "x")


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml", "usda", "xacro", "scene.toml"])
def test_a_pointer_of_git_lfs_is_called_one(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"robot.{ending}"
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1234\n")
    with pytest.raises(UnreadableFile, match=r"a pointer of Git LFS.*run git lfs pull"):
        load(file)
