"""Single steps, and what a step computes on the way: forces, inertia, constraint rows, contacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._model import Model, State, summary
from ._setup import Input, _setup
from ._trajectory import Trajectory
from .errors import BadInput

__all__ = ["Constraints", "Contact", "Contacts", "Evaluation", "evaluate", "step"]

Array = NDArray[np.float64]


class Contact(NamedTuple):
    """Where two things touch."""

    first: str
    """Name of the first geom."""
    second: str
    """Name of the second geom, or of the soft body whose vertex touches."""
    vertex: int
    """The soft vertex among all; -1 between geoms of bodies."""
    position: Array
    """Where, m, ``[3]``; of a soft vertex, its own position."""
    frame: Array
    """Unit vectors by rows, ``[3, 3]``: the normal from the first to the second, and two tangents."""
    distance: float
    """Distance of the surfaces, m; negative where they overlap."""
    force: Array
    """What the first does to the second along the axes of ``frame``, N, and about them, N m, ``[6]``."""


@dataclass(frozen=True, eq=False, repr=False)
class Contacts(Sequence[Contact]):
    """Contacts, of one state or of all states of a motion: a sequence of :class:`Contact`, and its
    columns as arrays."""

    state: NDArray[np.intp]
    """Which state of the motion each is of, ``[n]``."""
    first: list[str]
    second: list[str]
    vertex: NDArray[np.intp]
    position: Array
    """``[n, 3]``."""
    frame: Array
    """``[n, 3, 3]``."""
    distance: Array
    """``[n]``."""
    force: Array
    """``[n, 6]``."""
    row: NDArray[np.intp]
    """First row among the constraints of its state; -1 of soft vertices, ``[n]``."""
    time: Array | None = None
    """Time of each, s, ``[n]``."""

    @property
    def force_world(self) -> Array:
        """What the first does to the second, in the axes of the world, N, ``[n, 3]``."""
        return np.einsum("nk,nki->ni", self.force[:, :3], self.frame)

    def at(self, state: int) -> Contacts:
        """Those of one state of the motion."""
        return self._take(np.flatnonzero(self.state == state))

    def between(self, first: str, second: str | None = None) -> Contacts:
        """Those of a geom or soft body, or of a pair of them in either order."""
        wanted = {first} if second is None else {first, second}
        pairs = [{a, b} for a, b in zip(self.first, self.second)]
        return self._take(np.flatnonzero([wanted <= pair for pair in pairs]))

    def _take(self, places: Any) -> Contacts:
        arrays = (getattr(self, k) for k in ("vertex", "position", "frame", "distance", "force", "row"))
        vertex, position, frame, distance, force, row = (x[places] for x in arrays)
        return Contacts(
            self.state[places], [self.first[i] for i in places], [self.second[i] for i in places],
            vertex, position, frame, distance, force, row, None if self.time is None else self.time[places],
        )

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return self._take(np.arange(len(self))[i])
        i = range(len(self))[i]
        return Contact(
            self.first[i], self.second[i], int(self.vertex[i]), self.position[i], self.frame[i],
            float(self.distance[i]), self.force[i],
        )

    def __iter__(self) -> Iterator[Contact]:
        return (self[i] for i in range(len(self)))

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each contact; forces along normal and tangents, N."""
        import pandas

        table: dict[str, Any] = {"state": self.state}
        if self.time is not None:
            table["time"] = self.time
        table |= {"first": self.first, "second": self.second, "vertex": self.vertex, "distance": self.distance}
        for name, columns in (("position", self.position), ("normal", self.frame[:, 0])):
            table |= {f"{name}_{axis}": columns[:, i] for i, axis in enumerate("xyz")}
        table |= {f"force_{axis}": self.force[:, i] for i, axis in enumerate(("normal", "tangent_1", "tangent_2"))}
        return pandas.DataFrame(table)

    def __repr__(self) -> str:
        lines = [f"<costate.Contacts: {len(self)}>"]
        for c in self[:8]:
            where = f"{c.second}[{c.vertex}]" if c.vertex >= 0 else c.second
            lines.append(f"  {c.first}, {where}: {c.distance:.3g} m, {c.force[0]:.4g} N")
        return "\n".join(lines + ["  …"] if len(self) > 8 else lines)


def contacts_of(model: Model, item: Any, motion: Trajectory) -> Contacts:
    """The contacts at the states of a motion."""
    if motion.q is None or motion.v is None:
        raise BadInput("contacts are those of states; the rollout was asked for none")
    act = np.zeros((len(motion.time), 0)) if motion.act is None else motion.act
    found = model._core.contacts(item, (motion.time, motion.q, motion.v, act))
    return _contacts(found, motion.time)


def _contacts(found: dict[str, Any], time: Array) -> Contacts:
    for key in ("state", "vertex", "row"):
        found[key] = np.array(found[key], dtype=np.intp)
    return Contacts(**found, time=np.asarray(time)[found["state"]])


