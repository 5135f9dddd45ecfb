"""Eager, torch.compile's default backend and jumar side by side, in one run.

    python bench/run.py [--models bert,llama] [--threads 1,2] [--rounds 21] [--json out.json] [--markdown out.md]

For every model:
  cold    one fresh process per backend, caches empty: seconds of the first call, peak memory, and for jumar the
          seconds from the call of the inner compiler to a callable, by stage
  warm    the same process started again with the caches of the first: jumar's own seconds
  steady  one process that compiles with all backends and runs them in turn, round by round: median milliseconds
          per call at each thread count
and once: the cost of calling a compiled trivial graph. Machines are shared, so read ratios; the load average is
printed with the table.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
BACKENDS = ("eager", "inductor", "jumar")


# ---- in the child processes


def compile_with(backend: str, module, seconds: dict):
    """The compiled module; `seconds` receives jumar's own times when the backend is jumar."""
    import torch

    if backend == "eager":
        return module
    if backend != "jumar":
        return torch.compile(module, backend=backend)
    import jumar.backend

    inner = jumar.backend.compile_graph
    reports = []

    def timed(*args, **kwargs):
        start = time.perf_counter()
        try:
            return inner(*args, **kwargs)
        finally:
            seconds["inner"] = seconds.get("inner", 0.0) + time.perf_counter() - start

    jumar.backend.compile_graph = timed
    seconds["reports"] = reports
    return torch.compile(
        module, backend=lambda gm, inputs: jumar.backend.compile_dynamo_graph(gm, inputs, {}, reports.append)
    )


def tensors_of(result) -> list:
    """The tensors that a model returned."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def relative_error(found, expected) -> float:
    """The largest error of a result, relative to its own largest element."""
    errors = [0.0]
    for got, wanted in zip(tensors_of(found), tensors_of(expected), strict=True):
        if got.shape != wanted.shape or got.dtype != wanted.dtype or got.stride() != wanted.stride():
            raise RuntimeError(f"a result is {got.dtype}{tuple(got.shape)}{got.stride()}, eager's is "
                               f"{wanted.dtype}{tuple(wanted.shape)}{wanted.stride()}")
        if wanted.numel() > 0:
            scale = max(wanted.abs().max().item(), 1e-3)  # what is smaller may be what is left of zero
            errors.append((got.double() - wanted.double()).abs().max().item() / scale)
    return math.inf if any(math.isnan(e) for e in errors) else max(errors)


def called_operators(reports: list[dict]) -> dict[str, int]:
    """Operators that jumar's programs call, those that Python calls among them, and how often a run calls them."""
    called: dict[str, int] = {}
    for report in reports:
        for row in [*report.get("calls", []), *report.get("python_calls", [])]:
            name = row.get("op") or row.get("name", "?")
            called[name] = called.get(name, 0) + row.get("count", 1)
    return called


def jumar_counts(reports: list[dict]) -> dict:
    """Kernels and calls of each graph, and what all call."""
    return {
        "kernels": [len(report.get("kernels", [])) for report in reports],
        "calls": [sum(call.get("count", 1) for call in report.get("calls", [])) for report in reports],
        "eager_graphs": sum("eager" in report for report in reports),
        "called": called_operators(reports),
    }


def graph_breaks() -> int:
    """How often Dynamo has ended a graph early so far."""
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def inductor_counts(codes: list[str]) -> tuple[int, int]:
    """Calls of generated functions and of operators in the bodies of inductor's wrappers."""
    kernels = calls = 0
    for code in codes:
        for line in code[code.index("def call("):].splitlines():
            line = line.strip()
            if re.match(r"cpp_fused\w*\(", line):
                kernels += 1
            elif re.search(r"(extern_kernels\.\w+|torch\.ops\.[\w.]+)\(", line):
                calls += 1
    return kernels, calls


