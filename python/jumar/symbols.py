"""Sizes as text: torch's symbolic integers (sympy expressions) in the syntax of graph text.

    Symbols(shape_env).text(x.shape[0])  ->  "4*s0 + (s1 + 1)//2"

Every function has the meaning that docs/sym.md gives it: division rounds down, predicates are 0 or 1. What
has no such form (a rounding of a floating-point product, for instance) goes to the `define` hook, which may
compute it by other means and give it a name of its own; without one it is Unprintable.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import sympy
import torch
from torch.utils._sympy import functions as torch_functions
from torch.utils._sympy.numbers import int_oo


class Unprintable(Exception):
    """Something that graph text cannot say; the message is the reason."""


# Rounding functions of a float: the name of the scalar operator that computes them.
ROUNDINGS = {
    torch_functions.FloorToInt: "floor",
    torch_functions.CeilToInt: "ceil",
    torch_functions.TruncToInt: "trunc",
}

_RELATIONS = {
    sympy.Eq: "==",
    sympy.Ne: "!=",
    sympy.Lt: "<",
    sympy.Le: "<=",
    sympy.Gt: ">",
    sympy.Ge: ">=",
}

# The longest product that a power is spelled out as.
_LARGEST_POWER = 8


def _is_atom(text: str) -> bool:
    return text.replace("_", "a").isalnum()


def _wrapped(text: str) -> str:
    return text if _is_atom(text) else f"({text})"


def is_unbacked(name: str) -> bool:
    """u0, u12: defined by a node, not found in the sizes of inputs."""
    return len(name) > 1 and name[0] == "u" and name[1].isdigit()


class Symbols:
    """Prints sizes, and remembers which symbols they mention."""

    def __init__(self, shape_env: Any, define: Callable[[sympy.Expr], str] | None = None):
        self._shape_env = shape_env
        self._define = define
        self._cache: dict[Any, str] = {}
        self._lines: dict[str, str] = {}  # name -> its part of the header, in order of appearance
        self.defined: set[str] = set()  # unbacked symbols that inputs or nodes have defined so far
        self._renamed: dict[str, str] = {}

    def text(self, value: Any) -> str:
        """Text of an int, a bool, or a SymInt or SymBool."""
        if value is True or value is False:
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        return self.expr_text(self.expr(value))

    def expr(self, value: Any) -> sympy.Expr:
        """The sympy expression of a SymInt, SymBool or SymFloat."""
        node = value.node
        if not hasattr(node, "_expr"):
            raise Unprintable("the size of a nested tensor")
        return node.expr

    def expr_text(self, expr: sympy.Expr) -> str:
        text = self._cache.get(expr)
        if text is None:
            text = self._cache[expr] = self._text(expr)
        return text

    def rename(self, symbol: sympy.Symbol, name: str) -> None:
        """Prints a symbol, which has not been printed yet, under another name."""
        self._renamed[symbol.name] = name

    def declare(self, name: str, low: str, high: str, hint: int | None) -> None:
        """Adds a symbol to the header; its range is already text."""
        suffix = "" if hint is None else f" hint {hint}"
        self._lines[name] = f"{name} in [{low}, {high}]{suffix}"

    def header(self) -> str:
        return f" symbols({', '.join(self._lines.values())})" if self._lines else ""

    def undefined(self) -> list[str]:
        return [name for name in self._lines if is_unbacked(name) and name not in self.defined]

    def _symbol(self, symbol: sympy.Symbol) -> str:
        name = self._renamed.get(symbol.name, symbol.name)
        if name not in self._lines:
            ranges = self._shape_env.var_to_range.get(symbol)
            low = high = None
            if ranges is not None:
                low, high = ranges.lower, ranges.upper
            hint = self._shape_env.backed_var_to_val.get(symbol)
            if hint is not None and not hint.is_Integer:
                raise Unprintable(f"symbol {name} is not an integer")
            self.declare(name, _bound(low, "-inf"), _bound(high, "inf"), None if hint is None else int(hint))
        return name

    def _text(self, e: sympy.Expr) -> str:
        if e.is_Symbol:
            return self._symbol(e)
        if e.is_Integer:
            return str(int(e))
        if e is sympy.true or e is sympy.false:
            return "1" if e is sympy.true else "0"
        if e.is_Add:
            return " + ".join(self.expr_text(a) for a in e.args)
        if e.is_Mul:
            return "*".join(self._operand(a) for a in e.args)
        for kind, spelling in _RELATIONS.items():
            if isinstance(e, kind):
                return f"{self._operand(e.args[0])} {spelling} {self._operand(e.args[1])}"
        method = _METHODS.get(type(e))
        if method is None:
            method = next((m for kind, m in _METHODS.items() if isinstance(e, kind)), None)
        if method is not None:
            text = method(self, e)
            if text is not None:
                return text
        if self._define is not None and type(e) in ROUNDINGS:
            return self._define(e)
        raise Unprintable(f"the size {e}")

    def _operand(self, e: sympy.Expr) -> str:
        return _wrapped(self.expr_text(e))

    def _power(self, e: sympy.Expr) -> str | None:
        base, exponent = e.args
        if not exponent.is_Integer or not 0 < int(exponent) <= _LARGEST_POWER:
            return None
        return "*".join([self._operand(base)] * int(exponent))

    def _floordiv(self, e: sympy.Expr) -> str:
        return f"{self._operand(e.args[0])}//{self._operand(e.args[1])}"

    def _mod(self, e: sympy.Expr) -> str:
        return f"{self._operand(e.args[0])} % {self._operand(e.args[1])}"

    def _modular_indexing(self, e: sympy.Expr) -> str:
        base, divisor, modulus = (self._operand(a) for a in e.args)
        return f"({base}//{divisor}) % {modulus}"

    def _extremum(self, word: str, e: sympy.Expr) -> str:
        # The text form knows any number of operands; torch's functions have at least two.
        return f"{word}({', '.join(self.expr_text(a) for a in e.args)})"

    def _junction(self, word: str, e: sympy.Expr) -> str:
        return f" {word} ".join(self._operand(a) for a in e.args)

    def _where(self, e: sympy.Expr) -> str:
        condition, a, b = (self._operand(x) for x in e.args)
        return f"{condition}*{a} + (1 - {condition})*{b}"

    def _shift(self, e: sympy.Expr, spelling: str) -> str | None:
        if not e.args[1].is_Integer or not 0 <= int(e.args[1]) < 62:
            return None
        return f"{self._operand(e.args[0])}{spelling}{2 ** int(e.args[1])}"

    def _rounded(self, e: sympy.Expr) -> str | None:
        """Roundings of a quotient of integers below 2**53, whose float quotient is never rounded across an
        integer; and of a size times a short binary fraction, whose product is exact."""
        kind = ROUNDINGS[type(e)]
        quotient = _exact_quotient(e.args[0])
        if quotient is None:
            return None
        numerator, denominator = quotient
        if kind == "trunc" and not (numerator.is_nonnegative and denominator.is_positive):
            return None
        if kind == "ceil":
            return f"-((-1*{self._operand(numerator)})//{self._operand(denominator)})"
        return f"{self._operand(numerator)}//{self._operand(denominator)}"


def _exact_quotient(e: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr] | None:
    if isinstance(e, torch_functions.IntTrueDiv):
        return e.args[0], e.args[1]
    if not e.is_Mul or len(e.args) != 2 or not e.args[0].is_Float:
        return None
    size = e.args[1]
    if isinstance(size, torch_functions.ToFloat):
        size = size.args[0]
    if not size.is_integer:
        return None
    numerator, denominator = float(e.args[0]).as_integer_ratio()
    if abs(numerator) > 2**20 or denominator > 2**10:
        return None
    return sympy.Mul(sympy.Integer(numerator), size), sympy.Integer(denominator)


def _bound(value: Any, infinity: str) -> str:
    """A range's end; infinities of integers and of floats, and what lies outside of 64 bits, are `inf`."""
    if value is None or value in (int_oo, -int_oo, sympy.oo, -sympy.oo):
        return infinity
    if not value.is_Integer or abs(int(value)) >= 2**63 - 1:
        return infinity
    return str(int(value))


