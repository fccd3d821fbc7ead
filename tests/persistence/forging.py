"""Files that `save` would not write."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

NASTY = [
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**53, -(2**53), 0.5, -0.0, 1e308, "", "x", "nan", "mercer.linear_model.Ridge",
    "os.system", "__class__", [], {}, [0], [[]], {"object": 0}, {"object": 10**6}, {"object": -1}, {"object": "0"},
    {"object": True}, {"float": "nan"}, {"float": "inf"}, {"int": "0xffffffffffffffffff"}, {"int": "-0x1"}, {"tuple": []},
    {"tuple": [1, 2]}, {"dict": {}}, {"dict": {"a": 1}}, {"pairs": [[1, 2]]}, {"pairs": [[[], 2]]}, {"set": [1]},
    {"slice": [None, None, None]}, {"scalar": ["<f8", 1.0]}, {"scalar": ["<i8", {"int": "0xffffffffffffffffffff"}]},
    {"scalar": ["<M8[s]", 1]}, {"enum": ["Status", "CONVERGED"]}, {"function": "numpy.log"}, {"function": "os.system"},
    {"type": "numpy.float64"}, {"dtype": "|O"}, {"unknown": 1}, {"bytes": "00"},
]  # fmt: skip


def read(path: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The structure and the tensors of a model's file."""
    with safe_open(path, framework="np") as file:
        return json.loads(file.metadata()["mercer"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def forge(path: Any, structure: Any, tensors: dict[str, np.ndarray] | None = None) -> Any:
    """Write a file with any structure (text is taken as it is)."""
    text = structure if isinstance(structure, str) else json.dumps(structure)
    save_file({name: np.ascontiguousarray(array) for name, array in (tensors or {}).items()}, path, metadata={"mercer": text})
    return path


def whole(*objects: Any, **parts: Any) -> dict[str, Any]:
    """A structure with these objects."""
    return {"format": "mercer-model", "version": 1, "mercer": "0", "scikit-learn": "0", "objects": list(objects), **parts}


def ridge(**attributes: Any) -> dict[str, Any]:
    return {"kind": "estimator", "class": "mercer.linear_model.Ridge", "params": {}, "attributes": attributes}


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "record", "class": name, "fields": fields}


def _places(json_value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container in a JSON value, with every key or place in it."""
    items = json_value.items() if isinstance(json_value, dict) else enumerate(json_value)
    for key, value in list(items):
        found.append((json_value, key))
        if isinstance(value, (dict, list)):
            _places(value, found)
    return found


def change_structure(structure: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """One to three changes anywhere: another value, a part less, two parts swapped, a part of another name."""
    changed = copy.deepcopy(structure)
    for _ in range(chance.randint(1, 3)):
        places = _places(changed["objects"], [])
        if not places:
            break
        container, key = chance.choice(places)
        other, other_key = chance.choice(places)
        action = chance.randrange(5)
        if action <= 1:
            container[key] = copy.deepcopy(chance.choice(NASTY))
        elif action == 2:
            del container[key]
        elif action == 3:
            container[key] = copy.deepcopy(other[other_key])
        elif isinstance(container, dict):
            container[chance.choice(["_x", "x_", "kind", "class", "predict", "coef_", "__dict__"])] = container.pop(key)
    return changed


def change_tensors(tensors: dict[str, np.ndarray], chance: random.Random) -> dict[str, np.ndarray]:
    """One to three tensors of another length, shape, type or content."""
    changed = dict(tensors)
    for _ in range(chance.randint(1, 3) if changed else 0):  # an estimator without state has none
        name = chance.choice(sorted(changed))
        array = np.array(changed[name])
        action = chance.randrange(7)
        if action == 0:
            array = array[: chance.randrange(max(len(array), 1))] if array.ndim else array.reshape(1)
        elif action == 1:
            array = np.concatenate([array, array]) if array.ndim else array.reshape(1, 1)
        elif action == 2:
            with np.errstate(invalid="ignore", over="ignore"):
                array = array.astype(chance.choice(["f4", "f8", "i4", "i8", "u4", "u1", "?"]))
        elif action == 3:
            array = array.reshape(-1) if array.ndim != 1 else array[:, None]
        elif action == 4 and array.size:
            flat = array.reshape(-1)
            flat[chance.randrange(len(flat))] = chance.choice([0, 1, 2, 100, 255])
        elif action == 5 and array.dtype.kind == "f":
            array[...] = chance.choice([np.nan, np.inf, -np.inf, 1e300, -1.0])
        elif array.size:
            bytes_ = array.reshape(-1).view(np.uint8)
            for _ in range(chance.randint(1, 8)):
                bytes_[chance.randrange(len(bytes_))] = chance.randrange(256)
        changed[name] = array
    return changed
