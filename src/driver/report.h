// What a compilation did, for people and tools, as JSON:
//
//   {"stages": {"read": 0.4, "lower": 1.2, ...}, "cache": "miss",
//    "kernels": [{"name": "k0", "origin": "...", "nests": 1, "stages": 2, "lines": 14, "shared_with": "k3"}],
//    "calls": [{"op": "aten.mm.default", "reason": "matrix product", "count": 24}],
//    "python_calls": [{"callable": 0, "reason": "..."}],
//    "fusions": {"inlined": 10, "merged": 4, "siblings": 0, "joined": 1},
//    "refusals": [{"producer": "k1", "consumer": "k2", "reason": "..."}]}
//
// With a device as target there is a row for each of its kernels as well, and one for each that could not be
// made on the way and was taken apart or called (device_report.h):
//
//    "device_kernels": [{"name": "k0", "stage": "checked", "choice": 0, "rejected": [], ...}]
//
// A kernel whose nests run one after the other has "phased": true as well. Times are milliseconds. Everything
// but the times is the same from run to run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jumar::driver {

struct Report {
  struct Stage {
    std::string name;
    double ms;
  };
  struct Kernel {
    std::string name;
    std::string origin;
    size_t nests = 0;
    size_t stages = 0;
    size_t lines = 0;
    bool is_phased = false;
    std::string shared_with;  // the kernel whose code it uses; empty: its own
  };
  struct Call {
    std::string op;
    std::string reason;
    size_t count = 0;
  };
  struct PythonCall {
    std::string callable;
    std::string reason;
  };
  struct Refusal {
    std::string producer;
    std::string consumer;
    std::string reason;
  };

  std::vector<Stage> stages;
  std::string cache;  // "hit", "miss" or "off"
  std::vector<Kernel> kernels;
  std::vector<Call> calls;
  std::vector<PythonCall> python_calls;
  std::vector<std::string> device_kernels;  // JSON objects
  uint32_t inlined = 0;
  uint32_t merged = 0;
  uint32_t siblings = 0;
  uint32_t joined = 0;
  std::vector<Refusal> refusals;
  std::vector<std::string>
      notes;  // what went wrong without consequence, such as a cache that can't be written

  // Counts a call of the same op for the same reason once.
  void add_call(const std::string& op, const std::string& reason);
};

// Without "stages", "cache" and "notes": what a cache entry keeps.
std::string json_body(const Report& report);
// The whole report; `body` is json_body's text, of this compilation or of a cache entry.
std::string json(const Report& report, std::string_view body);
// One line per kernel, call and refusal.
std::string remarks(const Report& report);

// Measures one stage and adds it to the report when it ends.
class StageTimer {
 public:
  StageTimer(Report& report, std::string name)
      : report_(report), name_(std::move(name)), begin_(std::chrono::steady_clock::now()) {}
  ~StageTimer() {
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin_;
    report_.stages.push_back({name_, ms.count()});
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  Report& report_;
  std::string name_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace jumar::driver
