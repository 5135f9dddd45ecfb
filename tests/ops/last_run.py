"""The last whole run of the operator tests, as a file that is checked in.

    python tests/ops/last_run.py ops.jsonl --revision 9cde40c      writes last_run.json

Of the lines that run.py wrote: how many cases and samples are right, by type and mode; every case that is not, with
what differs; the differences that aot_eager shows too, by case; and what was called instead of compiled, by reason.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import torch

OUT = Path(__file__).resolve().parent / "last_run.json"


def kinds(differences: list[dict[str, Any]]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(d["kind"] for d in differences).items()))


def summarized(rows: list[dict[str, Any]]) -> dict[str, Any]:
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    called: Counter[str] = Counter()
    for row in rows:
        _, dtype, mode = row["case"].split(" ", 2)
        groups[f"{dtype} {mode}"].update({"right": not row["failures"], "cases": 1, "samples": row["samples"],
                                          "aot_eager": len(row["aot_eager"]), "random": row["random"],
                                          "run eagerly": sum(row["eager"].values())})
        called.update(row.get("calls", {}))
    total = sum(groups.values(), Counter())
    return {
        "torch": torch.__version__,
        "total": total,
        "by type and mode": dict(sorted(groups.items())),
        "differ": {row["case"]: kinds(row["failures"]) for row in rows if row["failures"]},
        "as aot_eager": {row["case"]: kinds(row["aot_eager"]) for row in rows if row["aot_eager"]},
        "called": dict(called.most_common()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="what run.py --results wrote; of shards, all of them")
    parser.add_argument("--revision", required=True, help="the commit that was tested")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    rows = [json.loads(line) for path in arguments.results for line in path.read_text().splitlines()]
    rows.sort(key=lambda row: row["case"])
    result = {"revision": arguments.revision, **summarized(rows)}
    # One line for each entry of the lists.
    text = json.dumps({key: value for key, value in result.items() if not isinstance(value, dict)})[1:-1]
    parts = [text]
    for key, value in result.items():
        if isinstance(value, dict):
            lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            parts.append(f"{json.dumps(key)}: {{\n{lines}\n }}" if lines else f"{json.dumps(key)}: {{}}")
    arguments.out.write_text("{" + ",\n ".join(parts) + "}\n")
    total = result["total"]
    print(f"{total['right']} of {total['cases']} cases right, {total['samples']} samples: {arguments.out}")


if __name__ == "__main__":
    main()
