"""No file outside of a model's repository is opened for USD or MJCF, however it is named, and nothing of it is told.

A canary lies beside the repository: a mass and a name that no other file has. Every model here names it in another
way, as ``TO``. Each has a twin that names a file in the repository in the same way, which is read.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BrokenModel, MbPluginError, UnresolvedPath
from mbplugin.model.scene import Request
from mbplugin.readers import load as load_text
from mbplugin.readers.mjcf.compile import compile_mjcf
from mbplugin.readers.mjcf.files import model_files

pxr = pytest.importorskip("pxr.Sdf")
mujoco = pytest.importorskip("mujoco")

#: Kilograms of the canary, and of its twin.
CANARY, TWIN = 4242.0, 7.0
NAME = "canary_of_the_neighbour"
SCHEMAS = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]'


def prim(metadata: str = "", content: str = "", name: str = "body", schemas: str = SCHEMAS) -> str:
    return f'def Xform "{name}" ({schemas}\n{metadata})\n{{\n{content}\n}}\n'


def layer(metadata: str, *prims: str) -> str:
    return f'#usda 1.0\n(defaultPrim = "body"\nmetersPerUnit = 1\n{metadata}\n)\n' + "\n".join(prims)


def clips(assets: str) -> str:
    times = "double2[] active = [(0, 0)]\ndouble2[] times = [(0, 0), (1, 1)]"
    return f'clips = {{\ndictionary default = {{\n{assets}\nstring primPath = "/body"\n{times}\n}}\n}}'


MASS = "float physics:mass"
TEMPLATE = """clips = {
dictionary default = {
string templateAssetPath = "TO/clip.#.usda"
double templateStartTime = 0
double templateEndTime = 1
double templateStride = 1
string primPath = "/body"
}
}"""
VARIANT = """def Xform "body" (variants = {string v = "one"}
prepend variantSets = "v")
{
variantSet "v" = {
"one" (prepend references = @TO/part.usda@) {
}
}
}
"""
STAGES = {
    "sublayer": layer("subLayers = [@TO/part.usda@]", prim()),
    "reference": layer("", prim("prepend references = @TO/part.usda@")),
    "reference_of_a_prim": layer("", prim("prepend references = @TO/part.usda@</body>")),
    "payload": layer("", prim("prepend payload = @TO/part.usda@")),
    "arguments": layer("subLayers = [@TO/part.usda:SDF_FORMAT_ARGS:a=b@]", prim()),
    "arguments_of_a_payload": layer("", prim("prepend payload = @TO/part.usda:SDF_FORMAT_ARGS:a=b@")),
    "expression": layer(
        'expressionVariables = {string X = "TO/part"}\nsubLayers = [@`"${X}.usda"`@]', prim()
    ),
    "condition": layer(
        "expressionVariables = {bool X = 1}",
        prim("prepend payload = @`if(${X}, 'TO/part.usda', './none.usda')`@"),
    ),
    "expression_in_a_reference": layer(
        'expressionVariables = {string X = "part"}', prim('prepend references = @`"TO/${X}.usda"`@')
    ),
    "expression_of_a_layer_above": layer(
        'expressionVariables = {string X = "TO/part"}', prim("prepend references = @../parts/indirect.usda@")
    ),
    "variant": layer("", VARIANT),
    "inner_reference": layer(
        "",
        prim("prepend references = </from>"),
        prim("prepend references = @TO/part.usda@", name="from", schemas=""),
    ),
    "instance": layer("", prim("instanceable = true\nprepend references = @TO/part.usda@")),
    "relocate": layer(
        "relocates = {</all/inner>: </all/body>}",
        prim("prepend references = @TO/nested.usda@", name="all", schemas=""),
    ),
    "clip": layer(
        "",
        prim(
            clips("asset[] assetPaths = [@TO/clip.0.usda@]\nasset manifestAssetPath = @TO/clip.0.usda@"), MASS
        ),
    ),
    "clip_without_a_manifest": layer("", prim(clips("asset[] assetPaths = [@TO/clip.0.usda@]"), MASS)),
    "clips_of_a_template": layer("", prim(TEMPLATE, MASS)),
    "package": layer("", prim("prepend references = @TO/package.usdz@")),
    "layer_of_a_package": layer("", prim("prepend references = @TO/package.usdz[part.usda]@")),
    "folder_in_brackets": layer("", prim("prepend references = @TO/[x]/part.usda@")),
    "link": layer("", prim("prepend references = @./link-of-TO.usda@")),
}

BALL = '<body name="q"><joint/><geom size="1"/></body>'
MODELS = {
    "include": '<mujoco><worldbody><include file="TO/part.xml"/></worldbody></mujoco>',
    "included_include": '<mujoco><worldbody><include file="KIND/include.xml"/></worldbody></mujoco>',
    "attached": '<mujoco><asset><model name="x" file="TO/whole.xml"/></asset>'
    '<worldbody><frame><attach model="x" prefix="p"/></frame></worldbody></mujoco>',
    **{
        f"attached_{what}": f'<mujoco><asset><model name="x" file="KIND/{what}.xml"/></asset>'
        '<worldbody><frame><attach model="x" prefix="p"/></frame></worldbody></mujoco>'
        for what in ("whole_include", "whole_mesh", "whole_meshdir", "whole_attached")
    },
    "mesh": '<mujoco><asset><mesh name="m" file="TO/part.stl"/></asset>'
    '<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
    "mesh_without_a_name": '<mujoco><asset><mesh file="TO/part.stl"/></asset>'
    '<worldbody><body><joint/><geom type="mesh" mesh="part"/></body></worldbody></mujoco>',
    "meshdir": '<mujoco><compiler meshdir="TO"/><asset><mesh name="m" file="part.stl"/></asset>'
    '<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
    "assetdir": '<mujoco><compiler strippath="true" assetdir="TO"/><asset><mesh name="m" file="a/part.stl"/></asset>'
    '<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
    "texture": '<mujoco><asset><texture name="t" type="2d" file="TO/part.png"/></asset>'
    f"<worldbody>{BALL}</worldbody></mujoco>",
    "side_of_a_texture": '<mujoco><asset><texture name="t" type="cube" fileright="TO/part.png" fileleft="TO/part.png" '
    'fileup="TO/part.png" filedown="TO/part.png" filefront="TO/part.png" fileback="TO/part.png"/></asset>'
    f"<worldbody>{BALL}</worldbody></mujoco>",
    "height_field": '<mujoco><asset><hfield name="h" file="TO/part.png" size="1 1 1 1"/></asset>'
    f'<worldbody><geom type="hfield" hfield="h"/>{BALL}</worldbody></mujoco>',
    "flexible": f'<mujoco><worldbody>{BALL}<body name="soft"><flexcomp name="f" type="mesh" file="TO/part.obj" '
    'mass="1" dim="2"><edge equality="false"/></flexcomp></body></worldbody></mujoco>',
    "replicate": '<mujoco><asset><mesh name="m" file="TO/part.stl"/></asset><worldbody><replicate count="2" '
    'offset="9 0 0"><body><joint/><geom type="mesh" mesh="m"/></body></replicate></worldbody></mujoco>',
    "link": '<mujoco><worldbody><include file="link-of-TO.xml"/></worldbody></mujoco>',
}
#: What a document in the repository names, for what is named in a second document.
INNER = {
    "include": '<mujoco><include file="TO/part.xml"/></mujoco>',
    "whole_include": f'<mujoco><worldbody><include file="TO/part.xml"/>{BALL}</worldbody></mujoco>',
    "whole_mesh": MODELS["mesh"],
    "whole_meshdir": MODELS["meshdir"],
    "whole_attached": MODELS["attached"],
}
KINDS = {"relative": "../../outside", "absolute": "{root}/outside", "twin": "../parts"}
CASES = [*(f"{name}.usda" for name in STAGES), *(f"{name}.xml" for name in MODELS)]


def fill(folder: Path, mass: float) -> None:
    """Write the files that models name."""
    part = layer("", prim("", f'{MASS} = {mass}\ndef Scope "{NAME if mass == CANARY else "own"}" {{\n}}'))
    folder.mkdir()
    (folder / "[x]").mkdir()
    for name in ("part.usda", "[x]/part.usda"):
        (folder / name).write_text(part)
    inner = prim("", prim("", f"{MASS} = {mass}", "inner"), schemas="")
    (folder / "nested.usda").write_text(layer("", inner))
    clip = f'#usda 1.0\ndef Xform "body"\n{{\n{MASS}.timeSamples = {{\n0: {mass},\n1: {mass},\n}}\n}}\n'
    for k in (0, 1):
        (folder / f"clip.{k}.usda").write_text(clip)
    package = pxr.ZipFileWriter.CreateNew(str(folder / "package.usdz"))
    package.AddFile(str(folder / "part.usda"), "part.usda")
    package.Save()
    name = NAME if mass == CANARY else "own"
    body = f'<body name="{name}"><joint name="j_{name}"/><geom size="1" mass="{mass}"/></body>'
    (folder / "part.xml").write_text(f"<mujocoinclude>{body}</mujocoinclude>")
    (folder / "whole.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    points = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    rows = (struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in points[k]), 0) for face in faces)
    (folder / "part.stl").write_bytes(NAME.encode().ljust(80) + struct.pack("<I", 4) + b"".join(rows))
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in points) + "".join(
        f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces
    )
    (folder / "part.obj").write_text(obj)
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).convert("RGB").save(folder / "part.png")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a repository of models in a folder of their kind, and the canary beside it."""
    root = tmp_path_factory.mktemp("border")
    repository = root / "repository"
    (repository / ".git").mkdir(parents=True)
    fill(root / "outside", CANARY)
    fill(repository / "parts", TWIN)
    (repository / "parts" / "indirect.usda").write_text(
        layer("", prim('prepend references = @`"${X}.usda"`@', schemas=""))
    )
    for kind, to in KINDS.items():
        folder = repository / kind
        (folder / "KIND").mkdir(parents=True)
        target = to.format(root=root)
        for name, text in STAGES.items():
            (folder / f"{name}.usda").write_text(
                text.replace("link-of-TO", ".links/link").replace("TO", target)
            )
        for name, text in MODELS.items():
            (folder / f"{name}.xml").write_text(
                text.replace("link-of-TO", ".links/link").replace("TO", target)
            )
        for name, text in INNER.items():
            # includes start from the model, attached models from themselves
            deeper = target if kind == "absolute" or name == "include" else f"../{target}"
            (folder / "KIND" / f"{name}.xml").write_text(text.replace("TO", deeper))
        # in a hidden folder, which is not linted itself
        (folder / ".links").mkdir()
        for ending in ("usda", "xml"):
            part = Path(target if kind == "absolute" else folder / target, f"part.{ending}")
            (folder / ".links" / f"link.{ending}").symlink_to(part)
    return root


