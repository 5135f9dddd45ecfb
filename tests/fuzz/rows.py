"""What lines of random programs look like: templates of Python, by how exact their results are.

MOVE never rounds. PICK does not either, but which of two zeros it gives is nowhere said. ARITH is rounded once, as IEEE
says: exact where eager rounds the same values. APPROX has an error bound only (a square root as well, which MKL does not
round), or shows bits. Of logaddexp PyTorch's metadata has other strides than its results, which contiguous() hides.
Placeholders (generate.py fills them in):

    {a} a tensor, {same} the line's first tensor once more, {b} {c} others or numbers, {f} {g} {h} float tensors,
    {i} {j} integer tensors, {m} bools
    {x} an index tensor, {o} a permutation, {v} a tensor that is written to
    {d} a dimension of the line's first tensor, {ds} some, {p} all in a random order
    {s} a number, {k} a small integer, {n} a small positive one, {keep} a bool, {D} an element type, {S} a size
"""

from __future__ import annotations

MOVE, PICK, ARITH, APPROX = range(4)

POINTWISE = {
    PICK: """
        torch.maximum({a}, {b}) ; torch.minimum({a}, {b}) ; torch.fmax({a}, {b}) ; torch.fmin({a}, {b}) ; torch.clamp({a}, {b}, {c})""",
    MOVE: """
        -{f} ; -{i} ; abs({a}) ; torch.sign({a}) ; torch.relu({a}) ; F.relu6({f}) ; F.hardtanh({f}, {k}, {n})
        torch.floor({f}) ; torch.ceil({f}) ; torch.trunc({f}) ; torch.round({f}) ; torch.isnan({a}) ; torch.isinf({a})
        torch.isfinite({a}) ; torch.signbit({a}) ; torch.isposinf({a}) ; torch.logical_not({a}) ; ~{i} ; ~{m}
        torch.nan_to_num({f}) ; torch.nan_to_num({f}, {s}, {s}, {s}) ; torch.clone({a}) ; {a}.contiguous()
        
        {a} == {b} ; {a} != {b} ; {a} < {b} ; {a} <= {b} ; {a} > {b} ; {a} >= {b} ; torch.copysign({f}, {b})
        torch.logical_and({a}, {b}) ; torch.logical_or({a}, {b}) ; torch.logical_xor({a}, {b}) ; {m} & {b} ; {m} | {m}
        {i} & {b} ; {i} | {j} ; {i} ^ {b} ; {i} << {b} ; {i} >> {b} ; torch.bitwise_left_shift({i}, {j} & 7)
        {i} >> ({j} & 7) ; torch.clamp({a}, {k}, {n}) ; torch.clamp({a}, min={s}) ; torch.clamp({a}, max={s})
         ; torch.clamp_min({a}, {s}) ; torch.where({m}, {a}, {b}) ; torch.where({m}, {s}, {a})
        torch.where({a} > 0, {b}, {c}) ; {a}.masked_fill({m}, {s}) ; {a}.masked_fill({a} < {s}, {k})
        F.threshold({f}, {s}, {s}) ; {a}.to({D}) ; {a}.to({D}).to({D}) ; torch.zeros_like({a}) ; torch.ones_like({a})
        torch.full_like({a}, {s}) ; torch.heaviside({f}, {g}) ; F.hardshrink({f}, 0.5) ; {a}.bool() ; {a}.int()
        {i} + {b} ; {i} * {j} ; {i} - {j} ; {i} * {k} ; {i} // {j} ; {i} % {j} ; torch.fmod({i}, {j}) ; {i} // {k}
        torch.div({i}, {j}, rounding_mode='trunc') ; torch.div({i}, {k}, rounding_mode='floor') ; {i} % {k}
        torch.remainder({i}, {k}) ; torch.fmod({i}, {k}) ; torch.pow({i}, {n}) ; torch.square({i}) ; {k} - {i}
        torch.add({i}, {j}, alpha={k}) ; torch.sub({i}, {j}, alpha={k}) ; torch.gcd({i}, {j}) ; {i}.to({D}) + {j}
        torch.addcmul({i}, {i}, {j}, value={k})
        {a}.unsqueeze(-1) == {same}.unsqueeze(-2) ; {a}.unsqueeze(-1) < {same}.unsqueeze(-2) ; {i} - {same}.flip({d})
        {i}.unsqueeze(-1) - {same}.unsqueeze(-2) ; torch.where({a} < {same}.flip({d}), {a}, {s})""",
    ARITH: """
        {f} + {b} ; {f} - {b} ; {f} * {b} ; {f} / {b} ; {s} - {f} ; {s} / {f} ; {f} * {s} ; {f} + {s} ; {a} + {b} ; {a} * {b}
        {f} + {b} ; {f} - {b} ; {f} * {b} ; {f} / {b} ; {s} - {f} ; {f} * {s} ; {f} + {s} ; {a} - {b} ; {a} * {b}
        {f}.unsqueeze(-1) * {same}.unsqueeze(-2) ; {f} + {same}.roll({k}, {d}) ; {f} - {same}.flip({d})
        {a} / {b} ; {f} / {s} ; torch.reciprocal({f}) ; torch.square({f}) ; {f} ** 2
        torch.frac({f}) ; F.leaky_relu({f}, 0.1) ; {i} / {j} ; {i} / {k} ; {f} ** -1 ; {f} ** 3""",
    APPROX: """
        torch.sqrt({f}) ; torch.sqrt({i}) ; {f} ** 0.5
        torch.exp({f}) ; torch.exp2({f}) ; torch.expm1({f}) ; torch.log({f}) ; torch.log2({f}) ; torch.log10({f})
        torch.log1p({f}) ; torch.sin({f}) ; torch.cos({f}) ; torch.tan({f}) ; torch.asin({f}) ; torch.acos({f})
        torch.atan({f}) ; torch.sinh({f}) ; torch.cosh({f}) ; torch.tanh({f}) ; torch.asinh({f}) ; torch.acosh({f})
        torch.atanh({f}) ; torch.erf({f}) ; torch.erfc({f}) ; torch.erfinv({f}) ; torch.lgamma({f}) ; torch.digamma({f})
        torch.sigmoid({f}) ; torch.special.log_ndtr({f}) ; F.silu({f}) ; F.gelu({f}) ; F.gelu({f}, approximate='tanh')
        F.mish({f}) ; F.softplus({f}) ; F.softplus({f}, 2.0, 3.0) ; F.elu({f}, 0.7) ; F.celu({f}, 0.7) ; F.selu({f})
        torch.logit({f}, 0.01) ; F.logsigmoid({f}) ; torch.rsqrt({f}) ; F.hardswish({f}) ; F.hardsigmoid({f})
        torch.exp({i}) ; torch.sin({i}) ; torch.tanh({i}) ; torch.sigmoid({i}) ; torch.deg2rad({f}) ; F.softshrink({f}, 0.3)
        torch.atan2({f}, {b}) ; torch.hypot({f}, {g}) ; torch.logaddexp({f}, {g}).contiguous() ; torch.xlogy({f}, {b})
        torch.pow({f}, {b}) ; torch.pow({s}, {f}) ; torch.pow({f}, {s}) ; torch.remainder({f}, {b}) ; torch.fmod({f}, {b})
        {f} // {b} ; torch.div({f}, {b}, rounding_mode='trunc') ; torch.div({f}, {b}, rounding_mode='floor') ; {f} % {s}
        torch.lerp({f}, {g}, 0.3) ; torch.lerp({f}, {g}, {h}) ; torch.addcmul({f}, {g}, {h}, value={s})
        torch.addcdiv({f}, {g}, {h}, value=0.5) ; torch.add({f}, {g}, alpha={s}) ; torch.sub({f}, {g}, alpha={k})
        F.glu({f}, {d}) ; F.prelu({f}, {g}) ; torch.rsub({f}, {g}, alpha={k})""",
}

