"""Compiles and runs one of the test models with eager, inductor and jumar, and prints them side by side.

    python examples/demo.py [MODEL] [--dynamic]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from models import MODELS  # noqa: E402

import jumar.backend  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?", default="bert", choices=sorted(MODELS))
    parser.add_argument("--dynamic", action="store_true", help="compile for every batch size and length")
    args = parser.parse_args()
    module, inputs = MODELS[args.model]()
    reports: list[dict] = []

    def with_report(gm, example_inputs):
        return jumar.backend.compile_dynamo_graph(gm, example_inputs, {"cache": False}, reports.append)

    dynamic = True if args.dynamic else None
    runners = {
        "eager": module,
        "jumar": torch.compile(module, backend=with_report, dynamic=dynamic),
        "inductor": torch.compile(module, dynamic=dynamic),
    }
    rows = {}
    with torch.no_grad():
        expected = module(*inputs)
        for name, fn in runners.items():
            print(f"  {name}: first call ...", flush=True)
            start = time.perf_counter()
            got = fn(*inputs)
            first = time.perf_counter() - start
            error = ((got - expected).abs().max() / expected.abs().max()).item()
            rows[name] = [first, error, []]
        for _ in range(15):
            for name, fn in runners.items():
                start = time.perf_counter()
                fn(*inputs)
                rows[name][2].append(time.perf_counter() - start)
    print(f"\n{'':10}{'first call s':>14}{'ms per call':>14}{'error':>12}")
    for name, (first, error, times) in rows.items():
        print(f"{name:10}{first:14.2f}{statistics.median(times) * 1e3:14.2f}{error:12.1e}")
    for report in reports:
        stages = ", ".join(f"{k} {v:.0f}" for k, v in report.get("stages", {}).items())
        print(f"\njumar: {len(report.get('kernels', []))} kernels, {len(report.get('calls', []))} kinds of called operators")
        print(f"jumar's own compile time in ms: {stages}")


if __name__ == "__main__":
    main()
