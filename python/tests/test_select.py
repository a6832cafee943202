import numpy as np
import pytest

import costate


def loss(motion):
    bar = motion.zeros()
    w = np.cos(np.arange(motion.q.size)).reshape(motion.q.shape)
    bar.q[:] = w
    return (w * motion.q).sum(), bar


def test_a_vector_stands_for_leaves(model):
    chosen = costate.Selection(model, {
        "soft.block.young": {"start": 3e4}, "geom.floor.friction": {"transform": "identity", "bounds": [0.1, 0.9]},
        "option.gravity": {"components": ["z"]}})
    assert chosen.names == ["soft.block.young", "geom.floor.friction", "option.gravity[2]"]
    assert chosen.units == ["Pa", "", "m/s^2"] and len(chosen) == 3
    np.testing.assert_allclose(chosen.start, [np.log(3e4), 0.3, -9.81])
    np.testing.assert_allclose(chosen.bounds[1], [0.1, 0.9])
    values = chosen.parameters([np.log(5e4), 0.5, -1.0])
    assert values["soft.block.young"] == pytest.approx(5e4) and values["geom.floor.friction"] == 0.5
    assert values["option.gravity"].tolist() == [0.0, 0.0, -1.0]
    assert chosen.model([np.log(5e4), 0.5, -1.0])["geom.floor.friction"] == 0.5


def test_the_chain_rule_holds(model):
    for parameters in (
        ["soft.block.young", "soft.block.density"],
        {"soft.block.mu": {"spread": "per_element"}},
        {"soft.block.young": {"transform": {"bounded": [1e3, 1e6]}}, "option.gravity": {}},
    ):
        chosen = costate.Selection(model, parameters)
        rng = np.random.default_rng(len(chosen))
        p, d = chosen.start + 0.01 * rng.normal(size=len(chosen)), rng.normal(size=len(chosen))

        def cost(p, chosen=chosen):
            value, gradient = costate.value_and_grad(loss, model, chosen.parameters(p), steps=40, every=8)
            return value, chosen.gradient(p, gradient)

        slope = cost(p)[1] @ d
        errors = []
        for h in (1e-2, 1e-3, 1e-4):
            f = [cost(p + k * h * d)[0] for k in (1, -1, 2, -2)]
            errors.append(abs((8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h) - slope) / abs(slope))
        assert min(errors) < 1e-7, (parameters, errors)


def test_patterns_name_many_leaves(model):
    chosen = costate.Selection(model, "*.friction")
    assert chosen.names == ["geom.floor.friction"]
    with pytest.raises(costate.UnknownName, match="no leaf is called"):
        costate.Selection(model, ["soft.*.nothing"])


def test_what_makes_no_sense_is_told(model):
    with pytest.raises(costate.BadInput, match="an experiment's"):
        costate.Selection(model, {"soft.block.young": {"prior": {"sd": 1.0}}})
    with pytest.raises(costate.BadInput, match="has 1 numbers, found 2"):
        costate.Selection(model, ["soft.block.young"]).parameters([1.0, 2.0])
    with pytest.raises(costate.BadInput, match="no derivative by soft.block.young"):
        costate.Selection(model, ["soft.block.young"]).gradient([1.0], {})
    with pytest.raises(costate.BadInput):
        costate.Selection(model, {"soft.block.young": {"bounds": [2.0, 1.0]}})
