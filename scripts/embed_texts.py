"""Writes text files as a C++ source: the files of `targets/` are strings of the library.

    python scripts/embed_texts.py --output embedded.cpp targets/atlas-a2.target targets/atlas-a3.target
"""
from __future__ import annotations

import argparse
from pathlib import Path

HEAD = '#include "target/target.h"\n\nnamespace jumar::target {\nnamespace {\n\nconstexpr EmbeddedFile kFiles[] = {\n'
TAIL = "};\n\n}  // namespace\n\nstd::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace jumar::target\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    rows = "".join(f'    {{"{file.name}", R"jumar_text({file.read_text()})jumar_text"}},\n' for file in arguments.files)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(HEAD + rows + TAIL)


if __name__ == "__main__":
    main()
