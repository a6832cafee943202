"""Motions inside PyTorch: differentiable by parameters, initial state and controls.

>>> import costate, costate.torch
>>> simulator = costate.torch.Simulator(model, ["soft.beam.young"], transform={"soft.beam.young": "log"})
>>> optimiser = torch.optim.Adam(simulator.parameters(), lr=0.05)
>>> motion = simulator(steps=500)
>>> loss = (motion.positions[-1] - target).square().mean()
>>> loss.backward()

Costate computes in float64 on the processor. Tensors of other types and places are converted on the
way in; results have the type and place of the first tensor given (float64 without any).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ._derivatives import MEMORY, pull, vjps
from ._model import Model, joints, points
from ._setup import Input, Signals, _initial
from ._trajectory import Trajectory
from ._rollout import rollouts as _rollouts
from .errors import BadInput

__all__ = ["Motion", "Simulator", "rollout", "rollouts"]


@dataclass(frozen=True)
class Motion:
    """A motion as tensors; shapes and units are those of :class:`costate.Trajectory`."""

    time: torch.Tensor
    q: torch.Tensor | None
    v: torch.Tensor | None
    act: torch.Tensor | None = None
    signals: dict[str, torch.Tensor] = field(default_factory=dict)
    times: torch.Tensor | None = None
    vertices: int | None = None

    @property
    def positions(self) -> torch.Tensor:
        """Positions of the soft vertices, m, ``[states, vertices, 3]``."""
        return points(_states(self.q), self.vertices)

    @property
    def velocities(self) -> torch.Tensor:
        """Velocities of the soft vertices, m/s, ``[states, vertices, 3]``."""
        return points(_states(self.v), self.vertices)

    @property
    def qpos(self) -> torch.Tensor:
        """Coordinates of the joints, ``[states, coordinates]``."""
        return joints(_states(self.q), self.vertices)

    @property
    def qvel(self) -> torch.Tensor:
        """Velocities of the joints, ``[states, degrees of freedom]``."""
        return joints(_states(self.v), self.vertices)


def _states(x: torch.Tensor | None) -> torch.Tensor:
    if x is None:
        raise BadInput("the rollout was asked for no states")
    return x


@dataclass
class _Call:
    """What a call of the autograd function is about beside its tensors."""

    model: Model
    places: list[tuple[int, str, Any]]
    """Of each tensor: its run, "parameter", "q", "v", "act" or "control", and its name."""
    runs: list[dict[str, Any]]
    options: dict[str, Any]
    kept: list[Trajectory] = field(default_factory=list)


def _numpy(x: torch.Tensor) -> Any:
    return x.detach().to("cpu", torch.float64).numpy()


class _Rollout(torch.autograd.Function):
    """The whole batch as one function: tensors in, (q, v, signals) of each run out."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for (run, kind, name), tensor in zip(call.places, tensors):
            value = _numpy(tensor)
            target = call.runs[run]
            if kind == "parameter":
                target["parameters"][name] = value
            elif kind == "control":
                given = target["controls"][name]
                if isinstance(given, Input):
                    value = Input(given.times, value, given.interpolation)
                target["controls"][name] = value
            else:
                target["initial"][kind] = value
        ctx.call = call
        ctx.types = [(t.dtype, t.device) for t in tensors]
        options = dict(call.options)
        memory = options.pop("memory")
        if any(ctx.needs_input_grad):
            wrt = sorted({name for _, kind, name in call.places if kind == "parameter"})
            found = vjps(call.model, call.runs, wrt=wrt, memory=memory, **options)
            ctx.pullbacks = [back for _, back in found]
            motions = [motion for motion, _ in found]
        else:
            motions = _rollouts(call.model, call.runs, **options)
        call.kept.extend(motions)
        dtype, device = ctx.types[0]
        out = []
        for motion in motions:
            names = list(motion.signals)
            if motion.q is not None:
                out += [motion.q, motion.v, motion.act]
            if names:
                out.append(np.stack([motion.signals[n] for n in names]))
        return tuple(torch.from_numpy(np.array(x)).to(device, dtype) for x in out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *bars: torch.Tensor) -> tuple[Any, ...]:
        bars = list(bars)
        cotangents = []
        for motion in ctx.call.kept:
            cotangent: dict[str, Any] = {}
            if motion.q is not None:
                for key in ("q", "v", "act"):
                    cotangent[key] = _numpy(bars.pop(0))
            if motion.signals:
                rows = _numpy(bars.pop(0))
                cotangent["signals"] = dict(zip(motion.signals, rows))
            cotangents.append(cotangent)
        gradients = pull(ctx.pullbacks, cotangents)
        out: list[Any] = [None]
        for (run, kind, name), (dtype, device), needed in zip(
            ctx.call.places, ctx.types, ctx.needs_input_grad[1:]
        ):
            if not needed:
                out.append(None)
                continue
            gradient = gradients[run]
            if kind == "parameter":
                bar = gradient.parameters[name]
            elif kind == "control":
                bar = gradient.controls[name]
            else:
                bar = getattr(gradient.initial, kind)
            shape = ctx.call.runs[run][{"parameter": "parameters", "control": "controls"}.get(kind, "initial")]
            shape = shape[kind if kind in ("q", "v", "act") else name]
            shape = np.shape(shape.values if isinstance(shape, Input) else shape)
            bar = np.array(bar, dtype=np.float64)
            # One number may stand for a whole field.
            bar = bar.sum().reshape(shape) if bar.size != int(np.prod(shape)) else bar.reshape(shape)
            out.append(torch.from_numpy(bar).to(device, dtype))
        return tuple(out)