FOLDS = {
    PICK: """
        {a}.amax({ds}) ; {a}.amin({ds}, keepdim={keep}) ; {a}.max() ; {a}.min() ; {a}.max({d})[0] ; {a}.min({d}, {keep}) ; {a}.max({d}, {keep}) ; torch.aminmax({a}) ; torch.aminmax({a}, dim={d}, keepdim={keep}) ; {a}.cummax({d})[0] ; {a}.sort({d})[0]""",
    MOVE: """
        
         ; torch.argmax({a}, {d}) ; torch.argmin({a}, {d}, keepdim={keep}) ; torch.argmax({a})
        {a}.any() ; {a}.all() ; {a}.any({d}) ; {a}.all({d}, keepdim={keep}) ; torch.count_nonzero({a}, {d})
        {i}.sum() ; {i}.sum({ds}) ; {m}.sum({d}) ; {i}.prod() ; {i}.prod({d}) ; {i}.cumsum({d}) ; {i}.cumprod({d})
         ; {i}.sum({ds}, dtype=torch.int32)
        torch.any({a}, dim={ds}) ; torch.all({a}, dim={ds})""",
    APPROX: """
        {f}.sum() ; {f}.sum({ds}) ; {f}.sum({ds}, keepdim=True) ; {f}.mean({ds}, keepdim={keep}) ; {f}.mean() ; {f}.prod()
        {f}.sum({d}, keepdim=True) ; {f}.prod({d}) ; {f}.sum({ds}, dtype={D}) ; {i}.sum({d}, dtype=torch.float32)
        {f}.var({ds}, keepdim={keep}) ; {f}.std({d}, correction=0) ; torch.var_mean({f}, {ds}) ; {f}.logsumexp({ds})
        torch.std_mean({f}, {d}, keepdim={keep}) ; {f}.norm() ; torch.linalg.vector_norm({f}, 1, {ds})
        torch.linalg.vector_norm({f}, float('inf'), {ds}) ; torch.linalg.vector_norm({f}, 3.0) ; {f}.cumsum({d})
        {f}.cumprod({d}) ; {f}.cumsum({d}, dtype=torch.float64) ; F.softmax({f}, {d}) ; F.log_softmax({f}, {d})
        F.softmax({f}, {d}, dtype=torch.float32) ; F.softmin({f}, {d}) ; F.layer_norm({f}, {f}.shape[-1:])
        F.layer_norm({f}, {f}.shape[1:]) ; F.rms_norm({f}, {f}.shape[-1:]) ; F.normalize({f}, dim={d})
        {f} - {f}.mean({d}, keepdim=True) ; {f} / {f}.sum({d}, keepdim=True) ; F.group_norm({f}, 1)
        F.group_norm({f}, {f}.shape[1]) ; F.batch_norm({f}, None, None, training=True) ; F.instance_norm({f})
        F.mse_loss({f}, {g}) ; F.smooth_l1_loss({f}, {g}, reduction='none') ; F.huber_loss({f}, {g}, reduction='sum')
        F.binary_cross_entropy_with_logits({f}, {g}) ; F.binary_cross_entropy(torch.sigmoid({f}), torch.sigmoid({g}))
        F.mse_loss({f}, {g}, reduction='none') ; F.l1_loss({f}, {g}) ; torch.logcumsumexp({f}, {d})
        F.cross_entropy({f}, {f}.abs().argmax(1)) ; F.nll_loss({f}, {f}.argmin(1), reduction='none')
        {f} @ {g} ; torch.matmul({f}, {g}.mT) ; F.cosine_similarity({f}, {g}, {d}) ; torch.trapezoid({f}, dim={d})""",
}

