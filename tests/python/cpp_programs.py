"""Libraries of `jumar compile --emit=cpp` as Python functions, without Jumar."""

from __future__ import annotations

import ctypes
from pathlib import Path

import torch

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Value(ctypes.Union):
    _fields_ = [("tensor", ctypes.c_void_p), ("integer", ctypes.c_int64), ("number", ctypes.c_double)]


class Program:
    """A built program. Outputs are tensors unless `kinds` says that they are integers or numbers."""

    def __init__(self, library: Path, weights: str | None = None):
        self.name = library.stem[3:]
        self.library = ctypes.CDLL(str(library))
        self._error = ctypes.create_string_buffer(4096)
        open_ = self._function("open", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
        values, size = ctypes.POINTER(Value), ctypes.c_size_t
        self._run = self._function(
            "run", ctypes.c_int32, ctypes.c_void_p, values, size, values, size, ctypes.c_char_p, size
        )
        self._close = self._function("close", None, ctypes.c_void_p)
        self.model = open_(weights.encode() if weights else None, self._error, 4096)
        if not self.model:
            raise RuntimeError(self._error.value.decode())

    def _function(self, name, result, *parameters):
        function = getattr(self.library, f"{self.name}_{name}")
        function.restype, function.argtypes = result, parameters
        return function

    def run(self, inputs, kinds):
        given = (Value * len(inputs))()
        capsules = []
        for value, item in zip(given, inputs):
            if isinstance(item, torch.Tensor):
                capsules += torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors([item])
                value.tensor = _capsule_pointer(capsules[-1], None)
            elif isinstance(item, int):
                value.integer = item
            else:
                value.number = item
        made = (Value * len(kinds))()
        failed = self._run(self.model, given, len(inputs), made, len(kinds), self._error, 4096)
        torch._C._aoti.alloc_tensors_by_stealing_from_void_ptrs(capsules)  # inputs are only lent
        if failed:
            raise RuntimeError(self._error.value.decode())
        return [self._taken(value, kind) for value, kind in zip(made, kinds)]

    @staticmethod
    def _taken(value, kind):
        if kind != "tensor":
            return getattr(value, kind)
        return torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(_capsule(value.tensor, None, None))

    def __call__(self, *inputs):
        return self.run(inputs, ["tensor"])[0]

    def close(self):
        self._close(self.model)
