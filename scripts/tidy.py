"""clang-tidy's checks of .clang-tidy over the sources, tests left out; prints the findings and exits 1 if there are any.

    python scripts/tidy.py BUILD_DIR [--jobs N] [FILE...]

A file that passed is not checked again until it, a header of the project that it includes, its compile command,
.clang-tidy or the tool changes: passes are remembered in $XDG_CACHE_HOME/jumar-dev/tidy (~/.cache), under names
that do not depend on where the clone lies.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "python/_native")
INCLUDE_ROOTS = ("src", "include")
INCLUDE = re.compile(r'^\s*#include\s+[<"]([^">]+)[">]', re.MULTILINE)
# Passes that no run has asked for in this time are forgotten.
KEPT_SECONDS = 60 * 24 * 3600


def checked(entries: list[dict]) -> dict[Path, str]:
    """The files to check, with their compile commands. Tests are mostly expansions of GoogleTest's macros."""
    commands = {}
    for entry in entries:
        path = Path(entry["directory"], entry["file"]).resolve()
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else None
        if name and path.suffix == ".cpp" and str(name).startswith(tuple(f"{folder}/" for folder in FOLDERS)) and "test" not in name.parts[:-1]:
            commands.setdefault(path, entry["command"])
    return commands


@lru_cache(maxsize=None)
def text(path: Path) -> str:
    return path.read_text()


@lru_cache(maxsize=None)
def includes(path: Path) -> tuple[Path, ...]:
    """The project's own files that `path` includes directly."""
    found = []
    for target in INCLUDE.findall(text(path)):
        for folder in (path.parent, *(ROOT / root for root in INCLUDE_ROOTS)):
            if (folder / target).is_file():
                found.append((folder / target).resolve())
                break
    return tuple(found)


def closure(path: Path) -> list[Path]:
    seen, todo = {path}, [path]
    while todo:
        for below in includes(todo.pop()):
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return sorted(seen)


def key(path: Path, command: str, version: str) -> str:
    digest = hashlib.sha256()
    for part in (version, text(ROOT / ".clang-tidy"), command.replace(str(ROOT), "")):
        digest.update(part.encode() + b"\0")
    for file in closure(path):
        digest.update(f"{file.relative_to(ROOT)}\0{text(file)}\0".encode())
    return digest.hexdigest()


def run(tool: str, build: Path, path: Path) -> tuple[list[str], float]:
    """The findings, or what the tool says of a file that it cannot check; and the seconds it took."""
    start = time.monotonic()
    done = subprocess.run([tool, "-p", str(build), "--quiet", str(path)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if done.returncode != 0 and not lines:
        lines = [f"{path}:1: {tool} failed", *done.stderr.splitlines()]
    return lines, time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("files", type=Path, nargs="*", help="only these, whether they have passed or not")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_intermixed_args()
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if tool is None:
        sys.exit("clang-tidy is not installed: scripts/setup installs it")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    commands = checked(json.loads((args.build / "compile_commands.json").read_text()))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jumar-dev" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)

    wanted = [file.resolve() for file in args.files] or list(commands)
    if unknown := [str(file) for file in wanted if file not in commands]:
        sys.exit(f"not among the files to check: {', '.join(unknown)}")
    passes = {file: cache / key(file, commands[file], version) for file in wanted}
    todo = [file for file in wanted if args.files or not passes[file].exists()]
    # The longest first, so that the cores end together: those that include LLVM's headers.
    todo.sort(key=lambda file: ("llvm/" not in "".join(text(f) for f in closure(file)), file))
    for file in wanted:
        if file not in todo:
            passes[file].touch()

    failed, slowest = 0, []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for file, (lines, seconds) in zip(todo, pool.map(lambda file: run(tool, args.build, file), todo)):
            slowest.append((seconds, str(file.relative_to(ROOT))))
            if lines:
                failed += 1
                print("\n".join(lines), flush=True)
            else:
                passes[file].touch()
    for old in cache.iterdir():
        if old.stat().st_mtime < time.time() - KEPT_SECONDS:
            old.unlink(missing_ok=True)
    print(f"{len(wanted)} files: {len(wanted) - len(todo)} unchanged since they passed, {len(todo)} checked, "
          f"{failed} with findings")
    if slowest:
        print("slowest:", ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(slowest, reverse=True)[:5]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
