"""The user's own physics: material laws as ordinary Python functions, recorded once.

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
"""

from __future__ import annotations

import inspect
import linecache
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _costate
from .errors import BadInput

__all__ = [
    "LawError", "Law", "Number", "cof", "det", "inv", "material", "maximum", "minimum", "where",
]


class LawError(BadInput):
    """Something in a law cannot be recorded; ``file`` and ``line`` say where."""


class _Tape:
    """Nodes in the order they were made; equal ones once."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.nodes: list[tuple[Any, ...]] = []
        self.known: dict[tuple[Any, ...], int] = {}

    def node(self, *op: Any) -> Number:
        at = self.known.get(op)
        if at is None:
            at = self.inputs + len(self.nodes)
            self.nodes.append(op)
            self.known[op] = at
        return Number(self, at)

    def of(self, x: Any) -> int | None:
        """The node of a number, traced or plain; None for anything else."""
        if isinstance(x, Number):
            if x._tape is not self:
                raise _Unsupported("a number that was traced in another law")
            return x._at
        if isinstance(x, (bool, np.bool_)):
            x = float(x)
        if isinstance(x, (int, float, np.integer, np.floating)):
            return self.node("constant", float(x))._at
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return self.of(x.item())
        return None


class _Unsupported(Exception):
    """An operation that cannot be recorded, before it is known where it stands."""


def _operation(op: str, swapped: bool = False) -> Callable[[Number, Any], Any]:
    def apply(self: Number, other: Any) -> Any:
        at = self._tape.of(other)
        if at is None:
            return NotImplemented
        a, b = (at, self._at) if swapped else (self._at, at)
        return self._tape.node(op, a, b)

    return apply


def _function(op: str) -> Callable[[Number], Number]:
    def apply(self: Number) -> Number:
        return self._tape.node(op, self._at)

    return apply


def _refused(what: str, instead: str) -> Callable[..., Any]:
    def refuse(self: Number, *_: Any) -> Any:
        raise _Unsupported(f"{what}: its value is not known while the law is recorded; {instead}")

    return refuse


class Number:
    """A traced number: a node of the law's expression graph."""

    __slots__ = ("_tape", "_at")

    def __init__(self, tape: _Tape, at: int) -> None:
        self._tape = tape
        self._at = at

    __add__ = __radd__ = _operation("add")
    __sub__, __rsub__ = _operation("sub"), _operation("sub", True)
    __mul__ = __rmul__ = _operation("mul")
    __truediv__, __rtruediv__ = _operation("div"), _operation("div", True)
    __lt__, __gt__ = _operation("less"), _operation("less", True)
    __le__, __ge__ = _operation("less_equal"), _operation("less_equal", True)
    __eq__ = _operation("equal")  # type: ignore[assignment]
    __neg__ = _function("neg")
    __abs__ = fabs = _function("abs")
    sqrt, exp, log = _function("sqrt"), _function("exp"), _function("log")
    sin, cos, tanh = _function("sin"), _function("cos"), _function("tanh")
    arctan2 = _operation("arctan2")
    __hash__ = None  # type: ignore[assignment]
    __bool__ = _refused("a decision by a traced number", "use costate.laws.where, minimum or maximum")
    __float__ = __int__ = __index__ = _refused(
        "turning a traced number into a plain one", "use it as it is"
    )

    def __ne__(self, other: Any) -> Any:
        same = self == other
        return same if same is NotImplemented else 1.0 - same

    def __pos__(self) -> Number:
        return self

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Number):
            return (exponent * self.log()).exp()
        if not isinstance(exponent, (int, float, np.integer, np.floating)):
            return NotImplemented
        whole = int(exponent)
        if whole == exponent and abs(whole) < 2**31:
            return self._tape.node("powi", self._at, whole)
        if 2.0 * exponent == int(2.0 * exponent) and abs(exponent) < 2**30:
            return self.sqrt() ** int(2.0 * exponent)
        return (float(exponent) * self.log()).exp()

    def __rpow__(self, base: Any) -> Any:
        if not isinstance(base, (int, float, np.integer, np.floating)) or base <= 0:
            return NotImplemented
        return (self * float(np.log(base))).exp()

    def square(self) -> Number:
        return self * self

    def reciprocal(self) -> Number:
        return 1.0 / self

    def conjugate(self) -> Number:
        return self

    def tan(self) -> Number:
        return self.sin() / self.cos()

    def arctan(self) -> Number:
        return self.arctan2(1.0)

    def sinh(self) -> Number:
        return 0.5 * (self.exp() - (-self).exp())

    def cosh(self) -> Number:
        return 0.5 * (self.exp() + (-self).exp())

    def log1p(self) -> Number:
        return (1.0 + self).log()

    def expm1(self) -> Number:
        return self.exp() - 1.0

    def cbrt(self) -> Number:
        return where(self < 0.0, -1.0, 1.0) * (abs(self).log() / 3.0).exp()

    def __repr__(self) -> str:
        return "<a traced number>"


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """``then`` where the condition holds, else ``otherwise``; of numbers or arrays."""
    if any(isinstance(x, np.ndarray) and x.ndim for x in (condition, then, otherwise)):
        return np.frompyfunc(where, 3, 1)(condition, then, otherwise)
    for x in (condition, then, otherwise):
        if isinstance(x, Number):
            tape = x._tape
            a, b, c = tape.of(condition), tape.of(then), tape.of(otherwise)
            if None in (a, b, c):
                raise _Unsupported("where: all its arguments are numbers")
            return tape.node("select", a, b, c)
    return then if condition else otherwise


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two numbers, or of each pair of two arrays."""
    return where(a <= b, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two numbers, or of each pair of two arrays."""
    return where(b <= a, a, b)


