"""Losses as Python functions of one sample, recorded once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _costate
from ._trace import Number, _Tape, names, record
from .errors import BadInput, UnknownName

if TYPE_CHECKING:
    from ._trajectory import Trajectory

__all__ = ["Loss", "loss"]


class Loss:
    """A recorded loss: a function of one sample of the signals, summed over all samples.

    Called with a motion it gives its value and the cotangent, as :func:`costate.value_and_grad` wants them;
    called with numbers it calls the Python function. Arguments are ``time`` (s), the data that
    :meth:`given` names, and signals by name, with ``_`` for what names of arguments cannot have: ``tip_x`` is
    ``tip.x``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "loss").replace("<lambda>", "loss")
        what = f"loss {self.name}"
        self.arguments = names(function, what)
        tape = _Tape(len(self.arguments))
        value = record(function, tape, [Number(tape, i) for i in range(tape.inputs)], what, "its value")
        self._recording = (len(self.arguments), tape.nodes, value)
        self._core = _costate.Loss(*self._recording)
        self._data: dict[str, Any] = {}

    def given(self, **data: ArrayLike) -> Loss:
        """The same loss with data: for each sample, ``[times]``, or one number for all."""
        unknown = set(data) - set(self.arguments)
        if unknown:
            raise UnknownName(f"loss {self.name} has no argument {', '.join(sorted(unknown))}; "
                              f"its arguments: {', '.join(self.arguments)}")
        made = Loss.__new__(Loss)
        made.__dict__.update(self.__dict__)
        made._data = {**self._data, **{k: np.ravel(np.asarray(x, dtype=np.float64)) for k, x in data.items()}}
        return made

    def __call__(self, *arguments: Any) -> Any:
        from ._trajectory import Trajectory

        if len(arguments) == 1 and isinstance(arguments[0], Trajectory):
            return self._of(arguments[0])
        return self.function(*arguments)

    def _of(self, motion: Trajectory) -> tuple[float, dict[str, Any]]:
        """Value and cotangent."""
        if motion.times is None or not motion.signals:
            raise BadInput(f"loss {self.name} is one of signals: give the rollout signals=… and times=…")
        known = {re.sub(r"\W", "_", name): name for name in motion.signals}
        samples = len(motion.times)
        columns, wanted, signals = [], [], []
        for i, argument in enumerate(self.arguments):
            if argument in self._data:
                column = self._data[argument]
                if len(column) not in (1, samples):
                    raise BadInput(f"loss {self.name}: {argument} has {len(column)} numbers for {samples} samples")
            elif argument in known:
                column = motion.signals[known[argument]]
                wanted.append(i)
                signals.append(known[argument])
            elif argument == "time":
                column = motion.times
            else:
                raise UnknownName(f"loss {self.name}: {argument} is neither given nor a signal; signals here: "
                                  f"{', '.join(known)}")
            columns.append(column)
        value, slopes = self._core.sum(columns, samples, wanted)
        return value, {"signals": dict(zip(signals, slopes))}

    def __getstate__(self) -> dict[str, Any]:
        # The recording is all that is needed, and unlike the function it always travels.
        return {k: x for k, x in self.__dict__.items() if k not in ("_core", "function")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, function=_lost, _core=_costate.Loss(*state["_recording"]))

    def __repr__(self) -> str:
        return f"<costate.laws.Loss {self.name!r} of {', '.join(self.arguments)}>"


def _lost(*_: Any) -> Any:
    raise BadInput("the Python function of a loss does not travel with it; its recording does")


def loss(function: Callable[..., Any]) -> Loss:
    """Records a loss; a decorator.

    The function gets the numbers of one sample and returns what the sample adds:

    >>> @laws.loss
    ... def miss(tip_x, tip_z, x, z):
    ...     return laws.minimum((tip_x - x) ** 2 + (tip_z - z) ** 2, 1e-4)     # outliers count no more
    >>> costate.value_and_grad(miss.given(x=measured_x, z=measured_z), model, {"soft.beam.young": 1e5},
    ...                        every=None, signals=signals, times=times)
    """
    return Loss(function)
