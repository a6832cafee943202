#!/usr/bin/env python3
"""What the Python package costs beside the Rust library. Needs the package installed in release mode
(`pip install ./python`) and, for the comparison with Rust, cargo.

    python3 bench/python.py [REPEATS]
"""

import json
import pathlib
import subprocess
import sys
import time

import numpy as np

import costate
from costate import laws

ROOT = pathlib.Path(__file__).resolve().parents[1]
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 7


def least(work, repeats=REPEATS, calls=1):
    """Least and median time of a call, s."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        times.append((time.perf_counter() - begin) / calls)
    return min(times), sorted(times)[len(times) // 2]


def shares(work):
    """Processor time of a call by thread, s, the busiest first (Linux)."""
    def read():
        tasks = pathlib.Path("/proc/self/task")
        return {t.name: int((t / "schedstat").read_text().split()[0]) / 1e9 for t in tasks.iterdir()}

    before = read()
    work()
    return sorted((t - before.get(name, 0.0) for name, t in read().items()), reverse=True)


def grid(cells, material="warp", timestep=1e-5, **keys):
    """The scene of the Rust benchmark: a grid in flight from a stretch of 5 %."""
    cell = np.array([0.01, 0.005, 0.01])
    z, y, x = np.meshgrid(*(np.arange(n + 1) for n in cells[::-1]), indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1) * cell
    stretched = vertices * [1.05, 0.98, 1.0]
    if material in ("warp", "neo-hookean"):
        keys = {"mu": 3000.0, "lambda": 10000.0, **keys}
    scene = costate.Builder("grid", timestep=timestep)
    scene.grid("body", cells, cell=cell, start_position=stretched, material=material, density=10.0, **keys)
    return scene.build()


@laws.material
def recorded(F, mu, lam):
    log = np.log(laws.det(F))
    return mu / 2 * ((F * F).sum() - 3) - mu * log + lam / 2 * log**2


def main():
    print(f"costate {costate.__version__}, NumPy {np.__version__}, least (median) of {REPEATS}\n")
    tiny = grid((1, 1, 1))
    t, m = least(lambda: costate.rollout(tiny, steps=1), calls=2000)
    print(f"call of rollout, 5 tetrahedra, 1 step: {t * 1e6:.1f} ({m * 1e6:.1f}) µs")
    t, m = least(lambda: costate.step(tiny, start), calls=2000) if (start := tiny.initial_state()) else (0, 0)
    print(f"call of step:                          {t * 1e6:.1f} ({m * 1e6:.1f}) µs")

    cells, steps = (10, 4, 5), 1000
    model = grid(cells)
    tetrahedra = 5 * int(np.prod(cells))
    tip = costate.Signals({"tip": {"position": {"vertex": 0}}, "end": {"position": {"vertex": 10}}})
    times = np.linspace(0, steps * model.timestep, 101)
    unit = 1e9 / (tetrahedra * steps)
    bare, bare_m = least(lambda: costate.rollout(model, steps=steps, every=steps))
    seen, seen_m = least(lambda: costate.rollout(model, every=None, signals=tip, times=times))
    kept, kept_m = least(lambda: costate.rollout(model, steps=steps, every=1))
    print(f"\n{steps} steps of {tetrahedra} tetrahedra, ns per tetrahedron and step")
    command = ["cargo", "run", "-q", "--release", "-p", "costate-bench", "--", *map(str, cells), str(steps), str(REPEATS)]
    rust = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    reference = json.loads(rust.stdout)["forward_ns"] if rust.returncode == 0 else None
    print(f"Rust, last state:        {reference if reference is not None else rust.stderr.strip()[-200:]}")
    print(f"Python, last state:      {bare * unit:.1f} ({bare_m * unit:.1f})")
    print(f"Python, 101 x 6 signals: {seen * unit:.1f} ({seen_m * unit:.1f})")
    print(f"Python, every state:     {kept * unit:.1f} ({kept_m * unit:.1f})")

    runs = [{"parameters": {"soft.body.mu": 2000.0 + 50 * i}} for i in range(64)]
    one, one_m = least(lambda: [costate.rollout(model, **run, steps=200, every=200) for run in runs], 3)
    all_, all_m = least(lambda: costate.rollouts(model, runs, steps=200, every=200), 3)
    print(f"\n64 rollouts of 200 steps: one by one {one:.2f} ({one_m:.2f}) s, at once {all_:.2f} ({all_m:.2f}) s: {one / all_:.2f} times")
    if pathlib.Path("/proc/self/schedstat").exists():
        # What the clock would show on cores that nothing else uses: what two workers share, and what one thread
        # does before and after.
        first, second, *rest = shares(lambda: costate.rollouts(model, runs, steps=200, every=200))
        print(f"processor time by thread {first:.3f}, {second:.3f} s, before and after {sum(rest):.3f} s: "
              f"{(first + second + sum(rest)) / (first + sum(rest)):.2f} times with RAYON_NUM_THREADS=2")

    print("\na law in Python beside the compiled one, ns per tetrahedron and step")
    compiled = grid(cells, "neo-hookean")
    own = grid(cells, recorded, parameters={"mu": 3000.0, "lam": 10000.0})
    names = {compiled: ["soft.body.mu", "soft.body.lambda"], own: ["soft.body.mu", "soft.body.lam"]}

    def gradient(model):
        def loss(motion):
            bar = motion.zeros()
            bar.q[-1] = 1.0
            return motion.q[-1].sum(), bar

        return costate.value_and_grad(loss, model, wrt=names[model], steps=200, every=200)

    unit = 1e9 / (tetrahedra * 200)
    for what, work in [("forward", lambda m: costate.rollout(m, steps=200, every=200)), ("gradient", gradient)]:
        a, a_m = least(lambda: work(compiled))
        b, b_m = least(lambda: work(own))
        print(f"{what}: compiled {a * unit:.1f} ({a_m * unit:.1f}), recorded {b * unit:.1f} ({b_m * unit:.1f}): {b / a:.2f} times")
    begin = time.perf_counter()
    laws.Law(recorded.function)
    print(f"recording takes {1e3 * (time.perf_counter() - begin):.2f} ms")


if __name__ == "__main__":
    main()