VIEWS = {
    MOVE: """
        {a}.transpose({d}, {d}) ; {a}.permute({p}) ; {a}.reshape(-1) ; {a}.reshape({a}.shape[0], -1) ; {a}.flatten({d})
        {a}.reshape(-1, {a}.shape[-1]) ; {a}.unsqueeze({k}) ; {a}.squeeze() ; {a}.squeeze({d}) ; {a}.mT ; {a}.flatten(0, 1)
        {a}[{k}:] ; {a}[:{k}] ; {a}[..., {k}:] ; {a}[..., :{k}] ; {a}[::{n}] ; {a}[..., ::{n}] ; {a}[:, {n}:] ; {a}[{k}]
        {a}[..., {k}] ; {a}.select({d}, {k}) ; {a}.narrow({d}, 0, {n}) ; {a}.unbind({d}) ; {a}.split({n}, {d})
        {a}.chunk({n}, {d}) ; torch.diagonal({a}) ; {a}.diagonal({k}, {d}, {d}) ; {a}.unfold({d}, {n}, {n})
        {a}.movedim({d}, {d}) ; {a}.expand({n}, *{a}.shape) ; {a}.unsqueeze({d}).expand(*[-1] * {a}.dim(), {S})
        {a}.view(-1) ; {a}.detach() ; {a}.view_as({b}) ; {a}.expand_as({b}) ; {a}.broadcast_to({b}.shape) ; {a}.ravel()
         ; {a}.unflatten({d}, (-1, {n})) ; {a}.reshape({b}.shape)
        {a}.as_strided((2, 2), (1, 2)) ; {a}.reshape(*reversed({a}.shape)) ; {a}[None, :, None] ; {a}.t()""",
    APPROX: """
        torch.nan_to_num({f}).view(torch.int32).clone() ; torch.nan_to_num({f}).view(torch.int16).clone()""",
}

