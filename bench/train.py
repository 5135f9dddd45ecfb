"""Training steps and optimizers: eager, torch.compile's default backend and jumar side by side, in one run.

    python bench/train.py [--models bert,llama] [--optimizers bert] [--threads 2] [--rounds 15] [--json out.json]

For every model, in training mode:
  cold    one fresh process per backend, caches empty: seconds of the first forward and backward, kernels and calls,
          and how far gradients are from eager's
  steady  one process that compiles with all backends and runs them in turn: median milliseconds of forward and
          backward; a step of SGD follows each, outside the time
and for Adam over the parameters of a model: the first step's seconds, launches, and median milliseconds of a step,
beside eager's foreach and fused forms. Machines are shared, so read ratios; the load average is printed with the
table.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from run import BACKENDS, compile_with, cpu_name, graph_breaks, inductor_counts, jumar_counts, note, publish
from run import relative_error, run_child, tensors_of

SURE_ERROR = 1e-4  # of gradients; where it is larger, f64 tells rounding from mistakes
ADAMS = ("foreach", "fused", "inductor", "jumar")


# ---- in the child processes


class Training:
    """A model of its own with a loss that all its outputs take part in that have a gradient."""

    def __init__(self, model: str, backend: str, seconds: dict, is_double: bool = False):
        import torch
        from zoo import ALL_MODELS

        self.module, self.inputs = ALL_MODELS[model]()
        if is_double:
            self.module = self.module.double()
            self.inputs = tuple(t.double() if t.is_floating_point() else t for t in self.inputs)
        self.module.train()
        state = copy.deepcopy(self.module.state_dict())
        generator = torch.Generator().manual_seed(2)
        results = tensors_of(self.module(*self.inputs))
        self.weights = [torch.randn(t.shape, generator=generator) if t.requires_grad else None for t in results]
        self.module.load_state_dict(state)  # buffers that the run has changed
        self.function = compile_with(backend, self.module, seconds)
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=1e-6)

    def loss(self):
        self.results = tensors_of(self.function(*self.inputs))
        pairs = zip(self.results, self.weights, strict=True)
        return sum((result * weights).sum() for result, weights in pairs if weights is not None)

    def run(self) -> None:
        self.loss().backward()

    def update(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def gradients(self) -> dict:
        return {k: p.grad.clone() for k, p in self.module.named_parameters() if p.grad is not None}

    def values(self) -> list:
        """What a run returns and leaves behind besides gradients."""
        buffers = [b for b in self.module.buffers() if b.is_floating_point()]
        return [t.detach() for t in (*self.results, *buffers)]


def gradient_error(found: dict, expected: dict) -> float:
    """The largest error of a gradient relative to its own largest element; of one that cancels to nearly nothing, to a
    hundredth of the largest of all."""
    if found.keys() != expected.keys():
        raise RuntimeError(f"gradients of {sorted(found.keys() ^ expected.keys())} are missing or too many")
    largest = max(g.abs().max().item() for g in expected.values())
    errors = [
        (found[k] - g).abs().max().item() / max(g.abs().max().item(), largest / 100, 1e-30) for k, g in expected.items()
    ]
    return math.inf if any(math.isnan(e) for e in errors) else max(errors)


def child_first_call(model: str, backend: str, threads: int) -> dict:
    import torch

    torch.set_num_threads(threads)
    eager = Training(model, "eager", {})
    torch.manual_seed(5)
    eager.run()
    seconds: dict = {}
    training = Training(model, backend, seconds)
    torch.manual_seed(5)
    codes: list[str] = []
    start = time.perf_counter()
    if backend == "inductor":
        from torch._inductor.utils import run_fw_bw_and_get_code

        _, codes = run_fw_bw_and_get_code(training.loss)
    else:
        training.run()
    out = {"first_call_s": time.perf_counter() - start}
    out["error"] = gradient_error(training.gradients(), eager.gradients())
    out["value_error"] = relative_error(training.values(), eager.values())
    if out["error"] > SURE_ERROR:
        # Rounding may be as far from eager's: both beside f64.
        exact = Training(model, "eager", {}, is_double=True)
        torch.manual_seed(5)
        exact.run()
        out["error_to_f64"] = gradient_error(training.gradients(), exact.gradients())
        out["eager_error_to_f64"] = gradient_error(eager.gradients(), exact.gradients())
    out["graph_breaks"] = graph_breaks()
    if backend == "inductor":
        counts = [inductor_counts([code]) for code in codes]
        out.update(kernels=[k for k, _ in counts], calls=[c for _, c in counts])
    if backend == "jumar":
        out.update(inner_s=seconds.get("inner", 0.0), **jumar_counts(seconds["reports"]))
    return out


def child_steady(model: str, rounds: int, threads: int) -> dict:
    import torch

    torch.set_num_threads(threads)
    trainings = {backend: Training(model, backend, {}) for backend in BACKENDS}
    times: dict = {backend: [] for backend in BACKENDS}
    for training in trainings.values():
        for _ in range(3):
            training.run()
            training.update()
    for _ in range(rounds):
        for backend, training in trainings.items():
            start = time.perf_counter()
            training.run()
            times[backend].append(time.perf_counter() - start)
            training.update()
    return {backend: statistics.median(t) * 1e3 for backend, t in times.items()}


def child_optimizer(model: str, rounds: int, threads: int) -> dict:
    import torch
    from models import MODELS

    torch.set_num_threads(threads)
    weights = [p.detach() for p in MODELS[model]()[0].parameters()]
    gradients = [torch.randn_like(w) * 0.01 for w in weights]
    steps, out = {}, {"tensors": len(weights), "elements": sum(w.numel() for w in weights)}
    ours: dict = {}
    for name in ADAMS:
        parameters = [torch.nn.Parameter(w.clone()) for w in weights]
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient.clone()
        how = {"fused": True} if name == "fused" else {"foreach": True}
        optimizer = torch.optim.Adam(parameters, **how)
        seconds: dict = {}
        step = compile_with(name if name in BACKENDS else "eager", optimizer.step, seconds)
        codes: list[str] = []
        start = time.perf_counter()
        if name == "inductor":
            from torch._inductor.utils import run_and_get_code

            _, codes = run_and_get_code(step)
        else:
            step()
        out[name] = {"first_s": time.perf_counter() - start}
        if name == "inductor":
            out[name]["kernels"] = sum(inductor_counts([code])[0] for code in codes)
        if name == "jumar":
            out[name].update(inner_s=seconds["inner"], **jumar_counts(seconds["reports"]))
        steps[name] = step
        ours[name] = parameters
    times: dict = {name: [] for name in ADAMS}
    for _ in range(rounds + 3):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(time.perf_counter() - start)
    for name in ADAMS:
        out[name]["ms"] = statistics.median(times[name][3:]) * 1e3
        pairs = zip(ours[name], ours["foreach"], strict=True)
        out[name]["difference"] = max((a - b).abs().max().item() for a, b in pairs)
    return out


# ---- in the parent


def measure(models: list[str], optimizers: list[str], threads: int, rounds: int) -> dict:
    result: dict = {"models": {}, "optimizers": {}, "load_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as cache:
        for model in models:
            row: dict = {}
            for backend in ("aot_eager", "inductor", "jumar"):
                note(f"{model}: first step with {backend}")
                row[backend] = run_child(["first", model, backend, str(threads)], f"{cache}/{model}", __file__)
            note(f"{model}: steady state")
            row["steady"] = run_child(["steady", model, str(rounds), str(threads)], f"{cache}/{model}", __file__)
            result["models"][model] = row
        for model in optimizers:
            note(f"{model}: Adam")
            arguments = ["optimizer", model, str(rounds), str(threads)]
            result["optimizers"][model] = run_child(arguments, f"{cache}/{model}-adam", __file__)
    result["load_after"] = os.getloadavg()
    return result


def ratio_mean(ratios: list[float]) -> str:
    return f"{math.exp(statistics.fmean(math.log(r) for r in ratios)):.2f}" if ratios else "?"


def counts(row: dict) -> str:
    """Kernels and calls of the forward and of the backward graph."""
    kernels, calls = " / ".join(map(str, row["kernels"])), " / ".join(map(str, row["calls"]))
    return f"{kernels} + {calls}"


def model_table(models: dict) -> list[str]:
    out = ["| model | gradient error | first step s: aot_eager / inductor / jumar (of it compiling) | kernels + calls, "
           "forward / backward: inductor; jumar | step ms: eager / inductor / jumar | inductor / jumar |",
           "|---|---|---|---|---|---|"]
    ratios, shares = [], []
    for model, row in models.items():
        failures = {k: row[k]["failed"] for k in row if "failed" in row[k]}
        if failures:
            out.append(f"| {model} | failed: {failures} | | | | |")
            continue
        jumar, inductor, aot, steady = row["jumar"], row["inductor"], row["aot_eager"], row["steady"]
        ratios.append(steady["inductor"] / steady["jumar"])
        shares.append(jumar["first_call_s"] / inductor["first_call_s"])
        eager = f", {jumar['eager_graphs']} graphs eagerly" if jumar["eager_graphs"] else ""
        out.append(
            f"| {model} | {jumar['error']:.1e} | {aot['first_call_s']:.1f} / {inductor['first_call_s']:.1f} / "
            f"{jumar['first_call_s']:.1f} ({jumar['inner_s']:.2f}) | {counts(inductor)}; {counts(jumar)}{eager} | "
            f"{steady['eager']:.1f} / {steady['inductor']:.1f} / {steady['jumar']:.1f} | {ratios[-1]:.2f} |")
    out.append(f"| geometric mean | | jumar / inductor {ratio_mean(shares)} | | | {ratio_mean(ratios)} |")
    return out


def optimizer_table(optimizers: dict) -> list[str]:
    out = ["| Adam over | tensors | elements | step ms: eager foreach / eager fused / inductor / jumar | inductor / jumar | "
           "first step s: inductor / jumar (of it compiling) | launches: inductor / jumar | difference from eager |",
           "|---|---|---|---|---|---|---|---|"]
    for model, row in optimizers.items():
        if "failed" in row:
            out.append(f"| {model} | failed: {row['failed']} | | | | | | |")
            continue
        inductor, jumar = row["inductor"], row["jumar"]
        ms = " / ".join(f"{row[name]['ms']:.2f}" for name in ADAMS)
        out.append(
            f"| {model} | {row['tensors']} | {row['elements']} | {ms} | {inductor['ms'] / jumar['ms']:.2f} | "
            f"{inductor['first_s']:.1f} / {jumar['first_s']:.1f} ({jumar['inner_s']:.2f}) | {inductor['kernels']} / "
            f"{sum(jumar['kernels'])} | {jumar['difference']:.1e} |")
    return out


def markdown(result: dict, threads: int) -> str:
    import torch

    out = [f"Date {time.strftime('%Y-%m-%d')}; {cpu_name()}, {os.cpu_count()} cores, {threads} threads; torch "
           f"{torch.__version__}; load average {result['load_before'][0]:.1f} before, {result['load_after'][0]:.1f} "
           "after.", ""]
    if result["models"]:
        out += [*model_table(result["models"]), ""]
    if result["optimizers"]:
        out += optimizer_table(result["optimizers"])
    return "\n".join(out).rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", help="names, or nothing for none; default: all")
    parser.add_argument("--optimizers", default="bert,resnet18")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--child", nargs="+")
    args = parser.parse_args()
    if args.child:
        kind, model, *rest = args.child
        if kind == "first":
            out = child_first_call(model, rest[0], int(rest[1]))
        elif kind == "steady":
            out = child_steady(model, int(rest[0]), int(rest[1]))
        else:
            out = child_optimizer(model, int(rest[0]), int(rest[1]))
        print(json.dumps(out))
        return
    from models import MODELS

    models = list(MODELS) if args.models is None else [m for m in args.models.split(",") if m]
    optimizers = [m for m in args.optimizers.split(",") if m]
    result = measure(models, optimizers, args.threads, args.rounds)
    text = markdown(result, args.threads)
    publish(result, text, args)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    main()
