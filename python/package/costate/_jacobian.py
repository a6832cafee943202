"""Jacobians of motions: what every observed number depends on, and how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._derivatives import MEMORY, Gradient, Pullback, _direction, _wanted, pull
from ._model import Model, State
from ._setup import Input, Signals, _initial, _Outputs, _setup
from ._trajectory import Trajectory
from .errors import BadInput

__all__ = ["jacobian"]

Array = NDArray[np.float64]
_PARTS = ("q", "v", "act")
# Columns or rows at a time, so that all of them need not lie in memory beside the result.
_BLOCK = 256


@dataclass(frozen=True)
class _Column:
    """What one name of ``wrt`` stands for: a leaf, a part of the initial state, or a control."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def directions(self) -> Iterator[tuple[Any, Any, Any]]:
        """Unit tangents, one for each number."""
        for i in range(self.size):
            unit = np.zeros(self.size)
            unit[i] = 1.0
            yield (
                {self.name: unit} if self.kind == "leaf" else None,
                (self.name.partition(".")[2], unit) if self.kind == "initial" else None,
                {self.name: unit} if self.kind == "control" else None,
            )

    def of(self, gradient: Gradient) -> Any:
        """Its part of a gradient."""
        if self.kind == "leaf":
            return gradient.parameters[self.name]
        if self.kind == "control":
            return gradient.controls[self.name]
        return getattr(gradient.initial, self.name.partition(".")[2])


def jacobian(
    model: Model,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    wrt: Iterable[str] | None = None,
    initial: State | tuple[ArrayLike, ArrayLike] | None = None,
    controls: Mapping[str, ArrayLike | Input] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = None,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
    method: str = "auto",
    memory: int = MEMORY,
) -> tuple[Trajectory, dict[str, dict[str, Array]]]:
    """A motion, and the derivatives of all its numbers (sensitivities) by leaves, initial state and controls.

    Parameters
    ----------
    wrt
        What to differentiate by, default ``parameters``: paths of leaves; ``"initial.q"``,
        ``"initial.v"`` and ``"initial.act"``, or ``"initial"`` for all of them; names of ``controls``, or
        ``"controls"`` for all of them.
    signals, times, steps, duration, every
        What is observed, as in :func:`costate.rollout`; no states without ``every``.
    method
        "forward" (one tangent for each number of ``wrt``), "adjoint" (one backward run for each number
        observed), or "auto", by cost.
    memory
        For the states that backward runs need, bytes.

    Returns
    -------
    The motion, and by observed name and by name of ``wrt`` an array. Observed are the signals by name,
    ``[times, *shape]``, and, where ``every`` asks for states, ``"q"``, ``"v"`` and ``"act"``,
    ``[states, coordinates, *shape]``. ``shape`` is that of the leaf, ``[coordinates]`` of the initial state's
    part, or that of the control's values as they were given (``[n, size]`` for one value each step).

    By a quaternion's coordinates, derivatives are those along the unit sphere. Where the initial state follows
    from the parameters, its part is in theirs too.

    The matrices of a linearised step, x⁺ = A x + B u:

    >>> _, d = costate.jacobian(model, wrt=["initial", "arm"], initial=state, controls={"arm": [0.0]},
    ...                         steps=1, every=1)
    >>> A_vv, B_v = d["v"]["initial.v"][-1], d["v"]["arm"][-1]
    """
    if method not in ("auto", "forward", "adjoint"):
        raise BadInput("method is \"auto\", \"forward\" or \"adjoint\"")
    if signals is None and every is None:
        raise BadInput("nothing is observed: name signals=…, or ask for states with every=…")
    seen = model if parameters is None else model.with_parameters(parameters)
    outputs = _Outputs(model, steps, duration, every, signals, times)
    setup, names, shapes = _setup(model, parameters, initial, controls)
    columns = _columns(seen, _wanted(parameters, wrt), dict(zip(names, shapes)))
    observed = _observed(outputs)
    rows = sum(int(np.prod(shape)) for shape in observed.values())
    out = {
        name: {column.name: np.zeros((*shape, *column.shape)) for column in columns}
        for name, shape in observed.items()
    }
    if method == "forward" or (method == "auto" and sum(c.size for c in columns) <= 3 * rows):
        return _forward(model, seen, setup, outputs, columns, out), out
    leaves = [c.name for c in columns if c.kind == "leaf"]
    record = model._core.record([setup], outputs.core, leaves, memory, [])[0]
    back = Pullback(record, outputs, names, shapes)
    motion = outputs.trajectory(record.values())
    samples = [(name, at) for name, shape in observed.items() for at in np.ndindex(shape)]
    for begin in range(0, len(samples), _BLOCK):
        block = samples[begin : begin + _BLOCK]
        units = [_unit(name, at, observed[name]) for name, at in block]
        for (name, at), gradient in zip(block, pull([back] * len(block), units)):
            for column in columns:
                out[name][column.name][at] = np.reshape(column.of(gradient), column.shape)
    return motion, out


