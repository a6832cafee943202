"""Costate's steps of robots with contacts beside MuJoCo's C engine, one thread, in one run.

    python3 bench/robots.py [--repeats 5]      (needs mujoco 4.0: pip install mujoco)

Prints microseconds per step, least and median of the repeats taken in turns, and Costate's ratio to MuJoCo. Both
start from the reference pose with no control and run the same steps; MuJoCo has its own tolerance (1e-8), Costate
1e-12, as a derivative needs.
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


def microseconds(model, steps):
    """Of one run of MuJoCo."""
    data = mujoco.MjData(model)
    start = time.perf_counter()
    mujoco.mj_step(model, data, nstep=steps)
    return 1e6 * (time.perf_counter() - start) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--profile", default="release")
    args = parser.parse_args()
    subprocess.run(
        ["cargo", "build", "-q", "--profile", args.profile, "-p", "costate-bench"], cwd=ROOT, check=True
    )
    folder = {"dev": "debug"}.get(args.profile, args.profile)
    bench = ROOT / "target" / folder / "costate-bench"
    boxes = subprocess.run([bench, "--boxes", "100", "--mjcf"], check=True, capture_output=True, text=True)
    cases = [
        ("ant", ["--robot", MODELS / "brax_ant.xml"], (MODELS / "brax_ant.xml").read_text(), 1000),
        ("humanoid", ["--robot", MODELS / "mujoco_humanoid.xml"], (MODELS / "mujoco_humanoid.xml").read_text(), 1000),
        ("100 boxes", ["--boxes", "100"], boxes.stdout, 100),
    ]
    for name, flags, text, steps in cases:
        model = mujoco.MjModel.from_xml_string(text)
        own, pull, peer, contacts = [], [], [], 0.0
        for _ in range(args.repeats):
            out = subprocess.run([bench, *flags, str(steps), "1"], check=True, capture_output=True, text=True)
            result = json.loads(out.stdout)
            own.append(result["step_ns"]["min"] / 1e3)
            pull.append(result["pullback_ns"]["min"] / 1e3)
            contacts = result["contacts_per_step"]
            peer.append(microseconds(model, steps))
        line = lambda x: f"{min(x):.1f} ({statistics.median(x):.1f})"
        print(
            f"{name}: {contacts} contacts; step {line(own)} us, pullback {line(pull)} us; "
            f"MuJoCo {line(peer)} us; ratio {min(own) / min(peer):.2f}"
        )


if __name__ == "__main__":
    main()
