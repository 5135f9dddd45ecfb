"""The operators that every Ascend target is measured on: name -> case, a function and what makes its inputs.

The rows are those of the operator list of the device's numbers (bench/ascend.py), each for every type for which it
means something, and every cast between two types. `size_cases` are functions for runs over many sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch
import torch.nn.functional as F

Inputs = tuple[Any, ...]
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
DTYPES = (*FLOATS, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool)


@dataclass(frozen=True)
class Case:
    function: Callable[..., Any]
    inputs: Callable[[], Inputs]
    # Of sums: the sum of |x| for each element of the result, which its error is measured by.
    weight: Callable[..., torch.Tensor] | None = None
    dtypes: tuple[torch.dtype, ...] = (torch.float32,)
    has_dynamic: bool = True


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def _positive(*shape: int) -> torch.Tensor:
    return torch.rand(shape) + 0.1


def _mask(*shape: int) -> torch.Tensor:
    return torch.rand(shape) > 0.5


def _integers(*shape: int, low: int = -100, high: int = 100, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape, dtype=dtype)


def _rms_norm(x, residual, weight):
    h = x + residual
    f = h.float()
    return (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(h.dtype) * weight, h


def _rotary(q, cos, sin):
    half = q.shape[-1] // 2
    return q * cos + torch.cat((-q[..., half:], q[..., :half]), -1) * sin


def _adam(parameters, gradients, means, squares):
    means = torch._foreach_lerp(means, gradients, 0.1)
    squares = torch._foreach_add(torch._foreach_mul(squares, 0.99), torch._foreach_mul(gradients, gradients), alpha=0.01)
    steps = torch._foreach_div(means, torch._foreach_add(torch._foreach_sqrt(squares), 1e-8))
    return [*torch._foreach_add(parameters, steps, alpha=-0.01), *means, *squares]


def _adam_inputs() -> Inputs:
    shapes = [(256, 300), (1000,), (33, 65)]
    return tuple([make(*shape) for shape in shapes] for make in (_normal, _normal, _normal, _positive))


def _where_chain(x, y):
    return torch.where(x > 0, y, torch.where(y > 0.5, x, x + y))


def _quantize(x):
    return torch.clamp(torch.round(x / 0.05), -128, 127).to(torch.int8)


OPERATORS: dict[str, Case] = {
    "gelu_add": Case(lambda x, y: F.gelu(x + y), lambda: (_normal(1024, 1000), _normal(1024, 1000)), dtypes=FLOATS),
    "layer_norm": Case(lambda x, w, b: F.layer_norm(x, (768,), w, b),
                       lambda: (_normal(1024, 768), _normal(768), _normal(768)), dtypes=FLOATS),
    "rms_norm_residual": Case(_rms_norm, lambda: (_normal(2, 64, 1024), _normal(2, 64, 1024), _normal(1024)),
                              dtypes=FLOATS),
    "softmax_last": Case(lambda x: torch.softmax(x, -1), lambda: (_normal(4, 12, 128, 128),), dtypes=FLOATS),
    "softmax_unaligned": Case(lambda x, y: torch.softmax(x + y, -1), lambda: (_normal(64, 3, 49, 49), _normal(3, 49, 49)),
                              dtypes=FLOATS),
    "softmax_middle": Case(lambda x: torch.softmax(x, 1), lambda: (_normal(16, 60, 200),), dtypes=FLOATS),
    "log_softmax_loss": Case(lambda x, t: F.cross_entropy(x, t),
                             lambda: (_normal(512, 1000), torch.randint(0, 1000, (512,))), dtypes=FLOATS),
    "permute_add": Case(lambda x, y: x.permute(0, 2, 1) + y, lambda: (_normal(16, 128, 192), _normal(16, 192, 128)),
                        dtypes=FLOATS),
    "batch_norm_relu": Case(lambda x, m, v, w, b: F.relu(F.batch_norm(x, m, v, w, b)),
                            lambda: (_normal(8, 64, 28, 28), _normal(64), _positive(64), _normal(64), _normal(64)),
                            dtypes=FLOATS),
    "group_norm": Case(lambda x, w, b: F.group_norm(x, 8, w, b),
                       lambda: (_normal(4, 64, 28, 28), _normal(64), _normal(64)), dtypes=FLOATS),
    "cat_relu": Case(lambda a, b, c: torch.cat([a, b, c], 1).relu(),
                     lambda: (_normal(512, 256), _normal(512, 500), _normal(512, 7)), dtypes=FLOATS),
    "pad_add": Case(lambda x, y: F.pad(x, (1, 2, 3, 4)) + y, lambda: (_normal(8, 120, 125), _normal(8, 127, 128)),
                    dtypes=FLOATS),
    "embedding": Case(lambda w, i: F.embedding(i, w), lambda: (_normal(5000, 768), torch.randint(0, 5000, (8, 64))),
                      dtypes=FLOATS),
    "index_select": Case(lambda x, i: x.index_select(1, i), lambda: (_normal(64, 300), torch.randint(0, 300, (111,))),
                         dtypes=FLOATS),
    "rotary": Case(_rotary, lambda: (_normal(2, 16, 128, 64), _normal(1, 1, 128, 64), _normal(1, 1, 128, 64)),
                   dtypes=FLOATS),
    "argmax": Case(lambda x: x.argmax(-1), lambda: (_normal(1024, 1000),), dtypes=FLOATS),
    "argmin_first": Case(lambda x: x.argmin(0), lambda: (_normal(500, 300),)),
    "sum_0": Case(lambda x: x.sum(0), lambda: (_normal(40, 64, 100),), lambda x: x.abs().sum(0), FLOATS),
    "sum_1": Case(lambda x: x.sum(1), lambda: (_normal(40, 64, 100),), lambda x: x.abs().sum(1), FLOATS),
    "sum_2": Case(lambda x: x.sum(2), lambda: (_normal(40, 64, 100),), lambda x: x.abs().sum(2), FLOATS),
    "sum_all": Case(lambda x: x.sum(), lambda: (_normal(400, 500),), lambda x: x.abs().sum(), FLOATS),
    "mean_variance": Case(lambda x: torch.var_mean(x, -1), lambda: (_normal(512, 777),), dtypes=FLOATS),
    "variance_middle": Case(lambda x: torch.var_mean(x, 1), lambda: (_normal(16, 333, 50),)),
    "cumsum": Case(lambda x: x.cumsum(-1), lambda: (_normal(100, 200),), lambda x: x.abs().cumsum(-1), FLOATS),
    "cumsum_first": Case(lambda x: x.cumsum(0), lambda: (_normal(100, 200),), lambda x: x.abs().cumsum(0)),
    "dropout_mask": Case(lambda x, m: x * m * 2.0, lambda: (_normal(300, 500), _mask(300, 500)), dtypes=FLOATS),
    "masked_fill": Case(lambda x, m: x.masked_fill(m, -1e4), lambda: (_normal(300, 500), _mask(300, 500)),
                        dtypes=FLOATS),
    "where_chain": Case(_where_chain, lambda: (_normal(300, 500), _normal(300, 500)), dtypes=FLOATS),
    "index_arithmetic_i32": Case(lambda a, b: (a * 3 + b) // 7 % 11,
                                 lambda: (_integers(200, 300, dtype=torch.int32), _integers(200, 300, dtype=torch.int32))),
    "index_arithmetic_i64": Case(lambda a, b: (a * 3 + b) // (b.abs() + 1),
                                 lambda: (_integers(100, 100), _integers(100, 100))),
    "division_i32": Case(lambda a: (a // -3, a % 100003, torch.fmod(a, 1000), torch.div(a, 7, rounding_mode="trunc")),
                         lambda: (_integers(200, 300, low=-2**31, high=2**31 - 1, dtype=torch.int32),)),
    "index_from_positions": Case(lambda x: x + (torch.arange(300) * 7 % 13), lambda: (_integers(200, 300),)),
    "bool_logic": Case(lambda a, b: (a & b) | (~a ^ b), lambda: (_mask(300, 500), _mask(300, 500))),
    "any_all": Case(lambda a: (a.any(-1), a.all(0)), lambda: (_mask(300, 500),)),
    "swiglu": Case(lambda a, b: F.silu(a) * b, lambda: (_normal(512, 688), _normal(512, 688)), dtypes=FLOATS),
    "adam": Case(_adam, _adam_inputs, has_dynamic=False),
    "quantize": Case(_quantize, lambda: (_normal(512, 688),), dtypes=FLOATS),
    "dequantize": Case(lambda q: (q.float() - 3) * 0.05, lambda: (_integers(512, 688, low=-128, high=128,
                                                                            dtype=torch.int8),)),
    "index_put": Case(lambda x, i, v: x.index_put((i,), v),
                      lambda: (_normal(200, 300), torch.randperm(200)[:70], _normal(70, 300))),
    "index_add": Case(lambda x, i, v: x.index_add(0, i, v),
                      lambda: (_normal(20, 300), torch.randint(0, 20, (50,)), _normal(50, 300)),
                      lambda x, i, v: x.abs().index_add(0, i, v.abs())),
    "gather": Case(lambda x, i: x.gather(1, i), lambda: (_normal(20, 30), torch.randint(0, 30, (20, 40)))),
    "reduce_max": Case(lambda x: (x.amax((0, 2)), x.max(-1)), lambda: (_normal(50, 100, 200),)),
    "product": Case(lambda x: x.prod(-1), lambda: (_normal(50, 10),)),
    "avg_pool": Case(lambda x: F.avg_pool2d(x, 2), lambda: (_normal(2, 16, 32, 32),)),
    "max_pool": Case(lambda x: F.max_pool2d(x, 3, 2, 1),
                     lambda: (_normal(2, 32, 57, 62).to(memory_format=torch.channels_last),), dtypes=FLOATS),
    "avg_pool_overlapping": Case(lambda x: F.avg_pool2d(x, (3, 2), (1, 2), 1), lambda: (_normal(2, 16, 33, 40),)),
    "adaptive_pool": Case(lambda x: F.adaptive_avg_pool2d(x, 1), lambda: (_normal(2, 64, 16, 16),)),
    "roll": Case(lambda x: torch.roll(x, 3, 1) + 1, lambda: (_normal(100, 200),)),
    "flip": Case(lambda x: x.flip(1) * 2, lambda: (_normal(100, 200),)),
    "flip_rows": Case(lambda x: x.flip(0) * 2, lambda: (_normal(100, 201),)),
    "flip_outer_and_last": Case(lambda x: x.flip((0, 2)) + 1, lambda: (_normal(7, 33, 65),), dtypes=FLOATS),
    "flip_bytes": Case(lambda x: x.flip(1), lambda: (_integers(33, 65, dtype=torch.int8),)),
    "tril": Case(lambda x: x.tril(), lambda: (_normal(100, 200),)),
    "long_softmax": Case(lambda x: torch.softmax(x, -1), lambda: (_normal(3, 100000),)),
    "long_sum": Case(lambda x: x.sum(-1), lambda: (_normal(3, 100000),), lambda x: x.abs().sum(-1)),
    "trigonometry": Case(lambda x: torch.stack([x.sin(), x.cos(), x.tan(), x.atan(), x.sinh(), x.cosh(), x.asinh()]),
                         lambda: (_normal(1000),)),
    "inverse_functions": Case(lambda x: torch.stack([x.asin(), x.acos(), x.atanh()]),
                              lambda: (torch.rand(1000) * 1.8 - 0.9,)),
    "exponentials": Case(lambda x: torch.stack([x.exp(), x.expm1(), x.tanh(), x.sigmoid(), x.erf(), F.mish(x)]),
                         lambda: (_normal(1000),)),
    "logarithms": Case(lambda x: torch.stack([x.log(), x.log2(), x.log10(), x.log1p(), x.acosh()]),
                       lambda: (torch.rand(1000) * 5 + 1.01,)),
    "powers": Case(lambda x: torch.stack([x.sqrt(), x.rsqrt(), x.reciprocal(), x.pow(1.7)]), lambda: (_positive(1000),)),
    "rounding": Case(lambda x: torch.stack([x.floor(), x.ceil(), x.round(), x.trunc()]), lambda: (_normal(1000) * 9,)),
    "remainders": Case(lambda a, b: torch.stack([torch.remainder(a, b), torch.fmod(a, b), torch.floor_divide(a, b)]),
                       lambda: (_normal(1000) * 5, _positive(1000))),
    "angles": Case(lambda a, b: torch.atan2(a, b), lambda: (_normal(1000), _normal(1000))),
    "linear_gelu": Case(lambda x, w, b: F.gelu(x @ w + b), lambda: (_normal(64, 128), _normal(128, 96), _normal(96))),
    "empty": Case(lambda x: x * 2, lambda: (_normal(0, 5),), has_dynamic=False),
    "one_element": Case(lambda x: x * 2 + 1, lambda: (_normal(1),), has_dynamic=False),
    "no_dimensions": Case(lambda x: x.exp(), lambda: (_normal(),), has_dynamic=False),
}


def _typed(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list):
        return [_typed(item, dtype) for item in value]
    return value.to(dtype) if value.is_floating_point() else value


def _of_dtype(case: Case, dtype: torch.dtype) -> Case:
    return Case(case.function, lambda: tuple(_typed(x, dtype) for x in case.inputs()), case.weight, (dtype,))


def _cast(source: torch.dtype, target: torch.dtype) -> Case:
    def inputs() -> Inputs:
        x = torch.randn(37, 410) * 20
        return ((x.abs() if source == torch.uint8 else x).to(source),)

    def function(x):
        # From a float straight to uint8 only what is not negative has one meaning.
        return x.abs().to(target) if target == torch.uint8 and source.is_floating_point else x.to(target)

    return Case(function, inputs, has_dynamic=False)


def operator_cases() -> dict[str, Case]:
    """Every row for every type it is listed with: "softmax_last" and "softmax_last.bfloat16"."""
    out: dict[str, Case] = {}
    for name, case in OPERATORS.items():
        for dtype in case.dtypes:
            key = name if dtype == torch.float32 else f"{name}.{dtype_name(dtype)}"
            out[key] = case if dtype == torch.float32 else _of_dtype(case, dtype)
    return out


def cast_cases() -> dict[str, Case]:
    return {f"cast.{dtype_name(a)}.{dtype_name(b)}": _cast(a, b) for a in DTYPES for b in DTYPES if a != b}


SHARE_OPERATORS = ("gelu_add", "layer_norm.float16", "softmax_middle", "permute_add", "cat_relu.bfloat16", "embedding",
                   "argmax", "sum_0", "mean_variance", "cumsum", "index_arithmetic_i64", "bool_logic", "adam")
SHARE_CASTS = ("cast.float32.bfloat16", "cast.bfloat16.int8", "cast.int64.float16", "cast.bool.float32")


# ---- graphs for which another system's kernels are known


class EncoderLayer(torch.nn.Module):
    """Of BERT-base: attention written out, norms after each half."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (torch.nn.Linear(768, 768) for _ in range(4))
        self.up, self.down = torch.nn.Linear(768, 3072), torch.nn.Linear(3072, 768)
        self.norm_1, self.norm_2 = torch.nn.LayerNorm(768, 1e-12), torch.nn.LayerNorm(768, 1e-12)

    def forward(self, x, mask):
        batch, length, _ = x.shape
        q, k, v = (part(x).view(batch, length, 12, 64).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = torch.softmax(q @ k.transpose(-1, -2) / 8 + mask, -1)
        x = self.norm_1(x + self.out((scores @ v).transpose(1, 2).reshape(batch, length, 768)))
        return self.norm_2(x + self.down(F.gelu(self.up(x))))


def _two_rotary(q, k, cos, sin):
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return _rotary(q, cos, sin), _rotary(k, cos, sin)


@dataclass(frozen=True)
class Graph:
    """A case with what its kernels may take together on an Ascend910B1; nothing: the GM bytes are 1.05 of the least."""

    case: Case
    most_vector_calls: int | None = None
    most_gm_bytes: int | None = None
    most_kernels: int = 1


def encoder_layer() -> torch.nn.Module:
    torch.manual_seed(0)
    return EncoderLayer().eval()


def graphs() -> dict[str, Graph]:
    half, brain = torch.float16, torch.bfloat16

    def case(function: Callable[..., Any], dtype: torch.dtype, *shapes: tuple[int, ...]) -> Case:
        return Case(function, lambda: tuple(_normal(*shape).to(dtype) for shape in shapes), dtypes=(dtype,))

    f32 = torch.float32
    return {
        "gelu": Graph(case(lambda x, y: F.gelu(x + y), f32, (4096, 4096), (4096, 4096))),
        "layer_norm": Graph(case(OPERATORS["layer_norm"].function, half, (1024, 768), (768,), (768,)), 2926),
        "softmax": Graph(case(lambda x: torch.softmax(x, -1), brain, (8, 12, 512, 512)), 38736),
        "permute_add": Graph(case(OPERATORS["permute_add"].function, f32, (64, 128, 768), (64, 768, 128)), 1152, 75_600_000),
        "sum_0": Graph(Case(lambda x: x.sum(0), lambda: (_normal(2048, 1000),), lambda x: x.abs().sum(0)), 9000),
        "sum_1": Graph(Case(lambda x: x.sum(1), lambda: (_normal(2048, 1000),), lambda x: x.abs().sum(1)), 346),
        "rms_norm": Graph(case(_rms_norm, brain, (2, 64, 4096), (2, 64, 4096), (4096,))),
        "cat": Graph(case(lambda a, b, c: torch.cat([a, b, c], 1).relu(), f32, (1024, 256), (1024, 512), (1024, 128))),
        "embedding": Graph(Case(lambda w, i: F.embedding(i, w),
                                lambda: (_normal(30522, 768), torch.randint(0, 30522, (16, 128))))),
        "argmax": Graph(case(lambda x: x.argmax(-1), f32, (2048, 1000)), 6402),
        "batch_norm": Graph(Case(OPERATORS["batch_norm_relu"].function,
                                 lambda: (_normal(8, 64, 56, 56), _normal(64), _positive(64), _normal(64), _normal(64))),
                            2176),
        "rotary": Graph(case(_two_rotary, half, (2, 32, 256, 128), (2, 32, 256, 128), (2, 256, 128), (2, 256, 128))),
        "encoder_layer": Graph(case(encoder_layer(), f32, (8, 128, 768), (8, 1, 1, 128)), None, 88_600_000, 9),
    }


# ---- many sizes

# name -> (function of one tensor, its rank, the weight of sums)
SIZED: dict[str, tuple[Callable[..., Any], int, Callable[..., torch.Tensor] | None]] = {
    "gelu": (lambda x: F.gelu(x * 2 + 1), 1, None),
    "softmax": (lambda x: torch.softmax(x, -1), 2, None),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1:]), 2, None),
    "sum_0": (lambda x: x.sum(0), 2, lambda x: x.abs().sum(0)),
    "sum_1": (lambda x: x.sum(1), 2, lambda x: x.abs().sum(1)),
    "sum_all": (lambda x: x.sum(), 2, lambda x: x.abs().sum()),
    "argmax": (lambda x: x.argmax(-1), 2, None),
    "transpose": (lambda x: x.t().contiguous() + 1, 2, None),
    "flip": (lambda x: x.flip(1) + 1, 2, None),
    "first_row": (lambda x: x + x[:1] * 2, 2, None),
    "variance": (lambda x: torch.var_mean(x, -1), 2, None),
    "amax_0": (lambda x: x.amax(0), 2, None),
    "cat_pad": (lambda x: F.pad(torch.cat([x, x * 2], 1), (1, 1)), 2, None),
}


def sizes(rank: int, cores: int) -> list[tuple[int, ...]]:
    """Around nothing, one and the count of cores, primes, and rows of up to 100,000."""
    around = [0, 1, 2, 3, 7, 8, 31, cores - 1, cores, cores + 1, 97, 1009]
    if rank == 1:
        return [(n,) for n in (*around, 4096, 65537, 99991, 100000)]
    # Each with the one that stands some places on, so that every size is once a row count and once a row length.
    pairs = [(a, around[(k * 5 + 4) % len(around)]) for k, a in enumerate(around)]
    return [*pairs, (1, 1), (cores, cores), (1, 100000), (3, 65537), (2, 99991), (100000, 1), (4099, 3), (cores + 1, 4096)]
