import os
import pathlib

import numpy as np
import pytest

import costate

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCENE = """costate = 1
name = "drop"

[option]
timestep = 2e-4
duration = 0.05

[soft.block]                       # comments stay
grid = { cells = [2, 2, 2], cell = [0.05, 0.05, 0.05] }
position = [0.0, 0.0, 0.002]
velocity = [0.3, 0.0, -1.0]
material = "stable-neo-hookean"
young = 2e4
poisson = 0.4
density = 1000.0
damping = 2.0

[soft.block.regions]
top = { side = "z+" }

[soft.block.load.push]
at = "top"

[geom.floor]
type = "plane"
friction = 0.3
slip_speed = 0.2
"""


@pytest.fixture(scope="session")
def scene(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenes") / "drop.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="session")
def model(scene):
    return costate.load(scene)


@pytest.fixture(scope="session")
def program():
    """The compiled program, to compare with."""
    path = os.environ.get("COSTATE_PROGRAM")
    if not path:
        pytest.skip("COSTATE_PROGRAM does not name the program")
    return path

URDF = """<robot name="arm">
<link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.15"/><mass value="1.2"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.002"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.01 -0.1"/><mass value="0.6"/><inertia ixx="0.0045" ixy="1e-4" ixz="0" iyy="0.005" iyz="0" izz="0.001"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/><dynamics damping="0.05" friction="0.02"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.3" rpy="0 0 0.2"/><axis xyz="0 1 0"/>
<dynamics damping="0.02"/></joint>
</robot>"""

MODELS = ROOT / "crates/dynamics/tests/data"


HAMMER = """<mujoco model="hammer">
<option timestep="0.0005"/>
<worldbody>
<body name="arm" pos="-0.1 0.05 0.125">
<joint name="hinge" axis="0 1 0" damping="0.01"/>
<geom name="head" size="0.03" pos="0.15 0 0" mass="0.1"/>
<geom name="rod" type="capsule" size="0.022 0.1" pos="0.08 0 0" quat="0.7 0 0.7 0" mass="0.05"/>
</body>
</worldbody>
<actuator><motor name="arm" joint="hinge"/></actuator>
</mujoco>"""


@pytest.fixture(scope="session")
def hammer_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hammer") / "hammer.xml"
    path.write_text(HAMMER)
    return path


@pytest.fixture(scope="session")
def mixed(hammer_file):
    """A hammer that lies on a soft block, with forces on both sides."""
    scene = costate.Builder("mixed", robot=hammer_file)
    scene.grid("block", cells=(2, 2, 2), cell=np.full(3, 0.05), material="stable-neo-hookean",
               young=2e4, poisson=0.3, density=100.0, damping=3.0, radius=0.004, fixed={"side": "z-"},
               regions={"top": {"side": "z+"}}, load={"push": {"at": "top"}})
    for geom in ("head", "rod"):
        scene.touch(geom, stiffness=900.0, damping=2.0, friction=0.4, friction_damping=1.0, ramp=5e-3)
    return scene.build()


@pytest.fixture(params=["arm", "contact", "urdf", "mixed"])
def robot_case(request, tmp_path, mixed):
    """A robot with the parameters, the initial (q, v) and the controls that derivatives are checked by."""
    rng = np.random.default_rng(3)
    if request.param == "arm":
        model = costate.load(MODELS / "control/arm.xml")
        paths = ["body.lower.mass", "joint.elbow.damping", "option.gravity"]
    elif request.param == "urdf":
        (tmp_path / "arm.urdf").write_text(URDF)
        model = costate.load(tmp_path / "arm.urdf")
        paths = ["body.lower.mass", "joint.shoulder.frictionloss", "option.gravity"]
    elif request.param == "mixed":
        model = mixed
        paths = ["geom.head.mass", "geom.head.size", "geom.rod.soft.stiffness", "geom.head.soft.friction",
                 "soft.block.young", "soft.block.density", "option.gravity"]
    else:
        model = costate.load(MODELS / "mujoco/models/sphere_roll.xml")
        paths = ["geom.ball.mass", "geom.ball.friction", "geom.ball.solref", "option.gravity"]
    start = model.initial_state()
    q, v = start.q.copy(), 0.5 * rng.normal(size=start.v.shape)
    if request.param == "contact":
        # The ball rolls and slips all the time, in the floor.
        q[2], v = 0.0995, np.array([0.7, 0.05, -0.01, 0.1, 6.0, 1.8])
    elif request.param == "mixed":
        q = q + 1e-3 * rng.normal(size=q.shape)
        v[-1] = 6.0
    else:
        q = q + 0.4 * rng.normal(size=q.shape)
    controls = {c.name: 0.3 * rng.normal(size=(8, c.size)) for c in model.inputs}
    return model, {path: model[path] for path in paths}, (q, v), controls