def path_of(root: Path, kind: str, case: str) -> Path:
    return root / "repository" / kind / case


@pytest.mark.parametrize("case", CASES)
def test_the_twin_in_the_repository_is_read(
    root: Path, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(root, "twin", case)
    scene = mb.load(path)
    if case.endswith(".usda"):
        assert [body.mass for body in scene.mechanism.bodies if body.name == "body"] == [TWIN]
        return
    # what MuJoCo makes of the file when it reads all files itself; its warnings go to a file in the working folder
    monkeypatch.chdir(tmp_path)
    expected = mujoco.MjModel.from_xml_path(str(path))
    request = Request(str(path))
    found = compile_mjcf(model_files(path.read_text(), request), request)
    for name in (
        "body_mass",
        "body_inertia",
        "body_ipos",
        "mesh_vert",
        "hfield_data",
        "tex_data",
        "flex_vert",
        "qpos0",
    ):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert bytes(found.names) == bytes(expected.names)


@pytest.mark.parametrize("kind", ["relative", "absolute"])
@pytest.mark.parametrize("case", CASES)
def test_the_neighbour_is_refused(root: Path, kind: str, case: str) -> None:
    with pytest.raises(UnresolvedPath, match="outside the model's package") as caught:
        mb.load(path_of(root, kind, case))
    assert NAME not in str(caught.value) and "4242" not in str(caught.value)


def run(root: Path, *args: str, cwd: Path) -> tuple[int, str, list[str]]:
    """Return the exit code of the command, all that it wrote, and the lines in which files were opened."""
    made = root / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    trace = (
        ["strace", "-f", "-e", "trace=open,openat", "-o", str(made / "trace")]
        if shutil.which("strace")
        else []
    )
    reports = [
        x for format in ("json", "sarif", "html") for x in ("--report", f"{format}={made / ('r.' + format)}")
    ]
    done = subprocess.run(
        [*trace, sys.executable, "-P", "-m", "mbplugin", "lint", *args, *reports],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
    )
    opened = calls((made / "trace").read_text()) if trace and (made / "trace").exists() else []
    written = [file.read_text() for file in made.iterdir() if file.name != "trace"]
    return done.returncode, "\n".join((done.stdout, done.stderr, *written)), opened


def calls(trace: str) -> list[str]:
    """Return the lines of a trace, a call in one line where another process came between its beginning and its end."""
    begun: dict[str, str] = {}
    lines = []
    for line in trace.splitlines():
        process, _, rest = line.partition(" ")
        if rest.endswith(" <unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>")
        elif process in begun and rest.lstrip().startswith("<..."):
            lines.append(begun.pop(process) + rest.partition("resumed>")[2])
        else:
            lines.append(line)
    # one that never came back may have opened its file
    return [*lines, *begun.values()]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["relative", "absolute"])
