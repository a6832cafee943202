import numpy as np
import pytest

import costate

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import costate.jax  # noqa: E402

PUSH = "soft.block.load.push"
YOUNG = "soft.block.young"
SIGNALS = {"tip": {"position": {"vertex": 26}}, "e": {"energy": True}}


def test_the_numbers_are_those_of_numpy(model):
    simulate = costate.jax.rollout(model, steps=50, signals=SIGNALS)
    plain = costate.rollout(model, {YOUNG: 2.5e4}, steps=50, signals=SIGNALS)
    for f in (simulate, jax.jit(simulate)):
        motion = f({YOUNG: 2.5e4})
        assert np.asarray(motion.q).tobytes() == plain.q.tobytes()
        np.testing.assert_array_equal(motion.signals["e"], plain.signals["e"])
    assert motion.positions.shape == (51, 27, 3)


def test_check_grads_by_parameters_initial_state_and_controls(model):
    start = model.initial_state()
    simulate = costate.jax.rollout(model, steps=8, every=4, signals=SIGNALS, times=[0.001, 0.0015])

    def f(log_young, gravity, q, v, push):
        motion = simulate(
            {YOUNG: jnp.exp(log_young), "option.gravity": gravity}, initial=(q, v), controls={PUSH: push})
        return motion.q * 1e2, motion.v, motion.signals["tip.x"] * 1e2, motion.signals["e"]

    push = np.random.default_rng(0).normal(size=(8, 3))
    arguments = (np.log(2e4), np.array([0, 0, -9.81]), start.q, start.v, push)
    check_grads(f, arguments, order=1, modes=["rev"], atol=1e-5, rtol=1e-5, eps=1e-6)


def test_jit_grad_and_vmap_compose(model):
    simulate = costate.jax.rollout(model, steps=60)
    loss = lambda young: (simulate({YOUNG: young}).positions[-1] ** 2).sum()
    youngs = jnp.array([1e4, 2e4, 3e4])
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(loss)))(youngs)
    for young, value, slope in zip(youngs, values, slopes):
        one = jax.value_and_grad(loss)(young)
        np.testing.assert_allclose([value, slope], one, rtol=1e-12)
    reference = costate.value_and_grad(
        lambda m: ((m.q[-1] ** 2).sum(), {"q": np.vstack([np.zeros((60, 81)), 2 * m.q[-1:]])}),
        model, {YOUNG: 2e4}, steps=60)
    assert float(slopes[1]) == pytest.approx(reference[1][YOUNG], rel=1e-12)


def test_jacrev_and_fields(model):
    simulate = costate.jax.rollout(model, steps=20, every=None, signals=SIGNALS, times=[0.002, 0.004])
    f = lambda young: simulate({YOUNG: young}).signals["e"]
    jacobian = jax.jacrev(f)(jnp.full(40, 2e4))
    total = jax.jacrev(f)(2e4)
    assert jacobian.shape == (2, 40)
    np.testing.assert_allclose(jacobian.sum(axis=1), total, rtol=1e-9)
    _, sensitivity = costate.jacobian(model, {YOUNG: 2e4}, signals=SIGNALS, times=[0.002, 0.004])
    np.testing.assert_allclose(total, sensitivity["e"][YOUNG], rtol=1e-9, atol=1e-18)


def test_a_fit_by_gradient_descent(model):
    target = costate.rollout(model, {YOUNG: 2.6e4}, steps=80, every=20).q
    simulate = costate.jax.rollout(model, steps=80, every=20)
    loss = lambda log_young: 1e6 * ((simulate({YOUNG: jnp.exp(log_young)}).q - target) ** 2).mean()
    step = jax.jit(jax.value_and_grad(loss))
    x, (first, slope) = np.log(2e4), step(np.log(2e4))
    # Newton's method on a slope that is known to be exact: secants.
    previous, before = x, slope
    x = x - 0.05 * np.sign(slope)
    for _ in range(12):
        value, slope = step(x)
        if slope == before:
            break
        x, previous, before = x - slope * (x - previous) / (slope - before), x, slope
    assert np.exp(x) == pytest.approx(2.6e4, rel=1e-3) and value < 1e-6 * first


def test_errors_come_through(model):
    simulate = costate.jax.rollout(model, steps=2)
    with pytest.raises(Exception, match="must be greater than 0"):
        jax.block_until_ready(simulate({YOUNG: -1.0}).q)


def test_check_grads_of_robots(robot_case):
    model, parameters, (q, v), controls = robot_case
    simulate = costate.jax.rollout(model, steps=8, every=4)

    def f(parameters, q, v, controls):
        motion = simulate(parameters, initial=(q, v), controls=controls)
        # The start is given, and a quaternion off the sphere is another start.
        return motion.qpos[1:], motion.qvel[1:]

    check_grads(f, (parameters, q, v, controls), order=1, modes=["rev"], atol=2e-6, rtol=1e-5, eps=1e-6)


def test_unknown_names_are_told_as_everywhere(model):
    simulate = costate.jax.rollout(model, steps=4)
    with pytest.raises(costate.UnknownName, match="did you mean `soft.block.young`"):
        jax.jit(lambda x: simulate({"soft.block.yung": x}).q.sum())(1e4)
    with pytest.raises(costate.UnknownName, match="no input 'soft.block.load.pul'"):
        jax.grad(lambda x: simulate(controls={"soft.block.load.pul": x}).q.sum())(jax.numpy.ones(3))
