"""The numbers of the Ascend targets, in one run: does every kernel compile, how well is it cut, are its values right.

    python bench/ascend.py [--share] [--targets Ascend910B1,Ascend950PR_9589]
                           [--parts operators,casts,graphs,models,sizes] [--only PATTERN] [--json out.json]
                           [--cache DIR] [--toolchain DIR] [--costmodel]

Needs no device: kernels go through the toolchain up to the device's linker and run in the simulator; their bytes and
instructions are counted in the optimized HIVM. The operator list and the graphs that another system's kernels are
known for are in tests/ascend_cases.py, the models in tests/models.py, the operators that may be called those of
tests/ascend_called.json. `--share` is the fixed part that CI runs: some operators, casts and sizes, one model. Results
of the toolchain are kept in --cache (default: Jumar's own), which makes a second run short; compile times of the
toolchain are those of the run that made them. `--costmodel` compiles all candidates of each kernel and compares the
model's order with that of the HIVM's times.

The exit code is 1 where a number other than a time misses its target. Every miss is listed, with the case and the
kernel.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

import ascend_cases  # noqa: E402
from ascend_cases import Case  # noqa: E402

TARGETS = ("Ascend910B1", "Ascend950PR_9589")
PARTS = ("operators", "casts", "graphs", "models", "sizes")
SHARE_MODELS = ("bert",)
SHARE_GRAPHS = ("layer_norm", "rotary", "encoder_layer")
SHARE_SIZED = ("gelu", "softmax", "sum_0", "transpose", "cat_pad")
# Of one element, relative to 1 + |value|; f16 and bf16 are compared with what f32 gives for the same inputs.
TOLERANCES = {torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 1.6e-2}
MODEL_TOLERANCE = 1e-4  # many layers, and products by another library
LIMITS = {"1": "1,1", "7": "4,7", "14": "7,14", "all": ""}  # vector cores -> the option
GRAPHS_TARGET = "Ascend910B1"  # that the other system's kernels were made for
MOST_GM_RATIO = 1.05
MOST_TILE_MS = 2.0
SCALAR_REASONS = ("gather", "scatter", "scan", "int64 arithmetic")


@dataclass
class Results:
    """Of one target: rows of kernels and cases, and what went wrong, each with its case."""

    target: str
    cores: int = 0
    kernels: list[dict[str, Any]] = field(default_factory=list)
    cases: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    misses: list[dict[str, Any]] = field(default_factory=list)
    graphs: list[dict[str, Any]] = field(default_factory=list)
    size_runs: int = 0

    def miss(self, what: str, case: str, detail: str) -> None:
        self.misses.append({"what": what, "case": case, "detail": detail})


# ---- compiling and comparing


class Compiled:
    """A function compiled for a target; `reports` has one entry for each graph that was compiled."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], dynamic: bool):
        from jumar.backend import compile_dynamo_graph

        self.reports: list[dict[str, Any]] = []
        torch._dynamo.reset()
        self._call = torch.compile(
            function, dynamic=dynamic,
            backend=lambda graph, inputs: compile_dynamo_graph(graph, inputs, options, self.reports.append))

    def __call__(self, *inputs: Any) -> list[torch.Tensor]:
        with torch.no_grad():
            return flat(self._call(*inputs))


def message(error: BaseException) -> str:
    """Of the compiler, where Dynamo's is around it."""
    inner = error.__cause__ or getattr(error, "inner_exception", None) or error
    return " ".join(f"{type(inner).__name__}: {inner}".split())[:1000]


def flat(results: Any) -> list[torch.Tensor]:
    if isinstance(results, torch.Tensor):
        return [results]
    return [tensor for item in results for tensor in flat(item)]


def error_of(result: torch.Tensor, reference: torch.Tensor, weight: torch.Tensor | None) -> float:
    """The largest error of an element over what is allowed for its type; infinite for another type or shape."""
    if result.shape != reference.shape:
        return math.inf
    if not result.dtype.is_floating_point:
        return 0.0 if torch.equal(result, reference.to(result.dtype)) else math.inf
    a, b = result.double(), reference.double()
    scale = weight.double() + 1 if weight is not None else 1 + b.abs()
    error = (a - b).abs() / scale / TOLERANCES[result.dtype]
    # A reference in f32 may lie beyond what the type can hold.
    same = (a == b) | (a.isnan() & b.isnan()) | (a == b.to(result.dtype).double())
    error = torch.where(same, 0.0, torch.nan_to_num(error, nan=math.inf))
    return error.max().item() if error.numel() else 0.0


