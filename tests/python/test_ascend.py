"""torch.compile for an Ascend device on CPU tensors: kernels go through the real toolchain and run in the simulator."""

from __future__ import annotations

import os
import subprocess
import sys

import ascend_cases
import pytest
import torch
import torch.nn.functional as F
from ascend import A2, A5, CORES, compiled, needs_toolchain, run_python

pytestmark = needs_toolchain


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def _norm(x, scale, shift):
    return F.layer_norm(x, x.shape[-1:], scale, shift).relu()


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("limit", [None, (1, 2), (3, 7), "7,14", "all"])
def test_a_limit_changes_no_value_and_compiles_nothing_again(target: str, limit, tmp_path) -> None:
    inputs = (torch.randn(97, 65), torch.randn(65), torch.randn(65))
    first = compiled(_norm, target, cache_dir=str(tmp_path))
    expected = _norm(*inputs)
    torch.testing.assert_close(first(*inputs), expected)
    torch._dynamo.reset()
    cube, vector = CORES[target]
    options = {} if limit is None else {"device_limit": f"{cube},{vector}" if limit == "all" else limit}
    limited = compiled(_norm, target, cache_dir=str(tmp_path), **options)
    torch.testing.assert_close(limited(*inputs), expected)
    assert limited.reports[0]["cache"] == "hit"


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", ["division_i32", "flip", "flip_rows", "flip_outer_and_last", "flip_bytes",
                                  "softmax_unaligned", "group_norm"])
def test_vector_units_do_it_in_one_pass(name: str, dynamic: bool, target: str) -> None:
    case = ascend_cases.operator_cases()[name]
    inputs = case.inputs()
    run = compiled(case.function, target, dynamic=dynamic, count_kernels=True)
    torch.testing.assert_close(run(*inputs), case.function(*inputs))
    kernels = [row for report in run.reports for row in report["device_kernels"]]
    assert kernels
    for row in kernels:
        counts = row["counts"]
        assert counts["scalar_elements"] == 0, counts["scalar_reasons"]
        # Rows of unknown length are read once for each of softmax's folds.
        assert row["loops_fold"] or counts["gm_bytes"] <= 1.05 * counts["least_bytes_on_cores"], row["tiling"]
        assert dynamic or not row["loops_fold"], row["tiling"]


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("value, said", [("0,2", "0,2"), ("a,b", "a,b"), ("4", "4"), ("1,2,3", "1,2,3"),
                                         ("1000,2000", "1000,2000"), ("-1,2", "-1,2")])
def test_a_bad_limit_is_an_error_that_names_it_and_the_counts(target: str, value: str, said: str) -> None:
    with pytest.raises(Exception) as caught:
        compiled(_norm, target, device_limit=value)(torch.randn(4, 8), torch.randn(8), torch.randn(8))
    text = str(caught.value)
    assert "device_limit" in text and f"'{said}'" in text
    assert all(str(count) in text for count in CORES[target])


@pytest.mark.parametrize("target", [A2, A5])
def test_the_variable_limits_a_process(target: str) -> None:
    program = (
        "import torch\n"
        f"c = torch.compile(lambda x: x.exp() + 1, backend='jumar', options={{'target': '{target}'}})\n"
        "x = torch.randn(1000); torch.testing.assert_close(c(x), x.exp() + 1); print('right')\n")
    good = run_python(program, NPU_DEVICE_LIMIT="2,4")
    assert good.returncode == 0 and "right" in good.stdout, good.stderr
    odd = run_python(program, NPU_DEVICE_LIMIT="2,3")
    assert odd.returncode == 0 and odd.stderr.count("NPU_DEVICE_LIMIT is '2,3'") == 1, odd.stderr
    bad = run_python(program, NPU_DEVICE_LIMIT="2;4")
    assert bad.returncode != 0 and "NPU_DEVICE_LIMIT is '2;4'" in bad.stderr


