"""Trajectories and gradients of recorded models under the discrete integrator beside constraints, by mujoco 4.0.

From X__Euler.json in this folder, whose compiled constants, start, controls and snapshot it keeps, to X__discrete.json:
    python discrete.py FOLDER hinge_limit frictionloss ...
Derived constants are held (`frozen`). Differences are extrapolated; the error is the least change between levels.
"""
import json
import sys

import mujoco
import numpy as np

folder, names = sys.argv[1], sys.argv[2:]
INTEGRATOR = mujoco.mjtIntegrator.mjINT_DISCRETE


def compiled(name, options):
    spec = mujoco.MjSpec.from_file(f"{folder}/models/{name}.xml")
    for body in spec.bodies[1:]:
        body.simple = False
    m = spec.compile()
    m.opt.integrator = INTEGRATOR
    m.opt.tolerance, m.opt.ls_tolerance = 0, 1e-14
    m.opt.iterations, m.opt.ls_iterations = 40, 300
    m.opt.cone = {"pyramidal": 0, "elliptic": 1}[options["cone"]]
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    return m


def control(script, t):
    part = lambda key: np.array(script[key], float)
    return part("bias") + part("amp") * np.sin(2 * np.pi * part("freq") * t + part("phase"))


def rollout(m, file, steps, keep=None, shift=None):
    d = mujoco.MjData(m)
    init = file["init"]
    d.qpos[:], d.qvel[:], d.act[:] = init["qpos"], init["qvel"], init["act"]
    if shift is not None:
        kind, direction = shift
        if kind == "q":
            mujoco.mj_integratePos(m, d.qpos, direction, 1.0)
        else:
            d.qvel[:] += direction
    rows, loss = [], 0.0
    for k in range(steps + 1):
        if keep and k % keep == 0:
            rows.append((k, d.qpos.tolist(), d.qvel.tolist(), d.act.tolist()))
        if k == steps:
            break
        d.ctrl[:] = control(file["ctrl"], k * m.opt.timestep)
        mujoco.mj_step(m, d)
        i, j = np.arange(m.nq), np.arange(m.nv)
        loss += 0.5 * ((1 + 0.1 * i) * d.qpos**2).sum() + 0.05 * ((1 + 0.1 * j) * d.qvel**2).sum()
    return loss / steps, rows


def derivative(f, scale):
    central = lambda h: (f(h) - f(-h)) / (2 * h)
    best = (np.inf, 0.0)
    widths = [1e-2 * scale * 4.0**-k for k in range(7)]
    plain = [central(h) for h in widths]
    once = [b + (b - a) / 15 for a, b in zip(plain, plain[1:])]
    twice = [b + (b - a) / 255 for a, b in zip(once, once[1:])]
    for a, b in list(zip(once, twice)) + list(zip(twice, twice[1:])):
        best = min(best, (abs(a - b), b))
    return best[1], best[0]


ENTRIES = {
    "body_mass": 1, "body_inertia": 3, "body_ipos": 3, "body_pos": 3, "dof_damping": 1, "dof_armature": 1,
    "dof_frictionloss": 1, "jnt_stiffness": 1, "qpos_spring": 1, "jnt_range": 2, "jnt_solref": 2, "jnt_solimp": 3,
    "dof_solref": 2, "dof_solimp": 2, "eq_solref": 2, "eq_solimp": 3, "geom_friction": 3, "geom_solref": 2,
    "geom_solimp": 3,
}

for name in names:
    file = json.load(open(f"{folder}/{name}.json"))
    stem = file["model"].removeprefix("models/").removesuffix(".xml")
    m = compiled(stem, file["options"])
    steps = min(60, file["gradient"]["nstep"])
    total, rows = rollout(m, file, 60, keep=10)
    file["name"] = name.replace(name.split("__")[1].split("_")[0], "discrete")
    file["options"].update(integrator="discrete", tolerance=0, iterations=40)
    step, qpos, qvel, act = zip(*rows)
    ncon = file["trajectory"]["ncon"][:1]
    file["trajectory"] = dict(nstep=60, step=step, qpos=qpos, qvel=qvel, act=act, ncon=ncon)
    snapshot = file["snapshot"]
    snapshot["next"] = {"discrete": snapshot["next"]["discrete"]}
    snapshot.pop("sensordata", None)
    for key in [key for key in file["compiled"] if key.startswith("sensor_")]:
        file["compiled"][key] = []
    file.pop("qacc_derivatives", None)
    loss = lambda shift=None: rollout(m, file, steps, shift=shift)[0]
    params = {}
    for field, width in ENTRIES.items():
        array = getattr(m, field)
        if not array.size:
            continue
        array = array.reshape(array.shape[0], -1)
        index, values, errors = [], [], []
        for i in range(array.shape[0]):
            for k in range(min(width, array.shape[1])):
                base = array[i, k]
                if base == 0 and field not in ("body_ipos", "body_pos", "qpos_spring"):
                    continue
                if field.startswith("body_") and i == 0:
                    continue
                def at(x):
                    array[i, k] = base + x
                    try:
                        return loss()
                    finally:
                        array[i, k] = base
                value, error = derivative(at, max(abs(base), 0.1))
                index.append([i, k] if array.shape[1] > 1 else [i])
                values.append(value)
                errors.append(error)
        params[field] = {"index": index, "frozen": values, "frozen_err": errors}
    for key, kind in (("qpos_init_tangent", "q"), ("qvel_init", "v")):
        values, errors = zip(*(derivative(lambda x: loss((kind, x * np.eye(m.nv)[j])), 0.3) for j in range(m.nv)))
        params[key] = {"value": values, "err": errors}
    base = m.opt.gravity.copy()
    def heavy(x, k):
        m.opt.gravity[k] += x
        try:
            return loss()
        finally:
            m.opt.gravity[:] = base
    values, errors = zip(*(derivative(lambda x: heavy(x, k), 1.0) for k in range(3)))
    params["gravity"] = {"value": values, "err": errors}
    smooth = {}
    for key, p in params.items():
        held = "frozen" if "frozen" in p else "value"
        errors = p["frozen_err" if held == "frozen" else "err"]
        bad = [n for n, (v, e) in enumerate(zip(p[held], errors)) if e > 1e-5 * abs(v) + 1e-8]
        if bad:
            smooth[key] = bad
    file["gradient"] = {"nstep": steps, "loss": loss(), "params": params, "not_smooth": smooth}
    with open(f"{folder}/{file['name']}.json", "w") as out:
        json.dump(file, out, separators=(",", ":"))
    print(file["name"], "not smooth:", smooth)
