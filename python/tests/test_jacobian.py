"""Jacobians by leaves, initial state and controls: against differences, adjoints, and closed forms."""

import numpy as np
import pytest

import costate

PUSH = "soft.block.load.push"
SIGNALS = costate.Signals({"tip": {"position": {"vertex": 26}}, "e": {"energy": True}})
TIMES = np.linspace(0.0, 0.012, 4)


def same(one, other, rtol=1e-8, atol=1e-12):
    assert one.keys() == other.keys()
    for name in one:
        assert list(one[name]) == list(other[name])
        for by in one[name]:
            scale = np.abs(one[name][by]).max(initial=0.0)
            np.testing.assert_allclose(one[name][by], other[name][by], rtol=rtol, atol=atol + 1e-10 * scale)


def test_forward_and_adjoint_agree_on_a_soft_body(model):
    push = np.random.default_rng(0).normal(size=(20, 3))
    options = dict(wrt=["soft.block.young", "option.gravity", "initial", PUSH], initial=model.initial_state(),
                   controls={PUSH: push}, signals=SIGNALS, times=TIMES)
    motion, forward = costate.jacobian(model, method="forward", **options)
    again, adjoint = costate.jacobian(model, method="adjoint", **options)
    assert motion.signals["e"].tobytes() == again.signals["e"].tobytes()
    tip = forward["tip.z"]
    assert [x.shape for x in tip.values()] == [(4,), (4, 3), (4, 81), (4, 81), (4, 20, 3)]
    assert list(tip) == ["soft.block.young", "option.gravity", "initial.q", "initial.v", PUSH]
    same(forward, adjoint)
    # Free fall: the mean of the body moves by v t.
    late, start = forward["tip.x"]["initial.v"][1], forward["tip.x"]["initial.v"][0]
    assert start.any() == False and late[78] > 0.0  # noqa: E712


def test_columns_are_those_of_jvp_and_rows_those_of_vjp(robot_case):
    model, parameters, initial, controls = robot_case
    wrt = [*parameters, "initial", "controls"]
    given = dict(initial=initial, controls=controls, steps=8, every=4)
    motion, found = costate.jacobian(model, parameters, wrt=wrt, **given)
    rng = np.random.default_rng(5)
    nq, nv, na = model._core.widths
    leaves = {p: rng.normal(size=np.shape(x)) for p, x in parameters.items()}
    q, v, act = rng.normal(size=nq), rng.normal(size=nv), np.zeros(na)
    inputs = {name: rng.normal(size=np.shape(u)) for name, u in controls.items()}
    _, dot = costate.jvp(model, parameters, leaves, initial_tangent={"q": q, "v": v, "act": act},
                         control_tangents=inputs, **given)
    along = {**leaves, "initial.q": q, "initial.v": v, "initial.act": act, **inputs}
    for part in ("q", "v"):
        total = np.zeros_like(getattr(motion, part))
        for name, x in found[part].items():
            assert x.shape == (*total.shape, *np.shape(along[name]))
            total += np.tensordot(x, along[name], axes=np.ndim(along[name]))
        np.testing.assert_allclose(total, getattr(dot, part), rtol=1e-9, atol=1e-9 * np.abs(total).max())
    _, back = costate.vjp(model, parameters, **given)
    bar = rng.normal(size=motion.v.shape)
    gradient = back({"v": bar})
    for name, x in found["v"].items():
        if name.startswith("initial."):
            adjoint = getattr(gradient.initial, name.partition(".")[2])
        else:
            adjoint = gradient.controls[name] if name in controls else gradient[name]
        row = np.tensordot(bar, x, axes=2)
        np.testing.assert_allclose(row, adjoint, rtol=1e-8, atol=1e-9 * (1 + np.abs(row).max()))


def test_against_differences(model):
    start = model.initial_state()
    options = dict(signals=SIGNALS, times=TIMES[1:], controls={PUSH: [0.2, 0.0, 0.1]})
    found = costate.jacobian(model, wrt=["initial.v", PUSH, "soft.block.density"], initial=start, **options)[1]

    def tip(v=start.v, push=(0.2, 0.0, 0.1), density=1000.0):
        return costate.rollout(model, {"soft.block.density": density}, initial=(start.q, v), every=None,
                               signals=SIGNALS, times=TIMES[1:], controls={PUSH: push}).signals["tip.z"]

    def slope(f, h):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    e = np.zeros(81)
    e[80] = 1.0
    for exact, f, h in [
        (found["tip.z"]["initial.v"][:, 80], lambda s: tip(v=start.v + s * e), 1e-3),
        (found["tip.z"][PUSH][:, 2], lambda s: tip(push=(0.2, 0.0, 0.1 + s)), 1e-2),
        (found["tip.z"]["soft.block.density"], lambda s: tip(density=1000.0 + s), 1.0),
    ]:
        np.testing.assert_allclose(slope(f, h), exact, rtol=1e-7, atol=1e-13)


def test_a_linearised_step_is_the_closed_form(tmp_path):
    # x⁺ = x + h v⁺, v⁺ = v + h (k (0 - x) + u) / m for a mass on a slide with a spring and a motor.
    (tmp_path / "slide.xml").write_text("""<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody>
      <body name="b"><joint name="x" type="slide" axis="1 0 0" stiffness="3"/><geom size="0.1" mass="2"/></body>
      </worldbody><actuator><motor name="push" joint="x"/></actuator></mujoco>""")
    model = costate.load(tmp_path / "slide.xml")
    push = "actuator.push"
    _, d = costate.jacobian(model, wrt=["initial", push], initial=(np.array([0.3]), np.array([-0.2])),
                            controls={push: [0.7]}, steps=1, every=1)
    h, k, m = 0.01, 3.0, 2.0
    v = [-h * k / m, 1.0, h / m]
    q = [1 + h * v[0], h, h * v[2]]
    for part, exact in (("q", q), ("v", v)):
        got = [d[part][name][-1].item() for name in ("initial.q", "initial.v", push)]
        np.testing.assert_allclose(got, exact, rtol=1e-12)
        start = [d[part][name][0].item() for name in ("initial.q", "initial.v", push)]
        assert start == ([1.0, 0.0, 0.0] if part == "q" else [0.0, 1.0, 0.0])


def test_names_that_cannot_be_differentiated_by_are_told(model):
    observed = dict(signals=SIGNALS, times=TIMES)
    for words, arguments in [
        ("say what to differentiate by", dict(observed)),
        ("no leaf", dict(observed, wrt=["soft.block.yong"])),
        ("input without values", dict(observed, wrt=[PUSH])),
        ("nothing is observed", dict(wrt=["initial"])),
        ("method is", dict(observed, wrt=["initial"], method="magic")),
        ("name of the states' part q", dict(signals={"q": {"energy": True}}, wrt=["initial"], steps=2, every=1)),
    ]:
        with pytest.raises(costate.BadInput, match=words):
            costate.jacobian(model, **arguments)
