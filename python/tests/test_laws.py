import pickle

import numpy as np
import pytest

import costate
from costate import laws


@laws.material
def log_neo_hookean(F, mu, lam):
    """The compressible neo-Hookean law."""
    J = laws.det(F)
    return mu / 2 * (np.trace(F.T @ F) - 3) - mu * np.log(J) + lam / 2 * np.log(J) ** 2


def scene(material, parameters=None, **keys):
    builder = costate.Builder("drop", timestep=2e-4)
    builder.grid("block", (2, 2, 2), cell=(0.05,) * 3, velocity=(0, 0, -1), position=(0, 0, 0.002),
                 material=material, parameters=parameters, density=1000.0, **keys)
    return builder.plane("floor", friction=0.3, slip_speed=0.2)


def test_a_law_moves_as_the_compiled_one():
    own = scene(log_neo_hookean, {"mu": 5e3, "lam": 2e4}, damping=1.0).build()
    compiled = scene("neo-hookean", mu=5e3, **{"lambda": 2e4}, damping=1.0).build()
    a, b = (costate.rollout(m, steps=200).q for m in (own, compiled))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    assert own["soft.block.lam"] == 2e4 and own.leaves["soft.block.mu"].element == "tetrahedron"
    bar = lambda m: (m.q[-1].sum(), {"q": np.vstack([np.zeros((200, 81)), np.ones((1, 81))])})
    g = costate.value_and_grad(bar, own, wrt=["soft.block.mu", "soft.block.lam"], steps=200)[1]
    h = costate.value_and_grad(bar, compiled, wrt=["soft.block.mu", "soft.block.lambda"], steps=200)[1]
    assert g["soft.block.mu"] == pytest.approx(h["soft.block.mu"], rel=1e-8)
    assert g["soft.block.lam"] == pytest.approx(h["soft.block.lambda"], rel=1e-8)


def test_every_derivative_of_a_law_is_proved():
    @laws.material
    def odd(F, k, a, b):
        C = F.T @ F
        stretch = laws.maximum(C[0, 0], 0.2) ** 1.5 - 1
        return (k * np.sqrt(((F - np.eye(3)) ** 2).sum() + 1e-2) - 0.1 * k
                + a * (np.exp(b * stretch**2) - 1) + k * laws.where(laws.det(F) > 0.5, 1, 2) * (laws.det(F) - 1) ** 2)

    model = scene(odd, {"k": 1e4, "a": 1e3, "b": np.full(40, 2.0)}, damping=1.0, mass_damping=0.5).build()
    model = model.with_parameters({"soft.block.position": [0, 0, 1.0], "soft.block.angular_velocity": [9.0, 1, 2]})
    checks = costate.check_gradient(model, steps=30)
    assert all(c.passes for c in checks), [c for c in checks if not c.passes]


def test_lame_parameters_follow():
    assert log_neo_hookean.lame_at_rest(3e3, 7e3) == pytest.approx((3e3, 7e3))
    assert log_neo_hookean(np.eye(3), 1.0, 1.0) == 0.0
    assert log_neo_hookean.__doc__.startswith("The compressible") and "mu, lam" in repr(log_neo_hookean)


def test_models_with_laws_are_saved_pickled_and_identified(tmp_path):
    model = scene(log_neo_hookean, {"mu": 5e3, "lam": 2e4}).build()
    q = costate.rollout(model, steps=50).q.tobytes()
    twin = pickle.loads(pickle.dumps(model))
    assert costate.rollout(twin, steps=50).q.tobytes() == q
    model.save(tmp_path / "scene.toml")
    back = costate.load(tmp_path / "scene.toml", laws=[log_neo_hookean])
    assert costate.rollout(back, steps=50).q.tobytes() == q
    with pytest.raises(costate.BadInput, match="no material law `log_neo_hookean`"):
        costate.rollout(costate.load(tmp_path / "scene.toml"), steps=1)
    tip = {"tip": {"position": {"vertex": 26}, "sigma": 1e-5}}
    times = np.arange(0, 0.02, 1e-3)
    truth = costate.rollout(model.with_parameters({"soft.block.mu": 6e3}), every=None, signals=tip, times=times)
    data = {"time": times, **{k.replace(".", "_"): y for k, y in truth.signals.items()}}
    found = costate.Experiment(model, signals=tip, recordings={"a": data}, parameters=["soft.block.mu"]).identify()
    assert found["soft.block.mu"] == pytest.approx(6e3, rel=1e-6)
    assert costate.rollout(found.model, steps=5).q.shape == (6, 81)


def line_of(function, text):
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_what_cannot_be_recorded_points_at_its_line():
    def branch(F, k):
        if k > 1:  # here
            return k
        return F[0, 0]

    def number(F, k):
        return float(k) * F[0, 0]  # here

    def linalg(F, k):
        return k * np.linalg.det(F)  # here

    def text(F, k):
        return k + "a"  # here

    def nothing(F, k):
        pass

    for law, words in [(branch, "costate.laws.where"), (number, "plain one"), (linalg, "det"), (text, "TypeError")]:
        with pytest.raises(laws.LawError, match=words) as caught:
            laws.material(law)
        assert caught.value.line == line_of(law, "# here") and caught.value.file == __file__
        assert "# here" in str(caught.value)
    with pytest.raises(laws.LawError, match="one number"):
        laws.material(nothing)
    with pytest.raises(laws.LawError, match="by name"):
        laws.material(lambda *args: 0)
    with pytest.raises(costate.BadInput, match="at most 8"):
        laws.material(lambda F, a, b, c, d, e, f, g, h, i: a)
    with pytest.raises(costate.BadInput, match="takes mu, lam"):
        scene(log_neo_hookean, {"mu": 1.0})


