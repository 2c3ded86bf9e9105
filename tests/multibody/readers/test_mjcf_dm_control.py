"""Every model of dm_control's suite has MuJoCo's accelerations: limits, contacts and actuation off."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from zwang import multibody as mb
from zwang.errors import ModelFileError

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
from tests.multibody.readers.beside_mujoco import gap_between, random_state  # noqa: E402

SPEC = find_spec("dm_control")
SUITE = sorted((Path(SPEC.submodule_search_locations[0]) / "suite").glob("*.xml")) if SPEC else []


@pytest.mark.parametrize("path", SUITE, ids=lambda p: p.stem)
def test_a_model_of_the_suite_moves_as_in_mujoco(path):
    m, rng = mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(0)
    if m.nv == 0:  # to which its Python code adds bodies
        with pytest.raises(ModelFileError, match="nothing in it can move"):
            mb.read_mjcf(path)
        return
    model = mb.read_mjcf(path)
    for _ in range(3):
        assert gap_between(model, m, random_state(m, rng)) < 1e-9
