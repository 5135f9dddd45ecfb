"""Models of plain torch.nn for tests/zoo.py: what people write by hand rather than take from a library."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


class Recurrent(nn.Module):
    """A tagger of LSTM or GRU layers over embedded tokens."""

    def __init__(self, kind: type[nn.RNNBase], width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.layers = kind(width, width, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * width, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedding(tokens))[0])


class CellByCell(nn.Module):
    """An LSTM whose steps are Python's: attention over what was read before each step."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.cell = nn.LSTMCell(2 * width, width)
        self.query = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(x.shape[0], x.shape[2])
        outputs = []
        for step in range(x.shape[1]):
            scores = torch.einsum("bd,btd->bt", self.query(h), x) / math.sqrt(x.shape[2])
            context = torch.einsum("bt,btd->bd", scores.softmax(1), x)
            h, c = self.cell(torch.cat((x[:, step], context), 1), (h, c))
            outputs.append(h)
        return torch.stack(outputs, 1)


class TemporalConvolutions(nn.Module):
    """Causal dilated convolutions with weight norm, as in TCN and WaveNet."""

    def __init__(self, channels: int = 32):
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.layers = nn.ModuleList(norm(nn.Conv1d(channels, 2 * channels, 3, dilation=2**k)) for k in range(4))
        self.skips = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros_like(x)
        for k, (layer, skip) in enumerate(zip(self.layers, self.skips, strict=True)):
            a, b = layer(F.pad(x, (2 * 2**k, 0))).chunk(2, 1)
            y = skip(a.tanh() * b.sigmoid())
            x, total = x + y, total + y
        return F.elu(total)


