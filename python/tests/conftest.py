import os
import pathlib

import pytest

import costate

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCENE = """costate = 1
name = "drop"

[option]
timestep = 2e-4
duration = 0.05

[soft.block]                       # comments stay
grid = { cells = [2, 2, 2], cell = [0.05, 0.05, 0.05] }
position = [0.0, 0.0, 0.002]
velocity = [0.3, 0.0, -1.0]
material = "stable-neo-hookean"
young = 2e4
poisson = 0.4
density = 1000.0
damping = 2.0

[soft.block.regions]
top = { side = "z+" }

[soft.block.load.push]
at = "top"

[geom.floor]
type = "plane"
friction = 0.3
slip_speed = 0.2
"""


@pytest.fixture(scope="session")
def scene(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenes") / "drop.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="session")
def model(scene):
    return costate.load(scene)


@pytest.fixture(scope="session")
def program():
    """The compiled program, to compare with."""
    path = os.environ.get("COSTATE_PROGRAM")
    if not path:
        pytest.skip("COSTATE_PROGRAM does not name the program")
    return path
