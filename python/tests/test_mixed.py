"""Soft bodies and robots in one scene."""

import numpy as np
import pytest

import costate


def test_forces_act_on_both_sides(mixed, hammer_file):
    assert mixed.vertex_count == 27 and list(mixed.joints) == ["hinge"]
    together = costate.rollout(mixed, steps=60)
    alone = costate.rollout(costate.load(hammer_file), steps=60)
    assert together.qpos.shape == (61, 1) and together.positions.shape == (61, 27, 3)
    # The block holds the hammer up, and the hammer presses the block down.
    assert together.qvel[-1, 0] < alone.qvel[-1, 0] - 0.01
    free = costate.rollout(mixed, {f"geom.{g}.soft.{k}": 0.0 for g in ("head", "rod")
                                   for k in ("stiffness", "damping")}, steps=60)
    np.testing.assert_allclose(free.qvel, alone.qvel, atol=1e-12)
    assert together.velocities[5, :, 2].sum() < free.velocities[5, :, 2].sum() - 0.01


def test_the_contact_of_a_robots_geom_is_observed(mixed):
    signals = {"f": {"contact_force": {"geom": "head", "body": "block"}}, "e": {"energy": True}}
    motion = costate.rollout(mixed, steps=20, signals=signals)
    assert motion.signals["f.z"].min() < -1.0
    value, slopes = costate.jacobian(
        mixed, {"geom.head.mass": 0.1}, signals=signals, times=[0.004, 0.0071])
    at = lambda mass: costate.rollout(mixed, {"geom.head.mass": mass}, steps=20, signals=signals, times=[0.004, 0.0071])
    for name in ("f.z", "e"):
        difference = (at(0.1 + 1e-6).signals[name] - at(0.1 - 1e-6).signals[name]) / 2e-6
        np.testing.assert_allclose(slopes[name]["geom.head.mass"], difference, rtol=1e-5, atol=1e-7)


def test_gradients_by_both_sides_against_differences(mixed):
    def loss(motion):
        q = np.zeros_like(motion.q)
        q[-1] = 2.0 * motion.q[-1]
        return (motion.q[-1] ** 2).sum(), {"q": q}

    paths = ["geom.head.mass", "soft.block.young", "geom.rod.soft.damping", "geom.head.size"]
    value, gradient = costate.value_and_grad(loss, mixed, wrt=paths, steps=60)
    for path in paths:
        x = np.asarray(mixed[path], dtype=float)
        ends = [costate.rollout(mixed, {path: x * (1.0 + s)}, steps=60).q[-1] for s in (1e-4, -1e-4)]
        difference = ((ends[0] ** 2).sum() - (ends[1] ** 2).sum()) / 2e-4
        along = float((np.asarray(gradient[path]) * x).sum())
        assert along == pytest.approx(difference, rel=1e-5), path


def test_scenes_are_saved_and_read(mixed, tmp_path):
    changed = mixed.with_parameters({"geom.head.soft.stiffness": 800.0, "soft.block.young": 1.5e4})
    changed.save(tmp_path / "mixed.toml")
    back = costate.load(tmp_path / "mixed.toml")
    assert back["geom.head.soft.stiffness"] == 800.0
    assert costate.rollout(back, steps=20).q.tobytes() == costate.rollout(changed, steps=20).q.tobytes()


def test_faults_name_the_geom(hammer_file):
    with pytest.raises(costate.BadInput, match="robot="):
        costate.Builder().touch("head")
    scene = costate.Builder(robot=hammer_file).grid(
        "block", (1, 1, 1), size=(1, 1, 1), material="neo-hookean", young=1e4, poisson=0.3, density=1.0)
    with pytest.raises(costate.BadInput, match="known: head, rod"):
        scene.touch("face").build()
