"""Many models, each in inference and in training: one line each of what became of it.

    python bench/zoo.py --no-inductor --jobs 2                   is everything right? the nine models and tests/zoo.py
    python bench/zoo.py --models unet,lstm --modes training      some of it, beside inductor
    python bench/zoo.py --json zoo.json --markdown zoo.md        goes on where zoo.json ends

A line says whether results, gradients and changed buffers are eager's, kernels and called operators, breaks of the
graph, seconds of the first call (caches empty, capture included) of jumar and of inductor with jumar's own seconds in
parentheses, and how many times as long inductor takes per call, or per forward and backward. The measurements are
those of bench/run.py and bench/train.py, each in a process of its own. Where jumar is not right the line says whether
backend="aot_eager", the same capture with eager's kernels, differs as well. The exit code is 1 where something is wrong
that aot_eager has right.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import run
import train

SCRIPTS = {"inference": run.__file__, "training": train.__file__}
# An error relative to the largest element: sums come in another order, and products may be fused with sums.
TOLERANCE = train.SURE_ERROR
# Called by design: what they do is no loop, or the numbers have to be those of torch's generator.
EXPECTED = ("mm", "convolution", "scaled_dot_product", "dropout", "bernoulli", "new_empty", "rand", "sort", "topk",
            "_fft", "nonzero", "item", "mkldnn_rnn_layer")


def is_right(first: dict) -> bool:
    """Near eager's; or, of gradients that rounding spoils, no further from those in f64 than twice eager's."""
    if "failed" in first or first.get("value_error", 0.0) > TOLERANCE:
        return False
    rounding = 2 * first.get("eager_error_to_f64", 0.0)
    return first["error"] <= TOLERANCE or first.get("error_to_f64", float("inf")) <= rounding


def measured(model: str, mode: str, args: argparse.Namespace) -> dict:
    script, threads = SCRIPTS[mode], str(args.threads)
    row: dict = {"load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as cache:

        def first(backend: str) -> dict:
            arguments = ["first", model, backend, threads]
            return run.run_child(arguments, f"{cache}/{backend}", script, args.limit)

        row["jumar"] = first("jumar")
        if not is_right(row["jumar"]):
            row["aot_eager"] = first("aot_eager")
        if args.inductor:
            row["inductor"] = first("inductor")
            arguments = ["steady", model, str(args.rounds), threads]
            steady = run.run_child(arguments, f"{cache}/inductor", script, args.limit)
            row["steady"] = steady.get(threads, steady)
    return row


def total(count) -> int:
    """Kernels and calls are a number, or one for each graph."""
    return sum(count) if isinstance(count, list) else count


def verdict(row: dict) -> str:
    jumar = row["jumar"]
    if is_right(jumar):
        return "right" if jumar["called"] or total(jumar["kernels"]) else "right, nothing compiled"
    if "failed" in jumar:
        text = f"failed: {jumar['failed'][:120]}"
    else:
        text = f"WRONG {max(jumar['error'], jumar.get('value_error', 0.0)):.1e}"
    aot = row["aot_eager"]
    if "failed" in aot:
        return f"{text} (aot_eager fails too: {aot['failed'][:60]})"
    return text if is_right(aot) else f"{text} (aot_eager differs too)"


def is_our_fault(row: dict) -> bool:
    return not is_right(row["jumar"]) and is_right(row["aot_eager"])


def surprising(jumar: dict) -> list[str]:
    """Called operators that one would expect in kernels."""
    return [f"{name.removeprefix('aten.')} {count}" for name, count in sorted(jumar["called"].items())
            if not any(word in name for word in EXPECTED)]


def cells(row: dict) -> list[str]:
    jumar, inductor, steady = row["jumar"], row.get("inductor", {}), row.get("steady", {})
    out = [verdict(row)]
    if "failed" in jumar:
        return out + [""] * 4
    counts = f"{total(jumar['kernels'])} + {total(jumar['calls'])}"
    if jumar["eager_graphs"]:
        counts += f", {jumar['eager_graphs']} graphs eagerly"
    if jumar["graph_breaks"]:
        counts += f", {jumar['graph_breaks']} breaks"
    out += [counts, ", ".join(surprising(jumar))]
    theirs = f"{inductor['first_call_s']:.1f}" if "first_call_s" in inductor else inductor.get("failed", "-")[:60]
    out.append(f"{jumar['first_call_s']:.1f} ({jumar['inner_s']:.2f}) / {theirs}")
    ratio = f"{steady['inductor'] / steady['jumar']:.2f}" if "jumar" in steady else steady.get("failed", "-")[:60]
    return [*out, ratio]


def line(name: str, row: dict) -> str:
    found, counts, others, seconds, ratio = cells(row)
    return (f"{name:32} {found:8} kernels + calls {counts or '-'}; others called: {others or 'none'}; first call s "
            f"{seconds or '-'}; speed {ratio or '-'}; load {row['load']:.1f}")


def markdown(rows: dict[str, dict], args: argparse.Namespace) -> str:
    import torch

    loads = [row["load"] for row in rows.values()]
    wrong = sum(not is_right(row["jumar"]) for row in rows.values())
    out = [f"Date {time.strftime('%Y-%m-%d')}; {run.cpu_name()}, {os.cpu_count()} cores, {args.threads} threads; torch "
           f"{torch.__version__}; load average {min(loads):.1f} to {max(loads):.1f}. {len(rows) - wrong} of {len(rows)} "
           "right.", "",
           "| model | result | kernels + calls | others called | first call s: jumar (of it compiling) / inductor | "
           "inductor / jumar |", "|---|---|---|---|---|---|"]
    out += [f"| {name} | {' | '.join(cells(row))} |" for name, row in rows.items()]
    ratios = [r["steady"]["inductor"] / r["steady"]["jumar"] for r in rows.values() if "jumar" in r.get("steady", {})]
    shares = [r["jumar"]["first_call_s"] / r["inductor"]["first_call_s"] for r in rows.values()
              if "first_call_s" in r.get("inductor", {}) and "first_call_s" in r["jumar"]]
    if ratios:
        out.append(f"| geometric mean of {len(ratios)} | | | | jumar / inductor {train.ratio_mean(shares)} | "
                   f"{train.ratio_mean(ratios)} |")
        out.append(f"| least, median | | | | | {min(ratios):.2f}, {statistics.median(ratios):.2f} |")
    return "\n".join(out)


def chosen(args: argparse.Namespace) -> list[tuple[str, str]]:
    sys.path.insert(0, str(run.ROOT / "tests"))
    from zoo import ALL_MODELS

    models = args.models.split(",") if args.models else list(ALL_MODELS)
    if unknown := [m for m in models if m not in ALL_MODELS]:
        raise SystemExit(f"no such models: {', '.join(unknown)}; there are {', '.join(ALL_MODELS)}")
    return [(model, mode) for model in models for mode in args.modes.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="")
    parser.add_argument("--modes", default="inference,training")
    parser.add_argument("--no-inductor", dest="inductor", action="store_false", help="only whether jumar is right")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a process may take")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time; more than one spoils times")
    parser.add_argument("--json", type=Path, help="rows; those that are there are not measured again")
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    known = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    rows: dict[str, dict] = {}

    def row_of(case: tuple[str, str]) -> tuple[str, dict]:
        name = ", ".join(case)
        row = known.get(name)
        return name, row if row and (not args.inductor or "inductor" in row) else measured(*case, args)

    with ThreadPoolExecutor(args.jobs) as pool:
        for name, row in pool.map(row_of, chosen(args)):
            rows[name] = known[name] = row
            print(line(name, row), flush=True)
            if args.json:
                args.json.write_text(json.dumps(known, indent=1))
    if args.markdown:
        args.markdown.write_text(markdown(rows, args) + "\n")
    bad = [name for name, row in rows.items() if is_our_fault(row)]
    print(f"{sum(is_right(row['jumar']) for row in rows.values())} of {len(rows)} right")
    if bad:
        print(f"wrong or failed where aot_eager is right: {'; '.join(bad)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
