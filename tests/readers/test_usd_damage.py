"""What OpenUSD refuses while a stage is read is one sentence that names the file."""

from __future__ import annotations

import pytest

import mbplugin as mb
from mbplugin.errors import MbPluginError
from mbplugin.readers import load

pytest.importorskip("pxr.Sdf")

STAGE = """#usda 1.0
(metersPerUnit = 1)
def Xform "robot"
{
    def Xform "body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        %s
        def %s (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = %s
            double height = 1
        }
    }
}
"""


@pytest.mark.parametrize("order", ['"none"', '"<>"', '"xformOp:turn"', '"xformOp:translate"'])
def test_an_operation_that_is_none_is_a_sentence(order: str) -> None:
    text = STAGE % (f"uniform token[] xformOpOrder = [{order}]", 'Capsule "c"', "1")
    try:
        scene = load("body.usda", text=text)
    except MbPluginError as error:
        assert "xformOpOrder" in str(error) and "body.usda" in str(error)
    else:
        # OpenUSD passes over an operation whose attribute is not there
        assert len(scene.mechanism.bodies) == 1


def test_a_solid_beyond_all_numbers_is_refused() -> None:
    for kind in ("Capsule", "Cylinder", "Cone"):
        text = STAGE % ("", f'{kind} "c"', "1e300")
        with pytest.raises(MbPluginError, match="too large for a mass"):
            mb.analyze(load("body.usda", text=text))