MOVES = {
    PICK: """
        F.max_pool2d({f}, 2) ; F.max_pool2d({f}, 3, 2, 1) ; F.max_pool2d({f}, {n}, 1, return_indices=True)""",
    MOVE: """
        torch.cat([{a}, {b}], {d}) ; torch.cat([{a}, {b}, {c}, {a}], {d}) ; torch.stack([{a}, {b}], {d}) ; {a}.flip({ds})
        torch.cat([{a}, {a}[{k}:]]) ; torch.roll({a}, {k}, {d}) ; torch.roll({a}, {k}) ; {a}.repeat({n}, *[1] * {a}.dim())
        {a}.repeat(*[2] * {a}.dim()) ; {a}.repeat_interleave({n}, {d}) ; torch.tril({a}, {k}) ; torch.triu({a}, {k})
        F.pad({a}, ({k}, {n})) ; F.pad({a}, (1, 2, 0, {k}), value={s}) ; F.pad({f}, ({n}, 1), mode='reflect')
        F.pad({f}, (1, {n}), mode='replicate') ; F.pad({f}, (1, 1, {n}, 0), mode='reflect') ; F.pixel_shuffle({a}, {n})
        torch.slice_scatter({a}, {b}, {d}, {k}, {n}) ; torch.select_scatter({a}, {b}, {d}, {k}) ; {a}.tile(({n}, 1))
        torch.cat([{a}, torch.zeros_like({a})], {d}) ; torch.arange({S}) * {k} ; torch.arange({S}, dtype={D}) + {a}
        torch.eye({S}, {n}) ; torch.full(({S}, {n}), {s}) ; {a}.new_zeros({S}) ; torch.arange({k}, {S}, {n})
        torch.linspace(0.5, {n}, 7) ; {a}.new_full(({n}, {S}), {k}) ; torch.scalar_tensor({s}) ; torch.cat([{a}[:0], {a}])
         ; F.interpolate({f}, scale_factor=2) ; {a}.rot90()
        F.interpolate({f}, size=({n}, 5)) ; F.pad({f}, (-1, {n}))""",
    APPROX: """
        F.avg_pool2d({f}, 2) ; F.avg_pool2d({f}, 3, 2, 1) ; F.avg_pool2d({f}, 3, 1, 1, count_include_pad=False)
        F.adaptive_avg_pool2d({f}, ({n}, 2)) ; F.adaptive_avg_pool2d({f}, 1) ; F.avg_pool1d({f}, 2)
        F.interpolate({f}, scale_factor=2, mode='bilinear') ; F.interpolate({f}, size=(3, 5), mode='bilinear', align_corners=True)""",
}

