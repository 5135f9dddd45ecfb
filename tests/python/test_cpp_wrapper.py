"""The option cpp_wrapper: a C++ program made of each plan does what the executor does, bit for bit."""

from __future__ import annotations

import json
import os
import shutil

import pytest
import torch
from comparing import in_threads, leaves
from models import MODELS

_native = pytest.importorskip("jumar._native", reason="the extension is not built")

from jumar.backend import compile_dynamo_graph  # noqa: E402

needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("c++", "g++", "clang++")), reason="there is no C++ compiler"
)


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


def compiled(function, reports, options, **kwargs):
    backend = lambda gm, inputs: compile_dynamo_graph(gm, inputs, options, reports.append)  # noqa: E731
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, **kwargs)


def notes(report):
    return [note for note in report.get("notes", []) if note.startswith("cpp_wrapper")]


def assert_identical(found, expected):
    found, expected = list(leaves(found)), list(leaves(expected))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if not isinstance(b, torch.Tensor):
            assert type(a) is type(b) and a == b
            continue
        assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
        assert torch.equal(a, b) or torch.equal(torch.isnan(a), torch.isnan(b))


def check(function, *calls, cache_dir, calls_each=2, **kwargs):
    """Runs the function on each tuple of inputs, by the executor and by the program."""
    plain = compiled(function, [], {"cache_dir": cache_dir}, **kwargs)
    with torch.no_grad():
        expected = [plain(*inputs) for inputs in calls]
    reports = []
    program = compiled(function, reports, {"cpp_wrapper": True, "cache_dir": cache_dir}, **kwargs)
    with torch.no_grad():
        for inputs, result in zip(calls, expected, strict=True):
            for _ in range(calls_each):  # the second call finds used buffers and kept handles
                assert_identical(program(*inputs), result)
    for report in reports:
        assert not notes(report) and "cpp_wrapper" in report["stages"], report
    return reports


def pointwise(x, y):
    return torch.relu(x * y) + 1, x


def calls_of_all_kinds(x, i):
    top, where = torch.topk(x, 2)
    return torch.mm(x, x.t()), top, where, torch.cumsum(x, 1), x[:, i], torch.cat([x, top], 1), *x.split(2)


def unbacked(x):
    rows = torch.nonzero(x > 0)
    return rows * 2, rows.shape[0]


def views(x):
    y = (x + 1).reshape(-1)
    return y.view(2, -1), y[1:], x.t(), x


FUNCTIONS = {
    "pointwise": (pointwise, [(torch.randn(8, 8), torch.randn(8, 8))]),
    "calls": (calls_of_all_kinds, [(torch.randn(4, 6), torch.tensor([0, 5, 2]))]),
    "unbacked": (unbacked, [(torch.tensor([-1.0, 2, 3]),), (torch.tensor([1.0, 2, 3]),)]),
    "views": (views, [(torch.randn(4, 6),)]),
    "large": (lambda x: (torch.exp(x), x.sum(0)), [(torch.randn(1024, 512),)]),
    "random": (lambda x: torch.nn.functional.dropout(x, 0.0) + 1, [(torch.randn(8),)]),
    "scalar": (lambda x: x.sum() * 2, [(torch.randn(3, 4, 5),)]),
    "bf16": (lambda x: (x.float().softmax(-1) @ x.float()).bfloat16(), [(torch.randn(8, 8).bfloat16(),)]),
    "empty": (lambda x: (x + 1, x.sum(1)), [(torch.randn(0, 4),)]),
}


@needs_compiler
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, dynamic, cache_dir):
    function, calls = FUNCTIONS[name]
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    try:
        check(function, *calls, cache_dir=cache_dir, dynamic=dynamic)
    finally:
        torch._dynamo.config.capture_dynamic_output_shape_ops = False


@needs_compiler
@pytest.mark.parametrize("name", ["bert", "resnet18", "llama", "swin_tiny"])
def test_models(name, cache_dir):
    model, inputs = MODELS[name]()
    check(model, inputs, cache_dir=cache_dir)


@needs_compiler
@pytest.mark.parametrize("name", ["bert", "resnet18", "llama"])
def test_models_of_any_size(name, cache_dir):
    model, (x,) = MODELS[name]()
    other = x[:, :77].repeat(2, 1)[:3].contiguous() if x.ndim == 2 else x.repeat(2, 1, 1, 1)[:3].contiguous()
    check(model, (x,), (other,), (x,), cache_dir=cache_dir, dynamic=True)


