// What a package says about itself beside its plan and kernels: the call's arguments and results, the
// constants and where their elements are, and the processor that the kernels need.
//
//   std::string bytes = manifest.bytes();
//   JUMAR_ASSIGN(Manifest same, Manifest::read(bytes));
//
// The plan's inputs are the arguments that are tensors or numbers, in order, then the values that
// `plan_constants` lists. Numbers are 64-bit and little-endian; a reader takes exactly what was written by
// the same `kFormat` and refuses anything else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/dtype.h"
#include "support/result.h"

namespace jumar::runtime::package {

// One leaf of the call's argument tree, in order.
struct Argument {
  std::string name;
  bool is_constant = false;  // the program was compiled for one value: the plan has no such input
  bool is_tensor = false;
};

// One result of the plan, in order.
struct CallResult {
  enum class Role : uint8_t {
    kUser,
    kConstantMutation,  // the new elements of constant `index`
    kArgumentMutation,  // the new elements of the plan's input `index`
  };
  Role role = Role::kUser;
  uint64_t index = 0;
};

// A parameter, buffer or lifted constant.
struct Constant {
  enum class Kind : uint8_t { kParameter, kBuffer, kLifted };
  std::string name;  // unique, an identifier
  std::string fqn;   // in the module's state: "fc.weight"
  Kind kind = Kind::kParameter;
  ir::DType dtype = ir::DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements
  uint64_t offset_bytes = 0;     // of the first element in the package's weights
};

// What the plan takes after the call's arguments.
struct PlanConstant {
  bool is_folded = false;  // result `index` of the folding plan, otherwise constant `index`
  uint64_t index = 0;
};

struct Manifest {
  static constexpr uint64_t kFormat = 1;

  std::vector<Argument> arguments;
  std::vector<CallResult> results;
  std::vector<Constant> constants;
  std::vector<PlanConstant> plan_constants;
  std::vector<uint32_t> proxied_steps;  // of the plan: calls by torch's proxy executor, by their number there
  std::string in_spec;                  // torch's pytree specs, as JSON
  std::string out_spec;
  std::string cpu;                        // the level by name, for messages: "x86-64-v3"
  std::vector<std::string> cpu_features;  // of cpu_features.def
  std::string
      provider;  // what the plans' calls were chosen for: "torch", or "onednn", which needs no libtorch
  bool checks_arguments = true;  // every call; otherwise callers are trusted
  std::string weights_id;        // what the weights' trailer repeats
  uint64_t weights_bytes = 0;
  std::vector<std::pair<std::string, std::string>> facts;  // for people: version, build, torch's version

  std::string bytes() const;
  static jumar::Result<Manifest> read(std::string_view bytes);
};

}  // namespace jumar::runtime::package
