"""Joins a C++ header with all that it includes from the source tree into one text that needs nothing but the standard
library and the system.

    python scripts/join_headers.py src/emit/host/wrapper/entry.h wrapper.h [--as-cpp wrapper_text.cpp]

Each file of the tree appears once, where it is first included; .def files appear wherever they are. With --as-cpp the
text is also written as a C++ string, jumar::emit::host::kWrapperHeader.
"""
from __future__ import annotations

import argparse
import re
from pathlib import Path

INCLUDE = re.compile(r'#include "([^"]+)"')


def joined(root: Path, name: str, seen: set[str], system: set[str]) -> list[str]:
    if name in seen:
        return []
    if not name.endswith(".def"):
        seen.add(name)
    included: list[str] = []
    own: list[str] = []
    for line in (root / name).read_text().split("\n"):
        match = INCLUDE.match(line)
        if match:
            (own if match.group(1).endswith(".def") else included).extend(joined(root, match.group(1), seen, system))
        elif line.startswith("#include <"):
            system.add(line)
        elif line != "#pragma once":
            own.append(line)
    return included + own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("header", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--root", type=Path, default=Path("src"))
    parser.add_argument("--as-cpp", type=Path)
    arguments = parser.parse_args()
    system: set[str] = set()
    name = arguments.header.relative_to(arguments.root).as_posix()
    body = "\n".join(joined(arguments.root, name, set(), system))
    body = re.sub(r"\n{3,}", "\n\n", body).strip("\n")
    text = "// What programs written by Jumar are made of (docs/cpp-wrapper.md). Joined from its sources; needs no other\n"
    text += "// header of Jumar and none of torch.\n#pragma once\n\n" + "\n".join(sorted(system)) + "\n\n" + body + "\n"
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text)
    if arguments.as_cpp:
        literal = f'R"jumar_header({text})jumar_header"'
        arguments.as_cpp.write_text('#include "emit/host/wrapper_header.h"\n\nnamespace jumar::emit::host {\n\n'
                                    f"const char* const kWrapperHeader = {literal};\n\n}}  // namespace jumar::emit::host\n")


if __name__ == "__main__":
    main()
