"""Steps with armature of tendons and slider-cranks under every integrator, and what some numbers do to them, by mujoco 4.0.

    python armature_crank.py > armature_crank.json
"""
import json

import mujoco
import numpy as np

from fluid import NAMES, difference, spec_of, step

NAME = "armature_crank"


def changed(change, integrator):
    """The model with a change. Under discrete nothing is stiff or damped between branches: MuJoCo solves for that
    iteratively."""
    spec = spec_of(NAME)
    if NAMES[integrator] == "discrete":
        spec.tendon("across").stiffness[:] = 0
        spec.tendon("across").damping[:] = 0
        for name in ("crank", "short"):
            spec.actuator(name).biasprm[1:] = 0
    change(spec)
    return spec.compile()


def of(kind, name, field, k, x):
    def change(spec):
        element = getattr(spec, kind)(name)
        if k is None:
            setattr(element, field, getattr(element, field) + x)
        else:
            getattr(element, field)[k] += x
    return change


m = spec_of(NAME).compile()
states = []
for n in range(3):
    wave = lambda size, seed: np.sin(1.7 * np.arange(size) + 0.9 * (seed + 3 * n) + 0.3)
    qpos = 0.5 * wave(m.nq, 1)
    for j in range(m.njnt):
        at = m.jnt_qposadr[j] + {0: 3, 1: 0}.get(m.jnt_type[j], 0)
        if m.jnt_type[j] < 2:
            qpos[at:at + 4] /= np.linalg.norm(qpos[at:at + 4])
    state = {"qpos": qpos.tolist(), "qvel": wave(m.nv, 2).tolist(), "ctrl": wave(m.nu, 4).tolist(), "act": []}
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = state["qpos"], state["qvel"], state["ctrl"]
    m.opt.integrator = 0
    mujoco.mj_forward(m, d)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, mass)
    state.update(
        qM=mass.ravel().tolist(), qfrc_bias=d.qfrc_bias.tolist(), length=d.actuator_length.tolist(),
        velocity=d.actuator_velocity.tolist(), sensordata=d.sensordata.tolist(),
    )
    for i, integrator in enumerate(NAMES):
        q, v = step(changed(lambda spec: None, i), state, i)
        state[integrator] = {"qpos": q.tolist(), "qvel": v.tolist()}
    states.append(state)

changes = [
    (f"tendon.{t}.armature", 0, 0.01, lambda x, t=t: of("tendon", t, "armature", None, x))
    for t in ("chain", "across", "trees", "pulley", "sum")
] + [
    ("actuator.geared.armature", 0, 0.001, lambda x: of("actuator", "geared", "armature", None, x)),
    ("actuator.crank.cranklength", 0, 0.005, lambda x: of("actuator", "crank", "cranklength", None, x)),
    ("actuator.linked.cranklength", 0, 0.005, lambda x: of("actuator", "linked", "cranklength", None, x)),
] + [
    (f"site.{s}.pos", k, 2e-4, lambda x, s=s, k=k: of("site", s, "pos", k, x))
    for s in ("near", "left", "right", "load", "crank", "piston") for k in (0, 2)
]
derivatives = []
for leaf, k, size, change in changes:
    own = {"leaf": leaf, "component": k}
    for i, integrator in enumerate(NAMES):
        own[integrator] = difference(lambda x: step(changed(change(x), i), states[0], i)[1], size).tolist()
    derivatives.append(own)
constants = {
    name: np.ravel(getattr(m, name)).tolist()
    for name in ("tendon_invweight0", "dof_invweight0", "actuator_acc0", "actuator_length0")
}
result = dict(made_with=f"mujoco {mujoco.__version__}", compiled=constants, states=states, derivatives=derivatives)
print(json.dumps(result, separators=(",", ":")))
