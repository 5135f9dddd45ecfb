// Calls that libtorch's C functions cannot make and its proxy executor can: those with plain numbers for
// arguments. torch's loader brings the executor; what it calls is described in a record beside the library.
#pragma once

#include <string>

#include "runtime/executor.h"
#include "runtime/package/manifest.h"

namespace jumar::runtime::package {

class ProxyCalls : public HostCalls {
 public:
  // `executor` is the loader's; null where it has none.
  ProxyCalls(const torch::Api& api, const Manifest& manifest, void* executor)
      : api_(api), manifest_(manifest), executor_(executor) {}

  bool call_python(uint32_t callable, std::span<const HostArg> args, HostResults& results) override;
  bool call_op(const std::string& op, const plan::Schema& schema, std::span<const HostArg> args,
               HostResults& results) override;
  bool call_op_at(uint32_t step, const std::string& op, const plan::Schema& schema,
                  std::span<const HostArg> args, HostResults& results) override;

  // Why a call failed.
  const std::string& problem() const { return problem_; }

 private:
  const torch::Api& api_;
  const Manifest& manifest_;
  void* executor_;
  std::string problem_;
};

}  // namespace jumar::runtime::package
