"""A saved trajectory whose arrays do not fit each other is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbplugin.errors import UnreadableFile
from mbplugin.stopping.scenario.start import read_recording


@pytest.mark.parametrize("names", [np.array("j1"), np.array(["j1", "j2"]), np.array([])])
def test_names_that_do_not_fit_the_columns_are_refused(names: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "motion.npz"
    rows = np.zeros((3, 1))
    np.savez(path, time=np.arange(3.0), q=rows, qd=rows, q_names=names, qd_names=names)
    with pytest.raises(UnreadableFile, match="the arrays cannot be read"):
        read_recording(path, ["j1"])
