"""Costate's gradient of a robot's motion beside MJX and brax on this machine's CPU, in one run.

    python3 bench/mjx.py [--steps 100] [--repeats 3]      (pip install mujoco-mjx==3.17.0 brax==0.14.2)

The motion is brax's ant and its humanoid from the reference pose without control; the gradient that of the
sum of the last coordinates by every mass, damping and armature. MJX differentiates in reverse with one
iteration of its solver only (`opt.iterations = 1`), which is no longer MuJoCo's physics, so that is what is
timed; brax runs its "generalized" pipeline. Prints the seconds to the first gradient (for Costate the whole
program with the reading of the file, its step solved to 1e-12; for the peers compilation by JAX, imports left
out) and the least seconds of the gradients after it. All engines compute in double precision.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "crates" / "dynamics" / "tests" / "data" / "mujoco" / "models"
CASES = ["brax_ant", "brax_humanoid"]


def timed(gradient, values, repeats):
    """Seconds of the first call and the least of those after it; and whether the gradient is finite."""
    import jax
    import numpy as np

    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        found = jax.block_until_ready(gradient(values))
        times.append(time.perf_counter() - start)
    finite = all(bool(np.isfinite(np.asarray(x)).all()) for x in jax.tree.leaves(found))
    return {"first": times[0], "next": min(times[1:]), "finite": finite}


def mjx_gradient(file, steps, repeats):
    """Times of MJX."""
    import jax
    import mujoco
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.iterations, model.opt.ls_iterations = 1, 4
    on_device = mjx.put_model(model)
    start = mjx.make_data(model)

    def loss(values):
        own = on_device.replace(**values)

        def step(data, _):
            following = mjx.step(own, data)
            # Types must not change from step to step where numbers are doubles.
            return jax.tree.map(lambda new, old: new.astype(old.dtype), following, data), None

        data = mjx.forward(own, start)
        data = jax.tree.map(lambda new, old: new.astype(old.dtype), mjx.step(own, data), data)
        data, _ = jax.lax.scan(jax.checkpoint(step), data, None, length=steps - 1)
        return data.qpos.sum()

    names = ["body_mass", "dof_damping", "dof_armature"]
    return timed(jax.jit(jax.grad(loss)), {name: getattr(on_device, name) for name in names}, repeats)


def brax_gradient(file, steps, repeats):
    """Times of brax's generalized pipeline."""
    import jax
    from brax.generalized import pipeline
    from brax.io import mjcf

    system = mjcf.load(str(file))
    control = jax.numpy.zeros(system.act_size())

    def loss(values):
        own = system.tree_replace({
            "link.inertia.mass": values["mass"],
            "dof.damping": values["damping"],
            "dof.armature": values["armature"],
        })

        def step(state, _):
            return pipeline.step(own, state, control), None

        state = pipeline.init(own, own.init_q, jax.numpy.zeros(own.qd_size()))
        state, _ = jax.lax.scan(jax.checkpoint(step), state, None, length=steps)
        return state.q.sum()

    values = {
        "mass": system.link.inertia.mass, "damping": system.dof.damping, "armature": system.dof.armature,
    }
    return timed(jax.jit(jax.grad(loss)), values, repeats)


def costate_gradient(file, steps, repeats, profile):
    """Times of Costate: the program from its start to the first gradient, and the gradients after it."""
    build = ["cargo", "build", "-q", "--profile", profile, "-p", "costate-bench"]
    subprocess.run(build, cwd=ROOT, check=True)
    bench = ROOT / "target" / {"dev": "debug"}.get(profile, profile) / "costate-bench"
    run = lambda n: subprocess.run(
        [bench, "--robot", file, str(steps), str(n)], check=True, capture_output=True, text=True
    ).stdout
    run(1)
    start = time.perf_counter()
    run(1)
    first = time.perf_counter() - start
    return {"first": first, "next": json.loads(run(repeats))["gradient_ns"]["min"] * steps * 1e-9, "finite": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", default="release")
    parser.add_argument("--inside", nargs=2)
    args = parser.parse_args()
    if args.inside:
        # Each peer has a process of its own, so that neither compiles for the other.
        import jax

        jax.config.update("jax_enable_x64", True)
        peer, file = args.inside
        found = {"mjx": mjx_gradient, "brax": brax_gradient}[peer](file, args.steps, args.repeats)
        return print(json.dumps(found))
    for name in CASES:
        file = MODELS / f"{name}.xml"
        own = costate_gradient(file, args.steps, args.repeats, args.profile)
        print(f"{name}, {args.steps} steps")
        print(f"  costate: first {own['first']:.3f} s, then {1e3 * own['next']:.2f} ms", flush=True)
        for peer in ["mjx", "brax"]:
            command = [
                sys.executable, __file__, "--inside", peer, str(file),
                "--steps", str(args.steps), "--repeats", str(args.repeats),
            ]
            out = subprocess.run(command, capture_output=True, text=True)
            if out.returncode != 0:
                reason = (out.stderr.strip().splitlines() or ["no message"])[-1]
                print(f"  {peer}: failed: {reason[:200]}", flush=True)
                continue
            found = json.loads(out.stdout.strip().splitlines()[-1])
            note = "" if found["finite"] else "; the gradient is not finite"
            print(
                f"  {peer}: first {found['first']:.1f} s, then {1e3 * found['next']:.0f} ms, "
                f"{found['next'] / own['next']:.0f} times Costate's{note}",
                flush=True,
            )


if __name__ == "__main__":
    main()
