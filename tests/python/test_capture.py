"""What the graphs of small functions look like as text, and which are refused."""

from __future__ import annotations

import pytest
import sympy
import torch
import torch.nn.functional as F
from capturing import capture, only_graph
from jumar.symbols import Symbols, Unprintable, float_text
from torch.utils._sympy import functions as sympy_functions


@torch.library.custom_op("jumar_test::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float, word: str, parts: list[torch.Tensor]) -> torch.Tensor:
    return x * factor + sum(parts)


@scaled.register_fake
def _(x, factor, word, parts):
    return torch.empty_like(x)


@torch.library.custom_op("jumar_test::increment", mutates_args=("x",))
def increment(x: torch.Tensor) -> None:
    x.add_(1)


@torch.library.custom_op("jumar_test::counted", mutates_args=())
def counted(x: torch.Tensor) -> tuple[int, torch.Tensor, float]:
    return x.numel(), x.clone(), 0.5


@counted.register_fake
def _(x):
    return torch.library.get_ctx().new_dynamic_size(), torch.empty_like(x), 0.5


def test_a_small_graph_word_for_word(checked):
    layer = torch.nn.Linear(4, 3).requires_grad_(False)
    graph = only_graph(lambda x: layer(x).relu(), torch.ones(2, 4))
    assert checked(graph.text) == graph.text
    assert graph.text == (
        "graph @inference {\n"
        "  schema aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha) "
        "-> (Tensor)\n"
        "  schema aten.relu.default(Tensor self) -> (Tensor)\n"
        "  schema aten.t.default(Tensor self) -> (Tensor)\n"
        "  %arg0_1: f32[3, 4] = parameter 0\n"
        "  %arg1_1: f32[3] = parameter 1\n"
        "  %arg2_1: f32[2, 4] = input 2\n"
        "  %t: f32[4, 3]{1, 4} = aten.t.default(%arg0_1)\n"
        "  %addmm: f32[2, 3] = aten.addmm.default(%arg1_1, %arg2_1, %t, 1, 1)\n"
        "  %relu: f32[2, 3] = aten.relu.default(%addmm)\n"
        "  return %relu\n"
        "}\n"
    )


# name, function, inputs, dynamic, parts of the text as the C++ writer prints it
CASES = [
    (
        "split",
        lambda x: [part * 2 for part in x.split(3)],
        [torch.ones(10)],
        None,
        ["%getitem: f32[3], %getitem_1: f32[3], %getitem_2: f32[3], %getitem_3: f32[1] = aten.split.Tensor("],
    ),
    (
        "an unused result keeps its place",
        lambda x: x.max(0)[1],
        [torch.ones(10, 4)],
        None,
        ["%max_1.0: f32[4], %getitem_1: i64[4] = aten.max.dim(%arg0_1, 0, false)"],
    ),
    (
        "sizes",
        lambda x, y: torch.cat([x, y])[x.shape[0] // 2 :],
        [torch.ones(10), torch.ones(6)],
        True,
        ["aten.cat.default([%arg1_1, %arg3_1], 0)", "//2, 9223372036854775807, 1)", "hint 10"],
    ),
    (
        "a size of a float that is exact",
        lambda x: F.interpolate(x, scale_factor=2.0),
        [torch.ones(1, 3, 10, 12)],
        True,
        ["aten.arange.default(2*"],
    ),
    (
        "a size of a float that is not exact",
        lambda x: F.interpolate(x, scale_factor=1.3),
        [torch.ones(1, 3, 10, 12)],
        True,
        ["= scalar.mul(", "int(u900000) = scalar.trunc(%mul) defines(u900000)", "f32[u900000] = aten.arange"],
    ),
    (
        "nonzero",
        lambda x: x.nonzero() * 2,
        [torch.ones(5)],
        None,
        [
            "u0 in [0, 5]",
            "%nonzero: i64[u0, 1]{1, u0} = aten.nonzero.default(%arg0_1) defines(u0)",
            "_assert_scalar",
        ],
    ),
    (
        "an integer read from a tensor",
        lambda x, c: torch.zeros(c.item()) + x.sum(),
        [torch.ones(5), torch.tensor(3)],
        None,
        [
            "_local_scalar_dense: int(u1) = aten._local_scalar_dense.default(%arg0_1) defines(u1)",
            "zeros.default([u1]",
        ],
    ),
    (
        "a bool read from a tensor",
        lambda x, c: torch.where(x > 0, x, float(c.item())),
        [torch.ones(3), torch.tensor(True)],
        None,
        ["_local_scalar_dense: bool = ", "defines(u0)", ": float = scalar.to_float(%_local_scalar_dense)"],
    ),
    (
        "a custom operator in Python",
        lambda x, y: scaled(x, 2.5, "word", [y, x]) + 1,
        [torch.ones(3), torch.ones(3)],
        None,
        ["%scaled: f32[3] = python.0(%arg0_1, %arg1_1)"],
    ),
    (
        "a custom operator that writes",
        lambda x: (y := x + 1, increment(y), y * 2)[2],
        [torch.ones(3)],
        None,
        ["auto_functionalized_v2.0: none, ", " = python.0("],
    ),
    (
        "control flow",
        lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)),
        [torch.ones(3)],
        None,
        ["%getitem: f32[3] = python.0(%gt, %arg0_1)"],
    ),
    (
        "complex numbers",
        lambda x: torch.view_as_real(torch.fft.rfft(x).conj() * (1 + 2j)),
        [torch.ones(10)],
        None,
        ["aten._conj_physical.default(", "c64[6] = python.0("],
    ),
    (
        "a constant",
        lambda x: x + torch.tensor([1.0, 2.0, 3.0]),
        [torch.ones(3)],
        None,
        ['%_tensor_constant0: f32[3] = parameter 1 "_tensor_constant0"'],
    ),
    (
        "words and optional arguments",
        lambda x: x.to(torch.bfloat16, memory_format=torch.channels_last),
        [torch.ones(1, 2, 3, 4)],
        None,
        ["(%arg0_1, dtype(bf16), none, none, none, false, memory_format(channels_last))", "{24, 1, 8, 2}"],
    ),
    (
        "random operators",
        lambda x: F.dropout(x, 0.25) + torch.rand_like(x),
        [torch.ones(3)],
        None,
        ["aten.native_dropout.default(%arg0_1, 0.25, true)", "aten.rand_like.default("],
    ),
    (
        "lists of results in one list",
        lambda x, y: torch._foreach_add([x, y], 1.0),
        [torch.ones(3), torch.ones(2)],
        None,
        ["%getitem: f32[3], %getitem_1: f32[2] = aten._foreach_add.Scalar([%arg0_1, %arg1_1], 1.0)"],
    ),
    (
        "an input that changes",
        lambda x, y: x.add_(y).sum(0),
        [torch.ones(3, 2), torch.ones(2)],
        None,
        ["aten.copy_.default(%arg0_1, %add, false)", "%sum_1: f32[2] = aten.sum.dim_IntList(%add, [0]", "return %sum_1"],
    ),
    (
        "empty tensors and zero dimensions",
        lambda x, y: (x.sum(0) + y, x),
        [torch.ones(0, 3), torch.tensor(2.0)],
        None,
        ["%arg0_1: f32[0, 3] = input 0", "%arg1_1: f32[] = input 1"],
    ),
]


