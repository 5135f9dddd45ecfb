// Sizes as torch writes them: a sympy expression as text ("srepr"), read into sym expressions.
//
//   Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))       ->  2*s77 + 1
//   StrictLessThan(Symbol('u0', integer=True), Integer(3))                             ->  u0 < 3
//
// Symbols are made in the context under their own names. Functions of torch that round a quotient of integers
// (CeilToInt(IntTrueDiv(a, b))) become integer divisions, which give the same numbers for sizes below 2**53.
// A float, or a function that no integer expression says, is a diagnostic with the text.
#pragma once

#include <string_view>

#include "sym/expr.h"

namespace jumar::import {

Result<sym::Expr> read_srepr(sym::Context& cx, std::string_view text);

}  // namespace jumar::import