def _columns(model: Model, wanted: list[str] | None, controls: dict[str, tuple[int, ...]]) -> list[_Column]:
    """What ``wrt`` names, in its order, each once."""
    if not wanted:
        raise BadInput("say what to differentiate by: wrt=[...] with leaves, \"initial\" or controls")
    widths = dict(zip(_PARTS, model._core.widths))
    names: list[str] = []
    for name in wanted:
        if name == "initial":
            names += [f"initial.{part}" for part in _PARTS if widths[part]]
        elif name == "controls":
            names += controls
        else:
            names.append(name)
    columns = []
    for name in dict.fromkeys(names):
        part = name.partition(".")[2] if name.startswith("initial.") else None
        if part in widths:
            columns.append(_Column(name, "initial", (widths[part],)))
        elif name in controls:
            columns.append(_Column(name, "control", controls[name]))
        elif name in model._sizes and name not in model.leaves:
            raise BadInput(f"{name} is an input without values; give it some in controls to differentiate by them")
        else:
            columns.append(_Column(name, "leaf", np.shape(model[name])))
    return columns


def _observed(outputs: _Outputs) -> dict[str, tuple[int, ...]]:
    """Shapes of what is observed by name."""
    shapes: dict[str, tuple[int, ...]] = {}
    if outputs.core[1] is not None:
        shapes |= {part: (len(outputs.time), n) for part, n in zip(_PARTS, outputs.widths) if n}
    if outputs.times is not None:
        twice = shapes.keys() & set(outputs.names)
        if twice:
            raise BadInput(f"a signal has the name of the states' part {twice.pop()}; give it another")
        shapes |= {name: (len(outputs.times),) for name in outputs.names}
    return shapes


def _unit(name: str, at: tuple[int, ...], shape: tuple[int, ...]) -> dict[str, Any]:
    """The cotangent that is one at one observed number."""
    unit = np.zeros(shape)
    unit[at] = 1.0
    return {name: unit} if name in _PARTS else {"signals": {name: unit}}


def _forward(
    model: Model, seen: Model, setup: Any, outputs: _Outputs, columns: list[_Column], out: dict[str, dict[str, Array]]
) -> Trajectory:
    """Fills ``out`` by tangents; the motion."""
    # Leaves of another view are chosen by giving them a value.
    given = dict(setup[0] or {})
    given |= {c.name: seen[c.name] for c in columns if c.kind == "leaf" and c.name not in model.leaves}
    setup = (given or None, *setup[1:])
    zeros = {part: np.zeros(n) for part, n in zip(_PARTS, outputs.widths)}
    places = [(column, i) for column in columns for i in range(column.size)]
    units = (direction for column in columns for direction in column.directions())
    motion = None
    for begin in range(0, len(places), _BLOCK):
        block = places[begin : begin + _BLOCK]
        directions = []
        for _, (leaves, start, inputs) in zip(block, units):
            if start is not None:
                start = {**zeros, start[0]: start[1]}
            directions.append(_direction(leaves, start, inputs))
        y, y_dots = model._core.pushforward(setup, outputs.core, directions)
        motion = motion or outputs.trajectory(y)
        for (column, i), y_dot in zip(block, y_dots):
            dot = outputs.trajectory(y_dot)
            for name, by_name in out.items():
                x = getattr(dot, name) if name in _PARTS else dot.signals[name]
                by_name[column.name].reshape(*x.shape, column.size)[..., i] = x
    return motion if motion is not None else outputs.trajectory(model._core.rollout([setup], outputs.core, False)[0])