def test_sizes_share_one_kernel_where_they_are_dynamic() -> None:
    function = compiled(lambda x: torch.softmax(x, -1) * 2, A2, dynamic=True)
    for rows, columns in [(2, 3), (48, 7), (49, 100), (1009, 13), (3, 5000), (47, 1)]:
        x = torch.randn(rows, columns)
        torch.testing.assert_close(function(x), torch.softmax(x, -1) * 2)


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("rows, columns", [(0, 5), (5, 0), (1, 1), (1, 100_000), (100_000, 1), (47, 1009), (49, 31)])
def test_reductions_of_odd_shapes(target: str, rows: int, columns: int) -> None:
    def reduce(x):
        return x.sum(0), x.sum(1), x.sum()

    x = torch.randn(rows, columns)
    for got, expected in zip(compiled(reduce, target)(x), reduce(x)):
        limit = 1e-5 * max(1.0, x.abs().sum().item() / max(expected.numel(), 1))
        torch.testing.assert_close(got, expected, atol=limit, rtol=1e-5)


def test_the_place_of_an_extreme_is_eagers_with_nans_and_ties() -> None:
    x = torch.randint(-3, 4, (40, 600)).float()
    x[3, 100] = float("nan")
    x[3, 50] = float("inf")
    x[7] = float("-inf")
    function = compiled(lambda v: (v.argmax(-1), v.argmin(-1), v.argmax(0)), A2)
    for got, expected in zip(function(x), (x.argmax(-1), x.argmin(-1), x.argmax(0))):
        assert torch.equal(got, expected)


def test_what_a_device_lacks_is_called_with_the_reason() -> None:
    def mixed(x, y):
        return x * 2 + 1, y.exp()

    x, y = torch.randn(5, dtype=torch.float64), torch.randn(7)
    function = compiled(mixed, A2)
    for got, expected in zip(function(x, y), mixed(x, y)):
        torch.testing.assert_close(got, expected)
    (report,) = function.reports
    assert [kernel["name"] for kernel in report["kernels"]] == ["exp"]
    assert all("f64" in call["reason"] for call in report["calls"])


def test_gradients_come_from_kernels_of_the_device() -> None:
    def loss(x, scale, shift):
        return (F.gelu(F.layer_norm(x, x.shape[-1:], scale, shift)) * x).sum()

    inputs = [torch.randn(33, 70, requires_grad=True), torch.randn(70, requires_grad=True),
              torch.randn(70, requires_grad=True)]
    expected = torch.autograd.grad(loss(*inputs), inputs)
    got = torch.autograd.grad(compiled(loss, A2)(*inputs), inputs)
    for one, other in zip(got, expected):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("rows, columns", [(3, 77), (1, 231), (13, 9)])
def test_indices_that_are_computed_stay_inside_beyond_the_sizes(rows: int, columns: int, dynamic: bool,
                                                                target: str) -> None:
    """Points of the last blocks that lie beyond the sizes must not read or add anywhere: the simulator checks."""
    def positions(x, i, v):
        return x[torch.arange(x.shape[0])[:, None], torch.arange(x.shape[1])]

    def mirrored(x, i, v):
        return x[:, x.shape[1] - 1 - torch.arange(x.shape[1])] + F.pad(x[None], (2, 3), mode="replicate")[0, :, 3:-2]

    def moved(x, i, v):
        return x[:, (i + x.shape[1] // 2) * 3 % x.shape[1]] + x[:, -1 - i]

    def added(x, i, v):
        return x.index_add(1, (i + 5) % x.shape[1], v)

    x, v = torch.randn(rows, columns), torch.randn(rows, columns)
    i = torch.randint(0, columns, (columns,))
    for function in (positions, mirrored, moved, added):
        got = compiled(function, target, dynamic=dynamic)(x, i, v)
        torch.testing.assert_close(got, function(x, i, v), rtol=1e-5, atol=1e-5)


def test_an_index_out_of_range_is_reported_with_kernel_and_argument() -> None:
    weights, tokens = torch.randn(10, 64), torch.tensor([1, 2, 70])
    with pytest.raises(RuntimeError, match=r"kernel embedding, block \d+: reads .* of argument"):
        compiled(lambda w, i: F.embedding(i, w), A2)(weights, tokens)


def test_without_the_toolchain_the_error_says_what_to_do(tmp_path) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("ASCEND_HOME_PATH",)}
    environment |= {"JUMAR_CACHE_DIR": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    program = (f"import torch\ntorch.compile(lambda x: x + 1, backend='jumar', options={{'target': '{A2}'}})"
               "(torch.ones(3))\n")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                            env=environment)
    assert result.returncode != 0
    assert "triton-adapter-opt" in result.stderr and "jumar toolchain install" in result.stderr