def widened(value: Any) -> Any:
    if isinstance(value, list):
        return [widened(item) for item in value]
    is_short = isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if is_short else value


def references(case: Case, inputs: tuple[Any, ...]) -> list[torch.Tensor]:
    """Eager's results; of short floats those in f32, where no operator in between rounds."""
    with torch.no_grad():
        exact = case.dtypes[0] in (torch.float16, torch.bfloat16) and case.function(*map(widened, inputs))
        return flat(exact if exact is not False else case.function(*inputs))


def worst_error(case: Case, inputs: tuple[Any, ...], results: list[torch.Tensor]) -> float:
    wanted = references(case, inputs)
    weight = None if case.weight is None else case.weight(*map(widened, inputs))
    if len(wanted) != len(results):
        return math.inf
    return max((error_of(a, b, weight) for a, b in zip(results, wanted)), default=0.0)


# ---- the parts


class Run:
    def __init__(self, target: str, arguments: argparse.Namespace):
        from jumar._native import resolve_options

        self.results = Results(target)
        self.arguments = arguments
        self.options = {"target": target, "count_kernels": True}
        if arguments.cache:
            self.options["cache_dir"] = arguments.cache
        if arguments.toolchain:
            self.options["toolchain_dir"] = arguments.toolchain
        if arguments.costmodel:
            self.options |= {"costmodel": True, "costmodel_ratio": 1.0}
        resolve_options(self.options)
        self.allowed = CalledList(target)
        self.results.cores = vector_cores(target)

    def is_chosen(self, name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.arguments.only.split(","))

    def case(self, name: str, case: Case, dynamic: bool = False) -> None:
        label = f"{name} (dynamic)" if dynamic else name
        if not self.is_chosen(label):
            return
        torch.manual_seed(0)
        inputs = case.inputs()
        begin = time.perf_counter()
        compiled = Compiled(case.function, self.options, dynamic)
        try:
            results = compiled(*inputs)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this case's result
            self.results.miss("runs", label, message(error))
            return
        error = worst_error(case, inputs, results)
        self.note(label, compiled, error, time.perf_counter() - begin)

    def graph(self, name: str, graph: ascend_cases.Graph) -> None:
        label = f"graph {name}"
        before = len(self.results.kernels)
        self.case(label, graph.case)
        rows = [row for row in self.results.kernels[before:] if "gm_bytes" in row.get("counts", {})]
        if self.results.target != GRAPHS_TARGET or not rows:
            return
        calls = sum(row["counts"]["vector_calls"] for row in rows)
        moved = sum(row["counts"]["gm_bytes"] for row in rows)
        least = sum(row["counts"]["least_bytes_on_cores"] for row in rows)
        most = graph.most_gm_bytes or MOST_GM_RATIO * least
        self.results.graphs.append({"graph": name, "kernels": len(rows), "vector_calls": calls, "gm_bytes": moved,
                                    "least_bytes": least, "cores": max(row["counts"]["cores_used"] for row in rows)})
        for what, value, limit in (("kernels", len(rows), graph.most_kernels), ("GM bytes", moved, most),
                                   ("vector calls", calls, graph.most_vector_calls)):
            if limit is not None and value > limit:
                self.results.miss("known graphs", label, f"{value} {what}, of at most {limit:.0f}")

    def model(self, name: str, dynamic: bool) -> None:
        from models import MODELS

        label = f"{name} (dynamic)" if dynamic else name
        if not self.is_chosen(label):
            return
        module, inputs = MODELS[name]()
        begin = time.perf_counter()
        compiled = Compiled(module, self.options, dynamic)
        try:
            results = compiled(*inputs)
        except Exception as error:  # noqa: BLE001
            self.results.miss("runs", label, message(error))
            return
        with torch.no_grad():
            wanted = flat(module(*inputs))
        factor = TOLERANCES[torch.float32] / MODEL_TOLERANCE
        error = max(error_of(a, b, None) for a, b in zip(results, wanted)) * factor
        self.note(label, compiled, error, time.perf_counter() - begin)

    def note(self, label: str, compiled: Compiled, error: float, seconds: float) -> None:
        kernels = [row for report in compiled.reports for row in report.get("device_kernels", ())]
        self.results.kernels += [{"case": label, **row} for row in kernels]
        self.results.cases.append({"case": label, "kernels": len(kernels), "error": error, "seconds": seconds})
        if error > 1:
            self.results.miss("values", label, f"{error:.3g} times the tolerance")
        for report in compiled.reports:
            if "eager" in report:
                self.results.miss("called operators", label, f"the graph runs eagerly: {report['eager']}")
            for row in report.get("calls", ()):
                self.results.calls.append({"case": label, **row})
                if not self.allowed.has(row):
                    self.results.miss("called operators", label, f"{row['op']}: {row['reason']}")

    def sized(self, name: str) -> None:
        function, rank, weight = ascend_cases.SIZED[name]
        case = Case(function, tuple, weight)
        shapes = ascend_cases.sizes(rank, self.results.cores)
        if self.arguments.share:
            shapes = shapes[::4]
        for cores, limit in LIMITS.items():
            label = f"{name} on {cores} cores"
            if not self.is_chosen(label):
                continue
            options = {**self.options, "count_kernels": False, "device_limit": limit}
            compiled = Compiled(function, options, dynamic=True)
            for shape in shapes:
                self.sized_run(label, case, compiled, shape)

    def sized_run(self, label: str, case: Case, compiled: Compiled, shape: tuple[int, ...]) -> None:
        torch.manual_seed(0)
        inputs = (torch.randn(shape),)
        try:
            case.function(*inputs)
        except (RuntimeError, IndexError):  # what eager refuses, such as the maximum of nothing, has no value
            return
        self.results.size_runs += 1
        try:
            results = compiled(*inputs)
        except Exception as error:  # noqa: BLE001
            self.results.miss("runs", f"{label} {shape}", message(error))
            return
        error = worst_error(case, inputs, results)
        if error > 1:
            self.results.miss("values", f"{label} {shape}", f"{error:.3g} times the tolerance")


