import copy
import pickle

import numpy as np
import pytest

import costate


def test_leaves_are_a_mapping_with_units_shapes_and_bounds(model):
    leaf = model.leaves["soft.block.young"]
    assert (leaf.value, leaf.unit, leaf.shape) == (2e4, "Pa", ())
    assert leaf.bounds == (0.0, float("inf"))
    assert leaf.element == "tetrahedron" and leaf.count == 40
    assert "young" in str(model.leaves) and "Pa" in str(model.leaves)
    assert model.leaves["option.gravity"].shape == (3,)
    assert len(model.leaves) == len(list(model.leaves)) == len(model.parameters)
    assert "soft.block.young" in model.parameters and "nothing" not in model.parameters
    assert model.parameters.get("nothing", 7) == 7


def test_setting_gives_a_new_model_and_derived_quantities_follow(model):
    heavy = model.with_parameters({"soft.block.density": 2000.0})
    assert heavy["soft.block.density"] == 2000.0 and model["soft.block.density"] == 1000.0
    assert heavy["soft.block.mass"] == pytest.approx(2 * model["soft.block.mass"], rel=1e-12)
    with pytest.raises(costate.BadInput, match="must be greater than 0"):
        model.with_parameters({"soft.block.density": -1.0})


def test_other_views_and_fields(model):
    viewed = model.with_parameters({"soft.block.mu": 5e3})
    assert viewed["soft.block.mu"] == 5e3 and "soft.block.young" not in viewed.leaves
    field = np.linspace(1e4, 3e4, 40)
    varied = model.with_parameters({"soft.block.young": field})
    np.testing.assert_array_equal(varied["soft.block.young"], field)
    with pytest.raises(costate.BadInput, match="two views of the same quantity"):
        model.with_parameters({"soft.block.mu": 5e3, "soft.block.young": 1e4})


def test_saving_keeps_comments_and_bits(model, tmp_path):
    changed = model.with_parameters({"soft.block.young": 1e4 / 3, "geom.floor.friction": 0.1 + 0.2})
    changed.save(tmp_path / "changed.toml")
    assert "# comments stay" in (tmp_path / "changed.toml").read_text()
    back = costate.load(tmp_path / "changed.toml")
    assert back["soft.block.young"] == 1e4 / 3 and back["geom.floor.friction"] == 0.1 + 0.2


def test_pickling_and_copying(model):
    changed = model.with_parameters({"soft.block.mu": 5e3}).with_timestep(1e-4)
    for twin in [pickle.loads(pickle.dumps(changed)), copy.deepcopy(changed)]:
        assert twin.timestep == 1e-4
        assert costate.rollout(twin, steps=50).q.tobytes() == costate.rollout(changed, steps=50).q.tobytes()


def test_what_the_model_says_of_itself(model):
    assert model.bodies == ["block"] and model.vertices("block") == slice(0, 27)
    assert [c.name for c in model.inputs] == ["soft.block.load.push"]
    bound, limited_by = model.stable_step()
    assert bound > model.timestep and limited_by
    assert model.triangles.shape == (48, 3)
    assert "27 vertices" in repr(model)


def test_errors_have_the_words_of_the_rust_side(scene, tmp_path):
    with pytest.raises(costate.BadInput, match="cannot open") as caught:
        costate.load(tmp_path / "nothing.toml")
    assert caught.value.kind == "io"
    with pytest.raises(costate.BadInput, match=r"ends in \.toml"):
        costate.load(tmp_path / "nothing.json")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(scene.read_text().replace("friction = 0.3", "frictoin = 0.3"))
    with pytest.raises(costate.BadInput, match="frictoin") as caught:
        costate.load(wrong)
    assert (caught.value.line, caught.value.column) == (26, 1)
    assert caught.value.file == str(wrong) and isinstance(caught.value, (ValueError, costate.CostateError))


def test_an_unknown_leaf_is_told_with_its_neighbours(model):
    with pytest.raises(costate.UnknownName, match="did you mean `soft.block.young`"):
        model["soft.block.yung"]
    with pytest.raises(LookupError):
        model.with_parameters({"soft.block.yung": 1.0})


def test_a_motion_as_a_picture(model, tmp_path):
    motion = costate.rollout(model, steps=0)
    picture = model.gif(motion, tmp_path / "motion.gif")
    assert picture.startswith(b"GIF89a") and (tmp_path / "motion.gif").read_bytes() == picture


def test_parameters_compare(model):
    assert pickle.loads(pickle.dumps(model)).parameters == model.parameters
    assert model.with_parameters({"soft.block.young": 3e4}).parameters != model.parameters
    assert model.parameters != 3


def test_a_model_is_saved_as_its_own_kind(model, tmp_path):
    with pytest.raises(costate.BadInput, match="ends in .toml"):
        model.save(tmp_path / "drop.xml")
    assert not (tmp_path / "drop.xml").exists()


def test_settings_are_no_leaves(model):
    with pytest.raises(costate.UnknownName, match="is a setting"):
        model.with_parameters({"option.timestep": 1e-4})
