"""Archives of torch.export.save, imported without Python, next to the exported module."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from comparing import assert_same
from exporting import ImportedModule, imported
from torch import nn
from torch.export import Dim

pytest.importorskip("jumar._native", reason="the extension is not built")


class Function(nn.Module):
    """A function as a module; tensors given by name become buffers."""

    def __init__(self, function, **buffers):
        super().__init__()
        self.function = function
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs) if not self._buffers else self.function(self, *args, **kwargs)


def copied(value):
    return [x.clone() if isinstance(x, torch.Tensor) else x for x in value]


def check(module, *inputs, dynamic_shapes=None, others=(), calls=1, **tolerance):
    """Results, inputs after the call and buffers after it."""
    if not isinstance(module, nn.Module):
        module = Function(module)
    torch.manual_seed(0)
    run = imported(copy.deepcopy(module), copied(inputs), dynamic_shapes=dynamic_shapes)
    for arguments in [inputs, *others]:
        for _ in range(calls):
            ours, theirs = copied(arguments), copied(arguments)
            with torch.no_grad():
                expected = module(*theirs)
            found = run(*ours)
            assert_same(found, expected, strides=False, **tolerance)
            assert_same(ours, theirs, strides=False, **tolerance)
    state = {**dict(module.named_buffers()), **{k: v.detach() for k, v in module.named_parameters()}}
    for name, tensor in state.items():
        if name in run.names:
            assert_same(run._weight(name), tensor, strides=False, **tolerance)
    return run


def rows(*shape):
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape) / 7 - 1


# Writes.


def select_add(x):
    x[1].add_(2)
    return x * 2


def column_assign(x):
    x[:, 0] = 5
    return x + 1


def slice_copy(x, y):
    x[1:3, ::2].copy_(y)
    return x


def transposed_write(x):
    x.t().mul_(2)
    return x.sum(0)


def views_of_views(x):
    v = x.view(2, 2, 3)
    w = v.transpose(0, 1)[1]
    w.add_(10)
    return v, x.select(0, 3), w


def stale_view(x):
    first, second = x[0], x[1]
    x.add_(1)
    first.mul_(3)
    return second + 1, first, x.sum()


def split_write(x):
    a, b = x.split([1, 3], dim=0)
    b.zero_()
    a.fill_(4)
    return a + 1


def unbind_write(x):
    for k, row in enumerate(x.unbind(0)):
        row.add_(k)
    return x.clone()


def chunk_write(x):
    a, b = x.chunk(2, dim=1)
    a.neg_()
    return b, x


def diagonal_write(x):
    x.diagonal().fill_(0)
    return x


def as_strided_write(x):
    x.as_strided((2, 2), (3, 1), 1).add_(100)
    return x


def metadata_write(x):
    y = x.clone()
    y.unsqueeze_(0).transpose_(1, 2)
    y.add_(1)
    return y


def squeeze_write(x):
    x.unsqueeze(1).squeeze(1).add_(1)
    return x


def flatten_write(x):
    x.flatten().add_(1)
    x.reshape(-1)[2:5].mul_(2)
    return x


def contiguous_write(x):
    y = x.contiguous()
    y.add_(1)  # x itself
    z = x.t().contiguous()
    z.add_(1)  # a copy
    return x, z


def index_writes(x):
    x[torch.tensor([0, 2])] = 1.5
    x.index_add_(0, torch.tensor([1, 1]), torch.ones(2, 3))
    x[x > 2] = 0
    return x


def masked_writes(x):
    x.masked_fill_(x > 1, 7)
    x.clamp_(max=3).relu_()
    return x


def intermediate(x):
    y = x + 1
    z = y[0]
    y.mul_(2)
    z.sub_(1)
    return y


def scatter_write(x):
    return x.clone().scatter_(1, torch.zeros(4, 1, dtype=torch.int64), 3.0)


def activations(x):
    y = F.silu(x + 0, inplace=True)
    y = F.hardswish(y, inplace=True)
    y = F.dropout(y, 0.5, training=False, inplace=True)
    return F.leaky_relu(F.elu(y, inplace=True), inplace=True)


WRITES = [
    select_add, column_assign, transposed_write, views_of_views, stale_view, split_write, unbind_write, chunk_write,
    as_strided_write, metadata_write, squeeze_write, flatten_write, contiguous_write, index_writes,
    masked_writes, intermediate, scatter_write, activations, diagonal_write,
]  # fmt: skip


@pytest.mark.parametrize("function", WRITES, ids=lambda f: f.__name__)
def test_writes(function):
    check(function, rows(4, 3))


def test_a_copy_into_a_strided_slice():
    check(slice_copy, rows(4, 3), torch.ones(2, 2))


def test_writes_convert_to_the_type_written_to():
    def function(x, y, flags):
        x.add_(y)
        flags.copy_(y > 1)
        y.eq_(2.0)
        return x * 2

    check(function, torch.ones(2, 3, dtype=torch.bfloat16), rows(2, 3), torch.zeros(2, 3, dtype=torch.bool))


def test_buffers_are_updated():
    def step(self, x):
        self.count.add_(1)
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        self.window[:-1] = self.window[1:].clone()
        self.window[-1] = x[0]
        return x - self.mean, self.count.float()

    module = Function(step, count=torch.tensor(0), mean=torch.zeros(3), window=torch.zeros(4, 3))
    run = check(module, rows(4, 3), calls=3)
    assert len(run.mutations) == 3


def test_batch_norm_in_training_updates_its_statistics():
    check(nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)).train(), torch.randn(3, 2, 8, 8), calls=2)


def test_decomposed_programs_name_their_mutations(tmp_path):
    module = Function(lambda self, x: self.sum.add_(x) * 2, sum=torch.zeros(3))
    exported = torch.export.export(module, (torch.ones(3),)).run_decompositions()
    torch.export.save(exported, tmp_path / "m.pt2")
    run = ImportedModule(tmp_path / "m.pt2")
    assert len(run.mutations) == 1
    for _ in range(2):
        assert_same(run(torch.ones(3)), module(torch.ones(3)))


def test_writes_that_nothing_expresses_are_errors():
    def function(x):
        x.unfold(0, 2, 1).select(0, 0).add_(1)
        return x

    with pytest.raises(RuntimeError, match="unfold"):
        imported(Function(function), (torch.zeros(4),))


# Weights.


class TiedAndOdd(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.head = nn.Linear(6, 10, bias=False)
        self.head.weight = self.embed.weight
        self.turned = nn.Parameter(torch.randn(6, 4).t())
        self.narrow = nn.Parameter(torch.randn(4, 6).bfloat16())
        whole = torch.randn(8, 6)
        self.register_buffer("upper", whole[:4])
        self.register_buffer("lower", whole[4:])
        self.register_buffer("scale", torch.tensor(1.5), persistent=False)
        self.register_buffer("empty", torch.zeros(0, 3))

    def forward(self, tokens):
        x = self.embed(tokens)
        y = x @ self.turned.t() + x @ self.narrow.float().t()
        offsets = torch.tensor([0.5, 1.0, -1.0, 2.0])
        z = (x @ self.upper.t() - x @ self.lower.t()) * self.scale + offsets
        return self.head(x), y + z, self.empty.sum()


def test_weights_of_every_kind():
    check(TiedAndOdd(), torch.tensor([[1, 2, 3]]))


def test_the_weights_that_the_importer_maps_are_the_module_s(tmp_path):
    """Layouts of weights are part of the text: a wrong one would be refused when they are passed."""
    run = imported(TiedAndOdd(), (torch.tensor([[1, 2, 3]]),))
    assert "parameter" in run.text and "{1, 4}" in run.text and "bf16[4, 6]" in run.text


def test_a_write_to_shared_storage_is_an_error():
    whole = torch.zeros(4, 3)

    def function(self, x):
        self.upper.add_(1)
        return x + self.all

    with pytest.raises(RuntimeError, match="shares its storage"):
        imported(Function(function, all=whole, upper=whole[:2]), (torch.ones(4, 3),))


# Arguments.


class Nested(nn.Module):
    def forward(self, pair, options, *, scale, flag=True, nothing=None):
        a, b = pair
        y = a * options["w"] + b if flag else a
        return {"sum": y.sum() * scale, "parts": [y, (a, 3, None)]}


def test_nested_arguments_and_results():
    pair, options = (torch.randn(2, 3), torch.randn(3)), {"w": torch.randn(3)}
    kwargs = {"scale": 2, "flag": True, "nothing": None}
    run = imported(Nested(), (pair, options), kwargs)
    expected = Nested()(pair, options, **kwargs)
    found = run(pair, options, **kwargs)
    assert_same(found["sum"], expected["sum"])
    assert_same(found["parts"], expected["parts"])


def test_an_integer_argument_is_a_size():
    def function(x, n):
        return x[:n] * n

    class Sliced(nn.Module):
        def forward(self, x, n: int):
            return function(x, n)

    run = imported(Sliced(), (torch.randn(8), 3), dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    for n in (3, 5):
        x = torch.randn(8)
        assert_same(run(x, n), function(x, n))


# Sizes.


def test_derived_sizes():
    half = Dim("half", min=2, max=32)

    def function(x, y):
        a, b = x[: y.shape[0]], x[y.shape[0] :]
        return torch.cat([a + y, b]).reshape(2, -1, 3).sum(1), torch.arange(x.shape[0] // 2) * x.shape[0]

    class Halves(nn.Module):
        def forward(self, x, y):
            return function(x, y)

    check(
        Halves(),
        torch.randn(8, 3),
        torch.randn(4, 3),
        dynamic_shapes={"x": {0: 2 * half}, "y": {0: half}},
        others=[(torch.randn(20, 3), torch.randn(10, 3))],
    )


def test_sizes_that_depend_on_data():
    def function(x):
        where = torch.nonzero(x)
        return where, where.shape[0] + 1

    class Found(nn.Module):
        def forward(self, x):
            return function(x)

    check(Found(), torch.tensor([0.0, 1.0, 2.0]), others=[(torch.tensor([1.0, 1.0, 2.0]),)])


def test_a_number_read_from_a_tensor():
    class Repeated(nn.Module):
        def forward(self, n, x):
            count = n.item()
            torch._check(count >= 1)
            torch._check(count <= 8)
            return x.expand(count, 3) + 1

    check(Repeated(), torch.tensor(4), torch.randn(3), others=[(torch.tensor(2), torch.randn(3))])


def test_regions_without_gradients_are_inlined(tmp_path):
    class Region(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            with torch.no_grad():
                y = self.fc(x).relu()
            return y + self.fc(x)

    module, x = Region(), torch.randn(2, 3)
    exported = torch.export.export(module, (x,))
    assert "wrap_with_set_grad_enabled" in str(exported.graph)
    torch.export.save(exported, tmp_path / "region.pt2")
    assert_same(ImportedModule(tmp_path / "region.pt2")(x), module(x).detach())


# Operators.


def image(*shape):
    """Numbers without an order; part of the exported program where a function makes them."""
    return torch.sin(torch.arange(torch.Size(shape).numel()) * 1.7 + len(shape)).reshape(shape) * 1.5


OPERATORS = {
    "linear_1d": (lambda x: F.linear(x, image(4, 3), image(4)), image(3)),
    "linear_no_bias": (lambda x: F.linear(x, image(4, 3)), image(2, 5, 3)),
    "linear_strided": (lambda x: F.linear(x.transpose(0, 1), image(4, 3), image(4)), image(2, 5, 3)),
    "matmul_1_1": (lambda x, y: x @ y, image(3), image(3)),
    "matmul_1_2": (lambda x, y: x @ y, image(3), image(3, 4)),
    "matmul_2_1": (lambda x, y: x @ y, image(2, 3), image(3)),
    "matmul_3_1": (lambda x, y: x @ y, image(5, 2, 3), image(3)),
    "matmul_3_2": (lambda x, y: x @ y, image(5, 2, 3), image(3, 4)),
    "matmul_1_3": (lambda x, y: x @ y, image(3), image(5, 3, 4)),
    "matmul_2_3": (lambda x, y: x @ y, image(2, 3), image(5, 3, 4)),
    "matmul_4_3": (lambda x, y: x @ y, image(2, 1, 2, 3), image(5, 3, 4)),
    "conv1d": (lambda x: F.conv1d(x, image(4, 3, 3), image(4), stride=2, padding=1), image(2, 3, 9)),
    "conv_unbatched": (lambda x: F.conv2d(x, image(4, 3, 3, 3)), image(3, 9, 9)),
    "conv_same": (lambda x: F.conv2d(x, image(4, 3, 2, 3), padding="same"), image(2, 3, 9, 9)),
    "conv_valid": (lambda x: F.conv2d(x, image(4, 3, 2, 3), padding="valid"), image(2, 3, 9, 9)),
    "conv_transpose": (
        lambda x: F.conv_transpose2d(x, image(3, 4, 3, 3), stride=2, output_padding=1),
        image(2, 3, 5, 5),
    ),
    "max_pool": (lambda x: F.max_pool2d(x, 3, 2, 1), image(2, 3, 9, 9)),
    "adaptive": (lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 2))), image(2, 3, 9, 8)),
    "pads": (
        lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 1, 2, 0), "reflect"), F.pad(x, (2, 1, 0, 1), "replicate")),
        image(2, 3, 5, 6),
    ),
    "layer_norm": (lambda x: F.layer_norm(x, (4,), image(4), image(4)), image(2, 3, 4)),
    "group_norm": (lambda x: F.group_norm(x, 2, image(4), image(4)), image(2, 4, 5, 5)),
    "batch_norm": (lambda x: F.batch_norm(x, image(4), image(4).abs() + 1), image(2, 4, 5, 5)),
    "rms_norm": (lambda x: F.rms_norm(x, (4,), image(4)), image(2, 3, 4)),
    "softmax": (lambda x: (x.softmax(-1), x.log_softmax(0), x.softmax(1, dtype=torch.float64)), image(3, 4)),
    "sdpa": (F.scaled_dot_product_attention, image(2, 4, 6, 8), image(2, 4, 5, 8), image(2, 4, 5, 8)),
    "sdpa_causal": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        image(2, 4, 6, 8), image(2, 4, 6, 8), image(2, 4, 6, 8),
    ),
    "sdpa_3d_masked": (
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m > 0),
        image(4, 6, 8), image(4, 5, 8), image(4, 5, 8), image(6, 5) + 1,
    ),
    "sdpa_3d_causal": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
        image(4, 6, 8), image(4, 6, 8), image(4, 6, 4),
    ),
    "sdpa_grouped": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        image(2, 4, 6, 8), image(2, 2, 5, 8), image(2, 2, 5, 8),
    ),
    "sdpa_float_mask": (
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
        image(2, 4, 6, 8), image(2, 4, 5, 8), image(2, 4, 5, 8), image(2, 1, 6, 5),
    ),
    "views": (
        lambda x: (x.mT, x.T.movedim(0, 2), x.swapaxes(0, 1), x.unflatten(-1, (2, 2)), x.narrow(1, -2, 2),
                   x.expand_as(torch.zeros(5, 2, 3, 4)), x.ravel(), x.view_as(torch.zeros(6, 4))),
        image(2, 3, 4),
    ),
    "splits": (
        lambda x: (*x.chunk(3, 1), *x.tensor_split(3, 1), *x.tensor_split([1, 5], 1), *x.hsplit(7), *x.vsplit(2)),
        image(4, 7),
    ),
    "conversions": (
        lambda x: (x.double(), x.half(), x.to(torch.int32), x.type_as(torch.zeros(1, dtype=torch.bool)),
                   x.to(torch.zeros(1, dtype=torch.bfloat16)), x.to(torch.float32, copy=True)),
        image(3, 4) * 5,
    ),
    "channels_last": (
        lambda x: (x.contiguous(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last) + 1),
        image(2, 3, 4, 5),
    ),
    "diffs": (lambda x: (x.diff(), x.diff(n=2, dim=0), (x > 0).diff(), x.diff(prepend=x[:, :1])), image(4, 5)),
    "moments": (
        lambda x: (x.std(1), x.var(0, keepdim=True), x.std(), x.var(unbiased=False), torch.norm(x, dim=1)),
        image(4, 5),
    ),
    "losses": (
        lambda x, t: (F.cross_entropy(x, t), F.nll_loss(x, t), F.cross_entropy(x, t, reduction="sum")),
        image(4, 5), torch.tensor([0, 4, 2, 1]),
    ),
    "elements": (
        lambda x: (F.logsigmoid(x), F.selu(x), x.clip(-1, 1), torch.multiply(x, 2), torch.outer(x[0], x[1]),
                   torch.max(x, x.flip(0)), x.tile(2), torch.square(x), F.softplus(x), F.mish(x)),
        image(2, 3),
    ),
    "bits": (lambda x: ((x > 0) & (x < 1), (x > 0) | (x < -1), (x > 0) ^ (x < 1)), image(2, 3)),
    "embedding": (lambda t: F.embedding(t, image(5, 3), padding_idx=0), torch.tensor([[0, 4], [2, 1]])),
    "einsum": (lambda x, y: torch.einsum("bik,bkj->bij", x, y), image(2, 3, 4), image(2, 4, 5)),
    "interpolate": (
        lambda x: (F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=(7, 9), mode="bilinear")),
        image(2, 3, 4, 5),
    ),
    "lstm": (lambda x: nn.LSTM(3, 4, batch_first=True)(x)[0].shape[0] + x, image(2, 5, 3)),
    "sorting": (lambda x: (*x.sort(1), *x.topk(2), x.argmax(1), x.cumsum(0)), image(3, 5)),
    "where": (lambda x: (torch.where(x > 0, x, 0.0), torch.where(x > 0)), image(3, 5)),
    "complex_view": (lambda x: torch.view_as_real(torch.view_as_complex(x) * 2), image(3, 2)),
    "creation": (
        lambda x: (torch.zeros_like(x), x.new_full((2,), 3), torch.ones(2, 3), torch.eye(3), torch.linspace(0, 1, 5),
                   torch.full((2,), 1.5), torch.arange(1, 7, 2), torch.tril(x), torch.empty(0)),
        image(3, 5),
    ),
    "one_hot": (lambda t: F.one_hot(t, 5), torch.tensor([0, 4, 2])),
    "cosine": (lambda x, y: F.cosine_similarity(x, y), image(3, 5), image(3, 5)),
    "groups": (lambda x: F.pixel_shuffle(x, 2), image(1, 8, 3, 3)),
    "meshgrid": (
        lambda x, y: (*torch.meshgrid(x, y, indexing="ij"), *torch.meshgrid(x, y, x, indexing="xy")),
        image(3), image(4),
    ),
    "broadcasts": (lambda x, y: (*torch.broadcast_tensors(x, y), torch.atleast_2d(y), x.mH), image(2, 3), image(3)),
    "einsums": (
        lambda x, y: (torch.einsum("bik,jk->jbi", x, y), torch.einsum("bik->kb", x), torch.einsum("bik,jk", x, y),
                      torch.einsum("bik,bjk->", x, x), torch.einsum("ij,ij->ij", y, y)),
        image(2, 4, 3), image(5, 3),
    ),
    "pools_1d": (
        lambda x: (F.max_pool1d(x, 3, 2, 1), F.avg_pool1d(x, 2), F.adaptive_avg_pool1d(x, 3), F.max_pool1d(x[0], 2)),
        image(2, 3, 9),
    ),
    "instance_norm": (lambda x: (F.instance_norm(x), F.instance_norm(x, image(3).abs(), image(3).abs() + 1, use_input_stats=False)), image(2, 3, 4, 4)),
    "multi_head": (nn.MultiheadAttention(8, 2, batch_first=True).eval(), image(2, 5, 8), image(2, 5, 8), image(2, 5, 8)),
    "encoder": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), image(2, 5, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    function, *inputs = OPERATORS[name]
    check(function, *inputs, rtol=1e-4, atol=1e-5)
