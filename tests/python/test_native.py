"""The extension module by itself: graph texts in, torch tensors in and out."""

import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch
from comparing import in_threads

_native = pytest.importorskip("jumar._native")

NO_CACHE = {"cache": False}

NEGATE = """graph @main symbols(s0 in [2, 4096]) {
  schema aten.neg.default(Tensor self) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 3] = input 1
  %y: f32[s0, 3] = aten.neg.default(%x)
  return %y, s0*2
}
"""

MATMUL = """graph @main {
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  %x: f32[4, 8] = input 0
  %w: f32[8, 5] = parameter 1
  %y: f32[4, 5] = aten.mm.default(%x, %w)
  return %y
}
"""

RETURNS_INPUT = """graph @main {
  schema aten.permute.default(Tensor self, int[] dims) -> (Tensor)
  %x: f32[4, 8] = input 0
  %t: f32[8, 4]{1, 8} = aten.permute.default(%x, [1, 0])
  return %x, %t, none
}
"""

RELU = """graph @main {
  schema aten.relu.default(Tensor self) -> (Tensor)
  %x: f32[16] = input 0
  %y: f32[16] = aten.relu.default(%x)
  return %y
}
"""

EMBEDDING = """graph @main {
  schema aten.index.Tensor(Tensor self, Tensor?[] indices) -> (Tensor)
  %x: f32[10, 4] = input 0
  %i: i64[3] = input 1
  %y: f32[3, 4] = aten.index.Tensor(%x, [%i])
  return %y
}
"""

PYTHON = """graph @main {
  schema aten.neg.default(Tensor self) -> (Tensor)
  %x: f32[4] = input 0
  %a: f32[4] = python.0(%x, 7)
  %y: f32[4] = aten.neg.default(%a)
  return %y
}
"""


def compiled(text, options=None, **kwargs):
    return _native.compile(text, {**NO_CACHE, **(options or {})}, **kwargs)


def test_runs_with_symbols():
    program = compiled(NEGATE)
    for rows in (2, 5, 100):
        x = torch.randn(rows, 3)
        y, double = program.run([rows, x])
        assert torch.equal(y, -x)
        assert double == 2 * rows
        assert y.stride() == (3, 1) and not y.requires_grad
    assert program.input_count == 2 and program.output_count == 2


def test_a_call_with_a_list_empties_it():
    program = compiled(NEGATE)
    x = torch.randn(5, 3)
    before = sys.getrefcount(x)
    for arguments in ([5, x], [5, torch.randn(5, 3), x], ["text", x], [6, x]):
        wrong = len(arguments) != 2 or arguments[0] != 5
        if wrong:
            with pytest.raises(_native.InputError):
                program(arguments)
        else:
            y, double = program(arguments)
            assert torch.equal(y, -x) and double == 10
        assert arguments == []
    assert sys.getrefcount(x) == before
    assert isinstance(program([5, x]), list) and isinstance(program(*[[5, x]]), list)
    for call in (lambda: program(), lambda: program((5, x)), lambda: program([5, x], 1), lambda: program(inputs=[5, x])):
        with pytest.raises(TypeError, match="one list"):
            call()


def test_more_inputs_than_a_call_keeps_on_the_stack():
    inputs = "".join(f"  %x{k}: f32[4] = input {k}\n" for k in range(40))
    outputs = ", ".join(f"%x{k}" for k in range(40))
    tensors = [torch.randn(4) for _ in range(40)]
    found = compiled(f"graph @main {{\n{inputs}  return {outputs}\n}}\n", constants=tensors[30:])(tensors[:30])
    assert all(a is b for a, b in zip(found, tensors)) and len(found) == 40


