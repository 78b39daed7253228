"""A live PyBullet scene gets the same verdict as its files."""

import pytest

import mbplugin as mb
from live_clients import Client, client, load_minitaur
from places import ASSETS

__all__ = ["client"]


@pytest.mark.parametrize(("fixed", "dof"), [(True, 8), (False, 14)])
def test_a_live_minitaur_has_the_verdict_of_its_scene_file(client: Client, fixed: bool, dof: int):
    load_minitaur(client, fixed)
    live = mb.analyze(mb.load(client.id))
    file = mb.analyze(mb.load(ASSETS / "minitaur.scene.toml", base="fixed" if fixed else "free"))
    assert (live.degree_of_redundancy, live.structural_redundancy, live.dof) == (4, 4, dof)

    def by_bodies(analysis):
        """Closures have no names in PyBullet, and its constraints may run the other way."""
        return {
            frozenset((v.body_a, v.body_b)): (v.reaction, v.indeterminate_dim) for v in analysis.constraints
        }

    assert by_bodies(live) == by_bodies(file)
    assert set(live.bodies) == set(file.bodies)
    assert [p.degree_of_redundancy for p in live.plateaus] == [0, 4]


def test_linting_a_live_client_gives_a_report_without_lines(client: Client):
    load_minitaur(client)
    report = mb.lint(client.id)
    assert report.exit_code in (0, 1)
    assert report.analysis.degree_of_redundancy == 4
    assert "MB201" in {f.code for f in report.findings}
