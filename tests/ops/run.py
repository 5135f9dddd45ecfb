"""PyTorch's own operator tests through the compiler.

    python tests/ops/run.py --results ops.jsonl                  all cases; goes on where an earlier run stopped
    python tests/ops/run.py --only 'softmax*' --dtypes float32   some of them
    python tests/ops/run.py --shard 1/4 --results ops.1.jsonl    a quarter of them
    python tests/ops/run.py --sample 60                          every 60th case: what CI runs
    python tests/ops/run.py --sample 90 --samples 2 --inductor   two inputs of every 90th case, beside torch.compile's
                                                                 default backend; both through torch.compile

Cases run in worker processes, so that a crash or an endless loop is one case's failure. Each case is one line of
JSON in the file of results. The exit code is 1 where a case fails that known_failures.txt does not list, or one that
it lists does not.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KNOWN = HERE / "known_failures.txt"
sys.path[:0] = [str(HERE), str(HERE.parent)]

from workers import Job, results_of, serve  # noqa: E402


def work() -> None:
    from cases import Case, run_case

    serve(lambda job: run_case(Case(**job)))


def failed(job: Job, kind: str, text: str) -> dict[str, Any]:
    from cases import Case

    failure = {"sample": -1, "kind": kind, "text": text}
    return {"case": Case(**job).name, "samples": 1, "failures": [failure]}


def known_failures() -> dict[str, str]:
    """Case -> reason. A line is `case: reason`; # begins a comment."""
    known = {}
    for line in KNOWN.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            if not reason.strip():
                raise SystemExit(f"{KNOWN.name}: {line!r} has no reason")
            known[name] = reason
    return known


def chosen(arguments: argparse.Namespace) -> list[Any]:
    from cases import all_cases

    cases = [c for c in all_cases()
             if (not arguments.dtypes or c.dtype in arguments.dtypes.split(","))
             and (not arguments.modes or c.mode in arguments.modes.split(","))
             and any(fnmatch.fnmatch(c.op + (f".{c.variant}" if c.variant else ""), p)
                     for p in arguments.only.split(","))]
    if arguments.shard:
        part, parts = (int(x) for x in arguments.shard.split("/"))
        cases = cases[part - 1 :: parts]
    cases = cases[:: arguments.sample] if arguments.sample else cases
    if arguments.inductor:
        names = [replace(c, route="aot") for c in cases]
        cases = [replace(c, route=route) for c in dict.fromkeys(names) for route in ("torch.compile", "inductor")]
    return [replace(c, limit=arguments.samples) for c in cases]


def summary(rows: list[dict[str, Any]]) -> str:
    samples = sum(r["samples"] for r in rows)
    bad = sum(len(r["failures"]) for r in rows)
    kinds = Counter(f["kind"] for r in rows for f in r["failures"])
    apart = sum(len(r.get("aot_eager", ())) for r in rows)
    eager = sum(sum(r.get("eager", {}).values()) for r in rows)
    right = sum(1 for r in rows if not r["failures"])
    lines = [f"{right} of {len(rows)} cases right; {samples - bad} of {samples} samples",
             f"differences that aot_eager shows too: {apart}; samples with a graph that runs eagerly: {eager}; "
             f"random: {sum(r.get('random', 0) for r in rows)}"]
    if kinds:
        lines.append("failures: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="operators, with * and ?, separated by commas")
    parser.add_argument("--dtypes", default="")
    parser.add_argument("--modes", default="")
    parser.add_argument("--shard", default="", help="K/N: the Kth of N parts")
    parser.add_argument("--sample", type=int, default=0, help="every Nth case")
    parser.add_argument("--samples", type=int, help="of a case's inputs, the first N")
    parser.add_argument("--inductor", action="store_true", help="count the default backend's as well")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=900.0, help="seconds a case may take")
    parser.add_argument("--results", type=Path, help="a file of JSON lines, which is added to")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return
    done: dict[str, dict[str, Any]] = {}
    if arguments.results and arguments.results.exists():
        done = {row["case"]: row for row in map(json.loads, arguments.results.read_text().splitlines())}
    cases = chosen(arguments)
    rows = [done[c.name] for c in cases if c.name in done]
    left = [c for c in cases if c.name not in done]
    file = arguments.results.open("a", buffering=1) if arguments.results else None
    known = known_failures()
    jobs = [vars(c) for c in left]
    for count, row in enumerate(results_of(jobs, __file__, arguments.workers, arguments.limit, failed), 1):
        rows.append(row)
        if file:
            print(json.dumps(row), file=file)
        if row["failures"] and row["case"] not in known:
            first = row["failures"][0]
            print(f"FAIL {row['case']}: {len(row['failures'])} of {row['samples']}; sample {first['sample']}: "
                  f"{first['kind']}: {first['text'][:200]}", flush=True)
        if count % 100 == 0:
            print(f"{count} of {len(left)}", file=sys.stderr, flush=True)
    others = [row for row in rows if row["case"].endswith(" by inductor")]
    rows = [row for row in rows if row not in others]
    if others:
        print(f"inductor: {summary(others)}\njumar: ", end="")
    print(summary(rows))
    unlisted = [r["case"] for r in rows if r["failures"] and r["case"] not in known]
    passing = [r["case"] for r in rows if not r["failures"] and r["case"] in known]
    for name in passing:
        print(f"{name} is listed in {KNOWN.name} and does not fail")
    if unlisted or passing:
        sys.exit(1)


if __name__ == "__main__":
    main()
