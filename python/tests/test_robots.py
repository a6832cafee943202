import pickle

import numpy as np
import pytest

import costate
from conftest import ROOT

MODELS = ROOT / "crates/dynamics/tests/data/mujoco/models"
EVERYTHING = ["contact"]


@pytest.fixture(scope="module")
def pendulum():
    return costate.load(MODELS / "double_pendulum.xml", allow=EVERYTHING)


@pytest.fixture(scope="module")
def top():
    return costate.load(MODELS / "ball_top.xml", allow=EVERYTHING)


def test_a_robot_is_a_model_like_any_other(pendulum):
    joints = pendulum.joints
    assert len(joints) == 2 and all(j.kind == "hinge" for j in joints.values())
    assert pendulum.vertex_count == 0 and "2 joints" in repr(pendulum)
    motion = costate.rollout(pendulum, steps=50)
    assert motion.qpos.shape == motion.qvel.shape == (51, 2) and motion.positions.shape == (51, 0, 3)
    assert motion.act.shape == (51, 0)
    state = motion.state(20)
    again = costate.rollout(pendulum, initial=state, steps=30)
    assert again.q[-1].tobytes() == motion.q[-1].tobytes()
    assert costate.step(pendulum, state).q.tobytes() == motion.q[21].tobytes()
    twin = pickle.loads(pickle.dumps(pendulum))
    assert costate.rollout(twin, steps=50).q.tobytes() == motion.q.tobytes()


def weighted(motion):
    w = np.cos(1.0 + np.arange(motion.q.size)).reshape(motion.q.shape)
    u = np.sin(2.0 + np.arange(motion.v.size)).reshape(motion.v.shape)
    w[0], u[0] = 0.0, 0.0
    return (w * motion.q).sum() + (u * motion.v).sum(), {"qpos": w, "qvel": u}


@pytest.mark.parametrize("name", ["pendulum", "top"])
def test_gradients_by_state_and_parameters_against_differences(name, request):
    model = request.getfixturevalue(name)
    start = model.initial_state()
    rng = np.random.default_rng(0)
    v = start.v + 0.3 * rng.normal(size=start.v.shape)
    options = dict(steps=30, every=10)
    value = lambda q=start.q, v=v, p=None: costate.value_and_grad(
        weighted, model, p, wrt=["option.gravity"], initial=(q, v), **options)
    gradient = value()[1]
    gravity = model["option.gravity"]
    for bar, along, f in [
        (gradient.initial.q, rng.normal(size=start.q.shape), lambda s, d: value(q=start.q + s * d)[0]),
        (gradient.initial.v, rng.normal(size=v.shape), lambda s, d: value(v=v + s * d)[0]),
        (gradient["option.gravity"], rng.normal(size=3), lambda s, d: value(p={"option.gravity": gravity + s * d})[0]),
    ]:
        if bar is gradient.initial.q and name == "top":
            # A quaternion moves along the sphere.
            along -= start.q * (start.q @ along) / (start.q @ start.q)
        h = 1e-5
        slope = (f(h, along) - f(-h, along)) / (2 * h)
        assert (bar * along).sum() == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["pendulum", "top"])
def test_tangents_agree_with_adjoints(name, request):
    model = request.getfixturevalue(name)
    start = model.initial_state()
    rng = np.random.default_rng(1)
    q, v, g = rng.normal(size=start.q.shape), rng.normal(size=start.v.shape), rng.normal(size=3)
    motion, dot = costate.jvp(model, tangents={"option.gravity": g}, initial=start, initial_tangent=(q, v), steps=20)
    _, back = costate.vjp(model, wrt=["option.gravity"], initial=start, steps=20)
    bar = weighted(motion)[1]
    gradient = back(bar)
    left = (bar["qpos"] * dot.qpos).sum() + (bar["qvel"] * dot.qvel).sum()
    right = gradient["option.gravity"] @ g + gradient.initial.q @ q + gradient.initial.v @ v
    assert left == pytest.approx(right, rel=1e-9)


def test_masses_of_a_robot_are_leaves(pendulum):
    paths = [p for p in pendulum.leaves if p.startswith(("body.", "geom.", "joint."))]
    assert paths
    checks = costate.check_gradient(pendulum, steps=20)
    assert any(c.influences for c in checks) and all(c.passes for c in checks), [c for c in checks if not c.passes]


def test_files_that_nothing_reads_are_told(tmp_path):
    (tmp_path / "robot.step").write_text("")
    with pytest.raises(costate.BadInput, match=r"\.toml or \.xml"):
        costate.load(tmp_path / "robot.step")
