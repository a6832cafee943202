import numpy as np
import pytest

import costate
from conftest import SCENE


def test_the_builder_makes_what_the_file_says(model):
    scene = costate.Builder("drop", timestep=2e-4, duration=0.05)
    scene.grid(
        "block", cells=(2, 2, 2), cell=np.full(3, 0.05), position=[0.0, 0.0, 0.002], velocity=(0.3, 0, -1.0),
        material="stable-neo-hookean", young=2e4, poisson=0.4, density=1000.0, damping=2.0,
        regions={"top": {"side": "z+"}}, load={"push": {"at": "top"}})
    scene.plane("floor", friction=0.3, slip_speed=0.2)
    built = scene.build()
    assert costate.rollout(built, steps=100).q.tobytes() == costate.rollout(model, steps=100).q.tobytes()
    assert list(built.leaves) == list(model.leaves)


def test_built_scenes_are_saved_and_read(tmp_path):
    rng = np.random.default_rng(0)
    vertices = rng.normal(size=(4, 3))
    scene = costate.Builder("cage", timestep=1e-5)
    scene.springs("cage", vertices, [[0, 1], [0, 2], [0, 3], [1, 2]], stiffness=np.array([100, 90.5, 80, 70]),
                  damping=0.1, vertex_mass=0.01)
    scene.cloth("flag", cells=(2, 2), size=(0.2, 0.2), position=(0, 0, 3), fixed={"side": "x-"},
                membrane={"density": 0.2}, bending={"stiffness": 1e-4})
    scene.sphere("ball", 0.1).box("brick", [0.1, 0.2, 0.3], pos=[1, 0, 0]).capsule("post", 0.1, 0.2, pos=[2, 0, 0])
    built = scene.build()
    built.save(tmp_path / "cage.toml")
    back = costate.load(tmp_path / "cage.toml")
    assert costate.rollout(back, steps=20).q.tobytes() == costate.rollout(built, steps=20).q.tobytes()
    np.testing.assert_array_equal(back["soft.cage.rest_position"], vertices)


def test_meshes_from_arrays():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]) * 0.1
    scene = costate.Builder().mesh(
        "tet", vertices, tetrahedra=[[0, 1, 2, 3]], material="neo-hookean", mu=1e4, **{"lambda": 2e4}, density=1e3)
    model = scene.build()
    assert model.vertex_count == 4 and model["soft.tet.mu"] == 1e4
    with pytest.raises(costate.BadInput, match=r"soft.tet.tetrahedra: expected an array \[n, 4\], found shape"):
        costate.Builder().mesh("tet", vertices, tetrahedra=[[0, 1, 2]])
    with pytest.raises(costate.BadInput, match="tetrahedron"):
        costate.Builder().mesh("tet", vertices, tetrahedra=[[0, 2, 1, 3]], material="neo-hookean", mu=1.0,
                               **{"lambda": 1.0}, density=1.0).build()


def test_faults_name_the_key():
    scene = costate.Builder().grid("a", (1, 1, 1), size=(1, 1, 1), material="neo-hookean", yung=1.0, density=1.0)
    with pytest.raises(costate.BadInput, match="soft.a") as caught:
        scene.build()
    assert "<scene>" not in str(caught.value)
    with pytest.raises(costate.BadInput, match="taken"):
        scene.grid("a", (1, 1, 1), size=(1, 1, 1))
    with pytest.raises(costate.BadInput, match="a set has no place"):
        costate.Builder().plane("floor", friction={1}).build()


def test_toml_survives_odd_values(tmp_path):
    name = 'quo"te \\ and\nlines \u00e9'
    model = costate.Builder(name).grid(
        "a", (1, 1, 1), size=(1, 1, 1), material="neo-hookean", young=np.float32(1e4), poisson=0.3, density=1000,
        regions={"half": {"box": [[-np.inf, 0, 0], [0.5, 1, np.inf]]}}).build()
    assert model.name == name and SCENE
