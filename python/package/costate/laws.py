"""The user's own physics: laws of materials, springs, controllers and friction as ordinary Python functions, recorded once.

>>> import numpy as np
>>> from costate import laws
>>> @laws.material
... def springy(F, k):
...     '''Springs that know no rotation; J/m³.'''
...     D = F - np.eye(3)
...     return 0.5 * k * (D * D).sum()
>>> scene.grid("block", cells=(2, 2, 2), size=(0.1, 0.1, 0.1), density=1000.0,
...            material=springy, parameters={"k": 1e4})

The function gets the deformation gradient F, a 3 x 3 array of traced numbers, and the law's parameters;
it returns the energy per rest volume, J/m³, zero at rest. It is called once. What it does to the numbers
becomes an expression graph that is differentiated and evaluated over all elements at close to compiled
speed; there is no compile time. NumPy's functions of single numbers (``np.log``, ``np.sqrt``, ``np.exp``,
``np.sin`` …), ``@``, ``.T``, ``.sum()`` and ``np.trace`` work on traced numbers; :func:`det`, :func:`inv`,
:func:`cof`, :func:`where`, :func:`minimum` and :func:`maximum` are here. Whatever cannot be recorded, such
as an ``if`` on a traced number, raises :class:`LawError`, which points at the line.

Stiffness-proportional damping and activation scale with Lamé's parameters at rest, which follow from the
second derivatives of the energy at F = 1.

Laws of controllers and of friction (:meth:`costate.Builder.controller`, :meth:`costate.Builder.friction`) are functions
of gains and of what is measured:

>>> def servo(q, v, target, kp, kd, limit):
...     return laws.clip(kp * (target - q) - kd * v, -limit, limit)
>>> scene.controller("servo", servo, actuator="elbow", gains={"kp": 20.0, "kd": 0.4, "limit": 2.0},
...                  signals={"q": "joint.elbow.position", "v": "joint.elbow.velocity", "target": "input.target"})

:func:`previous` and :func:`integral` remember earlier ticks there. They become formulas of the scene
(``docs/control.md``), so saved models and the program know them too.

Losses (:func:`loss`) are functions of one sample of the signals; :func:`costate.value_and_grad` takes them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _costate
from ._loss import Loss, loss
from ._trace import (
    LawError, Number, _Tape, clip, cof, det, integral, inv, maximum, minimum, names, previous, record, sign, where,
)
from .errors import BadInput

__all__ = [
    "Formula", "Law", "LawError", "Loss", "Number", "clip", "cof", "det", "formula", "integral", "inv", "loss",
    "material", "maximum", "minimum", "previous", "sign", "spring", "SpringLaw", "where",
]


class Law:
    """A recorded law of materials or springs; calling it calls the Python function.

    ``name`` is what scenes call it, ``parameters`` are its parameters' names in order.
    """

    kind = "material"
    _first = 9
    """How many traced numbers come before the parameters."""

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", "law").replace("<lambda>", "law")
        what = f"{self.kind} law {self.name}"
        given = self._given()
        self.parameters = names(function, what, len(given))
        tape = _Tape(self._first + len(self.parameters))
        arguments = [Number(tape, i) for i in range(tape.inputs)]
        energy = record(function, tape, [*self._given(arguments), *arguments[self._first :]], what, "its energy")
        self._nodes, self._energy = tape.nodes, energy
        self._core = self._compile()
        self.__doc__ = getattr(function, "__doc__", None)

    def _given(self, numbers: Sequence[Any] | None = None) -> list[Any]:
        """The arguments before the parameters, made of the first traced numbers."""
        F = np.empty((3, 3), dtype=object)
        F.ravel()[:] = numbers[:9] if numbers else None
        return [F]

    def _compile(self) -> _costate.Law:
        return _costate.Law(self.kind, self.name, self._first + len(self.parameters), self._nodes, self._energy)

    def lame_at_rest(self, *parameters: float) -> tuple[float, float]:
        """Lamé's μ and λ of the linearised law of a material, Pa."""
        mu, lam = self._core.lame_at_rest([float(p) for p in parameters])
        return mu, lam

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        # The recording is all that a model needs, and unlike the function it always travels.
        return _restore, (type(self), self.name, self.parameters, self._nodes, self._energy)

    def __repr__(self) -> str:
        return f"<costate.laws.{type(self).__name__} {self.name!r} of {', '.join(self.parameters)}: {len(self._nodes)} operations>"


class SpringLaw(Law):
    """A recorded law of springs."""

    kind = "spring"
    _first = 2

    def _given(self, numbers: Sequence[Any] | None = None) -> list[Any]:
        return list(numbers[:2]) if numbers else [None, None]


