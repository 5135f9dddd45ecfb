"""Checks of the sources that need no build: include direction, sizes, forbidden constructs, formatting.

    python scripts/check_sources.py [--no-format]

Prints every violation as file:line: message, the ten largest files and functions, and the total; exits 1 when there
is a violation.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# folder -> folders that it may include directly; the table of docs/architecture.md. May-include is transitive.
MAY_INCLUDE = {
    "support": [],
    "sym": ["support"],
    "target": ["support"],
    "ir": ["support", "sym"],
    "graph": ["ir"],
    "import": ["graph"],
    "loop": ["graph", "ir", "target"],
    "fuse": ["loop", "target"],
    "tile": ["fuse", "loop", "target"],
    "plan": ["ir"],
    "runtime": ["plan"],
    "embed": ["runtime", "support"],
    "emit": ["tile", "fuse", "loop", "runtime", "plan", "target"],
    "driver": ["import", "emit", "embed", "runtime", "tile", "fuse", "loop", "graph", "plan", "target"],
}
# Only these may include LLVM's headers.
LLVM_FOLDERS = ("emit/cpu", "driver/jit", "driver/link", "runtime/sim")

# What tests of emitters may include beside their folder's row.
RUNS_EMITTED_CODE = "driver/jit/"

MAX_FILE, MAX_HEADER, MAX_FUNCTION, MAX_COLUMNS = 600, 300, 60, 110
INCLUDE = re.compile(r'^\s*#include\s+(["<])([^">]+)[">]')
MUTABLE_STATE = re.compile(r"\bthread_local\b|^\s*static\s+(?!constexpr|const\b|inline\s+constexpr)[\w:<>,\s*&]+\s\w+\s*(=|;|\{)")
# Once-only state that cannot be a parameter; each has its reason beside it.
STATE_ALLOWED = re.compile(r"std::once_flag|// one per process:")


def closure(folder: str) -> set[str]:
    seen, todo = {folder}, [folder]
    while todo:
        for below in MAY_INCLUDE[todo.pop()]:
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.split("\n")
    return sorted(ROOT / name for name in listed
                  if name.endswith((".cpp", ".h", ".def")) and (ROOT / name).exists())


def check_file(path: Path, problems: list[str]) -> list[tuple[int, str]]:
    lines = path.read_text().split("\n")
    name = path.relative_to(ROOT)
    parts = name.parts
    in_src = parts[0] == "src"
    allowed = closure(parts[1]) if in_src else set()
    is_test = "test" in parts[:-1]
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            problems.append(f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS}")
        match = INCLUDE.match(line)
        if match and in_src:
            check_include(name, number, match.group(1), match.group(2), allowed, is_test, problems)
        code = re.sub(r'"[^"]*"', '""', line)
        if in_src and not is_test and MUTABLE_STATE.search(code) and not STATE_ALLOWED.search(line):
            problems.append(f"{name}:{number}: mutable static or thread_local state")
        if path.suffix == ".h" and re.match(r"\s*using namespace", line):
            problems.append(f"{name}:{number}: using namespace in a header")
    limit = MAX_HEADER if path.suffix == ".h" else MAX_FILE
    if path.suffix != ".def" and len(lines) > limit and not is_test:
        problems.append(f"{name}:1: {len(lines)} lines, at most {limit}")
    return functions(name, lines, problems if in_src and not is_test else [])


def check_include(name: Path, number: int, bracket: str, target: str, allowed: set[str], is_test: bool,
                  problems: list[str]) -> None:
    if bracket == "<":
        llvm = target.startswith(("llvm/", "lld/", "llvm-c/"))
        if llvm and not str(name).startswith(tuple(f"src/{f}/" for f in LLVM_FOLDERS)):
            problems.append(f"{name}:{number}: LLVM headers belong to {', '.join(LLVM_FOLDERS)} only")
        if target.startswith("mlir/") and not str(name).startswith("src/runtime/sim/"):
            problems.append(f"{name}:{number}: MLIR headers belong to runtime/sim only")
        return
    # A test of emitted code has to run it.
    if is_test and target.startswith(RUNS_EMITTED_CODE):
        return
    folder = target.split("/")[0]
    if folder in MAY_INCLUDE and folder not in allowed:
        problems.append(f"{name}:{number}: {name.parts[1]} may not include {folder}")


def functions(name: Path, lines: list[str], problems: list[str]) -> list[tuple[int, str]]:
    """Lengths of function bodies: from a line that opens a brace at namespace or class depth to its close.

    Formatted code makes this exact enough: a function starts on a line ending in `{` that holds a `)`, indented by
    0 or 2 columns, and ends at the first line that is `}` at that indentation.
    """
    found = []
    start = None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if start is None:
            opens = line.rstrip().endswith("{") and ")" in line and indent <= 2 and not line.lstrip().startswith("//")
            if opens and not re.match(r"\s*(namespace|class|struct|enum|if|for|while|switch|extern)\b", line):
                start = (number, indent, line.strip())
        elif line.startswith(" " * start[1] + "}"):
            length = number - start[0] + 1
            found.append((length, f"{name}:{start[0]}"))
            if length > MAX_FUNCTION:
                problems.append(f"{name}:{start[0]}: a function of {length} lines, at most {MAX_FUNCTION}")
            start = None
    return found


def check_format(files: list[Path], problems: list[str]) -> None:
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        problems.append("scripts/check_sources.py:1: clang-format is not installed")
        return
    cpp = [str(f) for f in files if f.suffix in (".cpp", ".h")]
    done = subprocess.run([tool, "--dry-run", *cpp], cwd=ROOT, capture_output=True, text=True)
    for line in done.stderr.split("\n"):
        if "warning:" in line:
            where = line.split(" warning:")[0]
            problems.append(f"{os.path.relpath(where, ROOT)} not formatted (run scripts/format)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--no-format", action="store_true")
    args = parser.parse_args()
    problems: list[str] = []
    files = sources()
    lengths = []
    for path in files:
        lengths += check_file(path, problems)
    if not args.no_format:
        check_format(files, problems)
    counted = sorted(((len(p.read_text().split("\n")), str(p.relative_to(ROOT))) for p in files), reverse=True)
    print("largest files:    ", ", ".join(f"{name} {n}" for n, name in counted[:10]))
    print("largest functions:", ", ".join(f"{name} {n}" for n, name in sorted(lengths, reverse=True)[:10]))
    print("total C++ lines:  ", sum(n for n, _ in counted))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
