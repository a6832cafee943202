"""Makes the recordings of this example: the scene with the true springs, shaken, and noise of 1 mm.

Run it in this folder with the program `costate` on the path. The numbers are the same every time."""

import csv
import math
import os
import random
import subprocess

TRUTH = {
    "soft.cage.springs.rest_length": "0.62,0.71,0.58,0.66,0.74,0.60,0.69,0.64",
    "soft.cage.springs.stiffness": "140",
    "soft.cage.springs.damping": "2.5",
}
NOISE = 1e-3
# Two sines per axis: amplitude (N), frequency (Hz).
SHAKES = {
    "shake_a": [[(36, 1.3), (20, 2.9)], [(26, 0.9), (18, 2.3)], [(30, 1.7), (14, 3.1)]],
    "shake_b": [[(18, 2.1), (26, 0.7)], [(38, 1.5), (15, 2.7)], [(24, 1.1), (28, 1.9)]],
    "shake_c": [[(28, 1.0), (18, 2.5)], [(20, 1.9), (20, 1.2)], [(34, 0.8), (10, 2.2)]],
}


def force(waves, t):
    return sum(a * math.sin(2 * math.pi * f * t) for a, f in waves)


random.seed(7)
for name, axes in SHAKES.items():
    pushes = [[f"{force(w, i / 100):.4f}" for w in axes] for i in range(401)]
    with open("inputs.tmp.csv", "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["t"] + [f"soft.cage.load.shaker.{k}" for k in "xyz"])
        rows.writerows([f"{i / 100:.2f}"] + push for i, push in enumerate(pushes))
    command = ["costate", "simulate", "scene.toml", "--inputs", "inputs.tmp.csv", "--every", "0.01"]
    command += ["--out", "motion.tmp.csv"]
    for path, value in TRUTH.items():
        command += ["--set", f"{path}={value}"]
    subprocess.run(command, check=True)
    with open("motion.tmp.csv") as f:
        motion = list(csv.DictReader(f))
    with open(f"{name}.csv", "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["time", "fx", "fy", "fz", "mass_x", "mass_y", "mass_z"])
        for i, (push, state) in enumerate(zip(pushes, motion)):
            seen = [float(state[f"soft.cage.0.{k}"]) + random.gauss(0, NOISE) for k in "xyz"]
            rows.writerow([f"{i / 100:.2f}"] + push + [f"{x:.5f}" for x in seen])
os.remove("inputs.tmp.csv")
os.remove("motion.tmp.csv")
