"""What a motion is a function of and what it gives, as the compiled part takes both."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._model import Model, State
from ._toml import dumps
from ._trajectory import Trajectory
from .errors import BadInput, UnknownName

__all__ = ["Input", "Signals"]

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

    @classmethod
    def of_sensors(cls, model: Model, names: Iterable[str] | None = None) -> Signals:
        """The sensors of a robot, all or some, under their names (with _ for what names of signals cannot
        have); quaternions as NAME_w, NAME_x, NAME_y and NAME_z."""
        known = model.sensors
        signals: dict[str, Any] = {}
        for sensor in known if names is None else names:
            name = re.sub(r"[^A-Za-z0-9_-]", "_", sensor)
            if known.get(sensor) == 4:
                signals |= {f"{name}_{axis}": {"sensor": sensor, "component": i} for i, axis in enumerate("wxyz")}
            else:
                signals[name] = {"sensor": sensor}
        return cls(signals)


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


def _whole(name: str, given: Any) -> int | None:
    """A whole number or None."""
    try:
        return None if given is None else operator.index(given)
    except TypeError:
        raise BadInput(f"{name}: expected a whole number, found {given!r}") from None


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
        steps, every = _whole("steps", steps), _whole("every", every)
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