INDEXING = {
    PICK: """
        torch.scatter_reduce({a}, {d}, {x}.abs(), {b}, 'amax')""",
    MOVE: """
        {a}[{x}] ; {a}[{x}, {x}] ; {a}[:, {x}] ; {a}.index_select({d}, {x} % {S}) ; F.embedding({x}.abs(), {f}) ; {a}[{m}.long()]
        torch.gather({a}, {d}, {x}.abs()) ; torch.gather({a}, {d}, {a}.argsort({d})) ; {a}[{x}, :, {x}] ; {a}[{x}, 0]
        torch.take_along_dim({a}, {a}.argmax({d}, keepdim=True), {d}) ; {a}[{x}.unsqueeze(-1), {x}] ; {a}[{o}]
        torch.index_put({a}, ({o},), {b}) ; {a}.scatter({d}, {a}.argsort({d}), {b}) ; {i}.index_add({d}, {x} % {S}, {j})
         ; {i}.scatter_add({d}, {x}.abs(), {j})
        torch.index_put({i}, ({x},), {j}, accumulate=True) ; {a}.index_fill({d}, {o}, {k}) ; torch.take({a}, {x}.abs())""",
    APPROX: """
        torch.index_put({f}, ({x},), {g}, accumulate=True) ; {f}.scatter_add({d}, {x}.abs(), {g})
        {f}.index_add(0, {x}, {g}) ; torch.scatter_reduce({f}, {d}, {x}.abs(), {g}, 'sum')
        torch.scatter_reduce({f}, {d}, {x}.abs(), {g}, 'mean', include_self=False) ; F.embedding_bag({x}.abs(), {f})
        torch.scatter_reduce({f}, 0, {x}.abs(), {g}, 'prod') ; {f}.index_add(0, {x} % {S}, {g}, alpha={k})""",
}

# Statements: the value that they write to is {v}, or a view of it.
WRITES = {
    MOVE: """
        {v}.copy_({b}) ; {v}.fill_({s}) ; {v}.zero_() ; {v}.neg_() ; {v}.clamp_({k}, {n}) ; {v}.masked_fill_({m}, {s})
        {v}[{k}:].zero_() ; {v}[..., {k}] = {b} ; {v}[{k}] = {s} ; {v}[{o}] = {b} ; {v}.relu_() ; {v}[::2] = {b}
        {v}.t().copy_({b}) ; {v}.bitwise_not_() ; {v}.floor_() ; {v}[:, {k}:].fill_({k}) ; {v}[{m}] = {s}
        {v}.view(-1)[{k}:].zero_() ; {v}.diagonal().fill_({k}) ; {v}.transpose({d}, {d}).copy_({b}) ; {v}.abs_()
        {v}.select({d}, {k}).copy_({b}) ; {v}.eq_({b}) ; {v}.index_fill_({d}, {o}, {k})""",
    ARITH: """
        {v}.add_({b}) ; {v}.mul_({b}) ; {v}.sub_({s}) ; {v}.div_({b}) ; {v} += {b} ; {v} *= {s} ; {v}[{k}:] += {b}
        {v}[..., {k}].mul_({s}) ; {v}.t().add_({b}) ; {v}.view(-1).mul_({s}) ; {v}[0].add_({v}[-1])
        {v}[1:].add_({v}[:-1])""",
    APPROX: """
        {v}.sqrt_()
        {v}.exp_() ; {v}.sigmoid_() ; {v}.tanh_() ; {v}.add_({b}, alpha={s}) ; {v}.addcmul_({f}, {g}) ; {v}.lerp_({f}, 0.2)
        {v}.scatter_add_({d}, {x}.abs(), {g}) ; {v}.index_put_(({x},), {b}, accumulate=True) ; {v}.cumsum_({d})
        {v}.index_add_(0, {x}, {g}) ; {v}.pow_({n})""",
}


def templates(table: dict[int, str]) -> list[tuple[int, str]]:
    """(exactness, template) for each; templates are separated by ` ; ` and line ends."""
    return [(exactness, template.strip())
            for exactness, text in table.items()
            for line in text.split("\n")
            for template in line.split(" ; ")
            if template.strip()]
