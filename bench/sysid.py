"""Costate beside mujoco.sysid (MuJoCo 4.0) on its own kind of task, in one run on this machine.

    python3 bench/sysid.py [--repeats 3] [--costate target/release/costate]

An arm of four hinges moves for 4 s; its positions and velocities are recorded at 250 Hz, with noise of
different size. Unknown are damping, armature and dry friction of every joint (12 numbers), and where the
motion starts (8 numbers). Two starts: every number five times its value or a fifth of it, in turn, and
every number on its lower bound, zero. MuJoCo makes the recordings.

mujoco.sysid gets the initial state as parameters too, through its `custom_rollout`, and also runs as its
documentation has it, from the first sample taken as the initial state (12 numbers). Both engines read the
same file and stop by their own rules. Costate runs twice: with horizons, fitting the first 0.4 s, then 1.5 s,
then all, and by default. Times are of the whole estimation: for Costate the program from
start to end, files included; for mujoco.sysid `optimize`, with imports, the reading of files and the
parsing of the model left out. Prints seconds (least of the repeats, and the most), ratios, and
how far the estimates are from the truth.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "target" / "bench" / "sysid"
PACKAGES = ["mujoco[sysid]==4.0.0"]

JOINTS = ["base", "shoulder", "elbow", "wrist"]
TRUTH = {
    "damping": [1.0, 0.8, 0.5, 0.2],
    "armature": [0.20, 0.15, 0.08, 0.03],
    "frictionloss": [0.8, 0.6, 0.4, 0.15],
}
UPPER = {"damping": 20.0, "armature": 4.0, "frictionloss": 16.0}
QPOS = [0.3, -0.4, 0.5, -0.2]
QVEL = [0.4, -0.3, 0.2, 0.5]
SIGMA = {"q": 2e-3, "v": 2e-2}
STEPS, STEP = 1000, 0.004
# Costate's experiment files: what follows the start's name, and `horizons`.
VARIANTS = {"": [0.4, 1.5], "-by-default": None}

LINKS = [
    # position of the joint, axis, mass, centre, inertia
    ("0 0 0.1", "0 0 1", 2.0, "0 0 0.1", "0.02 0.02 0.01"),
    ("0 0 0.2", "0 1 0", 1.6, "0 0 0.15", "0.016 0.016 0.004"),
    ("0 0 0.3", "0 1 0", 1.0, "0 0 0.12", "0.008 0.008 0.002"),
    ("0 0 0.25", "1 0 0", 0.5, "0 0 0.08", "0.003 0.003 0.001"),
]


def model(values):
    """The arm as MJCF, with the values of its joints."""
    text, close = "", ""
    for i, (pos, axis, mass, centre, inertia) in enumerate(LINKS):
        numbers = " ".join(f'{key}="{values[key][i]!r}"' for key in TRUTH)
        text += f"""
    <body name="link{i}" pos="{pos}">
      <inertial pos="{centre}" mass="{mass}" diaginertia="{inertia}"/>
      <joint name="{JOINTS[i]}" axis="{axis}" {numbers}/>"""
        close += "</body>"
    motors = "".join(f'<motor name="{j}" joint="{j}"/>' for j in JOINTS)
    return f"""<mujoco model="arm">
  <option timestep="{STEP}" integrator="implicitfast"/>
  <worldbody>{text}
    {close}
  </worldbody>
  <actuator>{motors}</actuator>