def test_numbers_behave_as_numpy_ones():
    x = 0.7
    functions = [
        lambda y: 2 ** y + y**2.5 - y**-3 + y**0.3, lambda y: np.tan(y) + np.arctan(y) + np.arctan2(y, 2.0),
        lambda y: np.sinh(y) * np.cosh(y) / np.tanh(y), lambda y: np.log1p(y) + np.expm1(y) + np.cbrt(y - 1),
        lambda y: np.square(y) + np.reciprocal(y) + abs(-y) + (+y), lambda y: laws.minimum(y, 0.5) + laws.maximum(1, y),
        lambda y: (y != 0.7) + (y == 0.7) + (y >= 0.7) + (y < 0.7) + (np.float64(2) * y) + np.sum(np.array([1.0, 2.0]) * y),
        lambda y: laws.inv(np.eye(3) * y + 0.1)[0, 1],
    ]
    for f in functions:
        # λ at rest of an energy k f(x)(F₁₁ − 1)(F₂₂ − 1) is k f(x).
        law = laws.Law(lambda F, p: f(p) * (F[0, 0] - 1) * (F[1, 1] - 1))
        assert law.lame_at_rest(x)[1] == pytest.approx(float(f(x)), rel=1e-12)


def spring_scene(**law):
    vertices = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.12, 0], [0.03, 0.02, 0.1]])
    ends = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    builder = costate.Builder("net", timestep=1e-3, gravity=(0, 0, 0))
    return builder.springs("net", vertices, ends, damping=0.02, vertex_mass=0.05, velocity=(0.1, 0, 0),
                           rest_length=[0.09, 0.1, 0.12, 0.16, 0.13, 0.11], angular_velocity=(0, 3, 2), **law)


@laws.spring
def stiffening(length, rest, k, k3):
    stretch = length - rest
    return k / 2 * stretch**2 + k3 / 4 * stretch**4


def test_a_law_of_springs_moves_as_the_compiled_one():
    own = spring_scene(law=stiffening, parameters={"k": 40.0, "k3": 0.0}).build()
    compiled = spring_scene(stiffness=40.0).build()
    a, b = (costate.rollout(m, steps=300, signals={"e": {"energy": True}}) for m in (own, compiled))
    np.testing.assert_allclose(a.q, b.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(a.signals["e"], b.signals["e"], rtol=1e-12)
    loss = lambda m: (m.q[-1] @ m.q[-1] / 2, {"q": np.vstack([np.zeros((300, 12)), m.q[-1:]])})
    g = costate.value_and_grad(loss, own, wrt=["soft.net.springs.k", "soft.net.springs.rest_length"], steps=300)[1]
    h = costate.value_and_grad(loss, compiled, wrt=["soft.net.springs.stiffness", "soft.net.springs.rest_length"], steps=300)[1]
    assert g["soft.net.springs.k"] == pytest.approx(h["soft.net.springs.stiffness"], rel=1e-9)
    np.testing.assert_allclose(g["soft.net.springs.rest_length"], h["soft.net.springs.rest_length"], rtol=1e-9)


def test_laws_of_springs_are_proved_saved_and_pickled(tmp_path):
    model = spring_scene(law=stiffening, parameters={"k": np.linspace(30, 50, 6), "k3": 1e5}).build()
    checks = costate.check_gradient(model, steps=30)
    assert all(c.passes for c in checks), [c for c in checks if not c.passes]
    assert {"soft.net.springs.k", "soft.net.springs.k3"} <= {c.path for c in checks if c.influences}
    q = costate.rollout(model, steps=50).q.tobytes()
    assert costate.rollout(pickle.loads(pickle.dumps(model)), steps=50).q.tobytes() == q
    model.save(tmp_path / "net.toml")
    back = costate.load(tmp_path / "net.toml", laws=[stiffening])
    assert costate.rollout(back, steps=50).q.tobytes() == q
    with pytest.raises(costate.BadInput, match="stiffening"):
        costate.rollout(costate.load(tmp_path / "net.toml"), steps=1)
    with pytest.raises(costate.BadInput, match="takes k, k3"):
        spring_scene(law=stiffening, parameters={"k": 1.0})
    with pytest.raises(costate.BadInput, match="laws.spring"):
        spring_scene(law=log_neo_hookean, parameters={"mu": 1.0, "lam": 1.0})


def test_springs_without_length_do_not_pull():
    @laws.spring
    def bonded(length, rest, k):
        return -k * np.exp(-((length - rest) / 0.1) ** 2)

    builder = costate.Builder("point", timestep=1e-3, gravity=(0, 0, 0))
    builder.springs("net", np.zeros((2, 3)), np.array([[0, 1]]), law=bonded, parameters={"k": 1.0}, rest_length=0.05, vertex_mass=1.0)
    model = builder.build()
    motion = costate.rollout(model, steps=5)
    assert (motion.q == 0).all()
    _, gradient = costate.value_and_grad(lambda m: (0.0, {"q": np.ones_like(m.q)}), model, wrt=["soft.net.springs.k"], steps=5)
    assert np.isfinite(gradient.initial.q).all() and gradient["soft.net.springs.k"] == 0


def test_a_foreign_function_is_told_with_its_line_and_what_there_is():
    with pytest.raises(laws.LawError, match=r"np.linalg.det\(F\).*costate.laws \(det"):

        @laws.material
        def bad(F, mu):
            return mu * np.linalg.det(F)