def rollouts(
    model: Model,
    runs: Iterable[Mapping[str, Any]],
    *,
    steps: int | None = None,
    duration: float | None = None,
    every: int | None = 1,
    signals: Signals | Mapping[str, Any] | None = None,
    times: Any = None,
    memory: int = MEMORY,
) -> list[Motion]:
    """:func:`costate.rollouts` of tensors, differentiable, on all cores.

    Any of the parameters, the initial states and the controls' values may be tensors.
    """
    places: list[tuple[int, str, Any]] = []
    tensors: list[torch.Tensor] = []
    plain: list[dict[str, Any]] = []

    def place(run: int, kind: str, name: Any, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            places.append((run, kind, name))
            tensors.append(value)

    for i, given in enumerate(runs):
        run: dict[str, Any] = {"parameters": dict(given.get("parameters") or {})}
        for path, value in run["parameters"].items():
            place(i, "parameter", path, value)
        run["controls"] = dict(given.get("controls") or {})
        for name, value in run["controls"].items():
            place(i, "control", name, value.values if isinstance(value, Input) else value)
        initial = given.get("initial")
        if initial is None:
            run["initial"] = None
        else:
            run["initial"] = dict(zip(("q", "v", "act"), _initial(initial)))
            for kind, value in run["initial"].items():
                place(i, kind, None, value)
        plain.append(run)
    options = {
        "steps": steps, "duration": duration, "every": every, "signals": signals, "times": times,
        "memory": memory,
    }
    if not tensors:
        # The result has no history, but the same shapes.
        tensors, places = [torch.zeros(0, dtype=torch.float64)], []
    call = _Call(model, places, plain, options)
    out = list(_Rollout.apply(call, *tensors))
    motions = []
    for motion in call.kept:
        q = out.pop(0) if motion.q is not None else None
        v = out.pop(0) if motion.q is not None else None
        act = out.pop(0) if motion.q is not None else None
        by_name = dict(zip(motion.signals, out.pop(0))) if motion.signals else {}
        times_ = None if motion.times is None else torch.from_numpy(np.array(motion.times))
        motions.append(Motion(torch.from_numpy(np.array(motion.time)), q, v, act, by_name, times_, motion.vertices))
    return motions


def rollout(
    model: Model,
    parameters: Mapping[str, Any] | None = None,
    *,
    initial: Any = None,
    controls: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Motion:
    """:func:`costate.rollout` of tensors, differentiable by any of them.

    The other arguments are those of :func:`costate.torch.rollouts`.
    """
    run = {"parameters": parameters, "initial": initial, "controls": controls}
    return rollouts(model, [run], **kwargs)[0]


class Simulator(torch.nn.Module):
    """A model whose leaves are parameters of a module, to be trained.

    Parameters
    ----------
    model
        What is simulated.
    leaves
        Paths of the leaves to train; all others keep the model's values.
    transform
        By path: "log" trains the logarithm of what must be positive, "identity" (default) the value
        itself.
    dtype
        Of the parameters.
    """

    def __init__(
        self,
        model: Model,
        leaves: Sequence[str],
        *,
        transform: Mapping[str, str] | None = None,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__()
        self.model = model
        self.paths = list(leaves)
        self.transform = dict(transform or {})
        for path, name in self.transform.items():
            if name not in ("log", "identity") or path not in self.paths:
                raise BadInput(f"transform of {path}: \"log\" or \"identity\", of a trained leaf")
        # Names of module parameters must not contain dots.
        self.raw = torch.nn.ParameterDict()
        for path in self.paths:
            value = torch.as_tensor(np.array(model[path], dtype=np.float64)).to(dtype)
            if self.transform.get(path) == "log":
                if not bool((value > 0).all()):
                    raise BadInput(f"{path} is not positive, so it has no logarithm")
                value = value.log()
            self.raw[path.replace(".", "/")] = torch.nn.Parameter(value)

    def values(self) -> dict[str, torch.Tensor]:
        """The trained leaves by path, in their units."""
        out = {}
        for path in self.paths:
            raw = self.raw[path.replace(".", "/")]
            out[path] = raw.exp() if self.transform.get(path) == "log" else raw
        return out

    def forward(self, parameters: Mapping[str, Any] | None = None, **kwargs: Any) -> Motion:
        """A rollout with the trained leaves (and others in ``parameters``); see :func:`rollout`."""
        return rollout(self.model, {**self.values(), **(parameters or {})}, **kwargs)

    def trained(self) -> Model:
        """The model with the trained values in place."""
        return self.model.with_parameters({path: _numpy(x) for path, x in self.values().items()})