@pytest.mark.parametrize("name,function,inputs,dynamic,parts", CASES, ids=[case[0] for case in CASES])
def test_text(checked, name, function, inputs, dynamic, parts):
    graph = only_graph(function, *[x.clone() for x in inputs], dynamic=dynamic)
    text = checked(graph.text)
    for part in parts:
        assert part in text, text


def test_python_calls_compute_what_the_node_computes():
    x, y = torch.randn(3), torch.randn(3)
    graph = only_graph(lambda x, y: scaled(x, 2.5, "word", [y, x]) + 1, x, y)
    (call,) = graph.captured.python_calls
    (result,) = call(x, y)
    torch.testing.assert_close(result, x * 2.5 + (y + x))


def test_python_calls_of_control_flow_hold_their_graphs():
    graph = only_graph(
        lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), torch.ones(3)
    )
    (call,) = graph.captured.python_calls
    assert torch.equal(call(torch.tensor(False), torch.ones(3))[0], torch.zeros(3))
    assert torch.equal(call(torch.tensor(True), torch.ones(3))[0], torch.full((3,), 2.0))


def test_numbers_from_python_calls_are_read_from_tensors(checked):
    graph = only_graph(lambda x: (lambda found: found[1] * found[0])(counted(x)), torch.ones(3))
    text = checked(graph.text)
    assert "%counted.0.host: i64[], %counted.1: f32[3] = python.0(" in text
    assert "= aten._local_scalar_dense.default(%counted.0.host) defines(u0)" in text
    (call,) = graph.captured.python_calls
    count, values = call(torch.ones(3))
    assert torch.equal(count, torch.tensor(3)) and torch.equal(values, torch.ones(3))


