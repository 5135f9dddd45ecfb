"""Worker processes for long lists of jobs, so that a crash or an endless loop is one job's failure.

    if arguments.worker:                       # the script starts itself with --worker
        serve(lambda job: {"seed": job["seed"], ...})
    for row in results_of(jobs, __file__, workers=2, limit_s=60.0, failed=failed):
        ...

A job and its row are dicts that JSON can hold. Rows come in the order in which jobs end. For a job whose process ended
or took too long, `failed(job, kind, text)` makes the row; kind is "crash" or "timeout".
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import Any, Callable, Iterable, Iterator

Job = dict[str, Any]
Row = dict[str, Any]


def serve(run: Callable[[Job], Row]) -> None:
    """The loop of a worker: jobs on its input, rows on its output."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever an operator prints is no row
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=out)


class _Worker:
    def __init__(self, script: str) -> None:
        self.script = script
        self.process: subprocess.Popen | None = None
        self.job: Job | None = None
        self.since = 0.0

    def give(self, job: Job) -> None:
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, self.script, "--worker"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.job, self.since = job, time.monotonic()
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def results_of(
    jobs: Iterable[Job], script: str, workers: int, limit_s: float, failed: Callable[[Job, str, str], Row]
) -> Iterator[Row]:
    """`limit_s` is for one job. Workers are stopped when the caller stops iterating."""
    pool = [_Worker(script) for _ in range(workers)]
    waiting = iter(jobs)
    try:
        for worker in pool:
            if (job := next(waiting, None)) is not None:
                worker.give(job)
        while busy := [w for w in pool if w.job is not None]:
            ready, _, _ = select.select([w.process.stdout for w in busy], [], [], 1.0)
            for worker in busy:
                row = _row_of(worker, worker.process.stdout in ready, limit_s, failed)
                if row is None:
                    continue
                worker.job = None
                yield row
                if (job := next(waiting, None)) is not None:
                    worker.give(job)
    finally:
        for worker in pool:
            worker.stop()


def _row_of(worker: _Worker, is_ready: bool, limit_s: float, failed: Callable[[Job, str, str], Row]) -> Row | None:
    """Nothing while the job goes on."""
    if is_ready:
        line = worker.process.stdout.readline()
        if line:
            return json.loads(line)
        worker.process.wait()
        code = worker.process.returncode
        worker.process = None
        return failed(worker.job, "crash", f"the process ended with {code}")
    if time.monotonic() - worker.since <= limit_s:
        return None
    worker.stop()
    return failed(worker.job, "timeout", f"more than {limit_s:g} s")
