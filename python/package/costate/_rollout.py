"""Rollouts: motions with NumPy arrays in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from ._model import Model, State
from ._setup import Input, Signals, _Outputs, _setup
from ._step import contacts_of
from ._trajectory import Trajectory
from .errors import BadInput, Diverged

__all__ = ["rollout", "rollouts"]


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
    contacts: bool = False,
    unstable: bool = False,
) -> Trajectory:
    """Simulates a model.

    Parameters
    ----------
    parameters
        Values by path that differ from the model's.
    initial
        The state to start from; by default the one that follows from the parameters. Time starts at zero
        whatever its own is; :func:`costate.step` goes on from it.
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
    contacts
        List what touches at the states kept (``trajectory.contacts``).
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
        motion = outputs.trajectory(model._core.rollout([item], outputs.core, unstable)[0])
    except Diverged as error:
        if every is not None:
            partial = model._core.rollout_until_fault(item, outputs.core[0], every)
            error.partial = Trajectory(*partial, vertices=model._soft)
        raise
    return replace(motion, contacts=contacts_of(model, item, motion)) if contacts else motion


def rollouts(
    model: Model,
    runs: Iterable[Mapping[str, Any]],
    *,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: ArrayLike | None = None,
    contacts: bool = False,
    unstable: bool = False,
) -> list[Trajectory]:
    """Many rollouts at once, on all cores.

    Each of ``runs`` is a dict with any of ``parameters``, ``initial`` and ``controls``, as for
    :func:`rollout`; the other arguments are for all of them. The results are those of single calls,
    to the bit. The first run that fails, by its place in the list, fails the call.
    """
    items = _setups(model, runs)
    outputs = _Outputs(model, steps, duration, every, signals, times)
    motions = [outputs.trajectory(parts) for parts in model._core.rollout(items, outputs.core, unstable)]
    if contacts:
        motions = [replace(m, contacts=contacts_of(model, item, m)) for item, m in zip(items, motions)]
    return motions


def _setups(model: Model, runs: Iterable[Mapping[str, Any]]) -> list[Any]:
    items = []
    for run in runs:
        unknown = set(run) - {"parameters", "initial", "controls"}
        if unknown:
            raise BadInput(f"a run has parameters, initial and controls, no {', '.join(map(str, unknown))}")
        items.append(_setup(model, run.get("parameters"), run.get("initial"), run.get("controls"))[0])
    return items
