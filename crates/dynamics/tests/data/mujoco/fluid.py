"""Steps in a fluid under every integrator, and what some numbers do to them, by mujoco 4.0.

    python fluid.py > fluid_implicit.json
"""
import json

import mujoco
import numpy as np

NAMES = ["Euler", "RK4", "implicit", "implicitfast", "discrete"]


def spec_of(name):
    spec = mujoco.MjSpec.from_file(f"models/{name}.xml")
    # What MuJoCo leaves out of the matrices of bodies that it calls simple is not part of the model.
    for body in spec.bodies[1:]:
        body.simple = False
    return spec


def step(m, state, integrator):
    m.opt.integrator = integrator
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = state["qpos"], state["qvel"], state["ctrl"]
    mujoco.mj_step(m, d)
    return d.qpos.copy(), d.qvel.copy()


def difference(f, size):
    central = [(f(h) - f(-h)) / (2 * h) for h in (size, size / 2, size / 4)]
    once = [b + (b - a) / 3 for a, b in zip(central, central[1:])]
    return once[1] + (once[1] - once[0]) / 15


def changed(name, change):
    spec = spec_of(name)
    change(spec)
    return spec.compile()


def of_option(field, k, x):
    def change(spec):
        value = getattr(spec.option, field)
        if k is None:
            setattr(spec.option, field, value + x)
        else:
            value[k] += x
    return change


def of_geom(geom, field, k, x):
    def change(spec):
        getattr(spec.geom(geom), field)[k] += x
    return change


def record(name, count, changes):
    m = spec_of(name).compile()
    states = []
    for n in range(count):
        wave = lambda size, seed: np.sin(1.7 * np.arange(size) + 0.9 * (seed + 3 * n) + 0.3)
        qpos = 0.5 * wave(m.nq, 1)
        for j in range(m.njnt):
            at = m.jnt_qposadr[j] + {0: 3, 1: 0}.get(m.jnt_type[j], 0)
            if m.jnt_type[j] < 2:
                qpos[at:at + 4] /= np.linalg.norm(qpos[at:at + 4])
        state = {"qpos": qpos.tolist(), "qvel": wave(m.nv, 2).tolist(), "ctrl": wave(m.nu, 4).tolist(), "act": []}
        for i, integrator in enumerate(NAMES):
            q, v = step(m, state, i)
            state[integrator] = {"qpos": q.tolist(), "qvel": v.tolist()}
        states.append(state)
    state, derivatives = states[0], []
    for leaf, k, size, change in changes:
        own = {"leaf": leaf, "component": k}
        for i, integrator in enumerate(NAMES):
            dqvel = difference(lambda x: step(changed(name, change(x)), state, i)[1], size)
            own[integrator] = dqvel.tolist()
        derivatives.append(own)
    return {"geom_fluid": m.geom_fluid.tolist(), "states": states, "derivatives": derivatives}


if __name__ == "__main__":
    common = [
        ("option.density", 0, 20.0, lambda x: of_option("density", None, x)),
        ("option.viscosity", 0, 0.03, lambda x: of_option("viscosity", None, x)),
        ("option.wind", 1, 0.02, lambda x: of_option("wind", 1, x)),
    ]
    ellipsoid = common + [
        (f"geom.{geom}.fluidcoef", k, 0.05, lambda x, geom=geom, k=k: of_geom(geom, "fluid_coefs", k, x))
        for geom in ("head", "fin") for k in range(5)
    ] + [
        (f"geom.{geom}.size", k, 2e-4, lambda x, geom=geom, k=k: of_geom(geom, "size", k, x))
        for geom, k in (("head", 0), ("head", 2), ("fin", 1), ("can", 0), ("can", 1))
    ]
    result = {
        "made_with": f"mujoco {mujoco.__version__}",
        "fluid": record("fluid", 3, common),
        "fluid_ellipsoid": record("fluid_ellipsoid", 3, ellipsoid),
    }
    print(json.dumps(result, separators=(",", ":")))
