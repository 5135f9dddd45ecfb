"""Writes src/import/test/archives/*.pt2 with torch.export.save: small programs that the unit tests and the fuzz
targets read. Run it again only when torch's format changes; the tests hold what the archives say.

    python src/import/test/make_archives.py
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim


class Counter(nn.Module):
    """Writes to a buffer and to an argument, through a view; the batch is dynamic."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("scale", torch.tensor([2.0]), persistent=False)

    def forward(self, x, options):
        y = self.fc(x) * self.scale
        self.total.add_(y.sum(0))
        options["rows"][0].mul_(2)
        return {"y": y, "rest": [self.total + 1, None, 3]}


class Block(nn.Module):
    """Tied weights, a weight that is a view, and operators that are composite."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 8, bias=False)
        self.head.weight = self.embed.weight
        self.turned = nn.Parameter(torch.arange(8.0).reshape(2, 4).t())

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + F.scaled_dot_product_attention(x, x, x)
        x = F.dropout(self.norm(x), 0.1, training=self.training)
        return self.head(x), (x @ self.turned).flatten(1)


class Mixed(nn.Module):
    """Many composite operators and views of all kinds, on tiny tensors."""

    def forward(self, x, y):
        a = F.max_pool1d(F.pad(F.conv1d(x, y, padding="same"), (1, 0)), 2)
        b = F.group_norm(x, 2) + F.instance_norm(x)
        q = b[:, None].expand(-1, 2, -1, -1)
        c = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        d = x.clone()
        first, second = d.split([1, 3], 1)
        first.mul_(2)
        d.transpose(0, 1).movedim(0, 2).chunk(2, 1)[1].add_(second.sum())
        e = torch.einsum("bcl,kc->bkl", x, y[:, :, 0]).diff().softmax(-1)
        f = torch.stack(torch.meshgrid(x[0, 0], y[0, :, 0], indexing="xy")).unbind(0)[1]
        g = f.narrow(0, 1, 2).mT @ y[:2, :, 1]
        return a, c, d, F.adaptive_avg_pool1d(e, 1), g, F.cross_entropy(a[0], a[0, :, 0].long())


def main() -> None:
    folder = Path(__file__).resolve().parent / "archives"
    torch.manual_seed(0)
    batch = Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}, "options": {"rows": {0: batch}}}
    inputs = (torch.ones(3, 3), {"rows": torch.ones(3, 2)})
    programs = {
        "counter": torch.export.export(Counter().eval(), inputs, dynamic_shapes=shapes),
        "block": torch.export.export(Block().eval(), (torch.zeros(2, 3, dtype=torch.int64),)),
    }
    programs["mixed"] = torch.export.export(Mixed(), (torch.rand(2, 4, 6), torch.rand(4, 4, 3)))
    for name, program in programs.items():
        torch.export.save(program, folder / f"{name}.pt2")


if __name__ == "__main__":
    main()