def vector_cores(target: str) -> int:
    said = subprocess.run([sys.executable, "-m", "jumar", "targets", target], capture_output=True, text=True, check=True)
    return int(re.search(r"^  vector_cores (\d+)$", said.stdout, re.MULTILINE).group(1))


class CalledList:
    """What may be called for a target: rows of tests/ascend_called.json."""

    def __init__(self, target: str):
        rows = json.loads((ROOT / "tests" / "ascend_called.json").read_text())["called"]
        self._rows = [row for row in rows if target in row.get("targets", (target,))]

    def has(self, call: dict[str, Any]) -> bool:
        return any(fnmatch.fnmatch(call["op"], row["op"]) and row.get("says", "") in call["reason"]
                   for row in self._rows)


def run(target: str, arguments: argparse.Namespace) -> Results:
    from models import MODELS

    job = Run(target, arguments)
    share = arguments.share
    parts = arguments.parts.split(",")
    operators, casts = ascend_cases.operator_cases(), ascend_cases.cast_cases()
    if "operators" in parts:
        for name in ascend_cases.SHARE_OPERATORS if share else operators:
            job.case(name, operators[name])
            if operators[name].has_dynamic and "." not in name:
                job.case(name, operators[name], dynamic=True)
    if "casts" in parts:
        for name in ascend_cases.SHARE_CASTS if share else casts:
            job.case(name, casts[name])
    if "graphs" in parts:
        for name, graph in ascend_cases.graphs().items():
            if not share or name in SHARE_GRAPHS:
                job.graph(name, graph)
    if "models" in parts:
        for name in SHARE_MODELS if share else MODELS:
            job.model(name, dynamic=False)
            job.model(name, dynamic=True)
    if "sizes" in parts:
        for name in SHARE_SIZED if share else ascend_cases.SIZED:
            job.sized(name)
    return job.results


# ---- the numbers


@dataclass
class Number:
    name: str
    value: str
    wanted: str
    is_met: bool = True


