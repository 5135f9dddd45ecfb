"""The page of `jumar opt --html`: well-formed, complete and safe for graphs of real models."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser

import pytest
import torch
from exporting import ImportedModule, command
from models import MODELS
from torch import nn

_VOID = {"meta", "input", "br", "hr", "link", "img"}
_ATTRIBUTES_THAT_LOAD = {"src", "srcset", "data", "poster", "action", "formaction", "background"}


class _Checker(HTMLParser):
    """Collects what is wrong: tags that are not closed in order, ids twice, links that lead nowhere or outside."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.problems: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.rows: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in _ATTRIBUTES_THAT_LOAD or name.startswith("on"):
                self.problems.append(f"<{tag} {name}>")
            if name == "id":
                if value in self.ids:
                    self.problems.append(f"id {value} twice")
                self.ids.add(value)
            if name in ("href", "xlink:href"):
                self.links.append(value)
        if tag == "details" and "row" in dict(attrs).get("class", "").split():
            self.rows.append(dict(attrs)["id"])
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.text += data


def _checked(page: str) -> _Checker:
    checker = _Checker()
    checker.feed(page)
    checker.close()
    assert checker.problems == []
    assert checker.open == []
    for link in checker.links:
        assert link.startswith("#"), link
        assert link[1:] in checker.ids, link
    return checker


def _page(tmp_path, model: nn.Module, inputs: tuple, name: str = "model") -> str:
    with torch.no_grad():
        torch.export.save(torch.export.export(model, inputs), tmp_path / f"{name}.pt2")
    out = tmp_path / "page.html"
    line = [*command(), "opt", str(tmp_path / f"{name}.pt2"), "--from=pt2", f"--html={out}"]
    result = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["bert", "mobilenetv3_small"])
def test_pages_of_models_are_well_formed(tmp_path, name):
    model, inputs = MODELS[name]()
    checker = _checked(_page(tmp_path, model, inputs))
    assert len(checker.rows) > 20
    assert "peak" in checker.text


@pytest.mark.parametrize("name", ["bert", "resnet18"])
def test_the_arena_is_the_one_that_a_call_takes(tmp_path, name):
    model, inputs = MODELS[name]()
    text = _checked(_page(tmp_path, model, inputs)).text
    imported = ImportedModule(tmp_path / "model.pt2")
    with torch.no_grad():
        imported(*inputs)
    arena_bytes = imported.program.arena_bytes()
    assert arena_bytes > 1 << 20
    assert re.search(rf"The arena is one block for \d+ buffers: {arena_bytes / 2**20:.1f} MiB,", text)


def test_names_of_the_model_are_text(tmp_path):
    class Hostile(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("<script>alert(1)</script>&\"'", nn.Linear(4, 4))

        def forward(self, x):
            return next(self.children())(x).relu()

    page = _page(tmp_path, Hostile(), (torch.randn(2, 4),), "a&b")
    assert "<script>alert" not in page
    assert "<script>alert(1)</script>&\"'" in _checked(page).text


def test_a_page_that_cannot_be_written_is_an_error(tmp_path):
    graph = tmp_path / "in.graph"
    graph.write_text("graph @main {\n  %x: f32[2] = input 0\n  return %x\n}\n")
    line = [*command(), "opt", str(graph), f"--html={tmp_path / 'missing' / 'page.html'}"]
    result = subprocess.run(line, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "cannot write" in result.stderr
