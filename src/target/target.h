// A device as data.
//
//   JUMAR_ASSIGN(const Target target, target::find_target("Ascend950PR_9589"));   // or a path to a file
//   target.vector_cores;                    // 64
//   target.ub_usable_bytes;                 // 253952
//   target.vector_computes("bf16");         // false: computed as f32
//   target.cost().gm_bytes_per_us.value;    // 1600000.0, .basis == Basis::kPublished
//
// Targets are texts (docs/targets.md): those that Jumar knows are `targets/*.target`, which are embedded in
// the library; a user's own is a file. A text may start from another target and say only what differs:
//
//   target "MyCard" from "Ascend910B1" {
//     cube_cores 20
//     vector_cores 40
//   }
//
// A Target is complete and verified: whoever holds one need not check it. The rest of Jumar asks for what a
// device can do and never compares names. `write_target` prints all of it, so its text is the target's part
// of a cache key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::target {

// What is known about a constant: by measuring a device, from a publication, or by assumption.
enum class Basis : uint8_t { kMeasured, kPublished, kAssumed };
std::string_view basis_name(Basis basis);

struct Constant {
  double value = 0;
  Basis basis = Basis::kAssumed;
  std::string source;
};

// Element types by the names of ir/dtype.def.
class Dtypes {
 public:
  Dtypes() = default;
  explicit Dtypes(std::vector<std::string> names) : names_(std::move(names)) {}
  bool operator()(std::string_view dtype) const {
    return std::find(names_.begin(), names_.end(), dtype) != names_.end();
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// The constants of the cost model: target_costs.def.
struct Costs {
#define JUMAR_TARGET_COST(name, help) Constant name;
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
};

enum class Indirect : uint8_t { kScalar, kSimt };

// The fields are the rows of target_fields.def.
struct Target {
  using Text = std::string;
  using Count = int64_t;
  using Flag = bool;
  using Lines = std::vector<std::string>;

  std::string name;  // the soc's name, which people say
#define JUMAR_TARGET_FIELD(type, name, required, help) type name{};
#include "target/target_fields.def"
#undef JUMAR_TARGET_FIELD
  Costs costs;

  const Costs& cost() const { return costs; }
  Indirect indirect_access() const { return indirect == "simt" ? Indirect::kSimt : Indirect::kScalar; }
  bool has_patch(std::string_view patch) const {
    return std::find(patches.begin(), patches.end(), patch) != patches.end();
  }
};

// Changes to linalg text between the two tools, by name; the driver has the code.
//   unsigned_src  the compiler wants `unsigned_src = "false"` beside `tie_break_left` on reductions to an
//   index
inline constexpr std::string_view kTextPatches[] = {"unsigned_src"};

// The text of one target: a file with exactly one `target`, and perhaps `base`s before it. Names after `from`
// are those of the file and of known targets and bases.
Result<Target> read_target(std::string_view text, const std::string& file = "<target>");
// All entries, with the names and in the order of the tables; read_target gives the same target again.
std::string write_target(const Target& target);
// What a complete target must fulfil; a diagnostic with code "target" names the entry.
Status verify(const Target& target);

// The name of a known target, or a path to a file: what holds a '/' or ends in ".target". Another name is a
// diagnostic with code "target" that lists the known ones.
Result<Target> find_target(const std::string& name_or_path);
// Sorted as the families' files list them.
std::vector<std::string> known_targets();

// The files that the build embeds, by name.
struct EmbeddedFile {
  std::string_view name;  // atlas-a2.target
  std::string_view text;
};
std::span<const EmbeddedFile> embedded_files();

}  // namespace jumar::target
