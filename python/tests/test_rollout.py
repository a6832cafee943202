import _thread
import json
import subprocess
import threading
import time

import numpy as np
import pytest

import costate
from conftest import ROOT


def same(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def test_arrays_have_shapes_and_share_their_buffer(model):
    motion = costate.rollout(model, steps=100, every=30, signals={"tip": {"position": {"vertex": 26}}})
    np.testing.assert_allclose(motion.time, np.array([0, 30, 60, 90, 100]) * 2e-4, rtol=0, atol=0)
    assert motion.positions.shape == motion.velocities.shape == (5, 27, 3)
    assert np.shares_memory(motion.positions, motion.q)
    assert list(motion.signals) == ["tip.x", "tip.y", "tip.z"]
    np.testing.assert_allclose(motion.signals["tip.x"], motion.positions[:, 26, 0], rtol=1e-14)
    last = motion.state()
    assert last.time == motion.time[-1] and same(last.q, motion.q[-1])
    assert costate.rollout(model, steps=0).positions.shape == (1, 27, 3)
    assert len(costate.rollout(model)) == 251


def test_the_program_gives_the_same_bits(program, tmp_path):
    path = ROOT / "examples/spring-cage/scene.toml"
    out = tmp_path / "motion.npz"
    model = costate.load(path)
    command = [program, "simulate", path, "--out", out, "--every", str(model.timestep), "--json", "--duration", "0.1"]
    json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    motion = costate.rollout(model, duration=0.1)
    with np.load(out) as data:
        arrays = {k: data[k] for k in data.files}
    assert any(same(np.ravel(a), np.ravel(motion.q)) for a in arrays.values()), {k: a.shape for k, a in arrays.items()}


def test_states_and_signals_do_not_change_each_other(model):
    tip = costate.Signals({"tip": {"position": {"vertex": 26}}, "e": {"energy": True}})
    both = costate.rollout(model, steps=200, signals=tip)
    alone = costate.rollout(model, steps=200, every=None, signals=tip, times=both.times)
    assert alone.q is None and len(alone.time) == 0
    assert all(same(both.signals[k], alone.signals[k]) for k in both.signals)
    assert same(both.q, costate.rollout(model, steps=200).q)


def test_stepping_is_the_rollout_taken_apart(model):
    motion = costate.rollout(model, steps=20)
    state = model.initial_state()
    for k in range(20):
        assert same(state.q, motion.q[k])
        state = costate.step(model, state)
    assert same(state.v, motion.v[20]) and state.time == pytest.approx(motion.time[20])
    again = costate.rollout(model, steps=10, initial=motion.state(10))
    assert same(again.q[-1], motion.q[20])


def test_controls_by_step_constant_and_at_times(model):
    push = "soft.block.load.push"
    constant = costate.rollout(model, controls={push: [0.0, 0.0, 3.0]}, steps=50)
    per_step = costate.rollout(model, controls={push: np.tile([0.0, 0.0, 3.0], (50, 1))}, steps=50)
    at_times = costate.rollout(
        model, controls={push: costate.Input([0.0, 1.0], [[0, 0, 3.0]] * 2, "linear")}, steps=50
    )
    assert same(constant.q, per_step.q) and np.allclose(constant.q, at_times.q, rtol=1e-12)
    assert not np.allclose(constant.q, costate.rollout(model, steps=50).q)
    with pytest.raises(costate.BadInput, match="no input \"push\"; its inputs: soft.block.load.push"):
        costate.rollout(model, controls={"push": [0, 0, 1]}, steps=5)
    with pytest.raises(costate.BadInput, match="takes 3 values"):
        costate.rollout(model, controls={push: [0, 1]}, steps=5)


def test_parameters_are_those_of_a_changed_model(model):
    values = {"soft.block.poisson": 0.3, "option.gravity": [0, 0, -1.6], "soft.block.young": np.linspace(1e4, 3e4, 40)}
    here = costate.rollout(model, values, steps=100)
    assert same(here.q, costate.rollout(model.with_parameters(values), steps=100).q)


def test_batches_are_single_runs(model):
    start = model.initial_state()
    runs = [{"parameters": {"soft.block.young": e}, "controls": {"soft.block.load.push": [f, 0, 0]},
             "initial": (start.q, f * start.v)} for e in (1e4, 2e4, 3e4) for f in (0.5, 1.0)]
    batch = costate.rollouts(model, runs, steps=100)
    for run, motion in zip(runs, batch):
        assert same(motion.q, costate.rollout(model, **run, steps=100).q)
    with pytest.raises(costate.BadInput, match="no parameter"):
        costate.rollouts(model, [{"parameter": {}}], steps=1)


def test_a_step_that_is_too_long_is_refused_and_a_divergence_tells_what_it_had(model):
    with pytest.raises(costate.UnstableStep) as caught:
        costate.rollout(model.with_timestep(0.01), steps=10)
    assert caught.value.bound < 0.01 and "largest stable" in str(caught.value)
    with pytest.raises(costate.UnstableStep):
        costate.rollout(model, {"soft.block.young": 1e12}, steps=200)
    soft = {"soft.block.velocity": [0.0, 0.0, -1e160]}
    with pytest.raises(costate.Diverged) as caught:
        costate.rollout(model, soft, steps=500)
    assert len(caught.value.partial.time) == len(caught.value.partial.q) >= 1
    assert caught.value.step >= 0 and caught.value.element


def test_ctrl_c_stops_a_long_run(model):
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        costate.rollout(model, steps=100_000_000, every=50_000_000)
    timer.join()
    assert time.monotonic() - begin < 60.0


def test_the_lock_is_free_during_a_run(model):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(None)

    other = threading.Thread(target=tick)
    other.start()
    costate.rollout(model, steps=12_000, every=None, signals={"e": {"energy": True}}, times=[0.0])
    costate.rollout(model, steps=12_000, every=12_000)
    stop.set()
    other.join()
    assert len(ticks) > 3


def test_bad_arguments_are_told(model):
    for kwargs, words in [
        (dict(steps=-1), "below zero"),
        (dict(steps=1, duration=1.0), "not both"),
        (dict(steps=1, every=0), "at least 1"),
        (dict(steps=1, times=[0.0]), "name some"),
        (dict(steps=1, initial=([0.0], [0.0])), "81 coordinates"),
        (dict(steps=1, signals={"a": {"positon": {"vertex": 1}}}), "what is observed"),
        (dict(steps=1, signals={"a": {"position": {"vertex": 99}}}), "a vertex from 0 to 26"),
        (dict(steps=10**15), "keep fewer"),
    ]:
        with pytest.raises(costate.BadInput, match=words):
            costate.rollout(model, **kwargs)
    with pytest.raises(costate.BadInput, match="expected numbers"):
        costate.rollout(model, {"soft.block.young": "soft"}, steps=1)


def test_a_motion_is_a_sequence_of_states(model):
    motion = costate.rollout(model, steps=6, every=2)
    assert [s.time for s in motion] == motion.time.tolist() and len(motion) == 4
    assert np.shares_memory(motion[-1].q, motion.q) and motion[-1].q.tolist() == motion.q[-1].tolist()
    assert "t = 0.0012 s" in repr(motion[-1]) and len(repr(motion[-1])) < 100


def test_batches_list_contacts(model):
    runs = [{"parameters": {"soft.block.position": [0, 0, z]}} for z in (0.002, -0.001)]
    found = costate.rollouts(model, runs, steps=2, contacts=True)
    for run, motion in zip(runs, found):
        alone = costate.rollout(model, **run, steps=2, contacts=True)
        assert len(motion.contacts) == len(alone.contacts)
        assert motion.contacts.force.tobytes() == alone.contacts.force.tobytes()
    assert len(found[1].contacts) > len(found[0].contacts)


def test_an_allowed_unstable_run_tells_where_it_diverged(model):
    long = model.with_timestep(0.01)
    with pytest.raises(costate.UnstableStep):
        costate.rollout(long, steps=500)
    with pytest.raises(costate.Diverged) as told:
        costate.rollout(long, steps=500, unstable=True)
    assert 0 < len(told.value.partial) <= told.value.step + 1
    with pytest.raises(costate.Diverged):
        costate.rollouts(long, [{}, {}], steps=500, unstable=True)
    with pytest.raises(costate.BadInput, match="whole number"):
        costate.rollout(model, steps=10.5)
