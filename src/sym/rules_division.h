// The functions of the rules of quotients and remainders; the rows of sym/rules.cpp say what each does.
#pragma once

#include "sym/reasoner.h"

namespace jumar::sym {

Expr divide_split(Reasoner& reasoner, Expr e);
Expr divide_by_range(Reasoner& reasoner, Expr e);
Expr divide_nested(Reasoner& reasoner, Expr e);
Expr divide_cancel(Reasoner& reasoner, Expr e);
Expr divide_inner(Reasoner& reasoner, Expr e);
Expr divide_remainder(Reasoner& reasoner, Expr e);

Expr remainder_split(Reasoner& reasoner, Expr e);
Expr remainder_constants(Reasoner& reasoner, Expr e);
Expr remainder_by_range(Reasoner& reasoner, Expr e);
Expr remainder_cancel(Reasoner& reasoner, Expr e);
Expr remainder_inner(Reasoner& reasoner, Expr e);
Expr remainder_nested(Reasoner& reasoner, Expr e);
Expr remainder_divisible(Reasoner& reasoner, Expr e);

Expr sum_quotient_and_remainder(Reasoner& reasoner, Expr e);
Expr sum_digits(Reasoner& reasoner, Expr e);
Expr sum_to_remainder(Reasoner& reasoner, Expr e);
Expr sum_exact_quotient(Reasoner& reasoner, Expr e);

}  // namespace jumar::sym
