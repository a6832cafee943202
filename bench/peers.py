"""Costate beside warp-lang 1.8.1 and newton 1.8.0 on this machine's CPU, in one run.

    python3 bench/peers.py [--cells 20 4 10] [--steps 50] [--repeats 5] [--skip newton]

Prints nanoseconds per tetrahedron and step, forward and forward with the gradient by
materials and initial state, with the spread over the repeats, and each peer's ratio to Costate on one
thread by all leaves: processor time, except where Costate uses several threads. `--narrow` and
`--elastic` are gradients by fewer leaves, as costate-bench takes them. Every engine runs the same soft grid: warp.sim's law, five tetrahedra a cell, free flight from
a stretch of 5 %, no membrane. The peers compile their kernels in a first run that is not counted. The
script makes its own environments under target/bench; nothing else is installed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "target" / "bench"
PEERS = {"warp": ["warp-lang==1.8.1", "numpy"], "newton": ["newton==1.8.0", "numpy"]}


def python_of(peer):
    """The interpreter of the peer's environment, made where it is missing."""
    folder = HOME / peer
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[peer]], check=True)
    return python


def run_peer(args):
    """Inside a peer's environment: one JSON object of times."""
    import time

    import numpy as np
    import warp as wp

    wp.config.quiet = True
    wp.init()
    if args.inside == "warp":
        import warp.sim as sim

        builder = sim.ModelBuilder()
        up = np.array([0.0, 1.0, 0.0])
    else:
        import newton as sim

        builder = sim.ModelBuilder(up_axis=sim.Axis.Y)
    nx, ny, nz = args.cells
    grid = dict(
        pos=wp.vec3(0.0, 1.0, 0.0), rot=wp.quat_identity(), vel=wp.vec3(0.0, 0.0, 0.0),
        dim_x=nx, dim_y=ny, dim_z=nz, cell_x=0.01, cell_y=0.005, cell_z=0.01,
        density=10.0, k_mu=3000.0, k_lambda=10000.0, k_damp=0.0,
        tri_ke=0.0, tri_ka=1e-8, tri_kd=0.0, tri_drag=0.0, tri_lift=0.0,
    )
    builder.add_soft_grid(**grid)
    with wp.ScopedDevice("cpu"):
        model = builder.finalize(requires_grad=True)
        if args.inside == "warp":
            model.ground = False
            integrator = sim.SemiImplicitIntegrator()

            def step(a, b):
                a.clear_forces()
                integrator.simulate(model, a, b, 1e-5)
        else:
            model.particle_grid = None
            solver = sim.solvers.SolverSemiImplicit(model, enable_tri_contact=False)

            def step(a, b):
                a.clear_forces()
                solver.step(a, b, None, None, 1e-5)

        stretched = model.particle_q.numpy() * np.array([1.05, 0.98, 1.0], dtype=np.float32)
        states = [model.state(requires_grad=True) for _ in range(args.steps + 1)]
        states[0].particle_q.assign(stretched)

        def forward():
            for k in range(args.steps):
                step(states[k], states[k + 1])

        def gradient():
            tape = wp.Tape()
            with tape:
                forward()
            ones = wp.full(len(stretched), wp.vec3(1.0, 1.0, 1.0), dtype=wp.vec3)
            tape.backward(grads={states[-1].particle_q: ones})
            total = float(model.tet_materials.grad.numpy().sum())
            tape.zero()
            return total

        tets = model.tet_count
        unit = 1e9 / (tets * args.steps)
        forward(), gradient()
        times = {"forward": [], "gradient": []}
        for _ in range(args.repeats):
            for name, work in (("forward", forward), ("gradient", gradient)):
                start = time.process_time()
                work()
                times[name].append((time.process_time() - start) * unit)
    print(json.dumps({"tetrahedra": tets, **times}))


def show(label, forward, gradient, base):
    def text(values):
        return f"{min(values):8.1f} ({statistics.median(values):8.1f}, {max(values):8.1f})"

    ratio = f"{min(gradient) / base:6.1f}x" if base else "  1.0x"
    print(f"{label:34} {text(forward)}  {text(gradient)}  {ratio}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", type=int, nargs=3, default=[20, 4, 10])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip", nargs="*", default=[], choices=list(PEERS))
    parser.add_argument("--inside", choices=list(PEERS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        return run_peer(args)
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "costate-bench"], cwd=ROOT, check=True)
    numbers = [*map(str, args.cells), str(args.steps), str(args.repeats)]
    print("ns per tetrahedron and step: least (median, most); ratio of the gradient's least")
    print(f"{'':34} {'forward':^28}  {'forward and gradient':^28}")
    base = None
    for isa in ("avx512", "avx2", "scalar"):
        for threads in (1, os.cpu_count()):
            for flags in ([], ["--narrow"], ["--elastic"]):
                out = subprocess.run(
                    [ROOT / "target/release/costate-bench", *numbers, *flags],
                    env={**os.environ, "COSTATE_ISA": isa, "RAYON_NUM_THREADS": str(threads)},
                    capture_output=True, text=True,
                )
                if out.returncode:
                    print(f"Costate {isa}: {out.stderr.strip()}")
                    continue
                got = json.loads(out.stdout)
                # Processor time, as of the peers; threads are judged by the time that passes.
                clock = "_cpu_ns" if threads == 1 and os.name == "posix" else "_ns"
                forward, both = ([got[k + clock][s] for s in ("min", "median", "max")]
                                 for k in ("forward", "gradient"))
                if base is None:
                    base = min(both)
                label = f"Costate {isa}, {threads} thread(s){' '.join(['', *flags])}"
                show(label, forward, both, base)
    for peer in PEERS:
        if peer in args.skip:
            continue
        command = [python_of(peer), __file__, "--inside", peer, "--cells", *map(str, args.cells),
                   "--steps", str(args.steps), "--repeats", str(args.repeats)]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode:
            print(f"{peer}: failed\n{out.stderr[-2000:]}", file=sys.stderr)
            continue
        got = json.loads(out.stdout.strip().splitlines()[-1])
        show(" ".join(PEERS[peer][:1]), got["forward"], got["gradient"], base)


if __name__ == "__main__":
    main()
