"""Makes the data of this example from the published tosses.

    python make_data.py TOSSES.csv

TOSSES.csv has one row a frame: toss, t_s, centre (x_m, y_m, z_m), quaternion (qw, qx, qy, qz), velocities (world) and angular velocities
(body). Every fifth toss is to be fitted, the others are left out. Of each toss the frames at rest, after the first, become a short recording
of their own, `rest.csv`."""

import csv
import itertools
import math
import sys

POSE = ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"]
RATES = ["vx_m_s", "vy_m_s", "vz_m_s", "wx_body_rad_s", "wy_body_rad_s", "wz_body_rad_s"]
FITTED = 22
# A frame is at rest if centre and quaternion are this near those of the last one.
NEAR_M, NEAR_Q = 2e-3, 0.02
# Frames at rest that are kept.
AT_REST = 12


def row(frame, t0, rates):
    """A row of the example: rates in the first frame only, where the motion starts."""
    cells = [frame["toss"], f"{float(frame['t_s']) - t0:.6f}"]
    cells += [f"{float(frame[c]):.6f}" for c in POSE]
    return cells + ([f"{r:.6f}" for r in rates] if rates else [""] * len(RATES))


def rest_starts(frames):
    """Index of the first frame of those at rest."""

    def near(frame):
        def off(columns):
            return math.sqrt(sum((float(frame[c]) - float(frames[-1][c])) ** 2 for c in columns))

        return off(POSE[:3]) < NEAR_M and off(POSE[3:]) < NEAR_Q

    first = len(frames)
    while first > 0 and near(frames[first - 1]):
        first -= 1
    return first


def main():
    with open(sys.argv[1], newline="") as file:
        tosses = [list(group) for _, group in itertools.groupby(csv.DictReader(file), lambda f: f["toss"])]
    out = {"fitted": [], "left_out": [], "rest": []}
    for i, frames in enumerate(tosses):
        fitted = i % 5 == 0 and i // 5 < FITTED
        first = rest_starts(frames)
        for k, frame in enumerate(frames[: first + 1]):
            rates = [float(frame[c]) for c in RATES] if k == 0 else None
            out["fitted" if fitted else "left_out"].append(row(frame, 0.0, rates))
        if fitted:
            still = frames[first + 1 : first + 1 + AT_REST]
            for k, frame in enumerate(still):
                out["rest"].append(row(frame, float(still[0]["t_s"]), [0.0] * 6 if k == 0 else None))
    for name, rows in out.items():
        with open(f"data/{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["toss", "t_s", *POSE, *RATES])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