def test_a_list_that_shrinks_while_it_is_read_is_an_error():
    class Shrinking(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            arguments.clear()
            return super().__torch_function__(function, types, args, kwargs or {})

    x = torch.randn(4, 8).as_subclass(Shrinking)
    arguments = [x, torch.randn(8, 5)]
    with pytest.raises(IndexError):
        compiled(MATMUL)(arguments)


def test_attributes_can_be_set_on_a_program():
    program = compiled(RELU)
    program._boxed_call = True
    assert program._boxed_call and vars(program) == {"_boxed_call": True}
    program.itself = program
    watch = weakref.ref(program.__dict__.setdefault("tensor", torch.ones(2)))
    del program
    gc.collect()
    assert watch() is None


def test_guarded_inputs_are_not_asked_for_flags():
    x = torch.complex(torch.zeros(16), torch.arange(16.0)).conj().imag
    text = RELU.replace("%x: f32[16]", "%x: f32[16]{2}")
    with pytest.raises(_native.InputError, match="negation"):
        compiled(text).run([x])
    compiled(text, guarded=True).run([x])


def test_calls_an_operator():
    x, w = torch.randn(4, 8), torch.nn.Parameter(torch.randn(8, 5))
    (y,) = compiled(MATMUL).run([x, w])
    torch.testing.assert_close(y, x @ w.detach())


def test_every_operator_can_be_called():
    x = torch.randn(2, 3)
    program = compiled(NEGATE, {"call_ops": "all"})
    report = json.loads(program.report())
    assert [call["op"] for call in report["calls"]] == ["aten.neg.default"]
    assert report["kernels"] == []
    assert torch.equal(program.run([2, x])[0], -x)


def test_an_input_comes_back_as_the_same_object():
    x = torch.randn(4, 8)
    y, t, none = compiled(RETURNS_INPUT).run((x,))
    assert y is x
    assert t.data_ptr() == x.data_ptr() and t.shape == (8, 4) and torch.equal(t, x.t())
    assert none is None


def test_a_view_of_a_parameter_does_not_require_grad():
    x = torch.nn.Parameter(torch.randn(4, 8))
    _, t, _ = compiled(RETURNS_INPUT).run((x,))
    assert torch.equal(t, x.t())
    assert t._base is None


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda x: x.double(), "f32"),
        (lambda x: x[:, :2], "input 1"),
        (lambda x: x.t().contiguous().t(), "compiled for"),
        (lambda x: 1.5, "input 1"),
        (lambda x: None, "input 1"),
        (lambda x: "text", "input 1"),
        (lambda x: x.to_sparse(), "input 1"),
        (lambda x: x.to("meta"), "input 1"),
        (lambda x: torch._C._nn.linear(x, torch.eye(3)).to(torch.complex64).imag, "input 1"),
        (lambda x: torch.complex(x, x).conj().imag, "negation"),
    ],
)
def test_a_wrong_input_is_an_input_error(bad, message):
    program = compiled(NEGATE)
    with pytest.raises(_native.InputError, match=message):
        program.run([4, bad(torch.randn(4, 3))])


def test_too_few_and_too_many_inputs_are_input_errors():
    program = compiled(NEGATE)
    for inputs in ([], [4], [4, torch.randn(4, 3), 1]):
        with pytest.raises(_native.InputError):
            program.run(inputs)
    with pytest.raises(TypeError):
        program.run(4)


def test_a_symbol_outside_its_range_is_an_input_error():
    with pytest.raises(_native.InputError, match="s0"):
        compiled(NEGATE).run([1, torch.randn(1, 3)])


def test_a_fake_tensor_is_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.empty(4, 3)
    with pytest.raises(_native.InputError, match="FakeTensor"):
        compiled(NEGATE).run([4, fake])


def test_an_index_out_of_range_is_an_index_error():
    program = compiled(EMBEDDING)
    x = torch.randn(10, 4)
    assert torch.equal(program.run([x, torch.tensor([0, -1, 9])])[0], x[[0, -1, 9]])
    for wrong in (10, -11):
        with pytest.raises(IndexError):
            program.run([x, torch.tensor([0, wrong, 1])])


def test_python_calls_and_their_exceptions():
    seen = []

    def double(x, k):
        seen.append(k)
        return (x * 2,)

    def fail(x, k):
        raise ZeroDivisionError("as it should")

    x = torch.randn(4)
    (y,) = compiled(PYTHON, python_calls=[double]).run([x])
    assert torch.equal(y, -2 * x) and seen == [7]
    with pytest.raises(ZeroDivisionError, match="as it should"):
        compiled(PYTHON, python_calls=[fail]).run([x])
    with pytest.raises(IndexError):
        compiled(PYTHON).run([x])