@dataclass(frozen=True, eq=False, repr=False)
class Constraints:
    """The constraint rows of articulated bodies: the acceleration a minimises
    (a − a₀)ᵀM(a − a₀)/2 + s(J a − reference), and row i pushes with a force of −∂s/∂xᵢ."""

    kind: list[str]
    """Of each row: "equality", "joint friction", "tendon friction", "joint limit", "tendon limit" or
    "contact"."""
    name: list[str]
    """Of each row: its equality, joint or tendon, or "GEOM, GEOM"."""
    jacobian: Array
    """J, ``[rows, degrees of freedom of joints]``."""
    position: Array
    """Position less margin, m or rad, ``[rows]``."""
    velocity: Array
    """J v."""
    reference: Array
    """The reference acceleration."""
    mass: Array
    """D, the stiffness of each row's penalty: a force per acceleration."""
    force: Array
    """Force of each row."""

    def __len__(self) -> int:
        return len(self.kind)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each constraint row."""
        import pandas

        names = ("kind", "name", "position", "velocity", "reference", "mass", "force")
        return pandas.DataFrame({name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        lines = [f"<costate.Constraints: {len(self)} rows>"]
        lines += [f"  {k} of {n}: {f:.4g}" for k, n, f in list(zip(self.kind, self.name, self.force))[:8]]
        return "\n".join(lines + ["  …"] if len(self) > 8 else lines)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What a step computes on the way. Of joints, arrays are by degree of freedom, as in ``State.qvel``,
    and obey ``M qacc = passive - bias + actuator + constraint``."""

    time: float
    acceleration: Array
    """Acceleration by which the step advances ``State.v``, in its order: of vertices, then of joints. It
    differs from ``qacc`` where the integrator is implicit. Zero where vertices are held or follow a path."""
    contacts: Contacts
    """What touches."""
    masses: Array
    """Mass of every soft vertex, kg; infinite where it is held."""
    forces: Array
    """Force of elements, contacts and loads on every soft vertex, N, ``[vertices, 3]``; gravity and
    mass-proportional damping come on top."""
    controls: Array
    """Controls of actuators as they act, those that a controller commands included."""
    mass_matrix: Array | None = None
    """M, ``[n, n]``; None without joints, as are the others below."""
    bias: Array | None = None
    """Coriolis, centrifugal and gravity forces."""
    passive: Array | None = None
    """Springs, dampers, compensation of gravity."""
    actuator: Array | None = None
    """Actuators."""
    smooth: Array | None = None
    """passive − bias + actuator."""
    constraint: Array | None = None
    """Forces of constraints, Jᵀf."""
    qacc: Array | None = None
    """Acceleration."""
    qacc_smooth: Array | None = None
    """Acceleration without constraints."""
    actuators: dict[str, float] | None = None
    """Force of each actuator by name."""
    positions: dict[str, Array] | None = None
    """Position of each body's frame by name, m."""
    orientations: dict[str, Array] | None = None
    """Orientation of each body's frame by name, a quaternion w, x, y, z."""
    constraints: Constraints | None = None
    """The constraint rows."""

    def __repr__(self) -> str:
        arrays = [name for name in self.__dataclass_fields__ if isinstance(getattr(self, name), np.ndarray)]
        rows = f", {len(self.constraints)} constraint rows" if self.constraints is not None else ""
        return (f"<costate.Evaluation at t = {self.time:g} s: {len(self.contacts)} contacts{rows}; "
                f"{summary(self, arrays)}>")

    @property
    def inverse_mass_matrix(self) -> Array:
        """M⁻¹, ``[n, n]``."""
        if self.mass_matrix is None:
            raise BadInput("the model has no joints")
        return np.linalg.inv(self.mass_matrix)


def evaluate(
    model: Model,
    state: State | tuple[ArrayLike, ArrayLike] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike | Input] | None = None,
) -> Evaluation:
    """What the step from a state computes on the way: forces, inertia matrix, constraint rows, contacts.

    ``state`` is by default the one that follows from the parameters; ``controls`` are those of
    :func:`costate.rollout`, read at the state's time.
    """
    item, _, _ = _setup(model, parameters, state, controls)
    time = state.time if isinstance(state, State) else 0.0
    found = model._core.snapshot(item, time)
    contacts = _contacts(found.pop("contacts"), np.array([time]))
    names = found.pop("bodies", None)
    if names is not None:
        found["positions"] = dict(zip(names, found.pop("body_positions")))
        found["orientations"] = dict(zip(names, found.pop("body_orientations")))
        found["actuators"] = dict(zip(found["actuators"], found.pop("actuator_force").tolist()))
        found["constraints"] = Constraints(**found.pop("rows"))
    return Evaluation(time=time, contacts=contacts, **found)


def step(
    model: Model,
    state: State,
    parameters: Mapping[str, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike | Input] | None = None,
) -> State:
    """The state one time step later.

    A pure function: ``state`` stays as it is. ``controls`` are those of :func:`costate.rollout`, read at the
    state's time: values that hold, or samples over the time of the whole run. Repeated, it gives the states of
    a rollout to the bit.
    """
    item, _, _ = _setup(model, parameters, state, controls)
    q, v, act, time = model._core.step(item, state.time if isinstance(state, State) else 0.0)
    return State(q, v, act, time, model._soft)