def child_first_call(model: str, backend: str, threads: int) -> dict:
    import resource

    import torch
    from zoo import ALL_MODELS

    torch.set_num_threads(threads)
    module, inputs = ALL_MODELS[model]()
    seconds: dict = {}
    codes: list[str] = []
    with torch.no_grad():
        torch.manual_seed(5)
        expected = module(*inputs)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        compiled = compile_with(backend, module, seconds)
        torch.manual_seed(5)
        start = time.perf_counter()
        if backend == "inductor":
            from torch._inductor.utils import run_and_get_code

            got, codes = run_and_get_code(compiled, *inputs)
        else:
            got = compiled(*inputs)
        first = time.perf_counter() - start
        error = relative_error(got, expected)
        for _ in range(3):  # later calls find used buffers
            torch.manual_seed(5)
            error = max(error, relative_error(compiled(*inputs), expected))
    out = {
        "first_call_s": first,
        "error": error,
        "graph_breaks": graph_breaks(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_children_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        "base_mb": before / 1024,
    }
    if backend == "inductor":
        out["kernels"], out["calls"] = inductor_counts(codes)
    if backend == "jumar":
        out["inner_s"] = seconds.get("inner", 0.0)
        stages: dict = {}
        for report in seconds["reports"]:
            for name, ms in report.get("stages", {}).items():
                stages[name] = stages.get(name, 0.0) + ms
        counts = jumar_counts(seconds["reports"])
        out.update(counts, stages_ms=stages, kernels=sum(counts["kernels"]), calls=sum(counts["calls"]))
    return out


def child_steady(model: str, rounds: int, thread_counts: list[int]) -> dict:
    import torch
    from zoo import ALL_MODELS

    module, inputs = ALL_MODELS[model]()
    out = {}
    with torch.no_grad():
        for threads in thread_counts:
            torch.set_num_threads(threads)
            torch._dynamo.reset()
            compiled = {backend: compile_with(backend, module, {}) for backend in BACKENDS}
            for fn in compiled.values():
                for _ in range(3):
                    fn(*inputs)
            times: dict = {backend: [] for backend in BACKENDS}
            for _ in range(rounds):
                for backend, fn in compiled.items():
                    start = time.perf_counter()
                    fn(*inputs)
                    times[backend].append(time.perf_counter() - start)
            out[str(threads)] = {b: statistics.median(t) * 1e3 for b, t in times.items()}
    return out


def child_trivial() -> dict:
    import torch

    def fn(x):
        return torch.relu(x + 1)

    x = torch.randn(16)

    def no_work(gm, inputs):
        result = torch.empty(16)

        def call(args):
            args.clear()
            return [result]

        call._boxed_call = True
        return call

    from torch._dynamo.backends.common import aot_autograd

    # What Dynamo itself costs, and what it and AOTAutograd cost around a graph: graphs that do nothing.
    nothing = aot_autograd(fw_compiler=no_work, inference_compiler=no_work)
    compiled = {
        "guards": torch.compile(fn, backend=lambda gm, inputs: lambda x: (x,)),
        "guards + AOTAutograd": torch.compile(fn, backend=nothing),
    }
    compiled.update({backend: compile_with(backend, fn, {}) for backend in BACKENDS if backend != "eager"})
    compiled["eager"] = fn
    calls, times = 400, {name: [] for name in compiled}
    with torch.no_grad():
        for f in compiled.values():
            f(x)
        for _ in range(150):
            for name, f in compiled.items():
                start = time.perf_counter()
                for _ in range(calls):
                    f(x)
                times[name].append((time.perf_counter() - start) / calls * 1e6)
    # Differences of about a microsecond are read from these, and other processes only ever add: the fastest tenth.
    return {name: statistics.quantiles(t, n=10)[0] for name, t in times.items()}


# ---- in the parent


def run_child(arguments: list[str], cache: str, script: str = __file__, limit_s: float | None = None) -> dict:
    """What a child process of `script` printed, or how it failed."""
    env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=f"{cache}/inductor", TRITON_CACHE_DIR=f"{cache}/triton",
               JUMAR_CACHE_DIR=f"{cache}/jumar", TORCHINDUCTOR_COMPILE_THREADS="2")
    command = [sys.executable, script, "--child", *arguments]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {limit_s:g} s"}
    if done.returncode < 0:
        return {"failed": f"crash: signal {-done.returncode}"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def note(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def measure(models: list[str], threads: list[int], rounds: int) -> dict:
    result: dict = {"models": {}, "load_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as cache:
        for model in models:
            row: dict = {}
            for backend in ("aot_eager", "inductor", "jumar"):
                note(f"{model}: first call with {backend}")
                row[backend] = run_child(["first", model, backend, str(max(threads))], f"{cache}/{model}")
            note(f"{model}: jumar with a warm cache")
            row["jumar_warm"] = run_child(["first", model, "jumar", str(max(threads))], f"{cache}/{model}")
            note(f"{model}: steady state")
            row["steady"] = {}
            for count in threads:  # inductor's code cache does not tell thread counts apart
                row["steady"].update(
                    run_child(["steady", model, str(rounds), str(count)], f"{cache}/{model}-{count}"))
            result["models"][model] = row
        note("trivial graph")
        result["trivial_us"] = run_child(["trivial"], f"{cache}/trivial")
    result["load_after"] = os.getloadavg()
    return result


def markdown(result: dict, threads: list[int]) -> str:
    import torch

    out = [f"Date {time.strftime('%Y-%m-%d')}; {cpu_name()}, {os.cpu_count()} cores; torch {torch.__version__}; load "
           f"average {result['load_before'][0]:.1f} before, {result['load_after'][0]:.1f} after.", ""]
    out += ["| model | error | inner compile s (cold / warm) | first call s: aot_eager / inductor / jumar | peak MB: "
            "inductor / jumar | kernels + calls: inductor / jumar |", "|---|---|---|---|---|---|"]
    for model, row in result["models"].items():
        jumar, warm, inductor, aot = row["jumar"], row["jumar_warm"], row["inductor"], row["aot_eager"]
        if any("failed" in r for r in (jumar, warm, inductor, aot)):
            failures = {k: row[k]["failed"] for k in row if "failed" in row[k]}
            out.append(f"| {model} | failed: {failures} | | | | |")
            continue
        out.append(
            f"| {model} | {jumar['error']:.1e} | {jumar['inner_s']:.2f} / {warm['inner_s']:.2f} | "
            f"{aot['first_call_s']:.1f} / {inductor['first_call_s']:.1f} / {jumar['first_call_s']:.1f} | "
            f"{max(inductor['peak_mb'], inductor['peak_children_mb']):.0f} / {jumar['peak_mb']:.0f} | "
            f"{inductor['kernels']} + {inductor['calls']} / {jumar['kernels']} + {jumar['calls']} |")
    for count in threads:
        out += ["", f"Steady state, {count} thread{'s' if count > 1 else ''}, median ms per call:", "",
                "| model | eager | inductor | jumar | inductor / jumar |", "|---|---|---|---|---|"]
        ratios = []
        for model, row in result["models"].items():
            steady = row["steady"].get(str(count))
            if not steady:
                out.append(f"| {model} | failed: {row['steady'].get('failed', '?')} | | | |")
                continue
            ratios.append(steady["inductor"] / steady["jumar"])
            out.append(f"| {model} | {steady['eager']:.2f} | {steady['inductor']:.2f} | {steady['jumar']:.2f} | "
                       f"{ratios[-1]:.2f} |")
        if ratios:
            mean = math.exp(statistics.fmean(math.log(r) for r in ratios))
            out.append(f"| geometric mean | | | | {mean:.2f} |")
    trivial = result["trivial_us"]
    out += ["", "Call of a compiled `relu(x + 1)` on 16 elements, microseconds: "
            + ", ".join(f"{k} {v:.2f}" for k, v in trivial.items() if k != "failed") + "."]
    if "failed" not in trivial:
        above = {k: trivial[k] - trivial["guards + AOTAutograd"] for k in ("inductor", "jumar")}
        out.append(f"Above guards and AOTAutograd, which both have: inductor {above['inductor']:.2f}, jumar "
                   f"{above['jumar']:.2f}; inductor / jumar {above['inductor'] / above['jumar']:.2f}.")
    return "\n".join(out)


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def publish(result: dict, text: str, args: argparse.Namespace) -> None:
    """Prints the tables, and writes them and what they are made of where --markdown and --json say."""
    print(text)
    if args.json:
        args.json.write_text(json.dumps(result, indent=1))
    if args.markdown:
        args.markdown.write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--child", nargs="+")
    args = parser.parse_args()
    if args.child:
        kind, *rest = args.child
        if kind == "first":
            out = child_first_call(rest[0], rest[1], int(rest[2]))
        elif kind == "steady":
            out = child_steady(rest[0], int(rest[1]), [int(rest[2])])
        else:
            out = child_trivial()
        print(json.dumps(out))
        return
    from models import MODELS

    models = args.models.split(",") if args.models else list(MODELS)
    threads = [int(t) for t in args.threads.split(",")]
    result = measure(models, threads, args.rounds)
    text = markdown(result, threads)
    publish(result, text, args)


if __name__ == "__main__":
    main()
