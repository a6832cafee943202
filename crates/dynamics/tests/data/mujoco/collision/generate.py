"""Contacts that MuJoCo finds between two geoms in random places, for the tests of collision.

    python generate.py          (needs mujoco 4.0, numpy and scipy)

Writes one file per pair of shapes beside this script. A case has the sizes and places of the two geoms (position,
then quaternion), the margin, whether both are turned by quarter turns (then several axes tie and rounding decides the
order of contacts), the vertices of meshes
and the heights of height fields in the geom's frame, and the contacts: distance, point, normal,
first tangent.
"""

import json
import pathlib
import sys

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

HERE = pathlib.Path(__file__).parent
SIZES = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}


def model(kinds, sizes, meshes, margin):
    assets, geoms = "", []
    for name, kind, size, mesh in zip("ab", kinds, sizes, meshes):
        numbers = " ".join(repr(float(x)) for x in size[: SIZES.get(kind, 0)])
        form = f'size="{numbers}"'
        if kind == "plane":
            form = 'size="5 5 1"'
        if kind == "hfield":
            assets += field(mesh, size)
            form = 'hfield="ground"'
        if kind == "mesh":
            vertices = " ".join(repr(float(x)) for x in mesh.ravel())
            assets += f'<mesh name="{name}" inertia="convex" vertex="{vertices}"/>'
            form = f'mesh="{name}"'
        geoms.append(
            f'<body name="{name}" mocap="{"true" if name == "a" else "false"}">'
            + ("" if name == "a" else "<freejoint/>")
            + f'<geom type="{kind}" {form} margin="{margin / 2!r}"/></body>'
        )
    text = f"<mujoco><asset>{assets}</asset><worldbody>{''.join(geoms)}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(text)


def field(heights, size):
    rows, columns = heights.shape
    # The file gives the highest y first.
    numbers = " ".join(repr(float(x)) for x in heights[::-1].ravel())
    half = " ".join(repr(float(x)) for x in (1 + size[0], 0.8 + size[1], heights.max(), 0.1))
    return f'<hfield name="ground" nrow="{rows}" ncol="{columns}" size="{half}" elevation="{numbers}"/>'


def contacts(m, places):
    """Places of the geoms (a mesh's are its inertial frame's) and their contacts."""
    d = mujoco.MjData(m)
    d.mocap_pos[0], d.mocap_quat[0] = places[0][:3], places[0][3:]
    d.qpos[:] = places[1]
    mujoco.mj_forward(m, d)
    found = []
    for c in d.contact[: d.ncon]:
        found.append([c.dist, *c.pos, *c.frame[:6]])
    geoms = [[*d.geom_xpos[g], *d.geom_xquat[g]] for g in range(2)]
    return geoms, found


def points(rng):
    """Vertices of a mesh: a prism over a regular polygon, or scattered ones."""
    size = rng.uniform(0.05, 0.3, 3)
    if rng.random() < 0.5:
        count = rng.integers(3, 9)
        angles = 2 * np.pi * np.arange(count) / count
        ring = np.stack([np.cos(angles), np.sin(angles), np.ones(count)], axis=1)
        both = np.concatenate([ring, ring * [1, 1, -1]])
    else:
        both = rng.normal(size=(rng.integers(4, 30), 3))
        both /= np.linalg.norm(both, axis=1)[:, None]
    return np.round(both * size, 4)


def unit(q):
    return q / np.linalg.norm(q)


def place(rng, style):
    """Where a geom is: anywhere, turned by multiples of a quarter, or nearly so."""
    if style == 0:
        q = rng.normal(size=4)
    else:
        q = np.zeros(4)
        q[rng.integers(4)] = 1.0
        if rng.random() < 0.5:
            q[rng.integers(4)] += 1.0
        if style == 2:
            q += 0.01 * rng.normal(size=4)
    return unit(q)


def cases(kinds, count, seed):
    rng = np.random.default_rng(seed)
    found, empty = [], 0
    while len(found) < count:
        sizes = [np.round(rng.uniform(0.05, 0.3, 3), 6) for _ in kinds]
        meshes = [points(rng) if kind == "mesh" else None for kind in kinds]
        if kinds[0] == "hfield":
            meshes[0] = np.round(rng.uniform(0.0, 0.15, (5, 7)), 4)
            meshes[0][2, 3] = 0.0
        margin = [0.0, 0.02][rng.integers(2)]
        style = rng.integers(3)
        quats = [place(rng, style) for _ in kinds]
        reach = sum(np.linalg.norm(s) for s in sizes)
        positions = [rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 3)]
        direction = unit(rng.normal(size=3))
        if style == 1:
            direction = np.eye(3)[rng.integers(3)] + rng.uniform(0.01, 0.1, 3)
        if kinds[0] == "hfield":
            direction = Rotation.from_quat(quats[0], scalar_first=True).apply([0.1, 0.2, 1.0])
            reach = 0.5 * np.linalg.norm(sizes[1])
        if kinds[0] == "plane":
            direction = Rotation.from_quat(quats[0], scalar_first=True).apply([0.1, 0.2, 1.0])
            reach = np.linalg.norm(sizes[1])
        positions[1] = positions[0] + direction * reach * rng.uniform(0.2, 0.8)
        places = [[*map(float, p), *map(float, q)] for p, q in zip(positions, quats)]
        m = model(kinds, sizes, meshes, margin)
        places, result = contacts(m, places)
        if not result:
            empty += 1
            if empty > count // 5:
                continue
        case = {
            "sizes": [[float(x) for x in s] for s in sizes],
            "places": [[float(x) for x in p] for p in places],
            "margin": float(margin),
            "aligned": bool(style == 1),
            "contacts": [[float(x) for x in c] for c in result],
        }
        # In the geom's frame, single precision.
        for n, kind in enumerate(kinds):
            if kind == "mesh":
                k = m.geom_dataid[n]
                start = m.mesh_vertadr[k]
                vertices = m.mesh_vert[start : start + m.mesh_vertnum[k]]
                case["ab"[n]] = [[round(float(x), 8) for x in v] for v in vertices]
        if kinds[0] == "hfield":
            size = m.hfield_size[0]
            case["field_size"] = [float(size[0]), float(size[1]), float(size[3])]
            data = m.hfield_data.reshape(5, 7).astype(float) * size[2]
            case["heights"] = [[round(float(x), 8) for x in row] for row in data]
        found.append(case)
    return found


def write(name, kinds, count, seed):
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases(kinds, count, seed))
    (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n")


COUNTS = {
    "capsule_box": 80,
    "box_box": 80,
    "plane_mesh": 40,
    "sphere_ellipsoid": 30,
    "sphere_mesh": 40,
    "capsule_ellipsoid": 30,
    "capsule_cylinder": 40,
    "capsule_mesh": 40,
    "ellipsoid_ellipsoid": 40,
    "ellipsoid_cylinder": 40,
    "ellipsoid_box": 40,
    "ellipsoid_mesh": 30,
    "cylinder_cylinder": 60,
    "cylinder_box": 60,
    "cylinder_mesh": 50,
    "box_mesh": 60,
    "mesh_mesh": 60,
    "hfield_sphere": 25,
    "hfield_capsule": 25,
    "hfield_box": 25,
}

if __name__ == "__main__":
    assert mujoco.__version__.startswith("4.0"), mujoco.__version__
    only = sys.argv[1:]
    for seed, (name, count) in enumerate(COUNTS.items(), start=1):
        if not only or name in only:
            write(name, name.split("_"), count, seed)
