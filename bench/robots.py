"""Costate's steps of robots beside MuJoCo's C engine, one thread, in one run.

    python3 bench/robots.py [--repeats 5]      (needs mujoco 4.0: pip install mujoco)

Models without contacts first (a name with "free" has its contacts switched off), then with them. Prints
microseconds per step, least and median of repeats taken in turns, Costate's ratio to MuJoCo, a pullback by all
parameters in steps, and the gradient of the motion by every mass, damping, armature and dry friction in forward
motions. Both start from the reference pose with no control and run the same steps; MuJoCo has its own tolerance
(1e-8), Costate 1e-12, as a derivative needs.

Last, that gradient of 100 steps of the humanoid beside forward differences of MuJoCo's motions.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

import mujoco

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "crates" / "dynamics" / "tests" / "data" / "mujoco" / "models"
HOME = ROOT / "target" / "bench" / "robots"

FREE = ["pendulum", "double_pendulum", "cartpole", "arm_gravcomp", "ball_top", "frictionloss", "actuators"]
STEPS = {"humanoid": 1000, "humanoid, free": 1000, "ant": 1000, "ant, free": 1000, "100 boxes": 100}


def seconds(model, steps):
    """Of one motion in MuJoCo."""
    data = mujoco.MjData(model)
    start = time.perf_counter()
    mujoco.mj_step(model, data, nstep=steps)
    return time.perf_counter() - start


def differences(model, steps):
    """Seconds and number of MuJoCo's motions for forward differences by every mass, damping, armature, friction."""
    data = mujoco.MjData(model)

    def motion():
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=steps)
        return data.qpos.sum()

    values = [(model.body_mass, i) for i in range(1, model.nbody)]
    for array in (model.dof_damping, model.dof_armature, model.dof_frictionloss):
        values += [(array, i) for i in range(model.nv)]
    start = time.perf_counter()
    base, gradient = motion(), []
    for array, i in values:
        kept, width = array[i], 1e-6 * max(abs(array[i]), 1e-3)
        array[i] = kept + width
        mujoco.mj_setConst(model, data)
        gradient.append((motion() - base) / width)
        array[i] = kept
    mujoco.mj_setConst(model, data)
    return time.perf_counter() - start, len(values) + 1


def without_contacts(text):
    """The same MJCF with contacts switched off."""
    return text.replace("<worldbody>", '<option><flag contact="disable"/></option>\n<worldbody>', 1)


def cases(bench):
    """Name and MJCF of every case."""
    text = lambda name: (MODELS / f"{name}.xml").read_text()
    for name in FREE:
        yield name, text(name)
    for name, file in [("ant", "brax_ant"), ("humanoid", "mujoco_humanoid")]:
        yield f"{name}, free", without_contacts(text(file))
    for name, file in [("ant", "brax_ant"), ("humanoid", "mujoco_humanoid")]:
        yield name, text(file)
    boxes = subprocess.run([bench, "--boxes", "100", "--mjcf"], check=True, capture_output=True, text=True)
    yield "100 boxes", boxes.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--profile", default="release")
    args = parser.parse_args()
    build = ["cargo", "build", "-q", "--profile", args.profile, "-p", "costate-bench"]
    subprocess.run(build, cwd=ROOT, check=True)
    folder = {"dev": "debug"}.get(args.profile, args.profile)
    bench = ROOT / "target" / folder / "costate-bench"
    HOME.mkdir(parents=True, exist_ok=True)
    file = HOME / "model.xml"

    def own(steps, repeats):
        out = subprocess.run(
            [bench, "--robot", file, str(steps), str(repeats)], check=True, capture_output=True, text=True
        )
        return json.loads(out.stdout)

    def line(times):
        return f"{min(times):8.2f} ({statistics.median(times):8.2f})"

    print(f"{'':18} {'dofs':>4} {'contacts':>8}  {'step, us':>19}  {'MuJoCo, us':>19}  ratio  pullback  gradient")
    for name, text in cases(bench):
        steps = STEPS.get(name, 10000)
        file.write_text(text)
        model = mujoco.MjModel.from_xml_string(text)
        step, pull, gradient, peer, result = [], [], [], [], {}
        for _ in range(args.repeats):
            result = own(steps, 3)
            for times, key in [(step, "step"), (pull, "pullback"), (gradient, "gradient")]:
                times.append(result[f"{key}_ns"]["min"] / 1e3)
            peer.append(min(seconds(model, steps) for _ in range(3)) * 1e6 / steps)
        print(
            f"{name:18} {result['dofs']:4} {result['contacts_per_step']:8}  {line(step)}  {line(peer)}  "
            f"{min(step) / min(peer):5.2f}  {min(pull) / min(step):8.2f}  {min(gradient) / min(step):8.2f}",
            flush=True,
        )
    for name, change in [("humanoid", str), ("humanoid, free", without_contacts)]:
        text = change((MODELS / "mujoco_humanoid.xml").read_text())
        file.write_text(text)
        model = mujoco.MjModel.from_xml_string(text)
        runs = [(own(100, 3)["gradient_ns"]["min"] * 100e-9, *differences(model, 100)) for _ in range(args.repeats)]
        mine, peer = min(r[0] for r in runs), min(r[1] for r in runs)
        print(
            f"{name}, 100 steps: gradient {1e3 * mine:.2f} ms; {runs[0][2]} motions of MuJoCo for forward differences "
            f"{1e3 * peer:.2f} ms; {peer / mine:.1f} times"
        )


if __name__ == "__main__":
    main()