def test_python_calls_do_not_write_to_their_arguments():
    graph = only_graph(lambda x: (y := x + 1, increment(y), y * 2)[2], torch.ones(3))
    (call,) = graph.captured.python_calls
    x = torch.ones(3)
    results = call(x)
    assert results[0] is None and torch.equal(results[1], torch.full((3,), 2.0))
    assert torch.equal(x, torch.ones(3))


def test_training_gives_a_forward_and_a_backward(checked):
    layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
    graphs = capture(lambda x: layer(x).sum(), torch.ones(5, 4), dynamic=True)
    assert [g.kind for g in graphs] == ["forward", "backward"]
    forward, backward = (checked(g.text) for g in graphs)
    assert "= parameter " in forward
    # The size is an output of the forward and an input of the backward.
    assert "int(s77) = input" in backward
    assert "hint 5" in backward


def test_capture_is_deterministic():
    graph = only_graph(lambda x: F.gelu(x @ x.t()).softmax(-1), torch.ones(4, 6), dynamic=True)
    again = only_graph(lambda x: F.gelu(x @ x.t()).softmax(-1), torch.ones(4, 6), dynamic=True)
    assert graph.text == again.text


@pytest.mark.parametrize(
    "function,inputs,reason",
    [
        (lambda x: x.to("meta"), [torch.ones(3)], "a tensor on device meta"),
        (
            lambda x: torch.view_as_real(x.resolve_conj()),
            [torch.ones(3, dtype=torch.complex64).conj()],
            "an input with a pending conjugation or negation",
        ),
    ],
)
def test_refusals(function, inputs, reason):
    assert only_graph(function, *inputs).refusal == reason


def symbols() -> tuple[Symbols, sympy.Symbol, sympy.Symbol]:
    class Environment:
        var_to_range: dict = {}
        backed_var_to_val: dict = {}

    s0, s1 = (sympy.Symbol(name, integer=True, positive=True) for name in ("s0", "s1"))
    return Symbols(Environment()), s0, s1


def test_expressions_have_python_s_meaning():
    printer, s0, s1 = symbols()
    functions = sympy_functions
    cases = [
        s0 * 2 + s1 - 3,
        functions.FloorDiv(s0 + 1, s1),
        4 * functions.FloorDiv(s0, 3),
        functions.Mod(s0 * 5, s1),
        functions.PythonMod(s0 - 7, s1),
        functions.ModularIndexing(s0 * 3, 2, 5),
        functions.Max(s0, s1 + 1),
        functions.Min(s0, s1, 4),
        functions.CeilToInt(functions.IntTrueDiv(s0, s1)),
        functions.FloorToInt(functions.IntTrueDiv(s0, s1)),
        functions.FloorToInt(sympy.Float(1.5) * functions.ToFloat(s0)),
        functions.PowByNatural(s0, sympy.Integer(3)),
        functions.CeilDiv(s0, s1),
        functions.LShift(s0, sympy.Integer(3)),
        sympy.And(s0 < s1, sympy.Ne(s0, 4)),
        sympy.Or(s0 >= s1, sympy.Eq(s0, 4)),
        sympy.Not(sympy.Eq(s0, s1)),
        functions.Where(s0 < s1, s0 * 2, s1 + 1),
    ]
    for expr in cases:
        text = printer.expr_text(expr)
        for a in range(1, 12):
            for b in range(1, 9):
                value = expr.xreplace({s0: sympy.Integer(a), s1: sympy.Integer(b)})
                expected = int(value == sympy.true) if value in (sympy.true, sympy.false) else int(value)
                names = {"s0": a, "s1": b, "min": min, "max": max}
                assert int(eval(text, names)) == expected, (expr, text, a, b)


def test_expressions_that_text_cannot_say():
    printer, s0, s1 = symbols()
    for expr in (s0 / 2, sympy_functions.RoundToInt(s0 * sympy.Float(0.3)), s0**s1):
        with pytest.raises(Unprintable):
            printer.expr_text(expr)


def test_floats_read_back_and_are_no_integers():
    for value in (0.1, 1.0, -0.0, 1e22, 5e-324, float("inf"), float("-inf")):
        text = float_text(value)
        assert float(text) == value and str(float(text)) == str(value)
        assert not text.lstrip("-").isdigit()
    assert float_text(float("nan")) == "nan"
