"""Random programs against eager PyTorch.

    python tests/fuzz/run.py --seeds 0:10000 --results fuzz.jsonl        goes on where an earlier run stopped
    python tests/fuzz/run.py --seeds 0:1000000 --minutes 120             as many as that takes
    python tests/fuzz/run.py --show 31                                   the program, its graphs, and the verdict
    python tests/fuzz/run.py --reduce 31                                 the least part of it that still fails

Programs run in worker processes, so that a crash or an endless loop is one seed's failure. The exit code is 1 where one
fails.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from workers import Job, Row, results_of, serve  # noqa: E402


def run_seed(seed: int) -> Row:
    from check import verdict_of
    from generate import generated

    begin = time.monotonic()
    program = generated(seed)
    verdict = verdict_of(program)
    return {"seed": seed, **asdict(verdict), "lines": len(program.lines), "seconds": round(time.monotonic() - begin, 3)}


def failed(job: Job, kind: str, text: str) -> Row:
    failure = {"variant": -1, "kind": kind, "text": text}
    return {"seed": job["seed"], "failures": [failure], "graphs": 0, "eager": 0, "traced": 0, "lines": 0, "seconds": 0}


def summary(rows: list[Row]) -> str:
    bad = [r for r in rows if r["failures"]]
    kinds = Counter(f["kind"] for r in bad for f in r["failures"])
    return (f"{len(rows)} programs, {sum(r['lines'] for r in rows)} lines, {sum(r['graphs'] for r in rows)} graphs; "
            f"{len(bad)} fail{': ' * bool(bad)}{', '.join(f'{kind} {n}' for kind, n in kinds.most_common())}; "
            f"run eagerly: {sum(r['eager'] for r in rows)}; differences of the trace: {sum(r['traced'] for r in rows)}")


def seeds_of(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last) if last else int(first) + 1)


def show(seed: int, reduces: bool) -> int:
    import torch
    from check import verdict_of
    from generate import generated
    from reducing import graph_texts, reduced

    torch.set_num_threads(1)
    program = generated(seed)
    if reduces:
        program = reduced(program)
    print(program.source(), end="\n\n")
    for text in graph_texts(program):
        print(text)
    verdict = verdict_of(program)
    for failure in verdict.failures:
        print(f"variant {failure.variant}: {failure.kind}: {failure.text}")
    return 1 if verdict.failures else 0


def run_all(arguments: argparse.Namespace) -> int:
    seeds = seeds_of(arguments.seeds)
    rows: list[Row] = []
    if arguments.results and arguments.results.exists():
        rows = [r for r in map(json.loads, arguments.results.read_text().splitlines()) if r["seed"] in seeds]
    done = {r["seed"] for r in rows}
    end = time.monotonic() + arguments.minutes * 60 if arguments.minutes else None

    def jobs() -> Iterator[Job]:
        left = (s for s in seeds if s not in done)
        timely: Any = itertools.takewhile(lambda _: end is None or time.monotonic() < end, left)
        return ({"seed": s} for s in timely)

    file = arguments.results.open("a", buffering=1) if arguments.results else None
    for row in results_of(jobs(), __file__, arguments.workers, arguments.limit, failed):
        rows.append(row)
        if file:
            print(json.dumps(row), file=file)
        for failure in row["failures"][:1]:
            print(f"FAIL {row['seed']}: variant {failure['variant']}: {failure['kind']}: {failure['text'][:300]}",
                  flush=True)
        if len(rows) % 500 == 0:
            print(summary(rows), file=sys.stderr, flush=True)
    print(summary(rows))
    return 1 if any(r["failures"] for r in rows) else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:1000", help="A:B, without B")
    parser.add_argument("--minutes", type=float, default=0, help="begin no program after so long")
    parser.add_argument("--results", type=Path, help="a file of JSON lines, which is added to")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a program may take")
    parser.add_argument("--show", type=int, help="a seed")
    parser.add_argument("--reduce", type=int, help="a seed")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("JUMAR_CACHE", "0")  # no program comes twice
    if arguments.worker:
        serve(lambda job: run_seed(job["seed"]))
    elif arguments.show is not None or arguments.reduce is not None:
        sys.exit(show(arguments.show if arguments.show is not None else arguments.reduce, arguments.reduce is not None))
    else:
        sys.exit(run_all(arguments))


if __name__ == "__main__":
    main()
