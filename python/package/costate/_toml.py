"""Python values as TOML, the language of scene and experiment files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import BadInput

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def _string(text: str) -> str:
    out = []
    for c in text:
        if c in _ESCAPES:
            out.append(_ESCAPES[c])
        elif ord(c) < 0x20 or ord(c) == 0x7F:
            out.append(f"\\u{ord(c):04X}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise BadInput(f"{where or 'the top'}: keys are strings, found {key!r}")
    return key if key and _BARE.issuperset(key) else _string(key)


def _number(x: float) -> str:
    if x != x:
        return "nan"
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    return repr(float(x))


def value(x: Any, where: str) -> str:
    """One value, on one line."""
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if isinstance(x, (float, np.floating)):
        return _number(float(x))
    if isinstance(x, (str, os.PathLike)):
        return _string(os.fspath(x))
    if isinstance(x, Mapping):
        inner = (f"{_key(k, where)} = {value(v, f'{where}.{k}')}" for k, v in x.items() if v is not None)
        return "{ " + ", ".join(inner) + " }"
    if isinstance(x, np.ndarray):
        if x.dtype == object:
            raise BadInput(f"{where}: an array of {x.dtype} is no array of numbers")
        return value(x.tolist(), where)
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(value(item, where) for item in x) + "]"
    if hasattr(x, "__array__"):
        return value(np.asarray(x), where)
    raise BadInput(f"{where}: a {type(x).__name__} has no place in a scene or experiment")


def dumps(root: Mapping[str, Any]) -> str:
    """A whole document: plain keys first, then tables down to depth three, deeper ones in place."""
    lines: list[str] = []

    def table(entries: Mapping[str, Any], path: tuple[str, ...]) -> None:
        deeper = []
        for key, x in entries.items():
            if x is None:
                continue
            if isinstance(x, Mapping) and len(path) < 2:
                deeper.append((key, x))
            else:
                lines.append(f"{_key(key, '.'.join(path))} = {value(x, '.'.join((*path, str(key))))}")
        for key, x in deeper:
            inner = (*path, key)
            # A table without plain entries needs no header of its own.
            if not x or any(not isinstance(v, Mapping) or len(inner) >= 2 for v in x.values()):
                lines.append("")
                lines.append("[" + ".".join(_key(k, "") for k in inner) + "]")
            table(x, inner)

    table(root, ())
    return "\n".join(lines) + "\n"
