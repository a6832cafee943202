"""Rollouts: motions with NumPy arrays in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._model import Model, State, points
from ._toml import dumps
from .errors import BadInput, Diverged, UnknownName

__all__ = ["Input", "Signals", "Trajectory", "rollout", "rollouts", "step"]

Array = NDArray[np.float64]
_MOST_STATES = 10**9


@dataclass(frozen=True)
class Input:
    """Samples of an input at any times; the end values hold before the first and after the last."""

    times: ArrayLike
    """Ascending, s, ``[n]``."""
    values: ArrayLike
    """In the channel's unit, ``[n, size]`` or ``[n]``."""
    interpolation: str = "hold"
    """What happens between samples: "hold" or "linear"."""


class Signals:
    """What is observed of a motion: named signals in the schema of experiment files.

    >>> Signals({"tip": {"position": {"body": "beam", "vertex": 3}}})

    gives the signals ``tip.x``, ``tip.y`` and ``tip.z``. ``docs/experiment.md`` describes all keys.
    """

    __slots__ = ("text",)

    def __init__(
        self, signals: Mapping[str, Mapping[str, Any]], frames: Mapping[str, Any] | None = None
    ) -> None:
        self.text = dumps({"costate": 1, "frame": frames or None, "signal": dict(signals)})


@dataclass(frozen=True)
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
        return _joints(_states(self.q), self.vertices)

    @property
    def qvel(self) -> Array:
        """Velocities of the joints, ``[states, degrees of freedom]``; a view of ``v``."""
        return _joints(_states(self.v), self.vertices)

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

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        what = [f"{len(self.time)} states to t = {self.time[-1]:g} s"] if len(self.time) else []
        if self.signals:
            what.append(f"signals {', '.join(self.signals)}")
        return f"<costate.Trajectory: {'; '.join(what)}>"


def _states(x: Array | None) -> Array:
    if x is None:
        raise BadInput("the rollout was asked for no states")
    return x


def _joints(x: Array, vertices: int | None) -> Array:
    return x[:, x.shape[1] if vertices is None else 3 * vertices :]


def _control(model: Model, name: str, given: Any) -> tuple[str, Any, Any, bool]:
    """One input as the core takes it: name, times, values, whether linear."""
    if isinstance(given, Input):
        if given.interpolation not in ("hold", "linear"):
            raise BadInput(f"{name}: interpolation is \"hold\" or \"linear\"")
        return name, given.times, given.values, given.interpolation == "linear"
    values = np.asarray(given, dtype=np.float64)
    size = model._sizes.get(name, 1)
    per_step = values.ndim > 1 or (size == 1 and values.ndim == 1 and values.size > 1)
    if not per_step:
        return name, [0.0], values, False
    return name, np.arange(len(values)) * model._timestep, values, False


def _setup(
    model: Model, parameters: Any, initial: Any, controls: Any
) -> tuple[tuple[Any, Any, Any], list[str], list[tuple[int, ...]]]:
    """The core's (parameters, initial, controls), with names and shapes of the controls."""
    names: list[str] = []
    shapes: list[tuple[int, ...]] = []
    inputs = None
    if parameters is not None and type(parameters) is not dict:
        parameters = dict(parameters)
    if controls:
        inputs = []
        for name, given in controls.items():
            inputs.append(_control(model, name, given))
            names.append(name)
            shapes.append(np.shape(given.values if isinstance(given, Input) else given))
    if initial is not None:
        initial = _initial(initial)
    return (parameters, initial, inputs), names, shapes


def _initial(given: Any) -> tuple[Any, ...]:
    """(q, v) or (q, v, act) of an initial state in any form."""
    if isinstance(given, State):
        return given.parts()
    if isinstance(given, Mapping):
        if not {"q", "v"} <= set(given) <= {"q", "v", "act"}:
            raise BadInput("initial: expected a State, (q, v), or a dict with q and v")
        return tuple(given[k] for k in ("q", "v", "act") if k in given)
    return tuple(given)


