"""torch.compile(backend="jumar") from Python: results, options, fallbacks and explanations."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("jumar._native", reason="the extension is not built")

import jumar  # noqa: E402
from jumar.backend import jumar as backend  # noqa: E402


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()


def compiled(function, **kwargs):
    return torch.compile(function, backend=backend, **kwargs)


def test_inference_and_training_agree_with_eager():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16))
    x = torch.randn(4, 8)
    with torch.no_grad():
        torch.testing.assert_close(compiled(model)(x), model(x))
    expected = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
    found = torch.autograd.grad(compiled(model)(x).square().sum(), list(model.parameters()))
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b)


def test_one_compilation_serves_all_sizes():
    graphs = []

    def counting(gm, inputs):
        graphs.append(gm)
        return backend(gm, inputs)

    function = torch.compile(lambda x: (x.softmax(-1) @ x.t()).relu(), backend=counting, dynamic=True)
    for rows, columns in ((4, 6), (9, 3), (2, 31)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(function(x), (x.softmax(-1) @ x.t()).relu())
    assert len(graphs) == 1


def test_results_that_alias_inputs_do_so_as_in_eager():
    function = compiled(lambda x: (x.view(-1), x + 1, x))
    x = torch.randn(2, 3)
    view, fresh, same = function(x)
    assert view.data_ptr() == x.data_ptr() and same.data_ptr() == x.data_ptr()
    assert fresh.data_ptr() != x.data_ptr()
    x.zero_()
    assert torch.equal(view, torch.zeros(6))


def test_inputs_are_updated_in_place():
    x, expected = torch.ones(3), torch.ones(3)

    def function(x):
        x.mul_(2)
        return x + 1

    result = compiled(function)(x)
    assert torch.equal(result, function(expected)) and torch.equal(x, expected)


def test_a_wrong_option_is_an_error_that_names_it():
    with pytest.raises(Exception, match="no_such_option"):
        compiled(lambda x: x + 1, options={"no_such_option": 3})(torch.ones(2))
    torch._dynamo.reset()
    with pytest.raises(Exception, match="max_fusions.*minus one"):
        compiled(lambda x: x + 1, options={"max_fusions": "minus one"})(torch.ones(2))


def test_an_unknown_mode_is_an_error_that_lists_the_known_ones():
    with pytest.raises(Exception, match="mode='fastest'.*default"):
        compiled(lambda x: x + 1, mode="fastest")(torch.ones(2))


def test_a_graph_that_text_cannot_say_runs_eagerly_with_a_warning():
    x = torch.ones(3, dtype=torch.complex64).conj()
    with pytest.warns(UserWarning, match="runs eagerly: it has an input with a pending conjugation"):
        result = compiled(lambda x: x + 1)(x)
    assert torch.equal(result, x + 1)


def test_a_negated_view_after_a_plain_one_is_another_graph():
    values = torch.complex(torch.zeros(4), torch.arange(4.0))
    function = compiled(lambda x: x + 1)
    assert torch.equal(function(values.imag), values.imag + 1)
    negated = values.conj().imag
    assert negated.is_neg() and negated.stride() == values.imag.stride()
    with pytest.warns(UserWarning, match="runs eagerly: it has an input with a pending conjugation"):
        result = function(negated)
    assert torch.equal(result, negated + 1)


def test_a_negated_gradient_is_not_read_as_it_lies():
    x = torch.ones(4, requires_grad=True)
    y = compiled(lambda x: x * 3)(x)
    gradient = torch._neg_view(torch.arange(4.0))
    with pytest.raises(jumar.InputError, match="negation"):
        y.backward(gradient)



def test_exceptions_of_operators_keep_their_type():
    function = compiled(lambda x, i: x[i] + 1)
    assert torch.equal(function(torch.ones(3), torch.tensor([0, 2])), torch.full((2,), 2.0))
    with pytest.raises(IndexError):
        function(torch.ones(3), torch.tensor([0, 7]))


def test_explain_lists_kernels_and_calls():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU())
    with torch.no_grad():
        explanation = jumar.explain(model, torch.randn(4, 8))
    assert [graph["graph"] for graph in explanation.graphs] == ["inference"]
    assert not explanation.eager
    assert any("addmm" in row["op"] or ".mm." in row["op"] for row in explanation.calls)
    assert "inference graph: " in str(explanation)
    training = jumar.explain(model, torch.randn(4, 8))
    assert [graph["graph"] for graph in training.graphs] == ["forward", "backward"]