def _restore(
    kind: type[Law], name: str, parameters: Sequence[str], nodes: list[tuple[Any, ...]], energy: int
) -> Law:
    law = kind.__new__(kind)
    law.name, law.parameters, law._nodes, law._energy = name, list(parameters), nodes, energy
    law._core = law._compile()
    law.function = _lost
    return law


def _lost(*_: Any) -> Any:
    raise LawError("the Python function of a law does not travel with its model; its recording does")


def material(function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
    """Records a material law; a decorator, with the law's name if it is to be another one."""
    if function is None:
        return lambda f: Law(f, name)
    return Law(function, name)


def spring(function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
    """Records a law of springs; a decorator, with the law's name if it is to be another one.

    The function gets length and rest length (m) and the law's parameters, and returns the energy (J):

    >>> @laws.spring
    ... def stiffening(length, rest, k, k3):
    ...     stretch = length - rest
    ...     return k / 2 * stretch**2 + k3 / 4 * stretch**4
    >>> scene.springs("cage", vertices, ends, law=stiffening, parameters={"k": 50.0, "k3": 1e4})
    """
    if function is None:
        return lambda f: SpringLaw(f, name)
    return SpringLaw(function, name)


# How operations are written in formulas of scene files.
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "less": "<", "less_equal": "<="}
_CALLS = {
    "sqrt", "abs", "exp", "log", "sin", "cos", "tanh", "integral",
}


class Formula:
    """A recorded law of a controller or of friction; calling it calls the Python function.

    In a scene it is formulas, so that the program runs it too.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "law").replace("<lambda>", "law")
        self.arguments = names(function, f"law {self.name}")
        tape = _Tape(len(self.arguments), memory=True)
        inputs = [Number(tape, i) for i in range(len(self.arguments))]
        self._result = record(function, tape, inputs, f"law {self.name}", "its value")
        self._nodes = tape.nodes

    def formulas(self, prefix: str = "") -> tuple[dict[str, str], str]:
        """Signals by name, each of which may use those before it, and the formula of the result."""
        first = len(self.arguments)
        uses: dict[int, int] = {}
        needed = {self._result}
        for at in range(first + len(self._nodes) - 1, first - 1, -1):
            if at in needed:
                for argument in _arguments(self._nodes[at - first]):
                    uses[argument] = uses.get(argument, 0) + 1
                    needed.add(argument)
        text: dict[int, str] = dict(enumerate(self.arguments))
        depth = dict.fromkeys(text, 0)
        signals: dict[str, str] = {}
        for i, op in enumerate(self._nodes):
            at = first + i
            if at not in needed:
                continue
            text[at] = _written(op, text)
            depth[at] = 1 + max((depth[a] for a in _arguments(op)), default=0)
            # What is used twice, and what would become unreadable, gets a name.
            if op[0] != "constant" and at != self._result and (uses[at] > 1 or depth[at] > 8):
                name = f"{prefix}x{len(signals) + 1}"
                while name in self.arguments:
                    name += "_"
                signals[name] = text[at]
                text[at], depth[at] = name, 0
        return signals, text[self._result]

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"<costate.laws.Formula {self.name!r} of {', '.join(self.arguments)}: {len(self._nodes)} operations>"


def _arguments(op: tuple[Any, ...]) -> tuple[int, ...]:
    if op[0] == "constant":
        return ()
    return op[1:2] if op[0] in ("powi", "previous") else op[1:]


def _written(op: tuple[Any, ...], text: dict[int, str]) -> str:
    """An operation as the text of a formula."""
    what = op[0]
    if what == "constant":
        if not np.isfinite(op[1]):
            raise LawError(f"a formula cannot have the number {op[1]}")
        return repr(op[1]) if op[1] >= 0 else f"({op[1]!r})"
    a = [text[argument] for argument in _arguments(op)]
    if what in _INFIX:
        return f"({a[0]} {_INFIX[what]} {a[1]})"
    if what in _CALLS:
        return f"{what}({a[0]})"
    if what == "neg":
        return f"(-{a[0]})"
    if what == "arctan2":
        return f"atan2({a[0]}, {a[1]})"
    if what == "equal":
        return f"(({a[0]} <= {a[1]}) * ({a[1]} <= {a[0]}))"
    if what == "select":
        return f"if({', '.join(a)})"
    if what == "previous":
        return f"previous({a[0]}, {op[2]})"
    if abs(op[2]) > 64:
        raise LawError(f"a formula cannot have the power {op[2]}")
    return f"({a[0]})^{op[2]}"


def formula(function: Callable[..., Any]) -> Formula:
    """Records a law of a controller or of friction; a decorator."""
    return Formula(function)


def _check(laws: Any) -> list[Law]:
    """Laws as a list."""
    out = list(laws.values()) if isinstance(laws, Mapping) else list(laws)
    for law in out:
        if not isinstance(law, Law):
            raise BadInput(f"laws: expected recorded laws (costate.laws.material), found a {type(law).__name__}")
    return out


