import json

import numpy as np
import pytest

import costate
from conftest import ROOT, URDF

MUJOCO = ROOT / "crates/dynamics/tests/data/mujoco"
KINDS = ["equality", "joint friction", "tendon friction", "joint limit", "tendon limit", "contact", "contact", "contact"]


def recorded(name, folder):
    """A state with every intermediate quantity, as MuJoCo has it, and the model."""
    case = json.loads((MUJOCO / f"{name}.json").read_text())
    text = (MUJOCO / "models" / f"{name.split('__')[0]}.xml").read_text()
    cone = f'<option cone="{case["options"]["cone"]}"/></mujoco>'
    (folder / "model.xml").write_text(text.replace("</mujoco>", cone))
    model = costate.load(folder / "model.xml", allow=["contact"])
    assert model.timestep == case["options"]["timestep"]
    return case["snapshot"], model


def close(a, b, tolerance=1e-9):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max(initial=0)))


@pytest.mark.parametrize("name", [
    "sphere_roll__Euler_pyramidal", "box_slide__Euler_elliptic", "sphere_soft__Euler_elliptic", "eq_weld__Euler", "frictionloss__Euler",
    "hinge_limit__Euler", "arm_gravcomp__Euler", "actuators__Euler", "ball_top__Euler",
])
def test_the_quantities_of_a_step_are_those_of_mujoco(name, tmp_path):
    there, model = recorded(name, tmp_path)
    state = costate.State(np.array(there["qpos"]), np.array(there["qvel"]), np.array(there["act"]), there["time"])
    controls = dict(zip([c.name for c in model.inputs], there["ctrl"]))
    here = costate.evaluate(model, state, controls=controls)
    close(here.mass_matrix, there["qM"])
    close(here.inverse_mass_matrix @ here.mass_matrix, np.eye(len(there["qvel"])))
    for ours in ("bias", "passive", "actuator", "smooth", "constraint"):
        close(getattr(here, ours), there[f"qfrc_{ours}"], 1e-7 if ours == "constraint" else 1e-9)
    close(here.qacc_smooth, there["qacc_smooth"])
    close(here.qacc, there["qacc"], 1e-7)
    close(list(here.positions.values()), there["xpos"])
    close(list(here.orientations.values()), there["xquat"])
    close(list(here.actuators.values()), there.get("actuator_force", []))
    close(here.controls, there["ctrl"])

    rows, efc = here.constraints, there.get("efc")
    if efc is None:
        assert len(rows) == 0
    else:
        assert rows.kind == [KINDS[t] for t in efc["type"]]
        order = [np.array(efc[key]) for key in ("J", "pos", "margin", "vel", "aref", "D", "force")]
        J, position, margin, velocity, reference, mass, force = order
        close(rows.jacobian, J)
        close(rows.velocity, velocity)
        close(rows.reference, reference)
        close(rows.mass / mass, np.ones(len(mass)))
        close(rows.force, force, 1e-7)
        close(rows.jacobian.T @ rows.force, here.constraint)
        if name.startswith("eq_") or "limit" in name:
            close(rows.position, position - margin)

    contacts = here.contacts
    assert len(contacts) == len(there["contact"])
    for ours, theirs in zip(contacts, there["contact"]):
        close(ours.position, theirs["pos"])
        close(ours.frame.ravel(), np.ravel(theirs["frame"]))
        close(ours.distance, theirs["dist"])
        assert rows.name[contacts.row[0]] == f"{contacts[0].first}, {contacts[0].second}"
    if len(contacts):
        # What contacts do to the only body, which is free, is what the constraints do.
        close(contacts.force_world.sum(axis=0), there["qfrc_constraint"][:3], 1e-7)


def test_steps_one_by_one_are_a_rollout(tmp_path):
    for name in ("actuators__Euler", "sphere_roll__Euler_pyramidal"):
        _, model = recorded(name, tmp_path)
        rng = np.random.default_rng(0)
        controls = {c.name: rng.normal(size=(20, c.size)) for c in model.inputs}
        motion = costate.rollout(model, controls=controls, steps=20)
        state = model.initial_state(controls=controls)
        for k in range(20):
            here = costate.evaluate(model, state, controls=controls)
            after = costate.step(model, state, controls=controls)
            np.testing.assert_allclose(after.v, state.v + model.timestep * here.acceleration, rtol=0, atol=1e-14)
            assert after.q.tobytes() == motion.q[k + 1].tobytes() and after.v.tobytes() == motion.v[k + 1].tobytes()
            assert after.act.tobytes() == motion.act[k + 1].tobytes() and after.time == motion.time[k + 1]
            state = after


SERVO = """costate = 1
robot = "pendulum.xml"

[input.target]
unit = "rad"

[controller.servo]
actuator = "motor"
sample_time = 0.004
delay = 0.003
gains = { kp = 3.0, kd = 0.1 }
law = "kp * (input.target - joint.hinge.position) - kd * joint.hinge.velocity"
"""

PENDULUM = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom name="bob" type="sphere" size="0.05" pos="0 0 -0.5"/></body></worldbody>
<actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""