def cof(m: Any) -> Any:
    """The cofactor matrix of a 3 x 3 matrix: det(m) times the transposed inverse."""
    m = np.asarray(m)
    if m.shape != (3, 3):
        raise _Unsupported(f"the cofactors of an array of shape {m.shape}, not (3, 3)")
    return np.array(
        [
            [
                m[(i + 1) % 3, (j + 1) % 3] * m[(i + 2) % 3, (j + 2) % 3]
                - m[(i + 1) % 3, (j + 2) % 3] * m[(i + 2) % 3, (j + 1) % 3]
                for j in range(3)
            ]
            for i in range(3)
        ]
    )


def det(m: Any) -> Any:
    """The determinant of a 3 x 3 matrix."""
    return (np.asarray(m)[0] * cof(m)[0]).sum()


def inv(m: Any) -> Any:
    """The inverse of a 3 x 3 matrix."""
    return cof(m).T / det(m)


_HERE = os.path.dirname(os.path.abspath(__file__))
_NUMPY = os.path.dirname(os.path.abspath(np.__file__))


def _place(error: BaseException) -> tuple[str | None, int | None]:
    """The innermost line that is the user's own."""
    own: tuple[str | None, int | None] = (None, None)
    for frame in traceback.extract_tb(error.__traceback__):
        path = os.path.abspath(frame.filename)
        if not path.startswith((_HERE + os.sep, _NUMPY + os.sep)):
            own = (frame.filename, frame.lineno)
    return own


class Law:
    """A recorded material law; calling it calls the Python function.

    ``name`` is what scenes call it, ``parameters`` are its parameters' names in order.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", "law").replace("<lambda>", "law")
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError) as error:
            raise LawError(f"material law {self.name}: {error}") from None
        if not parameters or any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
            raise LawError(f"material law {self.name}: its arguments are F and its parameters, by name")
        self.parameters = [p.name for p in parameters[1:]]
        self._nodes, self._energy = self._record()
        self._core = _costate.Law(self.name, 9 + len(self.parameters), self._nodes, self._energy)
        self.__doc__ = getattr(function, "__doc__", None)

    def _record(self) -> tuple[list[tuple[Any, ...]], int]:
        tape = _Tape(9 + len(self.parameters))
        F = np.empty((3, 3), dtype=object)
        for i in range(9):
            F[i // 3, i % 3] = Number(tape, i)
        parameters = [Number(tape, 9 + i) for i in range(len(self.parameters))]
        try:
            energy = self.function(F, *parameters)
            if isinstance(energy, np.ndarray) and energy.size == 1:
                energy = energy.item()
            at = tape.of(energy)
            if at is None:
                raise _Unsupported(f"returning a {type(energy).__name__}: a law returns its energy, one number")
        except Exception as error:
            file, line = _place(error)
            if file is None:
                file, line = getattr(getattr(self.function, "__code__", None), "co_filename", None), getattr(
                    getattr(self.function, "__code__", None), "co_firstlineno", None)
            source = linecache.getline(file or "", line or 0).strip()
            what = str(error) or type(error).__name__
            if not isinstance(error, _Unsupported):
                what = f"{type(error).__name__}: {what}"
            at_line = f"{file}, line {line}: `{source}`: " if source else (f"{file}, line {line}: " if file else "")
            fault = LawError(f"material law {self.name} cannot be recorded: {at_line}{what}")
            fault.kind, fault.file, fault.line = "law", file, line
            raise fault from (None if isinstance(error, _Unsupported) else error)
        return tape.nodes, at

    def lame_at_rest(self, *parameters: float) -> tuple[float, float]:
        """Lamé's μ and λ of the linearised law, Pa."""
        mu, lam = self._core.lame_at_rest([float(p) for p in parameters])
        return mu, lam

    def __call__(self, F: Any, *parameters: Any) -> Any:
        return self.function(F, *parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        # The recording is all that a model needs, and unlike the function it always travels.
        return _restore, (self.name, self.parameters, self._nodes, self._energy)

    def __repr__(self) -> str:
        return f"<costate.laws.Law {self.name!r} of {', '.join(['F', *self.parameters])}: {len(self._nodes)} operations>"


def _restore(name: str, parameters: Sequence[str], nodes: list[tuple[Any, ...]], energy: int) -> Law:
    law = Law.__new__(Law)
    law.name, law.parameters, law._nodes, law._energy = name, list(parameters), nodes, energy
    law._core = _costate.Law(name, 9 + len(law.parameters), nodes, energy)
    law.function = _lost
    return law


def _lost(*_: Any) -> Any:
    raise LawError("the Python function of a law does not travel with its model; its recording does")


def material(function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
    """Records a material law; a decorator, with the law's name if it is to be another one."""
    if function is None:
        return lambda f: Law(f, name)
    return Law(function, name)


def _check(laws: Any) -> list[Law]:
    """Laws as a list."""
    out = list(laws.values()) if isinstance(laws, Mapping) else list(laws)
    for law in out:
        if not isinstance(law, Law):
            raise BadInput(f"laws: expected recorded laws (costate.laws.material), found a {type(law).__name__}")
    return out