def share_text(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.1f}%)" if whole else "")


def check_kernels(results: Results) -> None:
    """Misses of single kernels."""
    for row in results.kernels:
        name = f"{row['case']}: {row['name']}"
        if row["stage"] == "refused":
            # What the tile stage can't cut is taken apart before the toolchain sees it; what the list of called
            # operators names is called.
            is_fault = row["reason"].startswith("the toolchain refuses") and not is_listed(results, row)
            results.miss("compiles" if is_fault else "taken apart", name, row["reason"])
            continue
        for text in row["rejected"]:
            results.miss("overflow" if "overflow" in text else "first choice", name, text)
        counts = row.get("counts", {})
        if "not_counted" in counts:
            results.miss("counted", name, counts["not_counted"])
        ratio = gm_ratio(row)
        reasons = counts.get("scalar_reasons", ())
        if ratio is not None and ratio > MOST_GM_RATIO and not row["loops_fold"] and not row["finds"]:
            results.miss("GM bytes", name, f"{ratio:.3f} of the least; {' '.join(row['tiling'].split())}")
        if reasons and not all(any(known in reason for known in SCALAR_REASONS) for reason in reasons):
            results.miss("scalar loops", name, f"{counts['scalar_elements']} elements: {'; '.join(reasons)}")
        if row["tile_ms"] > MOST_TILE_MS:
            results.miss("tile time", name, f"{row['tile_ms']:.2f} ms")


def is_listed(results: Results, row: dict[str, Any]) -> bool:
    """Whether a refused kernel became a call that the list allows."""
    allowed = CalledList(results.target)
    calls = [call for call in results.calls if call["case"] == row["case"] and row["reason"] in call["reason"]]
    return bool(calls) and all(allowed.has(call) for call in calls)


def gm_ratio(row: dict[str, Any]) -> float | None:
    counts = row.get("counts", {})
    return counts["gm_bytes"] / counts["least_bytes_on_cores"] if counts.get("least_bytes_on_cores") else None


def numbers(results: Results) -> list[Number]:
    made = [row for row in results.kernels if row["stage"] != "refused"]
    missed = {what: [m for m in results.misses if m["what"] == what] for what in {m["what"] for m in results.misses}}

    def number(name: str, value: str, wanted: str, *whats: str) -> Number:
        return Number(name, value, wanted, not any(missed.get(what) for what in whats))

    first = sum(not row["rejected"] and row["choice"] == 0 for row in made)
    ratios = [ratio for row in made if (ratio := gm_ratio(row)) is not None]
    folding = sum(row["loops_fold"] for row in made)
    tile_ms = sorted(row["tile_ms"] for row in made)
    out = [
        number("cases that run", share_text(len(results.cases), len(results.cases) + len(missed.get("runs", ()))),
               "all", "runs"),
        number("kernels compiled", share_text(len(made), len(made) + len(missed.get("compiles", ()))), "all", "compiles"),
        Number("fusions taken apart", str(len(missed.get("taken apart", ()))), ""),
        Number("first choice compiled", share_text(first, len(made)), ">= 99%",
               results_have_no(missed, "overflow", "first choice") or first >= 0.99 * len(made)),
        number("UB overflows", str(len(missed.get("overflow", ()))), "0", "overflow"),
        Number("dropped multi-buffer / code motion",
               f"{sum(row['dropped_multi_buffer'] for row in made)} / {sum(row['dropped_code_motion'] for row in made)}", ""),
        number("wrong values", str(len(missed.get("values", ()))), "0", "values"),
        Number("largest error / tolerance", f"{max((row['error'] for row in results.cases), default=0):.3g}", "<= 1",
               not missed.get("values")),
        number("runs at other sizes and limits", str(results.size_runs), ""),
        number("operators called unlisted", str(len(missed.get("called operators", ()))), "0", "called operators"),
        number(f"GM bytes <= {MOST_GM_RATIO} x least", share_text(sum(r <= MOST_GM_RATIO for r in ratios), len(ratios)),
               "all that fit, no gathers", "GM bytes"),
        Number("kernels that fold in several blocks", str(folding), ""),
        number("misses of known graphs", str(len(missed.get("known graphs", ()))), "0", "known graphs"),
        number("kernels not counted", str(len(missed.get("counted", ()))), "0", "counted"),
        number("unlisted scalar loops", str(len(missed.get("scalar loops", ()))), "0", "scalar loops"),
    ]
    if tile_ms:
        out.append(number("loops to TTIR, ms: median / 99% / most",
                          f"{statistics.median(tile_ms):.2f} / {tile_ms[int(len(tile_ms) * 0.99)]:.2f} / {tile_ms[-1]:.2f}",
                          f"< {MOST_TILE_MS:g}", "tile time"))
        out.append(Number("toolchain, ms a kernel: median", f"{statistics.median(r['toolchain_ms'] for r in made):.0f}", ""))
    return out + ranking_numbers(made)