</mujoco>
"""


def starts():
    """Values to start from, by the name of the start."""
    factor = [5.0, 0.2]
    far = {
        key: [x * factor[(i + k) % 2] for i, x in enumerate(values)]
        for k, (key, values) in enumerate(TRUTH.items())
    }
    return {"far off": far, "on the lower bound": {key: [0.0] * 4 for key in TRUTH}}


def experiment(values, horizons):
    """The experiment file of a start."""
    lines = ["costate = 1", 'scene = "arm.xml"']
    if horizons:
        lines += ["[method]", f"horizons = {horizons}"]
    for kind, what, sigma in (("q", "position", "auto"), ("v", "velocity", "auto")):
        for i, joint in enumerate(JOINTS):
            lines += [
                f"[signal.{kind}{i}]", f'joint_{what} = "{joint}"', f'column = "{kind}{i}"',
                f'sigma = "{sigma}"',
            ]
    lines += ["[recording.motion]", 'file = "motion.csv"', 'time = "t"']
    for i, joint in enumerate(JOINTS):
        lines += [
            f'[recording.motion.inputs."actuator.{joint}"]', f'column = "u{i}"',
            'interpolation = "hold"',
        ]
    lines.append("[parameters]")
    for key, numbers in values.items():
        for joint, x in zip(JOINTS, numbers):
            lines.append(
                f'"joint.{joint}.{key}" = {{ start = {x!r}, bounds = [0.0, {UPPER[key]}], '
                'transform = "identity" }'
            )
    for i, joint in enumerate(JOINTS):
        for key, kind in (("qpos", "q"), ("qvel", "v")):
            lines.append(
                f'"recording.motion.joint.{joint}.{key}" = {{ start = {{ column = "{kind}{i}" }} }}'
            )
    return "\n".join(lines) + "\n"


def record(folder):
    """Writes the models, the recording and the experiments (needs MuJoCo)."""
    import mujoco
    import numpy as np

    rng = np.random.default_rng(1)
    arm = mujoco.MjModel.from_xml_string(model(TRUTH))
    data = mujoco.MjData(arm)
    data.qpos[:], data.qvel[:] = QPOS, QVEL
    t = np.arange(STEPS + 1) * STEP
    amplitude, rate, phase = [8.0, 14.0, 6.0, 1.2], [0.7, 0.9, 1.3, 1.9], [0.0, 0.6, 1.2, 1.8]
    u = np.column_stack([
        a * np.sin(2 * np.pi * f * t + p) + 0.4 * a * np.sin(2 * np.pi * 2.7 * f * t)
        for a, f, p in zip(amplitude, rate, phase)
    ])
    q, v = [], []
    for k in range(STEPS + 1):
        q.append(data.qpos.copy())
        v.append(data.qvel.copy())
        data.ctrl[:] = u[k]
        mujoco.mj_step(arm, data)
    q = np.array(q) + SIGMA["q"] * rng.standard_normal((STEPS + 1, 4))
    v = np.array(v) + SIGMA["v"] * rng.standard_normal((STEPS + 1, 4))
    head = ",".join(["t"] + [f"{kind}{i}" for kind in "qvu" for i in range(4)])
    table = np.column_stack([t, q, v, u])
    np.savetxt(folder / "motion.csv", table, delimiter=",", header=head, comments="", fmt="%.17g")
    (folder / "arm.xml").write_text(model({key: [1.0] * 4 for key in TRUTH}))
    for name, values in starts().items():
        for suffix, horizons in VARIANTS.items():
            (folder / f"{name.replace(' ', '-')}{suffix}.toml").write_text(experiment(values, horizons))


def peer(args):
    """Inside the environment with mujoco.sysid: one JSON object of times and estimates."""
    import logging

    import mujoco
    import numpy as np
    from mujoco import sysid
    from mujoco.sysid._src.trajectory import sysid_rollout

    logging.disable(logging.WARNING)
    folder = pathlib.Path(args.folder)
    if args.inside == "record":
        return record(folder)
    table = np.loadtxt(folder / "motion.csv", delimiter=",", skiprows=1)
    t, q, v, u = table[:, 0], table[:, 1:5], table[:, 5:9], table[:, 9:13]
    values = starts()[args.start]
    free = args.inside == "free"
    found = {"seconds": []}
    for _ in range(args.repeats):
        spec = mujoco.MjSpec.from_string(model(values))
        compiled = spec.compile()
        places, rates, _, _ = sysid.TimeSeries.compute_all_state_mappings(compiled)
        measured = sysid.TimeSeries(t, np.hstack([q, v]), places | rates)
        state = sysid.create_initial_state(compiled, q[0], v[0], np.zeros(0))
        sequences = sysid.ModelSequences(
            "arm", spec, "motion", state, sysid.TimeSeries(t, u), measured,
            allow_missing_sensors=True,
        )
        params = sysid.ParameterDict()

        def setter(joint, key):
            def change(spec, p):
                current = getattr(spec.joint(joint), key)
                value = float(p.value[0])
                if np.ndim(current):
                    current[0] = value
                else:
                    setattr(spec.joint(joint), key, value)
            return change

        for key, numbers in values.items():
            for joint, x in zip(JOINTS, numbers):
                params.add(sysid.Parameter(
                    f"{joint}_{key}", nominal=x, min_value=0.0, max_value=UPPER[key],
                    modifier=setter(joint, key),
                ))
        extra = {}
        if free:
            params.add(sysid.Parameter("start", np.hstack([q[0], v[0]]), [-10.0] * 8, [10.0] * 8))

            def rollout(models, datas, control_signal, initial_states, param_dicts, **mappings):
                own = []
                for p in param_dicts:
                    x = np.array(initial_states[0], dtype=float)
                    x[1:9] = p["start"].value
                    own.append(x)
                return sysid_rollout(
                    models=models, datas=datas, control_signal=control_signal, initial_states=own,
                    **mappings,
                )

            extra = {"custom_rollout": rollout}
        residual = sysid.build_residual_fn(models_sequences=[sequences], **extra)
        begin = time.perf_counter()
        best, _ = sysid.optimize(
            initial_params=params, residual_fn=residual, optimizer="mujoco", verbose=False
        )
        found["seconds"].append(time.perf_counter() - begin)
    found["estimates"] = [
        [float(best[f"{joint}_{key}"].value[0]) for joint in JOINTS] for key in TRUTH
    ]
    print(json.dumps(found))


def costate(args, start, variant):
    """The same of Costate's program."""
    file = HOME / f"{start.replace(' ', '-')}{variant}.toml"
    found = {"seconds": []}
    for _ in range(args.repeats):
        begin = time.perf_counter()
        out = subprocess.run(
            [args.costate, "identify", file, "--no-gif", "--out", HOME / "run"], capture_output=True, text=True
        )
        found["seconds"].append(time.perf_counter() - begin)
        if out.returncode:
            raise SystemExit(f"costate: {out.stderr}")
    result = json.loads((HOME / "run" / "result.json").read_text())
    found["search"] = result["wall_s"]
    parameters = result["parameters"]
    found["estimates"] = [
        [parameters[f"joint.{joint}.{key}"]["estimate"] for joint in JOINTS] for key in TRUTH
    ]
    return found


