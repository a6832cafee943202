import subprocess

import numpy as np
import pytest

import costate
from costate import laws

ARM = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
<body><joint name="shoulder" axis="0 1 0" damping="0.05"/><geom name="upper" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
<body pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/><geom name="lower" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></body>
</worldbody><actuator><motor name="shoulder" joint="shoulder"/><motor name="elbow" joint="elbow"/></actuator></mujoco>"""
GAINS = {"kp": 20.0, "kd": 0.4, "limit": 5.0}
READ = {"q": "joint.shoulder.position", "v": "joint.shoulder.velocity", "target": "input.target"}


def servo(q, v, target, kp, kd, limit):
    return laws.clip(kp * (target - q) - kd * v, -limit, limit)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


def scene(arm, law=servo, **friction):
    built = costate.Builder("arm", robot=arm, values={"joint.elbow.qvel": 1.0}, duration=0.5)
    built.input("target", unit="rad")
    built.controller("servo", law, actuator="shoulder", sample_time=0.004, gains=GAINS, signals=READ)
    for joint, keys in friction.items():
        built.friction(joint, joint, **keys)
    return built


def run(model, steps=100):
    return costate.rollout(model, controls={"input.target": 0.6}, steps=steps, every=10)


def test_a_law_in_python_is_the_formula(arm):
    text = "clip(kp * (target - q) - kd * v, -limit, limit)"
    stribeck = {"dry": 0.02, "stribeck": {"extra": 0.03, "velocity": 0.1}}

    def curve(velocity, low, extra, scale):
        return low + extra * np.exp(-(velocity / scale) ** 2)

    own = scene(arm, elbow={"dry": curve, "gains": {"low": 0.02, "extra": 0.03, "scale": 0.1}}).build()
    same = scene(arm, text, elbow=stribeck).build()
    assert run(own).q.tobytes() == run(same).q.tobytes()
    assert own["controller.servo.kp"] == 20.0 and own["friction.elbow.extra"] == 0.03
    checks = costate.check_gradient(own, controls={"input.target": 0.6}, steps=40)
    of_laws = [c for c in checks if c.path.startswith(("controller.", "friction."))]
    assert len(of_laws) == 6 and all(c.passes for c in checks if c.influences), checks


def test_laws_may_remember(arm):
    def integrating(q, target, kp, ki, limit):
        error = target - q
        slow = (error + laws.previous(error)) / 2
        return laws.clip(kp * slow + ki * laws.integral(slow), -limit, limit)

    built = costate.Builder("arm", robot=arm)
    built.input("target", unit="rad")
    gains = {"kp": 5.0, "ki": 30.0, "limit": 4.0}
    built.controller("c", integrating, actuator="shoulder", gains=gains, signals={k: READ[k] for k in ("q", "target")})
    text = "clip(kp * s + ki * integral(s), -limit, limit)"
    same = costate.Builder("arm", robot=arm)
    same.input("target", unit="rad")
    signals = {**{k: READ[k] for k in ("q", "target")}, "e": "target - q", "s": "(e + previous(e, 1)) / 2"}
    same.controller("c", text, actuator="shoulder", gains=gains, signals=signals)
    a, b = run(built.build()), run(same.build())
    assert a.q.tobytes() == b.q.tobytes() and a.act.shape[1] > 0
    with pytest.raises(laws.LawError, match="remembers nothing"):
        laws.material(lambda F, k: k * laws.integral(F[0, 0]))


def test_every_operation_has_a_formula(arm):
    def odd(q, v, a):
        w = np.sin(q) * np.cos(v) + np.tanh(a) - np.exp(-abs(v)) / np.sqrt(1 + q**2) + np.log(2 + v**2) + np.arctan2(q, 1 + a)
        w = w + laws.where(q < v, 1, -2.5e-3) + (q == q) * laws.sign(v) + (q <= 0) + q**-2 * laws.minimum(w, 1)
        return w * w + laws.maximum(w, q) - -w

    gains, read = {"a": 0.3}, {k: READ[k] for k in ("q", "v")}
    built = costate.Builder("odd", robot=arm, values={"joint.shoulder.qpos": 0.4, "joint.shoulder.qvel": -0.7})
    model = built.controller("c", odd, actuator="shoulder", gains=gains, signals=read).build()
    seen = costate.evaluate(model).controls[0]
    assert seen == pytest.approx(float(odd(0.4, -0.7, 0.3)), rel=1e-14)
    signals, text = laws.formula(odd).formulas()
    assert signals and list(signals)[-1] in text
    for powers in (lambda q: q**100, lambda q: q * float("inf")):
        with pytest.raises(laws.LawError, match="cannot have"):
            laws.formula(powers).formulas()


def test_models_with_controllers_are_saved_and_copied(arm, tmp_path, program):
    import pickle

    model = scene(arm).build().with_parameters({"controller.servo.kp": 11.0})
    twin = pickle.loads(pickle.dumps(model))
    assert run(twin).q.tobytes() == run(model).q.tobytes()
    model.save(tmp_path / "scene.toml")
    back = costate.load(tmp_path / "scene.toml")
    assert back["controller.servo.kp"] == 11.0 and run(back).q.tobytes() == run(model).q.tobytes()
    told = subprocess.run([program, "params", tmp_path / "scene.toml"], capture_output=True, text=True, check=True)
    assert "controller.servo.kp" in told.stdout


def test_what_a_law_reads_must_be_known(arm):
    with pytest.raises(costate.BadInput, match="'limit'"):
        costate.Builder("arm", robot=arm).controller("c", servo, actuator="elbow", gains={"kp": 1.0, "kd": 0.0}, signals=READ)
    with pytest.raises(costate.BadInput, match="no robot"):
        costate.Builder("soft").friction("f", "elbow", dry=0.1)
    with pytest.raises(laws.LawError, match="by name"):
        laws.formula(lambda *x: 0.0)

    def branch(q):
        return q if q > 0 else -q  # here

    with pytest.raises(laws.LawError, match="costate.laws.where") as caught:
        laws.formula(branch)
    assert "# here" in str(caught.value)