def test_nothing_of_the_neighbour_is_opened_or_told(root: Path, kind: str) -> None:
    # by name too: what does not look like a mechanism before it is composed is passed over in a folder
    named = [str(path_of(root, kind, case)) for case in CASES if case.endswith(".usda")]
    code, text, opened = run(root, f"repository/{kind}", *named, cwd=root)
    assert code == 2
    assert NAME not in text and "4242" not in text
    assert all(path_of(root, kind, case).name in text for case in CASES)
    assert not [line for line in opened if "outside/" in line and " = -1 " not in line]


@pytest.mark.long
def test_nothing_is_looked_up_in_the_working_folder(root: Path) -> None:
    lonely = root / "repository" / "lonely"
    lonely.mkdir(exist_ok=True)
    (lonely / "a.usda").write_text(layer("subLayers = [@part.usda@, @./part.usda@]", prim()))
    (lonely / "b.usda").write_text(layer("", prim("prepend references = @part.usda@"), prim(name="other")))
    for name in ("attached", "include", "mesh"):
        (lonely / f"{name}.xml").write_text(MODELS[name].replace("TO/", ""))
    code, text, opened = run(root, str(lonely), cwd=root / "outside")
    assert code == 2
    assert NAME not in text and "4242" not in text
    assert not [
        line
        for line in opened
        if ("outside/" in line and " = -1 " not in line) or re.search(r'AT_FDCWD, "(part|whole)\.', line)
    ]


