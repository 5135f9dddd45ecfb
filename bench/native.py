"""Exported programs with libtorch's operators and with oneDNN's, side by side.

    python bench/native.py [--models bert,resnet18] [--threads 1,2] [--rounds 7] [--calls 30]

Each model is exported and compiled by jumar twice: for libtorch, run in a process of Python and torch, and for
oneDNN, run by `jumar run`, where there is neither. A round starts both processes one after the other; each calls
the program several times and gives its median. Printed is the median over the rounds, and the ratio of the two.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "python")]


def child_torch(path: str, input_path: str, threads: int, calls: int) -> float:
    import numpy as np
    import torch
    from exporting import ImportedModule

    torch.set_num_threads(threads)
    module = ImportedModule(path)
    x = torch.from_numpy(np.load(input_path))
    times = []
    with torch.no_grad():
        for _ in range(calls + 3):
            start = time.perf_counter()
            module(x)
            times.append(time.perf_counter() - start)
    return statistics.median(times[3:]) * 1e3


def run_torch(path: str, input_path: str, threads: int, calls: int) -> float:
    line = [sys.executable, __file__, "--child", path, input_path, str(threads), str(calls)]
    return float(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


def run_onednn(path: str, input_path: str, threads: int, calls: int) -> float:
    from exporting import command

    line = [*command(), "run", path, "--input", input_path, "--output", os.devnull, f"--threads={threads}",
            f"--repeat={calls}"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return float(re.search(r"median ([\d.]+) ms", done.stderr).group(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default="bert,resnet18")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--child", nargs=4)
    args = parser.parse_args()
    if args.child:
        path, input_path, threads, calls = args.child
        print(child_torch(path, input_path, int(threads), int(calls)))
        return
    import numpy as np
    from exporting import save
    from models import MODELS

    print("| model | threads | libtorch ms | oneDNN ms | libtorch / oneDNN |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models.split(","):
            module, (x,) = MODELS[name]()
            path = save(module, (x,), path=f"{folder}/{name}.pt2")
            np.save(f"{folder}/{name}.npy", x.numpy())
            for threads in map(int, args.threads.split(",")):
                rounds = [[run(path, f"{folder}/{name}.npy", threads, args.calls) for run in (run_torch, run_onednn)]
                          for _ in range(args.rounds)]
                torch_ms, onednn_ms = (statistics.median(column) for column in zip(*rounds))
                print(f"| {name} | {threads} | {torch_ms:.2f} | {onednn_ms:.2f} | {torch_ms / onednn_ms:.2f} |",
                      flush=True)
    print(f"\nLoad average {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
