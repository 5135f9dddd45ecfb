"""Writes docs/operators.md: what becomes of each operator of the Core ATen set.

    python scripts/operators_page.py build/tools/jumar [--check]

The operators are those that PyTorch tags as core; what the tables of src/loop/lower say of them is asked of `jumar ops`.
--check writes nothing and exits 1 where the page says something else.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"

HEAD = """# Operators

What becomes of each operator of PyTorch's Core ATen set. `jumar ops NAME` says it of any operator, and `jumar ops` lists
all rows of the tables in `src/loop/lower/` ([add-an-op.md](add-an-op.md)). This page is written by
`scripts/operators_page.py`.

- **lowered**: becomes loops. A lowering may still ask for the call in some cases (complex numbers, places that are not
  known); the report of a compiled graph names each with its reason.
- **called**: PyTorch's kernel runs, for the reason that is given.
- **captured as other operators**: PyTorch's tracing takes it apart, or makes a number of it, before the compiler sees it.

| operator | |
|---|---|
"""


def core_operators() -> dict[str, bool]:
    """Name -> whether tracing takes it apart."""
    import torch

    found = {}
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::"):
            continue
        packet, _, overload = name.removeprefix("aten::").partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
        if op is None or torch.Tag.core not in op.tags:
            continue
        is_composite = torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")
        is_mutable = op._schema.is_mutable
        found[str(op)] = is_composite or is_mutable
    return dict(sorted(found.items()))


def rows_of(jumar: list[str], names: list[str]) -> dict[str, str]:
    """Name -> "lowered" or "called: reason"."""
    text = subprocess.run([*jumar, "ops", *names], check=True, capture_output=True, text=True).stdout
    return dict(line.split(" ", 1) for line in text.splitlines())


def page_text(jumar: list[str]) -> str:
    operators = core_operators()
    rows = rows_of(jumar, list(operators))
    lines = []
    for name, is_taken_apart in operators.items():
        fate = rows[name]
        if is_taken_apart and fate != "lowered":
            fate = "captured as other operators"
        lines.append(f"| `{name}` | {fate} |\n")
    return HEAD + "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jumar", help="the jumar command")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = page_text([arguments.jumar])
    if not arguments.check:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE} differs from what the tables say: run {Path(__file__).name}")


if __name__ == "__main__":
    main()