@needs_compiler
def test_views_of_results_that_begin_within_their_storage(cache_dir):
    def halves(x, w):
        _, second = torch.mm(x, w).split(2, 0)
        return torch.mm(second.t(), second), second.t()

    inputs = torch.randn(4, 6), torch.randn(6, 6)
    for options in ({}, {"cpp_wrapper": True}):
        called = {"call_ops": "aten.split.Tensor", "cache_dir": cache_dir}
        function = compiled(halves, reports := [], {**called, **options})
        with torch.no_grad():
            found, expected = function(*inputs), halves(*inputs)
        assert not notes(reports[0])
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b)


@needs_compiler
def test_gradients(cache_dir):
    model, inputs = MODELS["bert"]()

    def gradients(options):
        model.zero_grad(set_to_none=True)
        reports = []
        compiled(model, reports, options)(*inputs).square().sum().backward()
        assert not any(notes(r) for r in reports)
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    expected = gradients({"cache_dir": cache_dir})
    assert_identical(gradients({"cache_dir": cache_dir, "cpp_wrapper": True}), expected)


ROWS = """graph @main symbols(s0 in [2, 64], s1 in [1, 9]) {
  schema aten.add.Tensor(Tensor self, Tensor other, Scalar alpha) -> (Tensor)
  schema aten.embedding.default(Tensor weight, Tensor indices, SymInt padding_idx, bool scale_grad_by_freq, bool sparse) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 2*s1] = input 1
  %table: f32[10, 2*s1] = parameter 2
  %i: i64[s0] = input 3
  %f: float = input 4
  %rows: f32[s0, 2*s1] = aten.embedding.default(%table, %i, -1, false, false)
  %y: f32[s0, 2*s1] = aten.add.Tensor(%x, %rows, 1)
  return %y, s0 + 2*s1, %f, none
}
"""  # noqa: E501


def _rows(n=4, width=6, options=None):
    return [n, torch.randn(n, width), torch.randn(10, width), torch.arange(n) % 10, 0.5]


WRONG = {
    "count": lambda a: a[:-1],
    "kind": lambda a: [a[1], *a[1:]],
    "no tensor": lambda a: [a[0], 3, *a[2:]],
    "dtype": lambda a: [a[0], a[1].double(), *a[2:]],
    "rank": lambda a: [a[0], a[1][0], *a[2:]],
    "size": lambda a: [a[0], a[1], a[2][:, :4].contiguous(), *a[3:]],
    "strides": lambda a: [a[0], a[1].t().contiguous().t(), *a[2:]],
    "range": lambda a: _rows(1),
    "large range": lambda a: _rows(65),
    "other symbol's range": lambda a: _rows(4, 40),
    "no multiple": lambda a: _rows(4, 7),
    "disagreement": lambda a: [5, *a[1:]],
    "index": lambda a: [*a[:3], torch.tensor([0, 1, 10, 3]), *a[4:]],
    "negative index": lambda a: [*a[:3], torch.tensor([0, 1, -1, 3]), *a[4:]],
}


@needs_compiler
def test_errors_are_the_executors(cache_dir):
    torch.manual_seed(0)
    plain = _native.compile(ROWS, {"cache_dir": cache_dir}, [], [])
    program = _native.compile(ROWS, {"cache_dir": cache_dir, "cpp_wrapper": True}, [], [])
    assert "cpp_wrapper" in json.loads(program.report())["stages"]
    assert_identical(program.run(good := _rows()), plain.run(good))
    assert program.arena_bytes() == plain.arena_bytes()
    for name, change in WRONG.items():
        inputs = change(_rows())
        with pytest.raises(Exception) as expected:
            plain.run(inputs)
        with pytest.raises(Exception) as found:
            program.run(inputs)
        assert type(found.value) is type(expected.value), name
        assert str(found.value) == str(expected.value), name
    assert_identical(program.run(good), plain.run(good))


