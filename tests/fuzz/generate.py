"""Random programs, by seed: the same seed gives the same program on every machine.

    program = generated(31)

A line is a template (rows.py) with operands, sizes and numbers filled in. It is kept where eager PyTorch runs it for
every variant of the inputs, so programs fail for no reasons of their own.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any, Callable

import torch
import torch.nn.functional as F
from program import FLOATS, HALVES, Input, Line, Program
from rows import APPROX, ARITH, FOLDS, INDEXING, MOVE, MOVES, PICK, POINTWISE, VIEWS, WRITES, templates

# How often lines of a family are tried.
_FAMILIES = [(POINTWISE, 40), (FOLDS, 20), (VIEWS, 14), (MOVES, 12), (INDEXING, 10), (WRITES, 10)]
_TEMPLATES = [(templates(table), weight) for table, weight in _FAMILIES]

_DTYPES = {torch.float32: 40, torch.float64: 8, torch.bfloat16: 12, torch.float16: 10, torch.int64: 10, torch.int32: 8,
           torch.int16: 3, torch.int8: 4, torch.uint8: 5, torch.bool: 6}
_SIZES = {0: 3, 1: 10, 2: 10, 3: 10, 4: 8, 5: 8, 7: 8, 8: 8, 9: 4, 13: 5, 16: 6, 17: 6, 31: 4, 33: 5, 64: 3, 67: 3, 130: 2,
          259: 1, 1031: 1}
_MAX_ELEMENTS = 1 << 15
_MAX_RESULTS = 64  # of a line: tracing a split into thousands takes minutes
_NUMBERS = ("0", "1", "-1", "2", "3", "0.5", "-1.5", "0.1", "7", "-0.0", "1e10", "100", "-3", "127", "255", "1e-3", "2.5",
            "float('inf')", "float('nan')", "1000000007", "True")
_NAME = re.compile(r"\b[xv]\d+\b")
_HOLE = re.compile(r"\{(\w+)\}")


# What eager raises for a line that makes no sense.
_REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError, NotImplementedError, AttributeError,
             SyntaxError)


class _NoValue(Exception):
    """No value of the kind that a template asks for."""


def _weighted(rng: random.Random, table: dict[Any, int]) -> Any:
    return rng.choices(list(table), list(table.values()))[0]


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.values: dict[str, list[torch.Tensor]] = {}  # by variant
        self.inexact: set[int] = set()  # storages of the first variant
        self.lines: list[Line] = []
        self.gradient = self.rng.random() < 0.12
        self.dynamic = not self.gradient and self.rng.random() < 0.4
        self.variants = 3 if self.dynamic else 1
        self.has_specials = self.rng.random() < 0.5
        self.is_exact = self.rng.random() < 0.25  # no operator that has an error bound only
        self.rounds_halves = self.rng.random() < 0.5
        self.pool = self._pool()
        # A program is mostly of one element type: else every line promotes.
        self.main_dtype = _weighted(self.rng, _DTYPES)
        self.inputs: list[Input] = []

    def _pool(self) -> list[tuple[int, ...]]:
        """Sizes by variant. The first variant of a dynamic program has sizes that differ, and that tell nothing."""
        pool: list[tuple[int, ...]] = [(1,) * self.variants]
        for k in range(4):
            first = _weighted(self.rng, _SIZES)
            while self.dynamic and (first < 2 or any(first == other[0] for other in pool)):
                first = self.rng.randint(2, 40)
            pool.append((first, *(_weighted(self.rng, _SIZES) for _ in range(self.variants - 1))))
        return pool

    # Inputs.

    def _sizes(self) -> tuple[tuple[int, ...], ...]:
        rank = self.rng.choices([0, 1, 2, 3, 4], [4, 20, 40, 22, 14])[0]
        dims = [self.rng.choice(self.pool[1:] if self.rng.random() < 0.85 else self.pool) for _ in range(rank)]
        return tuple(tuple(dim[v] for dim in dims) for v in range(self.variants))

    def _fits(self, sizes: tuple[tuple[int, ...], ...]) -> bool:
        return all(torch.Size(s).numel() <= _MAX_ELEMENTS for s in sizes)

    def _add_input(self) -> None:
        sizes = self._sizes()
        for _ in range(20):
            if self._fits(sizes):
                break
            sizes = self._sizes()
        else:
            return
        rank = len(sizes[0])
        dtype = self.main_dtype if self.rng.random() < 0.6 else _weighted(self.rng, _DTYPES)
        wide: dict[str, Any] = {}
        kind = self.rng.random()
        if kind < 0.25:
            wide["order"] = tuple(self.rng.sample(range(rank), rank))
        elif kind < 0.4:
            wide["steps"] = tuple(self.rng.choice([1, 1, 2, 3]) for _ in range(rank))
            wide["before"] = tuple(self.rng.choice([0, 0, 1, 5]) for _ in range(rank))
        elif kind < 0.5:
            wide["expanded"] = tuple(d for d in range(rank) if self.rng.random() < 0.5)
        needs_gradient = self.gradient and dtype in (torch.float32, torch.float64)
        special = "extreme" if self.is_exact else "special"
        content = special if self.has_specials and self.rng.random() < 0.6 else "plain"
        self._take_input(Input(dtype, sizes, self.rng.randrange(1 << 30), content, needs_gradient=needs_gradient, **wide))

    def _add_positions(self, content: str) -> None:
        dim = self.rng.choice(self.pool)
        rank = 1 if content == "order" else self.rng.choice([1, 1, 2])
        dims = [dim, *(self.rng.choice(self.pool) for _ in range(rank - 1))]
        sizes = tuple(tuple(d[v] for d in dims) for v in range(self.variants))
        if self._fits(sizes):
            dtype = torch.int64 if content == "order" or self.rng.random() < 0.8 else torch.int32
            self._take_input(Input(dtype, sizes, self.rng.randrange(1 << 30), content, limits=self.rng.choice(self.pool)))

    def _take_input(self, made: Input) -> None:
        self.values[f"x{len(self.inputs)}"] = [made.tensor(v) for v in range(self.variants)]
        self.inputs.append(made)

    # Lines.

    def _pick(self, wanted: Callable[[torch.Tensor], bool]) -> str:
        names = [name for name, tensors in self.values.items() if wanted(tensors[0])]
        if not names:
            raise _NoValue
        # What was made last, most of the time: chains, not bushes.
        return self.rng.choice(names[-4:] if self.rng.random() < 0.6 else names)

    def _like(self, first: str | None, wanted: Callable[[torch.Tensor], bool]) -> str:
        """An operand that goes with the first one: mostly of a shape that is known to broadcast."""
        if first is None or self.rng.random() < 0.2:
            return self._pick(wanted)
        shape = self.values[first][0].shape

        def goes(t: torch.Tensor) -> bool:
            return wanted(t) and t.dim() <= len(shape) and all(
                a in (1, b) for a, b in zip(reversed(t.shape), reversed(shape)))

        return self._pick(goes)

    def _filled(self, template: str) -> str:
        first: list[str] = []
        kinds: dict[str, Callable[[torch.Tensor], bool]] = {
            "f": lambda t: t.dtype in FLOATS,
            "i": lambda t: t.dtype not in FLOATS and t.dtype != torch.bool,
            "m": lambda t: t.dtype == torch.bool,
            "x": lambda t: t.dtype in (torch.int64, torch.int32) and 0 < t.dim() < 3,
            "a": lambda t: True,
        }
        same_kind = {"g": "f", "h": "f", "j": "i", "b": "a", "c": "a"}

        def fill(match: re.Match[str]) -> str:
            word = match[1]
            if word in "bc" and self.rng.random() < 0.15:
                return self._number()
            if word == "o":
                return self._position("order")
            if word == "same":
                return first[0]
            if word == "v" or word in kinds or word in same_kind:
                wanted = self._is_no_position if word == "v" else kinds[same_kind.get(word, word)]
                name = self._like(first[0] if first else None, wanted)
                first.append(name)
                return name
            return self._word(word, self.values[first[0]][0].dim() if first else 2)

        return _HOLE.sub(fill, template)

    def _position(self, content: str) -> str:
        names = [f"x{k}" for k, x in enumerate(self.inputs) if x.content == content]
        if not names:
            raise _NoValue
        return self.rng.choice(names)

    def _is_no_position(self, t: torch.Tensor) -> bool:
        """Not an order of positions, or part of one: two equal positions have no one right answer."""
        orders = [self.values[f"x{k}"][0] for k, x in enumerate(self.inputs) if x.content == "order"]
        return all(t.untyped_storage()._cdata != order.untyped_storage()._cdata for order in orders)

    def _number(self) -> str:
        return self.rng.choice(_NUMBERS)

    def _word(self, word: str, rank: int) -> str:
        rng = self.rng
        match word:
            case "d":
                return str(rng.randrange(-rank, rank) if rank else 0)
            case "ds":
                return str(tuple(rng.sample(range(rank), rng.randint(0, rank)))) if rng.random() < 0.5 else str(
                    (rng.randrange(rank) if rank else 0,))
            case "p":
                return str(tuple(rng.sample(range(rank), rank)))
            case "s":
                return self._number()
            case "k":
                return str(rng.choice([0, 1, 1, 2, -1, -2, 3]))
            case "n":
                return str(rng.choice([1, 2, 2, 3, 4]))
            case "keep":
                return str(rng.random() < 0.5)
            case "D":
                return str(_weighted(rng, _DTYPES))
            case "S":
                name = self._pick(lambda t: t.dim() > 0)
                return f"{name}.shape[{rng.randrange(-self.values[name][0].dim(), self.values[name][0].dim())}]"
        raise AssertionError(word)

    def _run(self, text: str) -> list[Any] | None:
        """What a line gives, by variant; nothing where eager refuses it for some."""
        results = []
        for variant in range(self.variants):
            space = {name: tensors[variant] for name, tensors in self.values.items()} | {"torch": torch, "F": F}
            try:
                results.append(eval(text, space))  # noqa: S307: a line of the program
            except _REFUSALS:
                return None
        return results

    def _write(self, text: str) -> bool:
        for variant in range(self.variants):
            space = {name: tensors[variant] for name, tensors in self.values.items()} | {"torch": torch, "F": F}
            try:
                exec(text, space)  # noqa: S102: a line of the program
            except _REFUSALS:
                return False
        return True

    def _storage(self, name: str) -> int:
        return self.values[name][0].untyped_storage()._cdata

    def _is_exact(self, exactness: int, text: str, dtype: torch.dtype) -> bool:
        if any(self._storage(name) in self.inexact for name in set(_NAME.findall(text))):
            return False
        if exactness == ARITH:
            return dtype not in HALVES or self.rounds_halves
        return exactness == MOVE or (exactness == PICK and dtype not in FLOATS)

    def _add_line(self) -> bool:
        rows = self.rng.choices([t for t, _ in _TEMPLATES], [w for _, w in _TEMPLATES])[0]
        exactness, template = self.rng.choice(rows)
        if self.is_exact and exactness == APPROX:
            return False
        try:
            text = self._filled(template)
        except _NoValue:
            return False
        if "{v}" in template:
            return self._add_write(exactness, text)
        results = self._run(text)
        if results is None:
            return False
        if all(isinstance(r, torch.Tensor) for r in results):
            return self._add_value(exactness, text, results)
        if not all(isinstance(r, (tuple, list)) and 1 <= len(r) <= _MAX_RESULTS for r in results):
            return False
        # One item, or two, of a tuple.
        count = min(len(r) for r in results)
        for k in self.rng.sample(range(count), min(2, count)):
            self._add_value(exactness, f"{text}[{k}]", [r[k] for r in results])
        return True

    def _add_value(self, exactness: int, text: str, results: list[torch.Tensor]) -> bool:
        if any(r.numel() > _MAX_ELEMENTS or r.dtype not in _DTYPES or r.dim() > 6 for r in results):
            return False
        name = f"v{len(self.values)}"
        is_exact = self._is_exact(exactness, text, results[0].dtype)
        self.lines.append(Line(name, text))
        self.values[name] = results
        if not is_exact:
            self.inexact.add(self._storage(name))
        return True

    def _add_write(self, exactness: int, text: str) -> bool:
        target = _NAME.search(text)[0]
        if not self._write(text):
            return False
        if not self._is_exact(exactness, text, self.values[target][0].dtype):
            self.inexact.add(self._storage(target))
        self.lines.append(Line("", text))
        return True

    def program(self) -> Program:
        for _ in range(self.rng.choice([1, 2, 2, 3, 4])):
            self._add_input()
        if self.rng.random() < 0.4:
            self._add_positions("index")
        if self.rng.random() < 0.2:
            self._add_positions("order")
        if not self.inputs:
            self._take_input(Input(torch.float32, ((3,),) * self.variants, self.seed))
        wanted = self.rng.choice([1, 2, 3, 4, 5, 6, 8, 10, 14, 20])
        for _ in range(wanted * 6):
            if len(self.lines) >= wanted:
                break
            self._add_line()
        # What no line uses, so that little of a program is dead, and something in the middle.
        used = {name for line in self.lines for name in _NAME.findall(line.text)}
        names = [line.target for line in self.lines if line.target]
        unused = [name for name in names if name not in used]
        chosen = {*self.rng.sample(unused, min(len(unused), 4)),
                  *self.rng.sample(names, min(len(names), self.rng.choice([0, 0, 1, 2])))}
        results = sorted(chosen, key=lambda name: int(name[1:]))
        if self.rng.random() < 0.1 or not results:
            results.append(self.rng.choice(list(self.values)))
        exact = frozenset(r for r in [*results, *(f"x{k}" for k in range(len(self.inputs)))]
                          if self._storage(r) not in self.inexact)
        inputs = {f"x{k}": x for k, x in enumerate(self.inputs)}
        options = {"emulate_precision_casts": True} if self.rounds_halves else {}
        return Program(self.seed, inputs, tuple(self.lines), tuple(results), exact, self.dynamic,
                       self.gradient, options, self.variants)


def generated(seed: int) -> Program:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Maker(seed).program()
