"""What a call costs outside of kernels: Jumar's executor, its cpp_wrapper, and Inductor's cpp_wrapper, in one run.

    python bench/cpp_wrapper.py [--rounds 31] [--no-inductor]

`graph` is a call of the compiled graph as AOTAutograd makes it, with a list of tensors; `whole` is a call of the
compiled function, guards included. CPU time of the one thread that runs, no gradients; medians over rounds in which the
three take turns. The small BERT has the structure of the other one and tensors so small that the host's work is most of
the time. The first call is wall time: capture, compilation with empty caches, one run.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

from models import MODELS, FirstOutput  # noqa: E402


def pointwise():
    return (lambda x, y: torch.relu(x * y)), (torch.randn(8, 8), torch.randn(8, 8))


def small_bert():
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = dict(hidden_size=32, num_hidden_layers=4, num_attention_heads=2, intermediate_size=64)
    model = FirstOutput(BertModel(BertConfig(vocab_size=100, **sizes))).eval()
    return model, (torch.randint(0, 100, (1, 2)),)


GRAPHS = {"relu(x * y), 8x8": (pointwise, 2000), "small BERT": (small_bert, 50), "BERT": (MODELS["bert"], 3)}


class Compiled:
    """A function compiled in one way; `seconds` is what the first call took."""

    def __init__(self, function, inputs, backend):
        torch._dynamo.reset()
        self.arguments: list = []
        self.graph = None
        self._function = torch.compile(function, backend=partial(backend, self))
        self._inputs = inputs
        begin = time.perf_counter()
        self.whole()
        self.seconds = time.perf_counter() - begin

    def whole(self):
        return self._function(*self._inputs)

    def call_graph(self):
        return self.graph(list(self.arguments))


def jumar(options, compiled: Compiled, gm, inputs):
    from jumar.backend import compile_graph
    from torch._dynamo.backends.common import aot_autograd

    def compile_(graph, example_inputs):
        compiled.graph = program = compile_graph(graph, example_inputs, "inference", options)
        compiled.arguments = []

        def call(arguments):
            if not compiled.arguments:
                compiled.arguments = list(arguments)
            return program(arguments)

        call._boxed_call = True
        return call

    backend = aot_autograd(
        fw_compiler=compile_, inference_compiler=compile_, decompositions={}, keep_inference_input_mutations=False
    )
    return backend(gm, inputs)


def inductor(compiled: Compiled, gm, inputs):
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    def compile_(graph, example_inputs, **kwargs):
        compiled.graph = made = compile_fx_inner(graph, example_inputs, **kwargs)
        real = made.current_callable

        def first_call(arguments):
            compiled.arguments = list(arguments)
            made.current_callable = real
            return real(arguments)

        made.current_callable = first_call
        return made

    with config.patch(cpp_wrapper=True, force_disable_caches=True):
        return compile_fx(gm, inputs, inner_compile=compile_)


def microseconds(calls, count, rounds):
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, own in zip(calls, times):
            begin = time.thread_time()
            for _ in range(count):
                call()
            own.append((time.thread_time() - begin) / count * 1e6)
    return [median(own) for own in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--no-inductor", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    ways = {
        "executor": partial(jumar, {"cache": False}),
        "cpp_wrapper": partial(jumar, {"cache": False, "cpp_wrapper": True}),
    }
    if not arguments.no_inductor:
        ways["Inductor's cpp_wrapper"] = inductor
    print("| graph | what | " + " | ".join(ways) + " |")
    print("|---|---|" + "---:|" * len(ways))
    with torch.no_grad():
        for name, (make, count) in GRAPHS.items():
            function, inputs = make()
            made = [Compiled(function, inputs, backend) for backend in ways.values()]
            for what, calls in {"graph": [m.call_graph for m in made], "whole": [m.whole for m in made]}.items():
                times = microseconds(calls, count, arguments.rounds)
                print(f"| {name} | {what}, us | " + " | ".join(f"{t:.2f}" for t in times) + " |", flush=True)
            print(f"| {name} | first call, s | " + " | ".join(f"{m.seconds:.1f}" for m in made) + " |", flush=True)


if __name__ == "__main__":
    main()