def results_have_no(missed: dict[str, list[Any]], *whats: str) -> bool:
    return not any(missed.get(what) for what in whats)


def ranking_numbers(made: Iterable[dict[str, Any]]) -> list[Number]:
    """How the model's order of candidates agrees with their times by HIVM."""
    correlations, losses = [], []
    for row in made:
        counted = [r for r in row.get("ranking", ()) if "hivm_us" in r]
        if len(counted) < 2:
            continue
        best = min(r["hivm_us"] for r in counted)
        losses.append(counted[0]["hivm_us"] / best)
        value = rank_correlation([r["modelled_us"] for r in counted], [r["hivm_us"] for r in counted])
        if value is not None:
            correlations.append(value)
    if not losses:
        return []
    losses.sort()
    mean = statistics.geometric_mean(losses)
    return [Number("rank correlation with HIVM times: median", f"{statistics.median(correlations):.2f}", ""),
            Number("first choice over best by HIVM: mean / 90% / most",
                   f"{mean:.3f} / {losses[int(len(losses) * 0.9)]:.3f} / {losses[-1]:.3f}", "")]


def rank_correlation(left: list[float], right: list[float]) -> float | None:
    def ranks(values: list[float]) -> list[float]:
        return [statistics.mean([sum(w < v for w in values), sum(w <= v for w in values) - 1]) for v in values]

    a, b = ranks(left), ranks(right)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return statistics.correlation(a, b)


def print_table(all_numbers: dict[str, list[Number]]) -> None:
    rows = list(dict.fromkeys(number.name for list_ in all_numbers.values() for number in list_))
    print("| | wanted | " + " | ".join(all_numbers) + " |\n|---|---|" + "---|" * len(all_numbers))
    for name in rows:
        found = [next((n for n in list_ if n.name == name), None) for list_ in all_numbers.values()]
        wanted = next(n.wanted for n in found if n is not None)
        cells = ["" if n is None else n.value + ("" if n.is_met else " **missed**") for n in found]
        print(f"| {name} | {wanted} | " + " | ".join(cells) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", default="*", help="names of cases, with * and ?, separated by commas")
    parser.add_argument("--share", action="store_true", help="the fixed part that CI runs")
    parser.add_argument("--costmodel", action="store_true", help="compile and compare all candidates")
    parser.add_argument("--cache", default="", help="a directory for what is compiled")
    parser.add_argument("--toolchain", default="", help="where the toolchain is; by default it is searched")
    parser.add_argument("--json", default="", help="a file for all rows")
    arguments = parser.parse_args()
    torch._dynamo.config.cache_size_limit = 256
    all_results, all_numbers = {}, {}
    for target in arguments.targets.split(","):
        results = run(target, arguments)
        check_kernels(results)
        all_results[target], all_numbers[target] = results, numbers(results)
    print_table(all_numbers)
    for target, results in all_results.items():
        for miss in results.misses:
            print(f"{target}: {miss['what']}: {miss['case']}: {miss['detail'][:300]}")
    if arguments.json:
        written = {target: {**vars(results), "numbers": [vars(n) for n in all_numbers[target]]}
                   for target, results in all_results.items()}
        Path(arguments.json).write_text(json.dumps(written, indent=1) + "\n")
    # Times depend on what else the machine does: they are told, and fail nothing.
    counted = [n for list_ in all_numbers.values() for n in list_ if " ms" not in n.name]
    return 0 if all(number.is_met for number in counted) else 1


if __name__ == "__main__":
    sys.exit(main())
