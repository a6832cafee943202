"""Derivatives of motions: adjoints, tangents, and their proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _costate
from ._model import Model, State
from ._setup import Input, Signals, _initial, _Outputs, _setup
from ._trajectory import Trajectory
from .errors import BadInput

__all__ = ["Gradient", "LeafCheck", "check_gradient", "jvp", "value_and_grad", "vjp", "vjps"]

Array = NDArray[np.float64]
MEMORY = 1 << 30


@dataclass(frozen=True, eq=False)
class Gradient:
    """Derivatives of a number by everything that a motion depends on."""

    parameters: dict[str, Any]
    """By leaf: numbers, or arrays of the leaves' shapes."""
    initial: State
    """By the initial state; where that follows from the parameters, its part is in theirs too."""
    controls: dict[str, Array]
    """By the values of each input that was given, in their shapes."""

    def __getitem__(self, path: str) -> Any:
        """The derivative by a leaf."""
        return self.parameters[path]


def _wanted(parameters: Mapping[str, Any] | None, wrt: Iterable[str] | None) -> list[str] | None:
    if wrt is not None:
        if isinstance(wrt, str):
            return [wrt]
        return list(wrt)
    return list(parameters) if parameters else None


class Pullback:
    """Carries a cotangent of a motion back to a :class:`Gradient`; may be called many times."""

    __slots__ = ("_record", "_outputs", "_names", "_shapes")

    def __init__(self, record: Any, outputs: _Outputs, names: list[str], shapes: list[tuple[int, ...]]) -> None:
        self._record = record
        self._outputs = outputs
        self._names = names
        self._shapes = shapes

    def __call__(self, cotangent: Trajectory | Mapping[str, Any]) -> Gradient:
        return pull([self], [cotangent])[0]

    def _gradient(self, parts: tuple[Any, Any, Any]) -> Gradient:
        by_path, (q, v, act), by_channel = parts
        controls = {
            name: np.reshape(bar, shape)
            for name, shape, bar in zip(self._names, self._shapes, by_channel)
        }
        return Gradient(by_path, State(q, v, act, vertices=self._outputs.vertices), controls)


def pull(pullbacks: Sequence[Pullback], cotangents: Sequence[Trajectory | Mapping[str, Any]]) -> list[Gradient]:
    """Calls many pullbacks at once, on all cores."""
    adjoints = [p._outputs.cotangent(c) for p, c in zip(pullbacks, cotangents)]
    found = _costate.pullback([p._record for p in pullbacks], adjoints)
    return [p._gradient(parts) for p, parts in zip(pullbacks, found)]


def vjp(
    model: Model,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    wrt: Iterable[str] | None = None,
    initial: State | tuple[ArrayLike, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike | Input] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
    memory: int = MEMORY,
    detach: Sequence[int] = (),
) -> tuple[Trajectory, Pullback]:
    """A rollout, and the function that carries its cotangents back.

    The arguments are those of :func:`costate.rollout`, and

    wrt
        Paths of the leaves to differentiate by: by default those of ``parameters``, or all.
    memory
        For the states that the backward run needs, bytes; with less it computes some again.
    detach
        Steps at which no derivative passes through the state.
    """
    runs = [{"parameters": parameters, "initial": initial, "controls": controls}]
    return vjps(
        model, runs, wrt=wrt, steps=steps, duration=duration, every=every, signals=signals, times=times,
        memory=memory, detach=detach,
    )[0]


def vjps(
    model: Model,
    runs: Iterable[Mapping[str, Any]],
    *,
    wrt: Iterable[str] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
    memory: int = MEMORY,
    detach: Sequence[int] = (),
) -> list[tuple[Trajectory, Pullback]]:
    """Many :func:`vjp` at once, on all cores; ``runs`` as for :func:`costate.rollouts`."""
    runs = list(runs)
    if not runs:
        return []
    wanted = _wanted(runs[0].get("parameters"), wrt)
    outputs = _Outputs(model, steps, duration, every, signals, times)
    setups = [_setup(model, r.get("parameters"), r.get("initial"), r.get("controls")) for r in runs]
    records = model._core.record([s[0] for s in setups], outputs.core, wanted, memory, list(detach))
    return [
        (outputs.trajectory(record.values()), Pullback(record, outputs, names, shapes))
        for record, (_, names, shapes) in zip(records, setups)
    ]


