"""Losses that are Python functions of one sample."""

import pickle

import numpy as np
import pytest

import costate
from costate import laws

TIMES = np.linspace(0.0, 0.02, 150)
OPTIONS = dict(every=None, times=TIMES, signals={"tip": {"position": {"vertex": 26}}, "e": {"energy": True}})


@laws.loss
def miss(tip_x, tip_z, e, seen, weight, time):
    far = (tip_x - seen) ** 2 + tip_z**2
    return weight * laws.where(far < 0.02, far, 0.02 + 0.1 * np.sqrt(far)) + 1e-3 * np.exp(-time) * e


def test_a_loss_is_the_sum_of_its_samples_and_its_cotangent_their_slopes(model):
    seen = 0.1 + 0.03 * np.sin(300 * TIMES)
    motion = costate.rollout(model, **OPTIONS)
    value, cotangent = miss.given(seen=seen, weight=2.0)(motion)
    y = motion.signals

    def samples(x, z, e):
        far = (x - seen) ** 2 + z**2
        return 2.0 * np.where(far < 0.02, far, 0.02 + 0.1 * np.sqrt(far)) + 1e-3 * np.exp(-TIMES) * e

    at = [y["tip.x"], y["tip.z"], y["e"]]
    assert value == pytest.approx(samples(*at).sum(), rel=1e-13)
    assert list(cotangent["signals"]) == ["tip.x", "tip.z", "e"]
    for k, slope in enumerate(cotangent["signals"].values()):
        h = 1e-5 * np.abs(at[k]).max()
        up, down = ([x + (i == k) * s * h for i, x in enumerate(at)] for s in (1, -1))
        np.testing.assert_allclose(slope, (samples(*up) - samples(*down)) / (2 * h), rtol=1e-6, atol=1e-9)
    assert miss(0.0, 0.1, 0.0, 0.0, 1.0, 0.0) == pytest.approx(0.01)


def test_its_gradient_is_that_of_differences(model):
    own = miss.given(seen=0.12, weight=1.0)
    cost = lambda young: costate.value_and_grad(own, model, {"soft.block.young": young}, **OPTIONS)
    slope = cost(2e4)[1]["soft.block.young"]
    errors = []
    for h in 2e4 * np.logspace(-2, -5, 4):
        f = [cost(2e4 + k * h)[0] for k in (1, -1, 2, -2)]
        errors.append(abs((8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h) - slope) / abs(slope))
    assert min(errors) < 1e-7


def test_losses_travel_without_their_function(model):
    own = pickle.loads(pickle.dumps(miss.given(seen=0.12, weight=1.0)))
    motion = costate.rollout(model, **OPTIONS)
    assert own(motion)[0] == miss.given(seen=0.12, weight=1.0)(motion)[0]
    with pytest.raises(costate.BadInput, match="does not travel"):
        own(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_what_a_loss_cannot_do_is_told(model):
    motion = costate.rollout(model, **OPTIONS)
    with pytest.raises(laws.LawError, match=r"loss bad cannot be recorded.*line \d+: `if tip_x > 0:`"):

        @laws.loss
        def bad(tip_x):
            if tip_x > 0:
                return tip_x
            return -tip_x

    with pytest.raises(costate.UnknownName, match="seen is neither given nor a signal"):
        miss(motion)
    with pytest.raises(costate.UnknownName, match="no argument sen"):
        miss.given(sen=1.0)
    with pytest.raises(costate.BadInput, match="seen has 3 numbers for 150 samples"):
        miss.given(seen=[1, 2, 3], weight=1.0)(motion)
    with pytest.raises(costate.BadInput, match="one of signals"):
        miss(costate.rollout(model, steps=2))