def test_a_text_is_a_file_of_the_working_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "repository" / "twin")
    for case in ("reference.usda", "expression.usda", "attached.xml"):
        text = Path(case).read_text()
        assert any(body.mass == TWIN for body in load_text("given", text=text).mechanism.bodies)
        outside = text.replace("../parts", "../../outside")
        with pytest.raises(MbPluginError, match="outside the model's package"):
            load_text("given", text=outside)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("first", ["hull.usda", "attached_whole_mesh.xml", "package.usda", "clip.usda"])
def test_what_an_engine_needs_is_open_before_it_may_open_nothing_more(root: Path, first: str) -> None:
    """A library, a schema or a module that is loaded too late would change what is read."""
    models = root / "repository" / "several"
    models.mkdir(exist_ok=True)
    points = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"
    faces = "int[] faceVertexCounts = [3, 3, 3]\nint[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2]"
    solid = f'def Mesh "solid" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n{points}\n{faces}\n}}'
    (models / "hull.usda").write_text(layer("", prim("", solid)))
    for case in ("attached_whole_mesh.xml", "package.usda", "clip.usda"):
        shutil.copy(path_of(root, "twin", case), models / case)
    shutil.copytree(root / "repository" / "twin" / "KIND", models / "KIND", dirs_exist_ok=True)
    for file in sorted(models.glob("*.*")):
        _, _, opened = run(root, str(file), cwd=root)
        refused = [line for line in opened if "EMFILE" in line]
        # the number of processors, which C++ asks for and does without
        assert not [
            line for line in refused if "/sys/devices/system/cpu" not in line and "/proc/stat" not in line
        ]


@pytest.mark.parametrize(
    "data", [b'#usda 1.0\ndef Xform "a\xc2x" {\n}\n', b'#usda 1.0\ndef Xform "a" {\n\xff']
)
def test_a_byte_that_is_not_utf8_is_one_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "robot.usda").write_bytes(data)
    with pytest.raises(BrokenModel, match=r"robot\.usda:[23]: .*not UTF-8|cannot open the layer") as caught:
        mb.load(tmp_path / "robot.usda")
    assert str(caught.value).count("\n") == 0
    assert mb.lint(tmp_path / "robot.usda").exit_code == 2


def test_a_model_that_attaches_itself_is_refused(tmp_path: Path) -> None:
    text = MODELS["attached"].replace("TO/whole.xml", "robot.xml")
    (tmp_path / "robot.xml").write_text(text)
    with pytest.raises(BrokenModel, match="attaches itself"):
        mb.load(tmp_path / "robot.xml")