class UNet(nn.Module):
    def __init__(self, widths: tuple[int, ...] = (8, 16, 32)):
        super().__init__()

        def block(a: int, b: int) -> nn.Module:
            layers = (nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(True))
            return nn.Sequential(*layers, nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(True))

        self.down = nn.ModuleList(block(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(block(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = []
        for k, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if k else x)
            levels.append(x)
        for k in reversed(range(len(self.up))):
            x = self.merge[k](torch.cat((levels[k], self.up[k](x)), 1))
        return self.head(x)


class DiffusionBlock(nn.Module):
    """What a denoising U-Net repeats: time embedding, group norm, SiLU, self attention over pixels, cross attention
    over a text, nearest upsampling."""

    def __init__(self, channels: int = 32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 2 * channels))
        self.enter = nn.Conv2d(4, channels, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(8, channels) for _ in range(3))
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(3))
        self.own = nn.MultiheadAttention(channels, 4, batch_first=True)
        self.cross = nn.MultiheadAttention(channels, 4, kdim=16, vdim=16, batch_first=True)
        self.gated = nn.Linear(channels, 4 * channels)
        self.back = nn.Linear(2 * channels, channels)
        self.layer_norm = nn.LayerNorm(channels)

    def forward(self, x: torch.Tensor, time: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        frequencies = torch.exp(-math.log(10000.0) * torch.arange(16) / 16)
        angles = time[:, None].float() * frequencies
        scale, shift = self.time(torch.cat((angles.cos(), angles.sin()), 1))[:, :, None, None].chunk(2, 1)
        x = self.enter(x)
        y = self.convolutions[0](F.silu(self.norms[0](x)))
        x = x + self.convolutions[1](F.silu(self.norms[1](y) * (1 + scale) + shift))
        pixels = self.norms[2](x).flatten(2).transpose(1, 2)
        pixels = pixels + self.own(pixels, pixels, pixels, need_weights=False)[0]
        pixels = pixels + self.cross(pixels, text, text, need_weights=False)[0]
        a, gate = self.gated(self.layer_norm(pixels)).chunk(2, 2)
        pixels = pixels + self.back(a * F.gelu(gate))
        x = x + pixels.transpose(1, 2).reshape(x.shape)
        return self.convolutions[2](F.interpolate(x, scale_factor=2.0, mode="nearest"))


class PointNet(nn.Module):
    """Shared layers over points, a learned transformation of space, and a maximum over points."""

    def __init__(self) -> None:
        super().__init__()

        def shared(*widths: int) -> nn.Module:
            pairs = zip(widths, widths[1:])
            layers = [l for a, b in pairs for l in (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())]
            return nn.Sequential(*layers)

        self.space = shared(3, 16, 64)
        self.turn = nn.Linear(64, 9)
        self.points = shared(3, 32, 128)
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        turn = self.turn(self.space(points).amax(2)).view(-1, 3, 3) + torch.eye(3)
        return F.log_softmax(self.head(torch.max(self.points(turn @ points), 2)[0]), 1)


class ClickModel(nn.Module):
    """DLRM: bags of embeddings, and products of all pairs of features."""

    def __init__(self, tables: int = 4, width: int = 16):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(200, width, mode="sum") for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, dense: torch.Tensor, sparse: torch.Tensor) -> torch.Tensor:
        x = self.bottom(dense)
        features = torch.stack([x, *(table(sparse[:, k]) for k, table in enumerate(self.tables))], 1)
        rows, columns = torch.tril_indices(features.shape[1], features.shape[1], -1)
        return self.top(torch.cat((x, (features @ features.transpose(1, 2))[:, rows, columns]), 1))


class MessagePassing(nn.Module):
    """Graph convolutions by index_add, and a layer of graph attention by scatter_reduce."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.message = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(2))
        self.attention = nn.Linear(2 * width, 1)
        self.last = nn.Linear(width, 8)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        degree = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target))).clamp(min=1)
        for layer in self.message:
            sent = F.relu(layer(torch.cat((x[source], x[target]), 1)))
            x = x + torch.zeros_like(x).index_add(0, target, sent) / degree[:, None]
        score = F.leaky_relu(self.attention(torch.cat((x[source], x[target]), 1)))[:, 0]
        top = torch.full((len(x),), -torch.inf).scatter_reduce(0, target, score.detach(), "amax")
        weight = (score - top[target]).exp()
        total = torch.zeros(len(x)).scatter_add(0, target, weight)
        sent = x[source] * (weight / total[target])[:, None]
        return self.last(torch.zeros_like(x).scatter_add(0, target[:, None].expand_as(sent), sent))


class Variational(nn.Module):
    """A variational autoencoder over volumes: Conv3d, transposed back, with noise drawn in between."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv3d(1, 8, 3, 2, 1), nn.InstanceNorm3d(8, affine=True), nn.PReLU(8),
                                  nn.Conv3d(8, 8, 3, 2, 1))
        self.up = nn.Sequential(nn.ConvTranspose3d(4, 8, 2, 2), nn.SELU(), nn.ConvTranspose3d(8, 1, 2, 2), nn.Sigmoid())

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, spread = self.down(x).chunk(2, 1)
        divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum((1, 2, 3, 4))
        return self.up(mean + torch.randn_like(spread) * (0.5 * spread).exp()), divergence


class SelectiveScan(nn.Module):
    """A state space with input-dependent steps, its recurrence as a cumulative sum in logarithms' place: products of
    decays by cumsum and exp, in one chunk."""

    def __init__(self, width: int = 16, states: int = 4):
        super().__init__()
        self.log_decay = nn.Parameter(torch.log(torch.arange(1.0, states + 1)).repeat(width, 1))
        self.project = nn.Linear(width, 2 * states + width)
        self.convolution = nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.states = states

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.silu(self.convolution(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        b, c, step = self.project(y).split((self.states, self.states, x.shape[2]), 2)
        step = F.softplus(step)
        decay = torch.cumsum(-step[..., None] * self.log_decay.exp(), 1)
        entered = (step * y)[..., None] * b[:, :, None]
        differences = decay[:, :, None] - decay[:, None]
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()[None, :, :, None, None]
        held = torch.where(mask, differences, -torch.inf).exp()
        return torch.einsum("bsdn,btsdn,btn->btd", entered, held, c) + x


class TranslationModel(nn.Module):
    def __init__(self, width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.transformer = nn.Transformer(width, 4, 2, 2, 64, batch_first=True)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        states = self.transformer(self.embedding(source), self.embedding(target), tgt_mask=mask)
        return states @ self.embedding.weight.t()