def value_and_grad(
    loss: Callable[[Trajectory], tuple[float, Trajectory | Mapping[str, Any]]],
    model: Model,
    parameters: Mapping[str, ArrayLike] | None = None,
    **kwargs: Any,
) -> tuple[float, Gradient]:
    """A loss of a motion and its gradient.

    ``loss`` takes the :class:`Trajectory` and returns its value and the cotangent: the derivative of
    the value by the trajectory's arrays, as a dict with some of ``positions``, ``velocities``, ``q``,
    ``v``, ``signals`` (by name), or as a Trajectory (fill in ``trajectory.zeros()``). A recorded function of
    one sample (:func:`costate.laws.loss`) needs no cotangent. The other
    arguments are those of :func:`vjp`.

    >>> def loss(motion):
    ...     bar = motion.zeros()
    ...     miss = motion.positions[-1].mean(axis=0) - target
    ...     bar.positions[-1] = miss / model.vertex_count
    ...     return 0.5 * miss @ miss, bar
    >>> value, gradient = costate.value_and_grad(loss, model, {"soft.beam.young": 1e5}, steps=1000)
    >>> gradient["soft.beam.young"]
    """
    motion, back = vjp(model, parameters, **kwargs)
    answer = loss(motion)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise BadInput("a loss returns its value and its cotangent: (value, cotangent)")
    value, cotangent = answer
    return float(value), back(cotangent)


def jvp(
    model: Model,
    parameters: Mapping[str, ArrayLike] | None = None,
    tangents: Mapping[str, ArrayLike] | None = None,
    *,
    initial_tangent: State | tuple[ArrayLike, ArrayLike] | None = None,
    control_tangents: Mapping[str, ArrayLike] | None = None,
    initial: State | tuple[ArrayLike, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike | Input] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
) -> tuple[Trajectory, Trajectory]:
    """A rollout and its derivative along a direction.

    ``tangents`` says by path how parameters move, ``initial_tangent`` how the initial state does
    (beside what follows from the parameters), ``control_tangents`` how the values of ``controls`` do.
    The other arguments are those of :func:`costate.rollout`.
    """
    outputs = _Outputs(model, steps, duration, every, signals, times)
    setup, _, _ = _setup(model, parameters, initial, controls)
    direction = _direction(tangents, initial_tangent, control_tangents)
    y, y_dots = model._core.pushforward(setup, outputs.core, [direction])
    return outputs.trajectory(y), outputs.trajectory(y_dots[0])


def _direction(tangents: Any, initial: Any, controls: Any) -> tuple[Any, Any, Any]:
    return (
        None if tangents is None else dict(tangents),
        None if initial is None else _initial(initial),
        None if controls is None else dict(controls),
    )


@dataclass(frozen=True)
class LeafCheck:
    """The proofs of one leaf's derivative."""

    path: str
    derivative: float
    """Of a loss that depends on everything that moves, along a direction of the leaf's own size."""
    difference_error: float
    """Smallest relative error of differences over a range of widths."""
    adjoint_error: float
    """Relative disagreement of adjoint and tangent."""
    influences: bool
    """Whether the motion depends on the leaf at all."""
    passes: bool
    """Whether both errors are within 1e-6 and 1e-10."""


def check_gradient(
    model: Model,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    controls: Mapping[str, ArrayLike | Input] | None = None,
    steps: int = 100,
) -> list[LeafCheck]:
    """Proves the derivative by every leaf, two ways: against differences, and adjoint against tangent."""
    if parameters:
        model = model.with_parameters(parameters)
    item, _, _ = _setup(model, None, None, controls)
    return [LeafCheck(*row) for row in model._core.check(item, steps)]