def test_controllers_remember_from_step_to_step(tmp_path):
    (tmp_path / "pendulum.xml").write_text(PENDULUM)
    (tmp_path / "scene.toml").write_text(SERVO)
    model = costate.load(tmp_path / "scene.toml")
    target = {"input.target": 0.7}
    motion = costate.rollout(model, controls=target, steps=30)
    state = model.initial_state(controls=target)
    commands = []
    for k in range(30):
        commands.append(costate.evaluate(model, state, controls=target).controls[0])
        state = costate.step(model, state, controls=target)
        assert state.q.tobytes() == motion.q[k + 1].tobytes()
    # Held between ticks and late by a step and a half.
    assert commands[0] == pytest.approx(2.1) and len(set(commands)) > 5


def test_soft_bodies_have_forces_masses_and_contacts(model):
    push = np.array([0.0, 0.0, -3.0])
    motion = costate.rollout(model, controls={"soft.block.load.push": push}, steps=60, every=10, contacts=True)
    contacts = motion.contacts
    assert set(contacts.state) <= set(range(7)) and len(contacts) >= 9
    np.testing.assert_array_equal(contacts.time, motion.time[contacts.state])
    state = motion.state(4)
    here = costate.evaluate(model, state, controls={"soft.block.load.push": push})
    assert here.mass_matrix is None and here.constraints is None
    assert here.masses.sum() == pytest.approx(1.0) and here.forces.shape == (27, 3)
    after = costate.step(model, state, controls={"soft.block.load.push": push})
    np.testing.assert_allclose(after.v, state.v + model.timestep * here.acceleration, rtol=0, atol=1e-14)
    a = here.forces / here.masses[:, None] + model["option.gravity"]
    np.testing.assert_allclose(here.acceleration.reshape(-1, 3), a, rtol=0, atol=1e-10)
    now = contacts.at(4)
    assert len(now) == len(here.contacts) > 0 and repr(now).startswith("<costate.Contacts")
    for one, other in zip(now, here.contacts):
        assert one.first == "floor" and one.second == "block" and one.vertex == other.vertex
        np.testing.assert_array_equal(one.position, state.positions[one.vertex])
        np.testing.assert_allclose(one.frame @ one.frame.T, np.eye(3), atol=1e-15)
        np.testing.assert_array_equal(one.frame[0], [0, 0, 1])
        assert one.distance == state.positions[one.vertex, 2] < 0 < one.force[0]
    # The same as the observed force of the floor.
    seen = costate.rollout(model, initial=state, signals={"f": {"contact_force": {"geom": "floor"}}}, times=[0.0])
    np.testing.assert_allclose(now.force_world.sum(axis=0), seen.signal("f")[0], rtol=1e-12)
    assert len(now.between("floor", "block")) == len(now) and len(now.between("wall")) == 0
    assert len(now[:2]) == 2 and now[-1].vertex == now.vertex[-1]


def test_tables_of_motions(model, tmp_path):
    pandas = pytest.importorskip("pandas")
    motion = costate.rollout(model, steps=50, every=10, contacts=True)
    table = motion.contacts.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and {"time", "force_normal", "normal_z"} <= set(table.columns)
    states = motion.to_dataframe(model)
    assert states["block[3].x"].iloc[-1] == motion.positions[-1, 3, 0]
    assert states["block[3].z'"].iloc[-1] == motion.velocities[-1, 3, 2]
    seen = costate.rollout(model, signals={"tip": {"position": {"vertex": 26}}}, times=[0.001, 0.002])
    assert list(seen.to_dataframe().columns) == ["tip.x", "tip.y", "tip.z"] and seen.signal("tip").shape == (2, 3)
    with pytest.raises(costate.UnknownName):
        seen.signal("top")
    robot = recorded("ball_top__Euler", tmp_path)[1]
    q, v = robot.coordinate_names()
    assert (len(q), len(v)) == robot._core.widths[:2]


def test_sensors_of_robots_are_signals(tmp_path):
    there, model = recorded("arm_gravcomp__Euler", tmp_path)
    assert model.sensors
    state = costate.State(np.array(there["qpos"]), np.array(there["qvel"]), np.array(there["act"]))
    controls = dict(zip([c.name for c in model.inputs], there["ctrl"]))
    seen = costate.rollout(model, initial=state, controls=controls, signals=costate.Signals.of_sensors(model), times=[0.0])
    close(np.concatenate([np.ravel(seen.signal(name)) for name in model.sensors]), there["sensordata"], 1e-7)


def test_pictures_of_signals(model):
    pytest.importorskip("matplotlib").use("Agg")
    seen = costate.rollout(model, signals={"tip": {"position": {"vertex": 26}}}, times=[0.001, 0.002])
    figure = seen.plot(["tip"])
    assert [axis.get_ylabel() for axis in figure.axes] == ["tip"] and len(figure.axes[0].lines) == 3
    with pytest.raises(costate.BadInput):
        costate.rollout(model, steps=1).plot()


def test_what_a_step_computes_is_told_in_short(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    now = costate.evaluate(costate.load(tmp_path / "arm.urdf"))
    assert "1 constraint rows" in repr(now) and "mass_matrix [2, 2]" in repr(now)
    assert "joint friction of shoulder" in repr(now.constraints)
    pandas = pytest.importorskip("pandas")
    table = now.constraints.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and table["force"].tolist() == now.constraints.force.tolist()
