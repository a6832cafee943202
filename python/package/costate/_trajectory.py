"""Motions as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._model import Model, State, joints, points
from .errors import BadInput, UnknownName

if TYPE_CHECKING:
    from ._step import Contacts

__all__ = ["Trajectory"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion: states at successive times, and signals. All arrays are views of one buffer."""

    time: Array
    """Times of the states, s, ``[states]``."""
    q: Array | None
    """Positions, ``[states, coordinates]``, as in :class:`State`; None where no states were asked for."""
    v: Array | None
    """Velocities, ``[states, degrees of freedom]``."""
    act: Array | None = None
    """Activations, ``[states, activations]``."""
    signals: dict[str, Array] = field(default_factory=dict)
    """Signals by name, each ``[times]``, in SI units."""
    times: Array | None = None
    """Times of the signals, s."""
    vertices: int | None = None
    """Number of soft vertices, where there are joints too."""
    contacts: Contacts | None = None
    """What touches at the states, where the rollout was asked for it."""

    @property
    def positions(self) -> Array:
        """Positions of the soft vertices, m, ``[states, vertices, 3]``; a view of ``q``."""
        return points(_states(self.q), self.vertices)

    @property
    def velocities(self) -> Array:
        """Velocities of the soft vertices, m/s, ``[states, vertices, 3]``; a view of ``v``."""
        return points(_states(self.v), self.vertices)

    @property
    def qpos(self) -> Array:
        """Coordinates of the joints, ``[states, coordinates]``; a view of ``q``."""
        return joints(_states(self.q), self.vertices)

    @property
    def qvel(self) -> Array:
        """Velocities of the joints, ``[states, degrees of freedom]``; a view of ``v``."""
        return joints(_states(self.v), self.vertices)

    def state(self, index: int = -1) -> State:
        """One of the states, by default the last."""
        if self.q is None or self.v is None:
            raise BadInput("the rollout was asked for no states")
        act = None if self.act is None else self.act[index]
        return State(self.q[index], self.v[index], act, float(self.time[index]), self.vertices)

    def zeros(self) -> Trajectory:
        """Zeros of the same shapes, to fill in as a cotangent: ``bar.positions[-1] = …``."""
        return Trajectory(
            self.time,
            None if self.q is None else np.zeros_like(self.q),
            None if self.v is None else np.zeros_like(self.v),
            None if self.act is None else np.zeros_like(self.act),
            {name: np.zeros_like(x) for name, x in self.signals.items()},
            self.times,
            self.vertices,
        )

    def signal(self, name: str) -> Array:
        """All components of a signal, ``[times, components]``, or ``[times]`` of a scalar one."""
        if name in self.signals:
            return self.signals[name]
        parts = [x for key, x in self.signals.items() if key.rpartition(".")[0] == name]
        if not parts and all(f"{name}_{axis}" in self.signals for axis in "wxyz"):
            parts = [self.signals[f"{name}_{axis}"] for axis in "wxyz"]
        if not parts:
            raise UnknownName(f"there is no signal {name!r}; known: {', '.join(self.signals) or 'none'}")
        return np.stack(parts, axis=1)

    def to_dataframe(self, model: Model | None = None) -> Any:
        """A pandas DataFrame over time, s: the signals where there are some, else the states.

        ``model`` gives the columns of states the names of vertices and joints.
        """
        import pandas

        if self.signals:
            return pandas.DataFrame(self.signals, index=pandas.Index(self.times, name="time"))
        q, v = _states(self.q), _states(self.v)
        names = [f"q[{i}]" for i in range(q.shape[1])], [f"v[{i}]" for i in range(v.shape[1])]
        if model is not None:
            names = model.coordinate_names()
        columns = np.concatenate([q, v], axis=1)
        index = pandas.Index(self.time, name="time")
        return pandas.DataFrame(columns, index=index, columns=[*names[0], *names[1]])

    def plot(self, names: Any = None) -> Any:
        """The signals (all, or those of ``names``) over time with matplotlib; returns the figure."""
        import matplotlib.pyplot as plt

        chosen = list(self.signals) if names is None else list(names)
        if not chosen or self.times is None:
            raise BadInput("there are no signals to plot")
        figure, axes = plt.subplots(len(chosen), squeeze=False, sharex=True, figsize=(6.4, 1.0 + 1.4 * len(chosen)))
        for axis, name in zip(axes[:, 0], chosen):
            y = self.signal(name)
            axis.plot(self.times, y, lw=1.2)
            axis.set_ylabel(name)
        axes[-1, 0].set_xlabel("time / s")
        figure.tight_layout()
        return figure

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, index: int) -> State:
        """One of the states."""
        return self.state(index)

    def __iter__(self) -> Iterator[State]:
        return (self.state(i) for i in range(len(self.time)))

    def __repr__(self) -> str:
        what = [f"{len(self.time)} states to t = {self.time[-1]:g} s"] if len(self.time) else []
        if self.signals:
            what.append(f"signals {', '.join(self.signals)}")
        return f"<costate.Trajectory: {'; '.join(what)}>"


def _states(x: Array | None) -> Array:
    if x is None:
        raise BadInput("the rollout was asked for no states")
    return x