def test_a_python_call_may_return_its_argument():
    x = torch.randn(4)
    (y,) = compiled(PYTHON, python_calls=[lambda t, k: (t,)]).run([x])
    assert torch.equal(y, -x)


def test_an_operator_that_fails_raises_pytorchs_exception():
    text = MATMUL.replace("f32[8, 5] = parameter", "f32[7, 5] = parameter")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        compiled(text).run([torch.randn(4, 8), torch.randn(7, 5)])


def test_constants_follow_the_arguments():
    w = torch.randn(8, 5)
    x = torch.randn(4, 8)
    program = compiled(MATMUL, constants=[w])
    torch.testing.assert_close(program.run([x])[0], x @ w)


def test_a_wrong_text_is_a_compile_error_with_its_place():
    with pytest.raises(_native.CompileError) as caught:
        compiled("graph @main {\n  %x: f33[4] = input 0\n  return %x\n}\n")
    assert caught.value.where.endswith(":2:7")
    assert "f33" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cach": True}, "unknown option 'cach'; did you mean cache"),
        ({"max_fusions": "many"}, "option max_fusions is 'many', but must be an integer"),
        ({"cpu": "z80"}, "z80"),
        ({"print_after": "nonsense"}, "print_after names 'nonsense'"),
        ("nonsense", "not of the form name=value"),
    ],
)
def test_a_wrong_option_is_a_compile_error(options, message):
    with pytest.raises(_native.CompileError, match=message) as caught:
        _native.compile(NEGATE, options)
    assert caught.value.code == "option"


@pytest.mark.parametrize("target", ["Ascend950PR_9589", "Ascend910B1"])
def test_a_core_limit_is_a_pair_or_text(target):
    for limit in ((14, 28), [14, 28], "14,28", " 14 , 28 "):
        values = _native.resolve_options({"target": target, "device_limit": limit})
        assert values["device_limit"].replace(" ", "") == "14,28"
    for limit in ((14, 280), (14,), "14", (0, 2), (1.5, 3)):
        with pytest.raises(_native.CompileError, match=f"option device_limit is '.*at most .* on {target}") as caught:
            _native.resolve_options({"target": target, "device_limit": limit})
        assert caught.value.code == "option"
    # Nothing about devices matters for the processor.
    assert _native.resolve_options({"device_limit": "nonsense"})["target"] == "cpu"


def test_an_unknown_target_lists_the_known_ones():
    with pytest.raises(_native.CompileError, match="there is no target 'npu'") as caught:
        _native.compile(NEGATE, {"target": "npu"})
    assert "Ascend950PR_9589" in str(caught.value) and "must be cpu" in str(caught.value)


def test_options_are_resolved():
    values = _native.resolve_options({"cache": False, "disable_passes": ["cse", "dead-code"], "pool_bytes": "1M"})
    assert values["cache"] == "false"
    assert values["disable_passes"] == "cse,dead-code"
    assert values["pool_bytes"] == str(1 << 20)
    assert _native.resolve_options(None)["target"] == "cpu"
    with pytest.raises(TypeError):
        _native.resolve_options(3)


def test_inputs_and_outputs_are_not_leaked():
    program = compiled(NEGATE)
    x = torch.randn(4, 3)
    before = sys.getrefcount(x)
    y, _ = program.run([4, x])
    assert sys.getrefcount(x) == before
    watch = weakref.ref(y)
    del y
    gc.collect()
    assert watch() is None
    with pytest.raises(_native.InputError):
        program.run([5, x])
    assert sys.getrefcount(x) == before


def test_a_cycle_through_python_calls_is_collected():
    class Holder:
        pass

    holder = Holder()
    holder.call = lambda x, k: (x, holder)[:1]
    holder.program = compiled(PYTHON, python_calls=[holder.call])
    watch = weakref.ref(holder)
    del holder
    gc.collect()
    assert watch() is None