class _Outputs:
    """What a rollout gives, as the core takes it, and how to make a Trajectory of what it returns."""

    __slots__ = ("core", "h", "_time", "times", "names", "vertices", "widths")

    def __init__(
        self,
        model: Model,
        steps: int | None,
        duration: float | None,
        every: int | None,
        signals: Signals | Mapping[str, Any] | None,
        times: ArrayLike | None,
    ) -> None:
        self.h = h = model._timestep
        self.vertices = model._soft
        self.widths = model._core.widths
        if steps is not None and duration is not None:
            raise BadInput("give steps or duration, not both")
        if duration is not None:
            if not 0.0 <= duration < 1e10 * h:
                raise BadInput(f"duration: {duration} s is out of reach in steps of {h} s")
            steps = round(duration / h)
        if steps is None and times is None:
            steps = round(model.duration / h)
        if steps is not None and steps < 0:
            raise BadInput(f"steps: {steps} is below zero")
        if times is not None and signals is None:
            raise BadInput("times are those of signals; name some")
        text = None
        sampled = None
        self.names: list[str] = []
        if signals is not None:
            if not isinstance(signals, Signals):
                signals = Signals(signals)
            text = signals.text
            if times is None:
                sampled = _step_times(steps or 0, every or 1, h)
            else:
                sampled = np.ravel(np.asarray(times, dtype=np.float64))
            self.names = model._core.signal_names(text)[0]
        if steps is None and every is not None:
            steps = max(int(np.ceil(np.max(sampled, initial=0.0) / h - 1e-9)), 1)
        self.times = sampled
        self.core = (steps, every, text, sampled)
        self._time: Array | None = None if every is not None else np.empty(0)

    @property
    def time(self) -> Array:
        if self._time is None:
            steps, every, _, _ = self.core
            self._time = _step_times(steps, every, self.h)
        return self._time

    def trajectory(self, parts: tuple[Any, Any, Any, Any]) -> Trajectory:
        q, v, act, y = parts
        signals = {} if y is None else dict(zip(self.names, y))
        return Trajectory(self.time, q, v, act, signals, self.times, self.vertices)

    def _whole(self, by_all: Any, by_points: Any, by_joints: Any, width: int | None) -> Any:
        """The cotangent of all coordinates from those of vertices and joints."""
        if by_points is None and by_joints is None:
            return by_all
        if self.vertices is None and by_joints is None:
            return by_points
        if by_all is not None:
            raise BadInput("a cotangent has q or its parts, not both; likewise v")
        soft = 3 * (self.vertices or 0)
        out = np.zeros((len(self.time), width or 0))
        if by_points is not None:
            out[:, :soft] = np.reshape(by_points, (len(self.time), soft))
        if by_joints is not None:
            out[:, soft:] = by_joints
        return out

    def cotangent(self, given: Any) -> tuple[Any, Any, Any, Any]:
        """(q, v, act, signals) of a cotangent: a Trajectory, or a dict with some of its fields."""
        if isinstance(given, Trajectory):
            given = {"q": given.q, "v": given.v, "act": given.act, "signals": given.signals}
        if not isinstance(given, Mapping):
            raise BadInput(
                "a cotangent is a Trajectory (see Trajectory.zeros) or a dict with some of "
                f"positions, velocities, qpos, qvel, q, v, act, signals; found a {type(given).__name__}"
            )
        unknown = set(given) - {"positions", "velocities", "qpos", "qvel", "q", "v", "act", "signals"}
        if unknown:
            raise BadInput(f"a cotangent has no {', '.join(sorted(map(str, unknown)))}")
        q = self._whole(given.get("q"), given.get("positions"), given.get("qpos"), self.widths[0])
        v = self._whole(given.get("v"), given.get("velocities"), given.get("qvel"), self.widths[1])
        y = None
        by_name = given.get("signals")
        if by_name:
            if self.times is None:
                raise BadInput("the rollout has no signals, its cotangent does")
            y = np.zeros((len(self.names), len(self.times)))
            for name, bar in by_name.items():
                if name not in self.names:
                    raise UnknownName(f"there is no signal {name!r}; known: {', '.join(self.names)}")
                y[self.names.index(name)] = bar
        return q, v, given.get("act"), y


