"""Throughput of one loaded package that several threads share, against as many processes that load it each.

    python bench/serve.py [--models bert resnet18] [--threads 4] [--rounds 5] [--requests 60]

The program is examples/serve, built against the installed package library, without libtorch (provider onednn). Every
caller works alone on its call (one thread in oneDNN and in launches). Rounds alternate; numbers are medians.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "bench"))


def throughput(serve: Path, package: Path, processes: int, threads: int, requests: int) -> float:
    """Requests per second of all processes together."""
    command = [serve, package, "--threads", str(threads), "--requests", str(requests), "--pool-threads", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
               for _ in range(processes)]
    texts = [process.communicate()[0] for process in running]
    if any(process.returncode != 0 for process in running):
        raise RuntimeError("serve failed")
    return sum(float(re.search(r": ([\d.]+) per second", text).group(1)) for text in texts)


def main() -> None:
    from models import MODELS
    from packages import _EXPORT, python, tool
    from serving import built_serve

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=["bert", "resnet18"], choices=list(MODELS))
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=60)
    arguments = parser.parse_args()
    n = arguments.threads
    print(f"| model | {n} threads, requests/s | {n} processes | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="jumar-bench-") as name:
        folder = Path(name)
        serve = built_serve(ROOT / "build", folder)
        for model in arguments.models:
            archive, package = folder / f"{model}.pt2", folder / f"{model}.jumar.pt2"
            python(_EXPORT, model, str(archive), str(ROOT / "tests"))
            subprocess.run([*tool(), "compile", str(archive), "-o", str(package), "--provider=onednn"], check=True,
                           stdout=subprocess.DEVNULL)
            shared, apart = [], []
            for _ in range(arguments.rounds):
                shared.append(throughput(serve, package, 1, n, arguments.requests))
                apart.append(throughput(serve, package, n, 1, arguments.requests))
            print(f"| {model} | {median(shared):.1f} | {median(apart):.1f} | {median(shared) / median(apart):.2f} |",
                  flush=True)
    print(f"\nLoad averages: {' '.join(f'{x:.1f}' for x in os.getloadavg())}.")


if __name__ == "__main__":
    main()
