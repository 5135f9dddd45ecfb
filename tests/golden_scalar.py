"""Writes src/loop/test/scalar_golden.txt: what eager PyTorch computes on special values.

Usage: python tests/golden_scalar.py

The file holds bit patterns in hexadecimal. `values1 f32 <bits>...` lists the operands of a type for
operators with one operand, `values2` for those with two, `cast_values` for casts. Every other line is one
operator on one type: `add f32 -> f32 <bits>...`, one result per operand, or per pair of operands, the
second varying faster. `-` stands where nothing is promised: eager raises, the machine would trap, or
eager's own loops differ.
"""

import pathlib
import struct

import torch

TYPES = {
    "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "bool": torch.bool,
    "f8e5m2": torch.float8_e5m2, "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2fnuz": torch.float8_e5m2fnuz, "f8e4m3fnuz": torch.float8_e4m3fnuz,
}
BYTES = {name: torch.tensor([], dtype=dtype).element_size() for name, dtype in TYPES.items()}
INTEGERS = ["u8", "i8", "i16", "i32", "i64", "u16", "u32", "u64"]
FLOATS = ["f32", "f64"]
SMALL_FLOATS = ["f16", "bf16", "f8e5m2", "f8e4m3fn", "f8e5m2fnuz", "f8e4m3fnuz"]

INF, NAN = float("inf"), float("nan")
# Chosen for zeros, signs, ties, limits of integer types, the edges of exp, and the smallest numbers.
FLOAT_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.3, -0.7, 3.0, -3.0, 7.25, -17.5, 88.5,
                -104.0,
                1e-3, -1e-8, 1e-40, 3e38, -3e38, INF, -INF, NAN]
BINARY_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25, -17.5, 1e-40, 3e38, INF, -INF, NAN]
CAST_VALUES = [0.0, -0.0, 0.4, -0.6, 1.0, -1.0, 1.5, 2.5, -2.5, 100.7, 127.0, 128.0, 200.9, 255.0, 256.0,
               -129.0, -255.5,
               300.0, 448.0, 464.0, 480.0, 32767.5, 32768.0, 57344.0, 61440.0, 65504.0, 65520.0, 65536.0,
               70000.0,
               -40000.0, 2147483520.0, 2147483648.0, 3000000256.0, 4294967040.0, 4294967296.0, 5e9,
               -2147483648.0,
               -3e9, 1e10 + 1024, 9.2e18, 9223372036854775808.0, 1.2e19, 1.9e19, -9.3e18, 3e38, 1e-3, 1e-5,
               6e-8, 2e-8,
               1e-40, 1.00390625, 1.01171875, 1.00048828125, 1.00146484375, 1 / 3, INF, -INF, NAN]
DOUBLE_CAST_VALUES = CAST_VALUES + [1e300, -1e300, 1e-300, 2147483647.5, 1.0000000596046448, 1.00390625000001,
                                    3000000001.0]


def integer_values(name, few=False):
    bits = 8 * BYTES[name]
    if name.startswith("u"):
        values = [0, 1, 2, 3, 7, bits, bits - 1, bits + 1, 100, 2 ** (bits - 1), 2**bits - 1]
    else:
        values = [0, 1, -1, 2, -3, 7, bits, bits - 1, bits + 1, 100, -100, 2 ** (bits - 1) - 1,
        -(2 ** (bits - 1))]
    return values if few else values + [5, 6, 13, 50, 127]


def tensor(name, values):
    if name == "bool":
        return torch.tensor(values, dtype=torch.bool)
    if name in INTEGERS:
        code = {1: "b", 2: "h", 4: "i", 8: "q"}[BYTES[name]]
        code = code.upper() if name.startswith("u") else code
        raw = struct.pack(f"<{len(values)}{code}", *values)
        return torch.frombuffer(bytearray(raw), dtype=TYPES[name])
    return torch.tensor(values, dtype=torch.float64).to(TYPES[name])


def bits(name, result):
    raw = result.contiguous().view(torch.uint8).numpy().tobytes()
    size = BYTES[name]
    return [raw[k:k + size][::-1].hex() for k in range(0, len(raw), size)]


