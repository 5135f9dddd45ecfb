// The simulator of Ascend kernels, libjumar_sim.so, opened when it is needed.
//
//   JUMAR_ASSIGN(std::shared_ptr<const SimLibrary> sim, SimLibrary::open(options.sim_library()));
//   JUMAR_ASSIGN(SimKernel kernel, sim->compile(linalg_text, {}));
//   kernel.function()(0, blocks, args);            // the words of runtime/sim/api.h
//
// It is a library of its own because it alone has MLIR. A kernel keeps the library; the library is never
// closed before its last kernel.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/sim/api.h"
#include "support/result.h"

namespace jumar::driver {

class SimLibrary;

struct SimRequest {
  std::string kernel;        // empty: the text's only kernel
  bool floats_last = false;  // the order of words of a plan's launch
};

class SimKernel {
 public:
  jumar_sim_fn function() const;
  const jumar_sim_info& info() const;
  std::string fault_text(const jumar_sim_fault& fault) const;

 private:
  friend class SimLibrary;
  std::shared_ptr<const SimLibrary> library_;
  std::shared_ptr<jumar_sim_kernel> kernel_;
};

class SimLibrary : public std::enable_shared_from_this<SimLibrary> {
 public:
  // Without a path: the file beside this library or program, and then wherever the system looks.
  static Result<std::shared_ptr<const SimLibrary>> open(const std::string& path);
  ~SimLibrary();
  SimLibrary(const SimLibrary&) = delete;
  SimLibrary& operator=(const SimLibrary&) = delete;

  const std::string& path() const { return path_; }
  Result<SimKernel> compile(std::string_view text, const SimRequest& request) const;

 private:
  friend class SimKernel;
  SimLibrary() = default;
  Status resolve();

  std::string path_;
  void* handle_ = nullptr;
  decltype(&jumar_sim_compile) compile_ = nullptr;
  decltype(&jumar_sim_function) function_ = nullptr;
  decltype(&jumar_sim_describe) describe_ = nullptr;
  decltype(&jumar_sim_fault_text) fault_text_ = nullptr;
  decltype(&jumar_sim_free) free_ = nullptr;
  decltype(&jumar_sim_destroy) destroy_ = nullptr;
};

}  // namespace jumar::driver
