import numpy as np
import pytest

import costate

torch = pytest.importorskip("torch")
import costate.torch  # noqa: E402

PUSH = "soft.block.load.push"
YOUNG = "soft.block.young"
SIGNALS = {"tip": {"position": {"vertex": 26}}, "e": {"energy": True}}


def tensor(x, dtype=torch.float64, grad=True):
    return torch.tensor(np.array(x), dtype=dtype, requires_grad=grad)


def test_the_numbers_are_those_of_numpy(model):
    motion = costate.torch.rollout(model, {YOUNG: tensor(2.5e4)}, steps=50, signals=SIGNALS)
    plain = costate.rollout(model, {YOUNG: 2.5e4}, steps=50, signals=SIGNALS)
    assert motion.q.detach().numpy().tobytes() == plain.q.tobytes()
    assert motion.positions.shape == (51, 27, 3) and motion.velocities.shape == (51, 27, 3)
    np.testing.assert_array_equal(motion.signals["e"].detach().numpy(), plain.signals["e"])
    free = costate.torch.rollout(model, steps=50)
    assert free.q.dtype == torch.float64 and not free.q.requires_grad


def test_gradcheck_by_parameters_initial_state_and_controls(model):
    start = model.initial_state()
    push = tensor(np.random.default_rng(0).normal(size=(12, 3)))
    gravity = tensor([0.0, 0.0, -9.81])
    q, v = tensor(start.q), tensor(start.v)

    def f(log_young, gravity, q, v, push):
        motion = costate.torch.rollout(
            model, {YOUNG: log_young.exp(), "option.gravity": gravity}, initial=(q, v), controls={PUSH: push},
            steps=12, every=6, signals=SIGNALS, times=[0.001, 0.0023])
        return motion.q * 1e2, motion.v, motion.signals["tip.x"] * 1e2, motion.signals["e"]

    inputs = (tensor(np.log(2e4)), gravity, q, v, push)
    assert torch.autograd.gradcheck(f, inputs, eps=1e-6, atol=1e-6, rtol=1e-5, fast_mode=True, nondet_tol=0.0)


def test_gradient_of_a_field_and_of_one_number_for_it(model):
    field = tensor(np.full(40, 2e4))
    one = tensor(2e4)
    loss = lambda young: costate.torch.rollout(model, {YOUNG: young}, steps=60).q[-1].square().sum()
    loss(field).backward()
    loss(one).backward()
    assert field.grad.shape == (40,) and one.grad.shape == ()
    assert float(field.grad.sum()) == pytest.approx(float(one.grad), rel=1e-9)


def test_single_precision_in_single_precision_out(model):
    young = tensor(2e4, torch.float32)
    motion = costate.torch.rollout(model, {YOUNG: young}, steps=40)
    assert motion.q.dtype == torch.float32
    motion.q[-1].sum().backward()
    assert young.grad.dtype == torch.float32 and torch.isfinite(young.grad)


def test_batches_run_as_one_function(model):
    young = tensor([1e4, 2e4, 3e4])
    push = tensor(np.zeros((3, 3)))
    runs = [{"parameters": {YOUNG: e}, "controls": {PUSH: u}} for e, u in zip(young, push)]
    motions = costate.torch.rollouts(model, runs, steps=50)
    sum((m.q[-1] ** 2).sum() for m in motions).backward()
    for i in range(3):
        alone = tensor(float(young[i]))
        (costate.torch.rollout(model, {YOUNG: alone}, controls={PUSH: [0.0, 0.0, 0.0]}, steps=50).q[-1] ** 2).sum().backward()
        assert float(alone.grad) == float(young.grad[i])
    assert push.grad.shape == (3, 3) and push.grad.abs().sum() > 0


def test_a_training_loop_learns_a_material(model):
    target = torch.from_numpy(costate.rollout(model, {YOUNG: 2.6e4}, steps=80, every=20).q.copy())
    simulator = costate.torch.Simulator(model, [YOUNG], transform={YOUNG: "log"})
    assert [p.shape for p in simulator.parameters()] == [()]
    optimiser = torch.optim.Adam(simulator.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        loss = (simulator(steps=80, every=20).q - target).square().mean() * 1e6
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 1e-2 * losses[0]
    assert simulator.trained()[YOUNG] == pytest.approx(2.6e4, rel=0.03)
    assert float(simulator.values()[YOUNG]) == simulator.trained()[YOUNG]
    state = simulator.state_dict()
    assert list(state) == ["raw.soft/block/young"]


def test_bad_input_is_told(model):
    with pytest.raises(costate.BadInput, match="must be greater than 0"):
        costate.torch.rollout(model, {YOUNG: tensor(-1.0)}, steps=2)
    with pytest.raises(costate.BadInput, match="log"):
        costate.torch.Simulator(model, [YOUNG], transform={YOUNG: "sqrt"})


def test_gradcheck_of_robots(robot_case):
    model, parameters, (q, v), controls = robot_case
    names, inputs = list(parameters), list(controls)

    def f(q, v, *values):
        given = dict(zip(names, values))
        driven = dict(zip(inputs, values[len(names):]))
        motion = costate.torch.rollout(model, given, initial=(q, v), controls=driven, steps=8, every=4)
        # The start is given, and a quaternion off the sphere is another start.
        return motion.qpos[1:], motion.qvel[1:]

    values = [tensor(x) for x in (*parameters.values(), *controls.values())]
    assert torch.autograd.gradcheck(f, (tensor(q), tensor(v), *values), eps=1e-6, atol=1e-6, rtol=1e-5, fast_mode=True)
