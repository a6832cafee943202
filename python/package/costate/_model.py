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

__all__ = ["Model", "Leaf", "Leaves", "Parameters", "State", "InputChannel", "load"]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class State:
    """The state of a model at one time."""

    q: NDArray[np.float64]
    """Positions, m: x, y, z of every soft vertex, ``[3 * vertices]``."""
    v: NDArray[np.float64]
    """Velocities, m/s, in the same order."""
    time: float = 0.0
    """Time, s."""

    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of the soft vertices, m, ``[vertices, 3]``; a view of ``q``."""
        return np.reshape(self.q, (-1, 3))

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Velocities of the soft vertices, m/s, ``[vertices, 3]``; a view of ``v``."""
        return np.reshape(self.v, (-1, 3))


class Model:
    """What is simulated. It never changes: everything that sets something gives a new model.

    Made by :func:`costate.load` or :class:`costate.Builder`.
    """

    __slots__ = ("_core", "_laws", "_timestep", "_sizes", "_bodies")

    def __init__(self, core: _costate.Model, laws: Sequence[Law] = ()) -> None:
        self._core = core
        self._laws = tuple(laws)
        self._timestep: float = core.timestep
        self._sizes: dict[str, int] = {name: size for name, size, _ in core.inputs}
        self._bodies: dict[str, tuple[int, int]] = {n: (first, count) for n, first, count in core.bodies}

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
        from ._rollout import _setup

        q, v = self._core.initial_state(_setup(self, parameters, None, controls)[0])
        return State(q, v)

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
        gives the same values to the bit.
        """
        self._core.save(os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        path, text, changed = self._core.parts()
        return _restore, (os.fspath(path), text, changed, self._timestep, self._laws)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __repr__(self) -> str:
        return (
            f"<costate.Model {self.name!r}: {self.vertex_count} vertices in {len(self._bodies)} soft "
            f"bodies, {len(self.leaves)} leaves, time step {self._timestep:g} s>"
        )


def _restore(
    path: str, text: str, changed: dict[str, Any], timestep: float, laws: tuple[Law, ...]
) -> Model:
    core = _costate.Model.parse(path, text, [law._core for law in laws])
    if changed:
        core = core.with_values(changed)
    if core.timestep != timestep:
        core = core.with_timestep(timestep)
    return Model(core, laws)


def load(path: str | os.PathLike[str], laws: Iterable[Law] = ()) -> Model:
    """Reads a model; the format follows from the file's ending (``.toml``: a scene).

    ``laws`` are material laws of one's own that the file names (:mod:`costate.laws`).

    Raises :class:`costate.BadInput` with file, line and column where something is wrong with it.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise BadInput(f"load: expected a path, found a {type(path).__name__}")
    laws = _check(laws)
    return Model(_costate.Model.load(os.fspath(path), [law._core for law in laws]), laws)