def computed(function, *operands):
    """One result per element; vectors are long enough for eager's vector loops."""
    count = operands[0].numel()
    return function(*[operand.repeat(64 // count + 1) for operand in operands])[:count]


UNARY_IF = {"neg": torch.neg, "abs": torch.abs, "sign": torch.sign}
UNARY_F = {"floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "round": torch.round,
           "sqrt": torch.sqrt,
           "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal, "exp": torch.exp, "exp2": torch.exp2,
           "expm1": torch.expm1, "log": torch.log, "log2": torch.log2, "log10": torch.log10,
           "log1p": torch.log1p,
           "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos,
           "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh,
           "asinh": torch.asinh,
           "acosh": torch.acosh, "atanh": torch.atanh, "erf": torch.erf, "erfc": torch.erfc,
           "erfinv": torch.erfinv,
           "lgamma": torch.lgamma, "digamma": torch.digamma, "sigmoid": torch.sigmoid}
PREDICATES = {"isnan": torch.isnan, "isinf": torch.isinf, "signbit": torch.signbit}
BINARY_IF = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "fmax": torch.fmax, "fmin": torch.fmin,
             "pow": torch.pow}
DIVISIONS = {"trunc_div": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
             "floor_div": lambda a, b: torch.div(a, b, rounding_mode="floor"),
             "fmod": torch.fmod, "remainder": torch.remainder}
BINARY_F = {"div": torch.div, "copysign": torch.copysign, "atan2": torch.atan2}
BINARY_BIF = {"max": torch.maximum, "min": torch.minimum}
BINARY_BI = {"and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor}
BINARY_I = {"shl": torch.bitwise_left_shift, "shr": torch.bitwise_right_shift}
COMPARES = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}

lines = []


def emit(op, operand, result_name, results):
    lines.append(f"{op} {operand} -> {result_name} {' '.join(results)}")


def operands(name, few):
    if name == "bool":
        return [False, True]
    if name in INTEGERS:
        return integer_values(name, few)
    return BINARY_VALUES if few else FLOAT_VALUES


def unary(table, names, result=None):
    for op, function in table.items():
        for name in names:
            out = result or name
            try:
                value = computed(function, tensor(name, operands(name, False)))
            except (RuntimeError, NotImplementedError):
                continue
            if value.dtype != TYPES[out]:
                continue
            emit(op, name, out, bits(out, value))


def binary(table, names, result=None, traps=lambda name, a, b: False):
    for op, function in table.items():
        for name in names:
            out = result or name
            values = operands(name, True)
            pairs = [(a, b) for a in values for b in values]
            allowed = [pair for pair in pairs if not traps(name, *pair)]
            try:
                value = computed(function, tensor(name, [a for a, _ in allowed]), tensor(name, [b for _,
                b in allowed]))
            except (RuntimeError, NotImplementedError):
                continue
            if value.dtype != TYPES[out]:
                continue
            found = iter(bits(out, value))
            emit(op, name, out, ["-" if traps(name, *pair) else next(found) for pair in pairs])


def division_traps(name, a, b):
    if name not in INTEGERS:
        # Eager's vector fmod gives NaN where the quotient of finite numbers overflows f32.
        return name == "f32" and 0 < abs(b) < INF and 3.4e38 * abs(b) < abs(a) < INF
    return b == 0 or (b == -1 and a == -(2 ** (8 * BYTES[name] - 1)))


def casts():
    for source in list(TYPES):
        if source == "bool":
            values = [False, True]
        elif source in INTEGERS:
            values = integer_values(source)
        else:
            values = DOUBLE_CAST_VALUES if source == "f64" else CAST_VALUES
        operand = tensor(source, values)
        lines.append(f"cast_values {source} {' '.join(bits(source, operand))}")
        for target in TYPES:
            # Both eager's vector loop and its scalar one; where they differ nothing is promised.
            wide = computed(lambda x: x.to(TYPES[target]), operand)
            single = [operand[k:k + 1].to(TYPES[target]).view(torch.uint8) for k in range(len(values))]
            narrow = torch.cat(single)
            first, second = bits(target, wide), bits(target, narrow.view(TYPES[target]))
            # Compilers fold the one NaN of these types to another integer than the machine gives.
            nans = operand.to(torch.float32).isnan().tolist()
            folded = [nan and source.endswith("fnuz") and target in INTEGERS for nan in nans]
            emit("cast", source, target,
                 ["-" if a != b or skip else a for a, b, skip in zip(first, second, folded)])


def main():
    for name in ["bool", *INTEGERS, *FLOATS]:
        lines.append(f"values1 {name} {' '.join(bits(name, tensor(name, operands(name, False))))}")
        lines.append(f"values2 {name} {' '.join(bits(name, tensor(name, operands(name, True))))}")
    unary(UNARY_IF, INTEGERS + FLOATS)
    unary(UNARY_F, FLOATS)
    unary(PREDICATES, FLOATS, "bool")
    unary({"not": torch.bitwise_not}, ["bool", *INTEGERS])
    binary(BINARY_IF, INTEGERS + FLOATS)
    binary(DIVISIONS, INTEGERS + FLOATS, traps=division_traps)
    binary(BINARY_F, FLOATS)
    binary(BINARY_BIF, ["bool", *INTEGERS, *FLOATS])
    binary(BINARY_BI, ["bool", *INTEGERS])
    binary(BINARY_I, INTEGERS)
    binary(COMPARES, ["bool", *INTEGERS, *FLOATS], "bool")
    casts()
    path = pathlib.Path(__file__).parent.parent / "src/loop/test/scalar_golden.txt"
    path.write_text("# Made by tests/golden_scalar.py with torch " + torch.__version__.split("+")[0] + ".\n"
                    + "\n".join(lines) + "\n")
    print(path, len(lines), "lines", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
