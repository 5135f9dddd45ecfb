"""`jumar check` and `jumar reduce`: the commands on files."""

from __future__ import annotations

import subprocess
import sys

import pytest
from exporting import command

pytest.importorskip("jumar._native", reason="the extension is not built")

GRAPH = """graph @main symbols(s0 in [2, 64] hint 16) {
  schema aten.add.Tensor(Tensor self, Tensor other, Scalar alpha) -> (Tensor)
  schema aten.exp.default(Tensor self) -> (Tensor)
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  schema aten.sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim, ScalarType? dtype) -> (Tensor)
  schema aten.index_select.default(Tensor self, int dim, Tensor index) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 24] = input 1
  %w: f32[24, 24] = parameter 2
  %i: i64[5] = input 3
  %a: f32[s0, 24] = aten.mm.default(%x, %w)
  %b: f32[s0, 24] = aten.exp.default(%a)
  %c: f32[s0, 1] = aten.sum.dim_IntList(%b, [1], true, none)
  %d: f32[s0, 24] = aten.add.Tensor(%b, %c, 1)
  %e: f32[s0, 5] = aten.index_select.default(%d, 1, %i)
  return %d, %e, 2*s0
}
"""


def run(*words):
    return subprocess.run([*command(), *map(str, words)], capture_output=True, text=True, check=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "bad.graph"
    path.write_text(GRAPH)
    return path


def test_levels_agree_on_made_up_inputs(file):
    for words in ([], ["--rounds", "8", "--seed", "5"], ["--special", "0.3"], ["-O", "max_fusions=0"]):
        done = run("check", file, *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), words


def test_a_difference_is_told(file):
    # Sums that are made in another order differ in the last place.
    done = run("check", file, "--tolerance", "0", "--rounds", "20")
    assert done.returncode == 1 and done.stderr.startswith("error[different]: "), done.stderr


def test_a_difference_is_reduced(file, tmp_path):
    script = tmp_path / "check.py"
    script.write_text(
        "import subprocess, sys\n"
        f"done = subprocess.run({command()!r} + ['check', sys.argv[1], '--tolerance', '0', '--rounds', '20'], "
        "capture_output=True, text=True)\n"
        "sys.exit(7 if done.stderr.startswith('error[different]') else 0)\n")
    done = run("reduce", file, "--command", f"{sys.executable} {script} {{}}", "-o", tmp_path / "small.graph")
    assert done.returncode == 0, done.stderr
    small = (tmp_path / "small.graph").read_text()
    assert "aten.mm" not in small and "symbols" not in small and small.count(" = aten.") == 1, small
    assert subprocess.run([sys.executable, script, tmp_path / "small.graph"], check=False).returncode == 7


def test_a_command_chooses_what_stays(file, tmp_path):
    script = tmp_path / "keeps.py"
    script.write_text("import sys\ntext = open(sys.argv[1]).read()\n"
                      "sys.exit(3 if 'aten.index_select.default(' in text and ', 24]' in text else 0)\n")
    done = run("reduce", file, "--command", f"{sys.executable} {script} {{}}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/bad.reduced.graph: 1 of 5 nodes, 2 inputs, after ")
    small = (tmp_path / "bad.reduced.graph").read_text()
    assert small.count(" = input ") == 2 and ", 24]" in small and "return %e" in small, small
    assert run("opt", tmp_path / "bad.reduced.graph").returncode == 0


def test_what_does_not_fail_is_not_reduced(file, tmp_path):
    for words in (["--check", "crash"], ["--check", "differs"], ["--command", "true {}"]):
        done = run("reduce", file, *words)
        assert done.returncode == 1 and "nothing to reduce" in done.stderr, done.stderr
    done = run("reduce", file, "--command", "false {}", "--message", "no such words")
    assert done.returncode == 1 and "no such words" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["bad.graph"]


def test_options_of_a_reproducer_stay(file, tmp_path):
    file.write_text("# a message\n# OPTION: max_fusions=3\n" + GRAPH)
    done = run("reduce", file, "--command", "false {}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bad.reduced.graph").read_text().startswith("# OPTION: max_fusions=3\ngraph @main ")


def test_wrong_files_are_diagnostics(tmp_path):
    assert "error[io]" in run("reduce", tmp_path / "none.graph").stderr
    (tmp_path / "no.graph").write_text("graph @main {")
    for name in ("check", "reduce"):
        done = run(name, tmp_path / "no.graph")
        assert done.returncode == 1 and "no.graph:1:" in done.stderr, done.stderr
