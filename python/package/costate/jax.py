"""Motions inside JAX: under ``jit``, ``grad`` and ``vmap``, by parameters, initial state and controls.

>>> import costate.jax
>>> simulate = costate.jax.rollout(model, steps=500)
>>> def loss(young):
...     motion = simulate({"soft.beam.young": young})
...     return ((motion.positions[-1] - target) ** 2).mean()
>>> jax.jit(jax.value_and_grad(loss))(1e5)

Costate computes in float64 on the host, through a callback; with JAX's default of float32 results are
rounded to it (``jax.config.update("jax_enable_x64", True)`` for all digits). ``vmap`` runs its batch on
all cores. Derivatives are by reverse mode (``grad``, ``vjp``, ``jacrev``).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._derivatives import MEMORY, pull, vjps
from ._model import Model, joints, points
from ._rollout import rollouts
from ._setup import Input, Signals, _initial, _Outputs
from .errors import BadInput, UnknownName

__all__ = ["Motion", "rollout"]

# How many forward runs wait for their backward ones at most.
_WAITING = 16


class Motion(NamedTuple):
    """A motion as JAX arrays; shapes and units are those of :class:`costate.Trajectory`."""

    time: Any
    q: Any
    v: Any
    act: Any
    signals: dict[str, Any]
    times: Any
    vertices: int | None

    @property
    def positions(self) -> Any:
        """Positions of the soft vertices, m, ``[states, vertices, 3]``."""
        return points(_states(self.q), self.vertices)

    @property
    def velocities(self) -> Any:
        """Velocities of the soft vertices, m/s, ``[states, vertices, 3]``."""
        return points(_states(self.v), self.vertices)

    @property
    def qpos(self) -> Any:
        """Coordinates of the joints, ``[states, coordinates]``."""
        return joints(_states(self.q), self.vertices)

    @property
    def qvel(self) -> Any:
        """Velocities of the joints, ``[states, degrees of freedom]``."""
        return joints(_states(self.v), self.vertices)


def _states(x: Any) -> Any:
    if x is None:
        raise BadInput("the rollout was asked for no states")
    return x


def rollout(
    model: Model,
    *,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: Any = None,
    memory: int = MEMORY,
) -> Callable[..., Motion]:
    """The function ``simulate(parameters=None, initial=None, controls=None)`` of JAX arrays.

    ``parameters`` and ``controls`` are dicts by path and channel, ``initial`` is a State, ``(q, v)`` or
    a dict of both. Their values may be traced. The arguments here are those of
    :func:`costate.rollout`.
    """
    outputs = _Outputs(model, steps, duration, every, signals, times)
    options = {
        "steps": steps, "duration": duration, "every": every, "signals": signals, "times": times,
    }
    shapes: dict[str, tuple[int, ...]] = {}
    if every is not None:
        for key, width in zip(("q", "v", "act"), model._core.widths):
            shapes[key] = (len(outputs.time), width)
    if outputs.names:
        shapes["signals"] = (len(outputs.names), len(outputs.times))

    def run_of(arguments: dict[str, Any], fixed: dict[str, Input], at: Any) -> dict[str, Any]:
        """One run of a batch, as NumPy arrays; ``at`` is its index, or () without a batch."""
        run: dict[str, Any] = {
            "parameters": {k: np.asarray(x[at], np.float64) for k, x in arguments["parameters"].items()}
        }
        controls = {}
        for name, x in arguments["controls"].items():
            value = np.asarray(x[at], np.float64)
            given = fixed.get(name)
            controls[name] = value if given is None else Input(given.times, value, given.interpolation)
        run["controls"] = controls
        if "initial" in arguments:
            run["initial"] = tuple(np.asarray(x[at], np.float64) for x in arguments["initial"])
        return run

    def batch(arguments: dict[str, Any], ranks: dict[str, Any], fixed: dict[str, Input]) -> Any:
        """The runs of a callback's arguments, which may have batch axes in front, and the axes."""
        arguments = jax.tree.map(np.asarray, arguments)
        leaves, ranks = jax.tree.leaves(arguments), jax.tree.leaves(ranks)
        axes: tuple[int, ...] = ()
        for x, rank in zip(leaves, ranks):
            lead = x.shape[: x.ndim - rank]
            axes = lead if len(lead) > len(axes) else np.broadcast_shapes(axes, lead)
        full = [np.broadcast_to(x, axes + x.shape[x.ndim - r :]) for x, r in zip(leaves, ranks)]
        arguments = jax.tree.unflatten(jax.tree.structure(arguments), full)
        return [run_of(arguments, fixed, at) for at in np.ndindex(axes)], axes

    def stacked(motions: list[Any], axes: tuple[int, ...], dtype: Any) -> dict[str, Any]:
        out = {}
        for key, shape in shapes.items():
            if key == "signals":
                parts = [np.stack(list(m.signals.values())) for m in motions]
            else:
                parts = [getattr(m, key) for m in motions]
            out[key] = np.stack(parts).reshape(axes + shape).astype(dtype)
        return out

    # Forward runs wait here for their backward ones, so that none is made twice.
    records: OrderedDict[int, Any] = OrderedDict()
    lock = threading.Lock()
    counter = [0]

    def simulate(
        parameters: Mapping[str, Any] | None = None,
        initial: Any = None,
        controls: Mapping[str, Any] | None = None,
    ) -> Motion:
        # What a callback raises arrives as JAX's own error, so names are looked at before.
        for path in parameters or ():
            model[path]
        for name in controls or ():
            if name not in model._sizes:
                raise UnknownName(f"the model has no input {name!r}; its inputs: {', '.join(model._sizes) or 'none'}")
        fixed = {k: x for k, x in (controls or {}).items() if isinstance(x, Input)}
        arguments: dict[str, Any] = {
            "parameters": {k: jnp.asarray(x) for k, x in (parameters or {}).items()},
            "controls": {
                k: jnp.asarray(x.values if isinstance(x, Input) else x)
                for k, x in (controls or {}).items()
            },
        }
        if initial is not None:
            arguments["initial"] = tuple(jnp.ravel(jnp.asarray(x)) for x in _initial(initial))
        arguments = jax.tree.map(
            lambda x: x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float), arguments
        )
        leaves = jax.tree.leaves(arguments)
        dtype = jnp.result_type(*leaves) if leaves else jnp.zeros(0).dtype
        ranks = jax.tree.map(lambda x: x.ndim, arguments)
        wrt = sorted(arguments["parameters"])
        result = {key: jax.ShapeDtypeStruct(shape, dtype) for key, shape in shapes.items()}

        def forward(arguments: Any) -> Any:
            runs, axes = batch(arguments, ranks, fixed)
            return stacked(rollouts(model, runs, **options), axes, dtype)

        def record(arguments: Any) -> Any:
            runs, axes = batch(arguments, ranks, fixed)
            found = vjps(model, runs, wrt=wrt, memory=memory, **options)
            with lock:
                counter[0] += 1
                key = counter[0]
                records[key] = [back for _, back in found]
                while len(records) > _WAITING:
                    records.popitem(last=False)
            keys = np.full(axes, key, np.int32)
            return stacked([motion for motion, _ in found], axes, dtype), keys

        def backward(arguments: Any, keys: Any, bars: Any) -> Any:
            runs, axes = batch(arguments, ranks, fixed)
            bars = jax.tree.map(np.asarray, bars)
            bars = {k: np.broadcast_to(x, axes + shapes[k]) for k, x in bars.items()}
            with lock:
                backs = records.get(int(np.max(keys, initial=0)))
            if backs is not None and len(backs) == 1:
                # Several cotangents of one run.
                backs = backs * len(runs)
            if backs is None or len(backs) != len(runs):
                backs = [back for _, back in vjps(model, runs, wrt=wrt, memory=memory, **options)]
            cotangents = []
            for at in np.ndindex(axes):
                cotangent = {k: bars[k][at] for k in ("q", "v", "act") if k in bars}
                if "signals" in bars:
                    cotangent["signals"] = dict(zip(outputs.names, bars["signals"][at]))
                cotangents.append(cotangent)
            gradients = pull(backs, cotangents)

            def collect(get: Callable[[Any], Any], like: Any, rank: int) -> Any:
                shape = np.shape(like)[np.ndim(like) - rank :]
                size = int(np.prod(shape))
                parts = []
                for gradient in gradients:
                    bar = np.asarray(get(gradient))
                    # One number may stand for a whole field.
                    parts.append(bar.sum().reshape(shape) if bar.size != size else bar.reshape(shape))
                return np.stack(parts).reshape(axes + shape).astype(np.asarray(like).dtype)

            out: dict[str, Any] = {
                "parameters": {
                    k: collect(lambda g, k=k: g.parameters[k], x, ranks["parameters"][k])
                    for k, x in arguments["parameters"].items()
                },
                "controls": {
                    k: collect(lambda g, k=k: g.controls[k], x, ranks["controls"][k])
                    for k, x in arguments["controls"].items()
                },
            }
            if "initial" in arguments:
                out["initial"] = tuple(
                    collect(lambda g, key=key: getattr(g.initial, key), x, 1)
                    for key, x in zip(("q", "v", "act"), arguments["initial"])
                )
            return out

        @jax.custom_vjp
        def run(arguments: Any) -> Any:
            return jax.pure_callback(forward, result, arguments, vmap_method="broadcast_all")

        def run_forward(arguments: Any) -> Any:
            spec = (result, jax.ShapeDtypeStruct((), jnp.int32))
            motion, key = jax.pure_callback(record, spec, arguments, vmap_method="broadcast_all")
            return motion, (arguments, key)

        def run_backward(kept: Any, bars: Any) -> Any:
            arguments, key = kept
            spec = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), arguments)
            return (
                jax.pure_callback(backward, spec, arguments, key, bars, vmap_method="broadcast_all"),
            )

        run.defvjp(run_forward, run_backward)
        motion = run(arguments)
        return Motion(
            jnp.asarray(outputs.time),
            motion.get("q"),
            motion.get("v"),
            motion.get("act"),
            dict(zip(outputs.names, motion["signals"])) if outputs.names else {},
            None if outputs.times is None else jnp.asarray(outputs.times),
            model._soft,
        )

    return simulate


