"""Makes the recordings of this example: the scene with the true fabric, moved by its bar, and noise of 0.5 mm.

Run it in this folder with the program `costate` on the path. The numbers are the same every time."""

import csv
import math
import os
import random
import subprocess

TRUTH = {
    "soft.cloth.membrane.stiffness": "40",
    "soft.cloth.membrane.area_stiffness": "70",
    "soft.cloth.membrane.drag": "0.25",
    "soft.cloth.bending.stiffness": "8e-4",
}
NOISE = 5e-4
MARKERS = [0, 3, 6, 14, 17, 20, 28, 31, 34]
# Amplitude (m) and frequency (Hz) of the bar along itself, to and fro, and up and down.
MOVES = {
    "swing": [(0.010, 1.7), (0.020, 0.9), (0.0, 1.0)],
    "sway": [(0.030, 1.3), (0.012, 1.8), (0.0, 1.0)],
    "check": [(0.010, 2.1), (0.015, 1.4), (0.0, 1.0)],
}
# The cloth hangs still before it is moved and recorded, s.
WAIT = 0.6


def bar(axes, t):
    t = max(t - WAIT, 0)
    start = 1 - math.exp(-((t / 0.2) ** 2))
    return [a * start * math.sin(2 * math.pi * f * t) for a, f in axes]


random.seed(11)
for name, move in MOVES.items():
    held = [[f"{x:.6f}" for x in bar(move, i / 100)] for i in range(181)]
    with open("inputs.tmp.csv", "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["t"] + [f"soft.cloth.path.bar.{k}" for k in "xyz"])
        rows.writerows([f"{i / 100:.2f}"] + at for i, at in enumerate(held))
    command = ["costate", "simulate", "scene.toml", "--inputs", "inputs.tmp.csv", "--every", "0.01"]
    command += ["--out", "motion.tmp.csv"]
    for path, value in TRUTH.items():
        command += ["--set", f"{path}={value}"]
    subprocess.run(command, check=True)
    with open("motion.tmp.csv") as f:
        motion = list(csv.DictReader(f))
    with open(f"{name}.csv", "w", newline="") as out:
        rows = csv.writer(out)
        names = [f"{c}_{k}" for c in ["bar"] + [f"m{m}" for m in MARKERS] for k in "xyz"]
        rows.writerow(["time"] + names)
        for i, (at, state) in enumerate(zip(held, motion)):
            seen = [float(state[f"soft.cloth.{m}.{k}"]) + random.gauss(0, NOISE) for m in MARKERS for k in "xyz"]
            cells = [f"{x:.5f}" if i / 100 >= WAIT else "" for x in seen]
            rows.writerow([f"{i / 100:.2f}"] + at + cells)
os.remove("inputs.tmp.csv")
os.remove("motion.tmp.csv")
