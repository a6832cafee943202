"""Models: what is simulated, with every physical number by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _costate
from .errors import BadInput, UnknownName
from .laws import Law, _check

__all__ = ["Model", "Leaf", "Leaves", "Parameters", "State", "InputChannel", "Joint", "load"]


@dataclass(frozen=True, eq=False)
class Leaf:
    """One named physical quantity of a model."""

    path: str
    """Full name, ``soft.beam.young``."""
    value: float | NDArray[np.float64]
    """A number, or an array of its ``shape``."""
    unit: str
    """SI unit, "" where dimensionless."""
    bounds: tuple[float, float]
    """Smallest and largest value that make sense."""
    about: str
    """What it means."""
    element: str | None = None
    """For a field, which may have one value for each element: what an element is."""
    count: int | None = None
    """For a field: how many elements there are."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of ``value``: () for a number."""
        return np.shape(self.value)


class Leaves(Mapping[str, Leaf]):
    """The leaves of a model by path. Printing it gives a table."""

    __slots__ = ("_core",)

    def __init__(self, core: _costate.Model) -> None:
        self._core = core

    def __getitem__(self, path: str) -> Leaf:
        value, unit, bounds, about, element, count = self._core.leaf(path)
        return Leaf(path, value, unit, bounds, about, element, count)

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.paths)

    def __len__(self) -> int:
        return len(self._core.paths)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._core.has(path)

    def get(self, path: str, default: Any = None) -> Any:
        return self[path] if path in self else default

    def __repr__(self) -> str:
        rows = [("path", "value", "unit", "about")]
        for leaf in self.values():
            x = leaf.value
            shown = f"{x:g}" if isinstance(x, float) else (
                " ".join(f"{c:g}" for c in x) if x.ndim == 1 and x.size <= 4 else f"array {x.shape}"
            )
            rows.append((leaf.path, shown, leaf.unit, leaf.about))
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths)) + "  " + row[3] for row in rows
        )


class Parameters(Mapping[str, Any]):
    """The values of the leaves by path: numbers, or arrays of the leaves' shapes.

    Other views of a quantity can be read too: ``young`` where the scene gives ``mu`` and ``lambda``.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _costate.Model) -> None:
        self._core = core

    def __getitem__(self, path: str) -> Any:
        return self._core.value(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.paths)

    def __len__(self) -> int:
        return len(self._core.paths)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._core.has(path)

    def get(self, path: str, default: Any = None) -> Any:
        try:
            return self[path]
        except UnknownName:
            return default

    def __eq__(self, other: object) -> bool:
        """Whether both have the same paths with the same values."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.keys() == other.keys() and all(np.array_equal(x, other[path]) for path, x in self.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True)
class InputChannel:
    """What drives a model from outside: a load, a prescribed path, an activation."""

    name: str
    """Full name, ``soft.beam.load.tip``."""
    size: int
    """How many numbers it takes at a time."""
    unit: str
    """SI unit."""


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The state of a model at one time."""

    q: NDArray[np.float64]
    """Positions: x, y, z (m) of every soft vertex, then the coordinates of every joint (m or rad; an
    orientation is a unit quaternion w, x, y, z)."""
    v: NDArray[np.float64]
    """Velocities in the same order, m/s and rad/s; that of an orientation has three numbers, in the
    body's axes."""
    act: NDArray[np.float64] | None = None
    """Activations of actuators with dynamics of their own."""
    time: float = 0.0
    """Time, s."""
    vertices: int | None = None
    """Number of soft vertices, where there are joints too."""

    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of the soft vertices, m, ``[vertices, 3]``; a view of ``q``."""
        return points(self.q, self.vertices)

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Velocities of the soft vertices, m/s, ``[vertices, 3]``; a view of ``v``."""
        return points(self.v, self.vertices)

    @property
    def qpos(self) -> NDArray[np.float64]:
        """Coordinates of the joints; a view of ``q``."""
        return joints(self.q, self.vertices)

    @property
    def qvel(self) -> NDArray[np.float64]:
        """Velocities of the joints; a view of ``v``."""
        return joints(self.v, self.vertices)

    def __repr__(self) -> str:
        return f"<costate.State at t = {self.time:g} s: {summary(self, ('q', 'v', 'act'))}>"

    def parts(self) -> tuple[Any, ...]:
        """(q, v), or (q, v, act) where there are activations."""
        return (self.q, self.v) if self.act is None or np.size(self.act) == 0 else (self.q, self.v, self.act)


