"""Writes src/import/op_schemas.def: the schemas of torch's ATen operators, from the torch that is installed.

    python tools/schemas/make_op_schemas.py > src/import/op_schemas.def

An archive names operators and leaves out arguments that have their default value; the table says what they are,
which arguments an operator writes to and which results share an argument's storage. Operators with an `out`
argument and those without tensors, except checks, are left out: no exported program has them.
"""

from __future__ import annotations

import sys

import torch

sys.path.insert(0, "python")
from jumar.schemas import schema_of  # noqa: E402

_HEADER = """\
// The operators of torch {version}, sorted by name; made by tools/schemas/make_op_schemas.py.
//   JUMAR_OP(operator, arguments, results)
// A type is torch's. After it, `!` marks an argument that is written to, `&` one whose storage a result may
// share; of a result, `!<k>` says that it is argument k itself, `&<k>` that it may share the storage of it.
// Default values are arguments as graph text has them; what has no such text is left out.
"""

# Defaults that schemas give as the number of an enumeration.
_ENUMERATIONS = {
    ("ScalarType", 4): "dtype(i64)",
    ("MemoryFormat", 0): "memory_format(contiguous)",
}


class _NoText(Exception):
    pass


def default_text(value: object, kind: str) -> str:
    bare = kind.rstrip("?")
    if value is None:
        return "none"
    if bare.endswith("]"):
        item, _, count = bare[:-1].rpartition("[")
        items = value if isinstance(value, (list, tuple)) else [value] * int(count or 1)
        return f"[{', '.join(default_text(v, item) for v in items)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if (bare, value) in _ENUMERATIONS:
        return _ENUMERATIONS[bare, value]
    if bare in ("ScalarType", "MemoryFormat", "Layout"):
        raise _NoText
    if isinstance(value, int):
        return f"{value}.0" if bare == "float" else str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    raise _NoText


def mark(alias_info: object, sets: list[set[str]] | None) -> str:
    if alias_info is None:
        return ""
    sign = "!" if alias_info.is_write else "&"
    if sets is None:
        return sign
    owners = [k for k, names in enumerate(sets) if names & set(alias_info.before_set)]
    return f"{sign}{owners[0]}" if owners else ""


def literal(items: list[str], end: str) -> list[str]:
    """A string literal in pieces that fit a line."""
    lines, line = [], ""
    for k, item in enumerate(items):
        piece = item + (", " if k + 1 < len(items) else "")
        if line and len(line) + len(piece) > 90:
            lines.append(line)
            line = ""
        line += piece
    lines.append(line)
    lines = [text.replace("\\", "\\\\").replace('"', '\\"') for text in lines]
    return [f'         "{text}"' + (end if k + 1 == len(lines) else "") for k, text in enumerate(lines)]


def row(op: torch._ops.OpOverload) -> str | None:
    schema = schema_of(op)
    if schema is None:
        return None
    raw = op._schema
    if any(a.is_out for a in raw.arguments):
        return None
    sets = [set(a.alias_info.before_set) if a.alias_info else set() for a in raw.arguments]
    args = []
    for (name, kind, default, has_default), arg in zip(schema.args, raw.arguments):
        text = f"{kind}{mark(arg.alias_info, None)} {name}"
        if has_default:
            try:
                text += f" = {default_text(default, kind)}"
            except _NoText:
                pass
        args.append(text)
    kinds = schema.text.rpartition(" -> (")[2][:-1]
    returns = [k for k in kinds.split(", ") if k]
    results = [k + mark(r.alias_info, sets) for k, r in zip(returns, raw.returns)]
    return "\n".join([f'JUMAR_OP("{schema.name}",', *literal(args, ","), *literal(results, ")")])


def main() -> None:
    rows = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten":
            continue
        try:
            packet = getattr(torch.ops.aten, name)
            op = getattr(packet, schema.overload_name or "default")
        except AttributeError:
            continue
        text = row(op)
        is_wanted = "Tensor" in (text or "") or name.startswith("_assert")
        if text is not None and is_wanted and not name.startswith("_test"):
            rows[str(op)] = text
    print(_HEADER.format(version=torch.__version__.partition("+")[0]), end="")
    for name in sorted(rows):
        print(rows[name])


if __name__ == "__main__":
    main()