_METHODS: dict[type, Callable[[Symbols, sympy.Expr], str | None]] = {
    sympy.Pow: Symbols._power,
    torch_functions.PowByNatural: Symbols._power,
    torch_functions.FloorDiv: Symbols._floordiv,
    torch_functions.Mod: Symbols._mod,
    torch_functions.PythonMod: Symbols._mod,
    sympy.Mod: Symbols._mod,
    torch_functions.ModularIndexing: Symbols._modular_indexing,
    torch_functions.Max: lambda s, e: s._extremum("max", e),
    torch_functions.Min: lambda s, e: s._extremum("min", e),
    sympy.Max: lambda s, e: s._extremum("max", e),
    sympy.Min: lambda s, e: s._extremum("min", e),
    sympy.Abs: lambda s, e: f"max({s.expr_text(e.args[0])}, -1*{s._operand(e.args[0])})",
    torch_functions.Where: Symbols._where,
    torch_functions.Identity: lambda s, e: s.expr_text(e.args[0]),
    torch_functions.LShift: lambda s, e: s._shift(e, "*"),
    torch_functions.RShift: lambda s, e: s._shift(e, "//"),
    sympy.And: lambda s, e: s._junction("and", e),
    sympy.Or: lambda s, e: s._junction("or", e),
    sympy.Not: lambda s, e: f"not {s._operand(e.args[0])}",
    torch_functions.CeilDiv: lambda s, e: f"-((-1*{s._operand(e.args[0])})//{s._operand(e.args[1])})",
    **{kind: Symbols._rounded for kind in ROUNDINGS},
}


def float_text(value: float) -> str:
    """A double that reads back exactly and is never taken for an integer."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def is_symbolic(value: Any) -> bool:
    return isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat))


def quoted(text: str) -> str:
    out = ['"']
    for byte in text.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif char == "\n":
            out.append("\\n")
        elif char == "\t":
            out.append("\\t")
        elif byte < 0x20 or byte >= 0x7F:
            out.append(f"\\x{byte:02x}")
        else:
            out.append(char)
    return "".join(out) + '"'