def worst(estimates):
    """Largest relative error."""
    pairs = zip(estimates, TRUTH.values())
    return max(abs(x / y - 1.0) for ours, truth in pairs for x, y in zip(ours, truth))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--costate", default=str(ROOT / "target/release/costate"))
    parser.add_argument("--python", help="an interpreter that has mujoco[sysid]; else one is made")
    parser.add_argument("--inside", choices=["record", "free", "plain"], help=argparse.SUPPRESS)
    parser.add_argument("--start", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        return peer(args)
    HOME.mkdir(parents=True, exist_ok=True)
    python = args.python or HOME / "venv" / "bin" / "python"
    if not args.python and not python.exists():
        venv.create(HOME / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if not os.path.exists(args.costate):
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "costate-cli"], cwd=ROOT, check=True)

    def inside(what, start):
        command = [python, __file__, "--inside", what, "--start", start, "--folder", HOME]
        command += ["--repeats", str(args.repeats)]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode and what == "record":
            raise SystemExit(f"mujoco: {out.stderr[-2000:]}")
        if out.returncode:
            return {"failed": out.stderr.strip().splitlines()[-1]}
        return json.loads(out.stdout.strip().splitlines()[-1]) if what != "record" else None

    inside("record", "far off")
    for start in starts():
        own = costate(args, start, "")
        base = min(own["seconds"])
        print(f"start {start}:  seconds, least (most)   to Costate   largest error of the 12")
        rows = [("Costate, 20 unknowns, horizons", own)]
        rows.append(("Costate, 20 unknowns, by default", costate(args, start, "-by-default")))
        rows.append(("mujoco.sysid, 20 unknowns", inside("free", start)))
        rows.append(("mujoco.sysid, 12, first sample", inside("plain", start)))
        for label, got in rows:
            if "failed" in got:
                print(f"  {label:32} {got['failed']}")
                continue
            seconds = got["seconds"]
            print(f"  {label:32} {min(seconds):8.3f} ({max(seconds):8.3f})   {min(seconds) / base:8.1f}x   "
                  f"{100 * worst(got['estimates']):8.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