def _step_times(steps: int, every: int, h: float) -> Array:
    if every < 1:
        raise BadInput("every: at least 1")
    if steps // every > _MOST_STATES:
        raise BadInput(f"{steps // every} times; keep fewer of them with a larger `every`")
    at = np.arange(0, steps + 1, every)
    if at[-1] != steps:
        at = np.append(at, steps)
    return at * h


def rollout(
    model: Model,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    initial: State | tuple[ArrayLike, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike | Input] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
    unstable: bool = False,
) -> Trajectory:
    """Simulates a model.

    Parameters
    ----------
    parameters
        Values by path that differ from the model's.
    initial
        The state to start from; by default the one that follows from the parameters.
    controls
        Inputs by channel (``model.inputs``): one value that holds, ``[size]``; one for each step,
        ``[n, size]``; or :class:`Input` for samples at other times.
    steps, duration
        How long, in time steps or s; by default the model's own duration, or up to the last of
        ``times``.
    every
        Keep every so manieth state, and the last; None keeps none.
    signals, times
        What to observe (see :class:`Signals`) and when, s; by default at the states kept.
    unstable
        Allow a time step that is beyond the largest stable one.

    Raises
    ------
    UnstableStep, Diverged
        The time step is too long; the motion left every finite bound (``partial`` has what there
        was).
    KeyboardInterrupt
        Ctrl-C stops a long run.
    """
    item, _, _ = _setup(model, parameters, initial, controls)
    outputs = _Outputs(model, steps, duration, every, signals, times)
    if not unstable and not parameters:
        model._core.check_timestep()
    try:
        return outputs.trajectory(model._core.rollout([item], outputs.core)[0])
    except Diverged as error:
        if every is not None:
            partial = model._core.rollout_until_fault(item, outputs.core[0], every)
            error.partial = Trajectory(*partial, vertices=model._soft)
        raise


def rollouts(
    model: Model,
    runs: Iterable[Mapping[str, Any]],
    *,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
) -> list[Trajectory]:
    """Many rollouts at once, on all cores.

    Each of ``runs`` is a dict with any of ``parameters``, ``initial`` and ``controls``, as for
    :func:`rollout`; the other arguments are for all of them. The results are those of single calls,
    to the bit.
    """
    items = _setups(model, runs)
    outputs = _Outputs(model, steps, duration, every, signals, times)
    return [outputs.trajectory(parts) for parts in model._core.rollout(items, outputs.core)]


def _setups(model: Model, runs: Iterable[Mapping[str, Any]]) -> list[Any]:
    items = []
    for run in runs:
        unknown = set(run) - {"parameters", "initial", "controls"}
        if unknown:
            raise BadInput(f"a run has parameters, initial and controls, no {', '.join(map(str, unknown))}")
        items.append(_setup(model, run.get("parameters"), run.get("initial"), run.get("controls"))[0])
    return items


def step(
    model: Model,
    state: State,
    parameters: Mapping[str, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike] | None = None,
) -> State:
    """The state one time step later, under controls that hold meanwhile.

    A pure function: ``state`` stays as it is.
    """
    item, _, _ = _setup(model, parameters, state, controls)
    q, v, act, _ = model._core.rollout([item], (1, 1, None, None))[0]
    return State(q[1], v[1], act[1], state.time + model._timestep, model._soft)


def _sequence(x: Any) -> Sequence[Any]:
    return x if isinstance(x, (list, tuple)) else [x]
