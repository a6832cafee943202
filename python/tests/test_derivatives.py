import numpy as np
import pytest

import costate

PUSH = "soft.block.load.push"
SIGNALS = costate.Signals({"tip": {"position": {"vertex": 26}}, "e": {"energy": True}})
TIMES = np.linspace(0.0, 0.02, 9)


def loss(motion):
    bar = motion.zeros()
    w = np.cos(np.arange(motion.q.size)).reshape(motion.q.shape)
    bar.q[:] = w
    bar.v[:] = 0.01 * w
    value = (w * motion.q).sum() + 0.01 * (w * motion.v).sum()
    for i, (name, y) in enumerate(motion.signals.items()):
        bar.signals[name][:] = (i + 1.0) * y
        value += (i + 1.0) * 0.5 * (y @ y)
    return value, bar


def best_error(f, x, size, slope):
    """The smallest relative error of fourth-order differences over a sweep of widths."""
    errors = []
    for h in size * np.logspace(-2, -7, 6):
        estimate = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
        errors.append(abs(estimate - slope) / abs(slope))
    return min(errors)


@pytest.mark.parametrize("path", ["soft.block.young", "soft.block.poisson", "soft.block.damping", "soft.block.mass"])
def test_gradient_by_leaves_against_differences(model, path):
    options = dict(steps=60, every=7, signals=SIGNALS, times=TIMES)
    x = model[path]
    _, gradient = costate.value_and_grad(loss, model, {path: x}, **options)
    value = lambda x: costate.value_and_grad(loss, model, {path: x}, **options)[0]
    assert best_error(value, x, x, gradient[path]) < 1e-7
    assert list(gradient.parameters) == [path]


def test_gradient_by_initial_state_and_controls(model):
    start = model.initial_state()
    push = np.random.default_rng(0).normal(size=(60, 3))
    options = dict(steps=60, every=20)
    value = lambda q=start.q, v=start.v, u=push: costate.value_and_grad(
        loss, model, wrt=["option.gravity"], initial=(q, v), controls={PUSH: u}, **options)
    _, gradient = value()
    assert gradient.controls[PUSH].shape == push.shape
    d = np.random.default_rng(1).normal(size=start.q.shape)
    e = np.random.default_rng(2).normal(size=push.shape)
    for bar, along, f in [
        (gradient.initial.q, d, lambda s: value(q=start.q + s * d)[0]),
        (gradient.initial.v, d, lambda s: value(v=start.v + s * d)[0]),
        (gradient.controls[PUSH], e, lambda s: value(u=push + s * e)[0]),
    ]:
        assert best_error(f, 0.0, 1e-2, (bar * along).sum()) < 1e-7
    constant = costate.value_and_grad(loss, model, controls={PUSH: [1.0, 0.0, 0.0]}, **options)[1]
    assert constant.controls[PUSH].shape == (3,)


def test_tangents_agree_with_adjoints(model):
    field = np.linspace(1e4, 3e4, 40)
    start = model.initial_state()
    rng = np.random.default_rng(3)
    push = rng.normal(size=(3,))
    given = dict(parameters={"soft.block.young": field}, initial=start, controls={PUSH: push})
    options = dict(steps=60, every=9, signals=SIGNALS, times=TIMES)
    young, q, v, u = rng.normal(size=40), rng.normal(size=81), rng.normal(size=81), rng.normal(size=3)
    motion, dot = costate.jvp(
        model, tangents={"soft.block.young": young}, initial_tangent=(q, v), control_tangents={PUSH: u},
        **given, **options)
    same, back = costate.vjp(model, **given, **options)
    assert motion.q.tobytes() == same.q.tobytes()
    bar = loss(motion)[1]
    left = (bar.q * dot.q).sum() + (bar.v * dot.v).sum() + sum(bar.signals[k] @ dot.signals[k] for k in bar.signals)
    gradient = back(bar)
    right = (gradient["soft.block.young"] @ young + gradient.initial.q @ q + gradient.initial.v @ v
             + gradient.controls[PUSH] @ u)
    assert left == pytest.approx(right, rel=1e-11)
    again = back(bar)
    assert again["soft.block.young"].tobytes() == gradient["soft.block.young"].tobytes()


def test_little_memory_gives_the_same_bits(model):
    options = dict(steps=100, every=50, wrt=["soft.block.young"])
    full = costate.value_and_grad(loss, model, **options)[1]
    little = costate.value_and_grad(loss, model, memory=40_000, **options)[1]
    assert full["soft.block.young"] == little["soft.block.young"]
    with pytest.raises(costate.BadInput, match="memory budget"):
        costate.value_and_grad(loss, model, memory=100, **options)


def test_jacobian_forward_and_adjoint(model):
    wrt = ["soft.block.young", "option.gravity", "soft.block.mass"]
    times = TIMES[1:4]
    motion, forward = costate.jacobian(model, wrt=wrt, signals=SIGNALS, times=times, method="forward")
    _, adjoint = costate.jacobian(model, wrt=wrt, signals=SIGNALS, times=times, method="adjoint")
    assert forward["tip.z"]["option.gravity"].shape == (3, 3) and motion.q is None
    for name in motion.signals:
        for path in wrt:
            np.testing.assert_allclose(forward[name][path], adjoint[name][path], rtol=1e-8, atol=1e-15)


def test_batches_of_adjoints_are_single_ones(model):
    runs = [{"parameters": {"soft.block.young": e}} for e in (1e4, 2e4, 3e4)]
    for run, (motion, back) in zip(runs, costate.vjps(model, runs, steps=50)):
        alone, one = costate.vjp(model, **run, steps=50)
        assert motion.q.tobytes() == alone.q.tobytes()
        bar = loss(motion)[1]
        assert back(bar)["soft.block.young"] == one(bar)["soft.block.young"]


def test_detached_steps_pass_nothing(model):
    def final(motion):
        bar = motion.zeros()
        bar.q[-1] = 1.0
        return motion.q[-1].sum(), bar

    options = dict(steps=50, every=50, initial=model.initial_state(), wrt=["soft.block.young"])
    full = costate.value_and_grad(final, model, **options)[1]
    cut = costate.value_and_grad(final, model, detach=[25], **options)[1]
    assert full.initial.q.any() and not cut.initial.q.any()
    assert cut["soft.block.young"] not in (0.0, full["soft.block.young"])


def test_check_gradient(model):
    checks = costate.check_gradient(model, steps=40)
    assert len(checks) == len(model.leaves) and all(c.passes for c in checks)
    assert any(c.path == "soft.block.young" and c.influences for c in checks)


def test_bad_losses_and_cotangents_are_told(model):
    with pytest.raises(costate.BadInput, match="value and its cotangent"):
        costate.value_and_grad(lambda m: 1.0, model, steps=2)
    for cotangent, words in [
        ({"positons": 1}, "no positons"),
        ({"positions": np.zeros(3)}, "takes 243 values"),
        ({"positions": np.full((3, 27, 3), np.nan)}, "not finite"),
        ({"signals": {"tip": 1.0}}, "no signals"),
        (3.0, "found a float"),
    ]:
        with pytest.raises(costate.BadInput, match=words):
            costate.value_and_grad(lambda m: (1.0, cotangent), model, steps=2)
    with pytest.raises(ZeroDivisionError):
        costate.value_and_grad(lambda m: 1 / 0, model, steps=2)
    with pytest.raises(costate.UnknownName):
        costate.value_and_grad(loss, model, wrt=["nothing"], steps=2)