def summary(of: Any, names: Iterable[str]) -> str:
    """Arrays of an object by name, in full where they are short."""
    parts = []
    for name in names:
        x = getattr(of, name)
        if isinstance(x, np.ndarray) and x.size:
            short = x.ndim == 1 and x.size <= 8
            parts.append(f"{name} = [{' '.join(f'{y:g}' for y in x)}]" if short else f"{name} {list(x.shape)}")
    return ", ".join(parts)


def points(x: Any, vertices: int | None) -> Any:
    """The soft vertices' part of positions or velocities, ``[..., vertices, 3]``."""
    if vertices is not None and x.shape[-1] != 3 * vertices:
        x = x[..., : 3 * vertices]
    return x.reshape(*x.shape[:-1], x.shape[-1] // 3, 3)


_PLACE = ("x", "y", "z")
_TURN = ("qw", "qx", "qy", "qz")
_SPIN = ("wx", "wy", "wz")


def joints(x: Any, vertices: int | None) -> Any:
    """The joints' part of positions or velocities, ``[..., coordinates]``."""
    return x[..., x.shape[-1] if vertices is None else 3 * vertices :]


@dataclass(frozen=True)
class Joint:
    """A joint of an articulated body, and where it lies in the state."""

    name: str
    kind: str
    """"free", "ball", "slide" or "hinge"."""
    q: slice
    """Its coordinates in ``State.q``."""
    v: slice
    """Its degrees of freedom in ``State.v``."""


class Model:
    """What is simulated. It never changes: everything that sets something gives a new model.

    Made by :func:`costate.load` or :class:`costate.Builder`.
    """

    __slots__ = ("_core", "_laws", "_timestep", "_sizes", "_bodies", "_soft")

    def __init__(self, core: _costate.Model, laws: Sequence[Law] = ()) -> None:
        self._core = core
        self._laws = tuple(laws)
        self._timestep: float = core.timestep
        self._sizes: dict[str, int] = {name: size for name, size, _ in core.inputs}
        self._bodies: dict[str, tuple[int, int]] = {n: (first, count) for n, first, count in core.bodies}
        # Of models without joints all coordinates are those of vertices.
        self._soft: int | None = self.vertex_count if core.joints else None

    @property
    def name(self) -> str:
        """Name, for reports."""
        return self._core.name

    @property
    def timestep(self) -> float:
        """Time step, s."""
        return self._timestep

    @property
    def duration(self) -> float:
        """How long a rollout runs unless it says otherwise, s."""
        return self._core.duration

    @property
    def bodies(self) -> list[str]:
        """Names of the soft bodies."""
        return list(self._bodies)

    def vertices(self, body: str) -> slice:
        """Where the vertices of a soft body lie among all: index positions with it."""
        try:
            first, count = self._bodies[body]
        except KeyError:
            known = ", ".join(self._bodies) or "none"
            raise UnknownName(f"there is no soft body {body!r}; known ones: {known}") from None
        return slice(first, first + count)

    @property
    def vertex_count(self) -> int:
        """Number of soft vertices."""
        return sum(count for _, count in self._bodies.values())

    @property
    def joints(self) -> dict[str, Joint]:
        """The joints by name, in the order of the state."""
        out = {}
        q = v = 3 * self.vertex_count
        for name, kind, nq, nv in self._core.joints:
            out[name] = Joint(name, kind, slice(q, q + nq), slice(v, v + nv))
            q, v = q + nq, v + nv
        return out

    def coordinate_names(self) -> tuple[list[str], list[str]]:
        """Names of the columns of ``State.q`` and ``State.v``: ``beam[3].x``, ``joint.elbow``."""
        both: tuple[list[str], list[str]] = ([], [])
        for body, (_, count) in self._bodies.items():
            for names in both:
                names.extend(f"{body}[{i}].{axis}" for i in range(count) for axis in "xyz")
        ends = {"free": (_PLACE + _TURN, _PLACE + _SPIN), "ball": (_TURN, _SPIN)}
        for joint in self.joints.values():
            for names, parts, dot in zip(both, ends.get(joint.kind, ((), ())), ("", "'")):
                if parts:
                    names.extend(f"joint.{joint.name}.{part}{dot}" for part in parts)
                else:
                    names.append(f"joint.{joint.name}{dot}")
        soft = 3 * self.vertex_count
        velocities = [f"{name}'" for name in both[1][:soft]] + both[1][soft:]
        return both[0], velocities

    @property
    def sensors(self) -> dict[str, int]:
        """The sensors of robots that are simulated, and how many numbers each gives."""
        return dict(self._core.sensors)

    @property
    def left_out(self) -> list[str]:
        """What the file asks for, is not simulated, and ``load`` was allowed to leave out."""
        return self._core.left_out

    @property
    def triangles(self) -> NDArray[np.intp]:
        """Surface triangles of all soft bodies by vertex index, ``[n, 3]``, for pictures."""
        return np.asarray(self._core.triangles, dtype=np.intp).reshape(-1, 3)

    @property
    def inputs(self) -> list[InputChannel]:
        """The inputs that ``controls`` may drive."""
        return [InputChannel(*channel) for channel in self._core.inputs]

    @property
    def leaves(self) -> Leaves:
        """Every physical number by path, with unit, shape, bounds and meaning."""
        return Leaves(self._core)

    @property
    def parameters(self) -> Parameters:
        """The values of the leaves by path."""
        return Parameters(self._core)

    def __getitem__(self, path: str) -> Any:
        """The value of a leaf."""
        return self._core.value(path)

    def with_parameters(self, parameters: Mapping[str, ArrayLike]) -> Model:
        """A new model with other values by path; whatever follows from them follows.

        One number sets a whole field; an array with one number for each element makes it vary.
        Another view of a quantity (``young`` for ``mu``, ``mass`` for ``density``) replaces it.
        """
        return Model(self._core.with_values(dict(parameters)), self._laws)

    def with_timestep(self, timestep: float) -> Model:
        """A new model with another time step, s."""
        return Model(self._core.with_timestep(timestep), self._laws)

    def stable_step(self) -> tuple[float, str]:
        """The largest stable time step, s, at the model's start, and what sets it."""
        bound, limited_by, _ = self._core.stability()
        return bound, limited_by

    def warnings(self) -> list[str]:
        """What is doubtful about the model, in words."""
        return self._core.stability()[2]

    def initial_state(
        self,
        parameters: Mapping[str, ArrayLike] | None = None,
        controls: Mapping[str, Any] | None = None,
    ) -> State:
        """The state at time zero that follows from the parameters."""
        from ._setup import _setup

        q, v, act = self._core.initial_state(_setup(self, parameters, None, controls)[0])
        return State(q, v, act, vertices=self._soft)

    def gif(self, motion: Any, path: str | os.PathLike[str] | None = None) -> bytes:
        """A motion of this model as an animated picture, written to ``path`` where one is given."""
        picture = bytes(self._core.gif(motion.time, motion.q))
        if path is not None:
            with open(path, "wb") as file:
                file.write(picture)
        return picture

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as a file of the kind that it came from.

        Of a file only the changed numbers are replaced; comments and layout stay. Loading it again
        gives the same values to the bit. Raises :class:`costate.BadInput` where the name ends as that of
        another kind.
        """
        ending, own = (os.path.splitext(os.fspath(p))[1].lower() for p in (path, self._core.parts()[0]))
        if ending != (own or ".toml"):
            raise BadInput(f"{os.fspath(path)}: the model is written as the kind of file that it came from; "
                           f"give it a name that ends in {own or '.toml'}")
        self._core.save(os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        path, text, allow, changed = self._core.parts()
        return _restore, (os.fspath(path), text, allow, changed, self._timestep, self._laws)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __repr__(self) -> str:
        return (
            f"<costate.Model {self.name!r}: "
            + (f"{self.vertex_count} vertices in {len(self._bodies)} soft bodies, " if self._bodies else "")
            + (f"{len(self._core.joints)} joints, " if self._core.joints else "")
            + f"{len(self.leaves)} leaves, time step {self._timestep:g} s>"
        )


def _restore(
    path: str, text: str | None, allow: list[str], changed: dict[str, Any], timestep: float, laws: tuple[Law, ...]
) -> Model:
    own = [law._core for law in laws]
    if text is None:
        core = _costate.Model.load(path, own, allow)
    else:
        core = _costate.Model.parse(path, text, own, allow)
    if changed:
        core = core.with_values(changed)
    if core.timestep != timestep:
        core = core.with_timestep(timestep)
    return Model(core, laws)


def load(
    path: str | os.PathLike[str], laws: Iterable[Law] = (), allow: Iterable[str] = ()
) -> Model:
    """Reads a model; the format follows from the file's ending: a scene (``.toml``), or a robot in MJCF
    (``.xml``) or URDF (``.urdf``).

    ``laws`` are material laws of one's own that the file names (:mod:`costate.laws`). What a robot's
    file asks for and is not simulated is refused by name unless ``allow`` has the name; then
    ``model.left_out`` says it. A pickled model of a file reads the file again.

    Raises :class:`costate.BadInput` with file, line and column where something is wrong with it.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise BadInput(f"load: expected a path, found a {type(path).__name__}")
    laws = _check(laws)
    return Model(_costate.Model.load(os.fspath(path), [law._core for law in laws], list(allow)), laws)
