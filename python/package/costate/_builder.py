"""Scenes in code: the same things that scene files say, as Python values and NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _costate
from ._model import Model
from ._toml import dumps
from .errors import BadInput
from .laws import Formula, Law

__all__ = ["Builder"]


class Builder:
    """Collects soft bodies and what they touch; :meth:`build` makes a model of them.

    Keyword arguments that a method does not name are the keys of scene files (``docs/scene.md``), with
    arrays where a file has lists and dicts where it has tables. All numbers become leaves of the model.

    >>> scene = costate.Builder("drop", timestep=2e-4)
    >>> scene.grid("block", cells=(2, 2, 2), size=(0.1, 0.1, 0.1), position=(0, 0, 0.2),
    ...            material="stable-neo-hookean", young=2e4, poisson=0.4, density=1000.0)
    >>> scene.plane("floor", friction=0.3)
    >>> model = scene.build()

    Parameters
    ----------
    name
        Of the model, for reports.
    timestep, duration
        s.
    gravity
        m/s², three numbers; by default 9.81 against ``up``.
    up
        "y" or "z".
    saltation
        Whether derivatives add the jump term at contact onset, for laws whose force jumps there.
    smoothing
        Width (m) over which derivatives relax the contacts of a robot; off by default, and motions do not
        depend on it (``docs/robots.md``).
    robot
        File of a robot (MJCF, URDF) that the scene is around: :meth:`controller`, :meth:`drive` and
        :meth:`friction` say what its own file cannot (``docs/control.md``). Soft bodies may stand beside it,
        and :meth:`touch` says which of its geoms they touch. Time step and gravity are those of its file
        unless they are given here.
    values, allow
        Leaves of the robot that differ from its file; what of it need not be simulated.
    """

    def __init__(
        self,
        name: str = "scene",
        *,
        timestep: float | None = None,
        duration: float | None = None,
        gravity: ArrayLike | None = None,
        up: str | None = None,
        saltation: bool | None = None,
        smoothing: float | None = None,
        robot: str | os.PathLike[str] | None = None,
        values: Mapping[str, ArrayLike] | None = None,
        allow: Iterable[str] = (),
    ) -> None:
        option = {
            "up": up, "gravity": gravity, "timestep": timestep, "duration": duration,
            "saltation": saltation, "smoothing": smoothing,
        }
        self._root: dict[str, Any] = {
            "costate": 1,
            "name": name,
            "option": {k: v for k, v in option.items() if v is not None},
        }
        if robot is not None:
            self._root |= {
                "robot": os.path.abspath(robot), "allow": list(allow) or None, "values": dict(values or {}),
                "input": {}, "controller": {}, "drive": {}, "friction": {},
            }
        self._root |= {"soft": {}, "geom": {}}
        self._laws: dict[tuple[str, str], Law] = {}

    def soft(self, name: str, **keys: Any) -> Builder:
        """A soft body by the keys of ``[soft.NAME]``; returns the builder, as all of these do.

        ``material`` may be a law of one's own (:mod:`costate.laws`), with a value for each of its
        ``parameters``.
        """
        law = keys.get("material")
        if isinstance(law, Law):
            given = self._own(f"soft.{name}", law, "material", keys.get("parameters"))
            keys = {**keys, "material": law.name, "parameters": given}
        return self._add("soft", name, keys)

    def grid(
        self,
        name: str,
        cells: Sequence[int],
        *,
        size: ArrayLike | None = None,
        cell: ArrayLike | None = None,
        split: str | None = None,
        **keys: Any,
    ) -> Builder:
        """A box of cells cut into tetrahedra, one corner at the origin of the body's frame.

        ``size`` (m) is that of the whole box, ``cell`` that of one cell; ``split`` is "five" or "six"
        tetrahedra a cell. Vertex (x, y, z) has index (nx+1)(ny+1) z + (nx+1) y + x.
        """
        shape = {"cells": cells, "size": size, "cell": cell, "split": split}
        return self.soft(name, grid=shape, **keys)

    def cloth(
        self,
        name: str,
        cells: Sequence[int],
        *,
        size: ArrayLike | None = None,
        cell: ArrayLike | None = None,
        reverse: bool | None = None,
        **keys: Any,
    ) -> Builder:
        """A rectangle of cells cut into triangles, in the xy plane of the body's frame.

        Stiffness and mass are in ``membrane={…}`` and ``bending={…}``.
        """
        shape = {"cells": cells, "size": size, "cell": cell, "reverse": reverse}
        keys.setdefault("membrane", {})
        return self.soft(name, cloth=shape, **keys)

    def mesh(
        self,
        name: str,
        vertices: ArrayLike | None = None,
        *,
        tetrahedra: ArrayLike | None = None,
        triangles: ArrayLike | None = None,
        file: str | os.PathLike[str] | None = None,
        scale: float | None = None,
        origin: ArrayLike | None = None,
        **keys: Any,
    ) -> Builder:
        """A mesh: ``vertices`` ``[n, 3]`` (m, rest shape) with ``tetrahedra`` ``[m, 4]`` or ``triangles``
        ``[k, 3]`` of vertex indices, or a mesh ``file`` (Gmsh, VTK, OBJ) with ``scale`` and ``origin``."""
        if (vertices is None) == (file is None):
            raise BadInput(f"soft.{name}: give vertices or a file")
        if file is not None:
            shape = {"file": os.path.abspath(file), "scale": scale, "origin": origin}
            return self.soft(name, mesh=shape, **keys)
        return self.soft(
            name,
            vertices=_array(f"soft.{name}.vertices", vertices, 3, float),
            tetrahedra=_array(f"soft.{name}.tetrahedra", tetrahedra, 4, int),
            triangles=_array(f"soft.{name}.triangles", triangles, 3, int),
            **keys,
        )

    def springs(
        self,
        name: str,
        vertices: ArrayLike,
        ends: ArrayLike,
        *,
        stiffness: ArrayLike | None = None,
        law: Law | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        damping: ArrayLike | None = None,
        rest_length: ArrayLike | None = None,
        **keys: Any,
    ) -> Builder:
        """Masses and springs: ``vertices`` ``[n, 3]`` (m) and ``ends`` ``[m, 2]`` of vertex indices.

        Stiffness (N/m), damping (N s/m) and rest length (m; that of the rest shape by default) are one
        number for all springs or one for each. Mass: ``vertex_mass`` (kg). A ``law`` of one's own
        (:func:`costate.laws.spring`) has a value for each of its ``parameters`` instead of a stiffness.
        """
        own: dict[str, Any] = {}
        if law is not None:
            own = {"law": law.name, "parameters": self._own(f"soft.{name}.springs", law, "spring", parameters)}
        springs = {
            "ends": _array(f"soft.{name}.springs.ends", ends, 2, int),
            "stiffness": stiffness, "damping": damping, "rest_length": rest_length, **own,
        }
        return self.soft(
            name, vertices=_array(f"soft.{name}.vertices", vertices, 3, float), springs=springs, **keys
        )

    def geom(self, name: str, type: str, **keys: Any) -> Builder:
        """A fixed thing that soft bodies touch, by the keys of ``[geom.NAME]``."""
        return self._add("geom", name, {"type": type, **keys})

    def touch(self, geom: str, **keys: Any) -> Builder:
        """Makes soft bodies touch a geom of the robot, with forces on both sides, by the keys of
        ``[geom.NAME.soft]``: ``stiffness`` and so on; the leaves are ``geom.NAME.soft.…``."""
        if "robot" not in self._root:
            raise BadInput(f"geom.{geom}: the scene has no robot; name its file: Builder(robot=…)")
        return self._add("geom", geom, {"soft": {k: v for k, v in keys.items() if v is not None}})

    def plane(self, name: str, **keys: Any) -> Builder:
        """An infinite plane through ``pos`` with ``normal`` (up by default)."""
        return self.geom(name, "plane", **keys)

    def sphere(self, name: str, radius: float, **keys: Any) -> Builder:
        """A sphere about ``pos``."""
        return self.geom(name, "sphere", size=[radius], **keys)

    def box(self, name: str, half_lengths: ArrayLike, **keys: Any) -> Builder:
        """A box about ``pos``, by its half lengths (m)."""
        return self.geom(name, "box", size=half_lengths, **keys)

    def capsule(self, name: str, radius: float, half_length: float, **keys: Any) -> Builder:
        """A capsule along its z axis about ``pos``."""
        return self.geom(name, "capsule", size=[radius, half_length], **keys)

    def input(self, name: str, unit: str = "") -> Builder:
        """An input from outside for controllers and drives: the channel ``input.NAME``."""
        return self._add("input", name, {"unit": unit})

    def controller(self, name: str, law: Any = None, *, actuator: str | None = None, **keys: Any) -> Builder:
        """A controller by the keys of ``[controller.NAME]``; its output is the control of ``actuator``.

        ``law`` is a formula, or a Python function (:mod:`costate.laws`) whose arguments are names of ``gains``
        and of ``signals``, or of drives and controllers: ``gains={"kp": 20.0}, signals={"q": "joint.elbow.position"}``.
        """
        return self._add("controller", name, {"actuator": actuator, **_formulas("controller", name, {"law": law}, keys)})

    def drive(self, name: str, actuator: str, voltage: Any, **keys: Any) -> Builder:
        """An electric drive by the keys of ``[drive.NAME]``; ``voltage`` and ``enabled`` are formulas or functions,
        as the law of a :meth:`controller`."""
        laws = {"voltage": voltage, "enabled": keys.pop("enabled", None)}
        return self._add("drive", name, {"actuator": actuator, **_formulas("drive", name, laws, keys)})

    def friction(self, name: str, joint: str, *, dry: Any = None, viscous: Any = None, **keys: Any) -> Builder:
        """Friction of a joint by the keys of ``[friction.NAME]``.

        ``dry`` (N or N m) and ``viscous`` (per velocity) are numbers, or formulas or Python functions
        (:mod:`costate.laws`) of ``gains``, of ``signals``, and of ``position``, ``velocity``, ``motor`` (force of the
        joint's motors) and ``external`` (gravity and forces of motion on the joint).
        """
        laws = {"dry": dry, "viscous": viscous}
        if any(callable(x) or isinstance(x, str) for x in laws.values()):
            keys = {"law": "formula", **_formulas("friction", name, laws, keys)}
        else:
            keys = {**laws, **keys}
        return self._add("friction", name, {"joint": joint, **keys})

    def to_toml(self) -> str:
        """The scene as the text of a scene file."""
        return dumps(self._root)

    def build(self) -> Model:
        """Makes the model.

        Raises :class:`costate.BadInput`, which names the body and key, where something is wrong.
        """
        laws = list(self._laws.values())
        return Model(_costate.Model.parse("<scene>", self.to_toml(), [law._core for law in laws]), laws)

    def _own(self, place: str, law: Any, kind: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """Takes in a law of the user's own; its parameters in its order, as the file lists them."""
        if not isinstance(law, Law) or law.kind != kind:
            raise BadInput(f"{place}: expected a recorded law (costate.laws.{kind})")
        if self._laws.setdefault((kind, law.name), law) is not law:
            raise BadInput(f"{place}: another law is called {law.name!r} already")
        given = dict(parameters or {})
        if set(given) != set(law.parameters):
            raise BadInput(f"{place}.parameters: the law {law.name!r} takes {', '.join(law.parameters) or 'none'}")
        return {p: given[p] for p in law.parameters}

    def _add(self, kind: str, name: str, keys: Mapping[str, Any]) -> Builder:
        table = self._root.get(kind)
        if table is None:
            raise BadInput(f"{kind}.{name}: the scene has no robot; name its file: Builder(robot=…)")
        if name in table:
            raise BadInput(f"{kind}.{name}: the name is taken; choose another")
        table[name] = {k: v for k, v in keys.items() if v is not None}
        return self


_READ = ("position", "velocity", "motor", "external", "time", "sample_time")


def _formulas(kind: str, name: str, laws: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a table with functions among its laws written as formulas."""
    keys = dict(keys)
    signals = dict(keys.pop("signals", None) or {})
    gains = keys.get("gains") or {}
    out: dict[str, Any] = {}
    for key, law in laws.items():
        if not callable(law):
            out[key] = law
            continue
        recorded = law if isinstance(law, Formula) else Formula(law)
        for argument in recorded.arguments:
            known = argument in gains or argument in signals or argument in _READ
            if not known:
                raise BadInput(
                    f"{kind}.{name}: the law {recorded.name!r} reads {argument!r}, which is neither one of the gains "
                    f"({', '.join(gains) or 'none'}) nor one of the signals ({', '.join(signals) or 'none'})"
                )
        more, out[key] = recorded.formulas(prefix=f"{key}_")
        signals |= more
    return {**out, **keys, "signals": signals or None}


def _array(what: str, given: ArrayLike | None, columns: int, kind: type) -> Any:
    if given is None:
        return None
    array = np.asarray(given)
    if array.ndim != 2 or array.shape[1] != columns:
        raise BadInput(f"{what}: expected an array [n, {columns}], found shape {array.shape}")
    if kind is int and not np.issubdtype(array.dtype, np.integer):
        raise BadInput(f"{what}: expected integers, found {array.dtype}")
    return array.astype(kind)