@needs_compiler
def test_an_operator_that_fails_raises_pytorchs_exception(cache_dir):
    def drawn(x):
        return torch.multinomial(x, 2, True) * 0 + 1

    function = compiled(drawn, reports := [], {"cpp_wrapper": True, "cache_dir": cache_dir})
    good = torch.ones(4)
    assert_identical(function(good), drawn(good))
    assert not notes(reports[0])
    with pytest.raises(RuntimeError) as expected:
        drawn(-good)
    with pytest.raises(RuntimeError) as found:
        function(-good)
    assert str(found.value) == str(expected.value)
    assert_identical(function(good), drawn(good))


def test_without_a_compiler_the_plan_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    function = compiled(pointwise, reports := [], {"cpp_wrapper": True, "cache": False})
    inputs = torch.randn(8, 8), torch.randn(8, 8)
    with torch.no_grad():
        assert torch.allclose(function(*inputs)[0], pointwise(*inputs)[0])
    assert notes(reports[0]) == [
        "cpp_wrapper: no C++ compiler found ($CXX, c++, g++, clang++); the plan is executed as it is"
    ]


@needs_compiler
def test_the_compiler_that_is_wanted_is_asked_first(tmp_path, cache_dir):
    real = next(path for path in map(shutil.which, ("c++", "g++", "clang++")) if path)
    log = tmp_path / "log"
    wanted = tmp_path / "wanted"
    wanted.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    wanted.chmod(0o755)
    options = {"cpp_wrapper": True, "cxx": f"{wanted} -DWANTED", "cache": False}
    function = compiled(pointwise, reports := [], options)
    with torch.no_grad():
        function(torch.randn(8, 8), torch.randn(8, 8))
    assert not notes(reports[0])
    asked, made = log.read_text().splitlines()
    assert asked == "-DWANTED --version" and "-DWANTED -std=c++17" in made


@needs_compiler
def test_source_that_does_not_compile_is_a_bug(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text('#!/bin/sh\ncase "$*" in *--version*) echo 1.0;; *) echo "program.cpp: no"; exit 1;; esac\n')
    broken.chmod(0o755)
    with pytest.raises(_native.InternalError, match="program.cpp: no"):
        _native.compile(ROWS, {"cpp_wrapper": True, "cxx": str(broken), "cache": False}, [], [])


def test_python_steps_keep_the_plan():
    @torch.library.custom_op("jumar_test::thrice", mutates_args=())
    def thrice(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @thrice.register_fake
    def _(x):
        return torch.empty_like(x)

    function = compiled(lambda x: thrice(x) + 1, reports := [], {"cpp_wrapper": True, "cache": False})
    x = torch.randn(4)
    assert torch.allclose(function(x), x * 3 + 1)
    (note,) = notes(reports[0])
    assert "calls Python function 0" in note and "the plan is executed as it is" in note


@needs_compiler
def test_libraries_are_kept(tmp_path):
    def libraries():
        return [name for _, _, names in os.walk(tmp_path / "v1" / "wrapper") for name in names]

    for _ in range(2):
        function = compiled(pointwise, reports := [], {"cpp_wrapper": True, "cache_dir": str(tmp_path)})
        with torch.no_grad():
            function(torch.randn(8, 8), torch.randn(8, 8))
        assert not notes(reports[0])
        assert len(libraries()) == 1


@needs_compiler
def test_threads(cache_dir):
    model, (x,) = MODELS["bert"]()
    inputs = [x.roll(k, 1).contiguous() for k in range(4)]
    plain = compiled(model, [], {"cache_dir": cache_dir})
    with torch.no_grad():
        expected = [plain(y) for y in inputs]
    program = compiled(model, [], {"cpp_wrapper": True, "cache_dir": cache_dir})
    with torch.no_grad():
        program(x)
    failures = []

    def work(k):
        with torch.no_grad():
            for _ in range(5):
                if not torch.equal(program(inputs[k]), expected[k]):
                    failures.append(k)

    in_threads(work, 4)
    assert not failures


@needs_compiler
def test_results_outlive_the_program(cache_dir):
    program = _native.compile(ROWS, {"cache_dir": cache_dir, "cpp_wrapper": True}, [], [])
    inputs = [64, torch.randn(64, 18), torch.randn(10, 18), torch.arange(64) % 10, 0.5]
    y = program.run(inputs)[0]
    expected = y.clone()
    del program
    assert torch.equal(y, expected)
