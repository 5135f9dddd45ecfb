"""Many models, inference and training, beside torch.compile's default backend: a line for each.

    python bench/zoo.py [--models mamba,t5] [--modes inference,training] [--no-inductor] [--results zoo.jsonl]
                        [--rounds 7] [--threads 2] [--markdown out.md]

A line says whether the values (of training: all gradients) are eager's, how many kernels and calls there are, the seconds
of a cold first call (capture included) and, of Jumar, of compiling alone, and the speed of a call relative to the default
backend's. "as aot_eager": eager's kernels on the same traced graph differ as well. Each measurement is a process of its
own. With --results a run goes on where one before stopped. The models are those of tests/zoo.py; the exit code is 1
where one is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import run
import train
from run import note, run_child

TOLERANCE = 1e-4  # of the largest value; of a gradient, of its own largest element
SCRIPTS = {"inference": run.__file__, "training": train.__file__}
# Reasons for calls that any model may have.
EXPECTED = ("a matrix product", "a convolution", "attention", "random numbers", "a sort", "memory without values",
            "a recurrent network")


def measured(model: str, mode: str, arguments: argparse.Namespace) -> dict[str, Any]:
    script, threads = SCRIPTS[mode], str(arguments.threads)
    row: dict[str, Any] = {"model": model, "mode": mode}
    with tempfile.TemporaryDirectory() as cache:
        first = lambda backend: run_child(["first", model, backend, threads], cache, script)  # noqa: E731
        row["jumar"] = first("jumar")
        if not is_right(row["jumar"]):
            row["aot_eager"] = first("aot_eager")
        if not arguments.no_inductor:
            row["inductor"] = first("inductor")
            if "failed" not in row["jumar"] and "failed" not in row["inductor"]:
                row["steady"] = run_child(["steady", model, str(arguments.rounds), threads], cache, script)
                row["steady"] = row["steady"].get(threads, row["steady"])
    row["load"] = os.getloadavg()[0]
    return row


def is_right(first: dict[str, Any]) -> bool:
    return first.get("error", float("inf")) <= TOLERANCE


def verdict(row: dict[str, Any]) -> str:
    if is_right(row["jumar"]):
        return "right"
    if not is_right(row.get("aot_eager", {})):
        return "as aot_eager"
    return "FAILS" if "failed" in row["jumar"] else "WRONG"


def total(count: int | list[int]) -> int:
    return sum(count) if isinstance(count, list) else count


def cells(row: dict[str, Any]) -> list[str]:
    """Model, mode, verdict, error, kernels + calls, compile seconds, milliseconds, speed, what is called besides."""
    jumar, inductor, steady = row["jumar"], row.get("inductor", {}), row.get("steady", {})
    if "failed" in jumar:
        return [row["model"], row["mode"], verdict(row), "", "", "", "", "", jumar["failed"][:150]]
    besides = sorted(op for op, why in jumar["called"].items() if not why.startswith(EXPECTED))
    counts = f"{total(jumar['kernels'])} + {total(jumar['calls'])}"
    if "kernels" in inductor:
        counts += f"; {total(inductor['kernels'])} + {total(inductor['calls'])}"
    seconds = f"{jumar['first_call_s']:.1f} ({jumar['inner_s']:.2f})"
    if "first_call_s" in inductor:
        seconds += f"; {inductor['first_call_s']:.1f}"
    elif "failed" in inductor:
        seconds += "; fails"
    times = f"{steady['jumar']:.1f}; {steady['inductor']:.1f}; {steady['eager']:.1f}" if "jumar" in steady else ""
    speed = f"{steady['inductor'] / steady['jumar']:.2f}" if "jumar" in steady else ""
    return [row["model"], row["mode"], verdict(row), f"{jumar['error']:.1e}", counts, seconds, times, speed,
            ", ".join(besides)]


def markdown(rows: list[dict[str, Any]]) -> str:
    head = ["model", "mode", "values", "error", "kernels + calls: Jumar; inductor", "first call s: Jumar (compiling); inductor",
            "ms: Jumar; inductor; eager", "inductor / Jumar", "called besides products and convolutions"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines)


def summary(rows: list[dict[str, Any]]) -> str:
    words = [verdict(row) for row in rows]
    text = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    speeds = [row["steady"]["inductor"] / row["steady"]["jumar"] for row in rows if "jumar" in row.get("steady", {})]
    if speeds:
        firsts = [row["jumar"]["first_call_s"] / row["inductor"]["first_call_s"] for row in rows if "steady" in row]
        text += (f"; inductor / Jumar {statistics.geometric_mean(speeds):.2f} a call, "
                 f"Jumar / inductor {statistics.geometric_mean(firsts):.2f} of a first call (geometric means)")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help="names; nothing: all of tests/zoo.py")
    parser.add_argument("--modes", default="inference,training")
    parser.add_argument("--no-inductor", action="store_true", help="values and counts alone")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, help="a file of JSON lines, which is added to")
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    from zoo import ALL

    models = arguments.models.split(",") if arguments.models else list(ALL)
    if unknown := [name for name in models if name not in ALL]:
        raise SystemExit(f"--models names {', '.join(unknown)}, but must name some of {', '.join(ALL)}")
    known = {}
    if arguments.results and arguments.results.exists():
        lines = map(json.loads, arguments.results.read_text().splitlines())
        known = {(row["model"], row["mode"]): row for row in lines}
    rows = []
    for model in models:
        for mode in arguments.modes.split(","):
            row = known.get((model, mode))
            if row is None:
                note(f"{model}: {mode}")
                row = measured(model, mode, arguments)
                if arguments.results:
                    with arguments.results.open("a") as file:
                        print(json.dumps(row), file=file)
            rows.append(row)
            print("  ".join(cells(row)), flush=True)
    print(summary(rows))
    if arguments.markdown:
        arguments.markdown.write_text(markdown(rows) + "\n\n" + summary(rows) + "\n")
    sys.exit(any(verdict(row) in ("WRONG", "FAILS") for row in rows))


if __name__ == "__main__":
    main()