def test_threads_run_one_program_at_once():
    program = compiled(MATMUL)
    failures = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(50):
            x = torch.randn(4, 8, generator=generator)
            w = torch.randn(8, 5, generator=generator)
            if not torch.allclose(program.run([x, w])[0], x @ w, atol=1e-5):
                failures.append(seed)

    in_threads(work, 4)
    assert not failures


def test_threads_run_one_brief_program_at_once():
    program = compiled(RELU)
    failures = []

    def work(seed):
        x = torch.full((16,), float(seed))
        for _ in range(2000):
            if program([x])[0][0].item() != seed:
                failures.append(seed)

    in_threads(work, 4)
    assert not failures


def test_large_outputs_outlive_program_and_come_from_the_pool():
    text = NEGATE.replace("[2, 4096]", "[2, 1000000]")
    x = torch.randn(200_000, 3)
    program = compiled(text)
    y, _ = program.run([200_000, x])
    z, _ = program.run([200_000, x])
    del program
    gc.collect()
    assert torch.equal(y, -x) and torch.equal(z, -x)
    y += 1
    assert torch.equal(z, -x)


def cache_of(text, directory, **kwargs):
    return json.loads(_native.compile(text, {"cache_dir": str(directory)}, **kwargs).report())["cache"]


def test_the_second_compilation_is_a_hit(tmp_path):
    assert cache_of(NEGATE, tmp_path) == "miss"
    assert cache_of(NEGATE, tmp_path) == "hit"
    assert cache_of(NEGATE.replace("%y", "%other").replace("s0", "s7"), tmp_path) == "hit"
    assert cache_of(NEGATE.replace("neg", "abs"), tmp_path) == "miss"
    x = torch.randn(4, 3)
    program = _native.compile(NEGATE, {"cache_dir": str(tmp_path)})
    assert torch.equal(program.run([4, x])[0], -x)


def test_a_hit_names_inputs_as_its_own_graph_does(tmp_path):
    assert cache_of(NEGATE, tmp_path) == "miss"
    program = _native.compile(NEGATE.replace("%x", "%other"), {"cache_dir": str(tmp_path)})
    with pytest.raises(_native.InputError, match="other"):
        program.run([4, torch.randn(4, 4)])


def test_options_that_affect_code_have_entries_of_their_own(tmp_path):
    assert cache_of(NEGATE, tmp_path) == "miss"
    options = {"cache_dir": str(tmp_path), "emulate_precision_casts": True}
    assert json.loads(_native.compile(NEGATE, options).report())["cache"] == "miss"


def test_damaged_entries_are_made_anew(tmp_path):
    assert cache_of(NEGATE, tmp_path) == "miss"
    x = torch.randn(4, 3)
    files = [path for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert files
    for damage in (lambda b: b[: len(b) // 2], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b""):
        for path in files:
            path.write_bytes(damage(path.read_bytes()))
        program = _native.compile(NEGATE, {"cache_dir": str(tmp_path)})
        assert json.loads(program.report())["cache"] == "miss"
        assert torch.equal(program.run([4, x])[0], -x)


def test_processes_compile_the_same_graph_at_once(tmp_path):
    script = (
        "import sys, torch; from jumar import _native\n"
        f"program = _native.compile({NEGATE!r}, {{'cache_dir': {str(tmp_path)!r}}})\n"
        "x = torch.randn(4, 3); assert torch.equal(program.run([4, x])[0], -x)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert cache_of(NEGATE, tmp_path) == "hit"


def test_a_cache_that_cannot_be_written_is_noted(tmp_path):
    (tmp_path / "file").write_text("")
    report = json.loads(_native.compile(NEGATE, {"cache_dir": str(tmp_path / "file" / "below")}).report())
    assert report["cache"] == "miss"
    assert any("not cached" in note for note in report["notes"])


def test_the_command_line_runs_in_process(tmp_path):
    path = tmp_path / "in.graph"
    path.write_text(NEGATE)
    assert _native.main(["jumar", "opt", "--to=plan", str(path)]) == 0
    assert _native.main(["jumar", "opt", str(tmp_path / "missing")]) == 1
    assert _native.main(["jumar", "nonsense"]) == 2
