#include <cmath>

#include "target/draft.h"

namespace jumar::target {
namespace {

// Element types that a device of this kind may have. f64 and complex numbers are not among them: no vector
// unit computes them, and operators on them are called.
constexpr std::string_view kDtypes[] = {"f32", "f16", "bf16", "i8",  "u8",  "i16",
                                        "u16", "i32", "u32",  "i64", "u64", "bool"};

template <class... Args>
Diagnostic wrong(const Target& target, fmt::format_string<Args...> format, Args&&... args) {
  return diagnostic("target", "target '{}': {}", target.name,
                    fmt::format(format, std::forward<Args>(args)...));
}

Status check_name(const Target& target) {
  for (const char c : target.name) {
    const bool is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == '_' || c == '-' || c == '.';
    if (!is_fine) return wrong(target, "a name has letters, digits, '_', '-' and '.' only");
  }
  if (target.name.empty()) return diagnostic("target", "a target has a name");
  return {};
}

Status check_counts(const Target& target) {
  if (target.vector_cores != target.cube_cores * target.vector_per_cube) {
    return wrong(target, "vector_cores is {}, but cube_cores {} with vector_per_cube {} make {}",
                 target.vector_cores, target.cube_cores, target.vector_per_cube,
                 target.cube_cores * target.vector_per_cube);
  }
  if (target.ub_usable_bytes > target.ub_bytes) {
    return wrong(target, "ub_usable_bytes is {}, more than ub_bytes {}", target.ub_usable_bytes,
                 target.ub_bytes);
  }
  const std::pair<std::string_view, int64_t> aligned[] = {{"ub_usable_bytes", target.ub_usable_bytes},
                                                          {"vector_bytes", target.vector_bytes},
                                                          {"simt_ub_bytes", target.simt_ub_bytes}};
  for (const auto& [name, bytes] : aligned) {
    if (bytes % target.align_bytes != 0)
      return wrong(target, "{} is {}, no multiple of align_bytes {}", name, bytes, target.align_bytes);
  }
  if (target.simt_ub_bytes > target.ub_usable_bytes) {
    return wrong(target, "simt_ub_bytes is {}, more than ub_usable_bytes {}", target.simt_ub_bytes,
                 target.ub_usable_bytes);
  }
  return {};
}

Status check_list(const Target& target, std::string_view entry, const Dtypes& dtypes) {
  for (size_t i = 0; i < dtypes.names().size(); ++i) {
    const std::string& name = dtypes.names()[i];
    if (std::find(std::begin(kDtypes), std::end(kDtypes), name) == std::end(kDtypes)) {
      return wrong(target, "{} has '{}', which no vector unit takes; element types are {}", entry, name,
                   fmt::join(kDtypes, ", "));
    }
    const auto begin = dtypes.names().begin();
    if (std::find(begin, begin + static_cast<ptrdiff_t>(i), name) != begin + static_cast<ptrdiff_t>(i))
      return wrong(target, "{} has '{}' twice", entry, name);
  }
  return {};
}

// Every element type of `part` is one of `whole`.
Status check_part(const Target& target, std::string_view part_name, const Dtypes& part,
                  std::string_view whole_name, const Dtypes& whole) {
  for (const std::string& name : part.names()) {
    if (!whole(name)) return wrong(target, "{} has '{}', but {} has not", part_name, name, whole_name);
  }
  return {};
}

Status check_apart(const Target& target, std::string_view a_name, const Dtypes& a, std::string_view b_name,
                   const Dtypes& b) {
  for (const std::string& name : a.names()) {
    if (b(name)) return wrong(target, "'{}' is in {} and in {}", name, a_name, b_name);
  }
  return {};
}

Status check_dtypes(const Target& t) {
  const std::pair<std::string_view, const Dtypes*> lists[] = {{"loads", &t.loads},
                                                              {"stores", &t.stores},
                                                              {"vector_computes", &t.vector_computes},
                                                              {"cast_computes", &t.cast_computes},
                                                              {"scalar_computes", &t.scalar_computes},
                                                              {"inexact_division", &t.inexact_division},
                                                              {"atomic_add", &t.atomic_add},
                                                              {"atomic_max", &t.atomic_max},
                                                              {"locked_add", &t.locked_add}};
  for (const auto& [name, list] : lists) JUMAR_RETURN_IF_ERROR(check_list(t, name, *list));
  for (size_t i = 2; i < 5; ++i) {
    JUMAR_RETURN_IF_ERROR(check_part(t, lists[i].first, *lists[i].second, "loads", t.loads));
    for (size_t j = i + 1; j < 5; ++j)
      JUMAR_RETURN_IF_ERROR(
          check_apart(t, lists[i].first, *lists[i].second, lists[j].first, *lists[j].second));
  }
  for (size_t i = 6; i < std::size(lists); ++i)
    JUMAR_RETURN_IF_ERROR(check_part(t, lists[i].first, *lists[i].second, "stores", t.stores));
  return check_apart(t, "atomic_add", t.atomic_add, "locked_add", t.locked_add);
}

Status check_threads(const Target& target) {
  if (target.indirect != "scalar" && target.indirect != "simt")
    return wrong(target, "indirect is '{}', but must be scalar or simt", target.indirect);
  if (target.simt) {
    if (target.simt_ub_bytes > 0 && !target.simt_compiler_flags.empty() && !target.adapter_simt_flags.empty())
      return {};
    return wrong(target, "with simt it gives simt_ub_bytes, simt_compiler_flags and adapter_simt_flags");
  }
  if (target.indirect == "simt") return wrong(target, "indirect is simt, but simt is false");
  if (target.simt_ub_bytes == 0 && target.simt_compiler_flags.empty() && target.adapter_simt_flags.empty())
    return {};
  return wrong(target, "simt_ub_bytes, simt_compiler_flags and adapter_simt_flags mean nothing without simt");
}

Status check_toolchain(const Target& target) {
  const std::pair<std::string_view, const std::string*> words[] = {
      {"compiler", &target.compiler},
      {"compiler_target", &target.compiler_target},
      {"device_linker", &target.device_linker}};
  for (const auto& [name, word] : words) {
    if (word->empty() || word->find_first_of("/ \t\n") != std::string::npos)
      return wrong(target, "{} is '{}', but must be one word without '/'", name, *word);
  }
  if (target.adapter_flags.empty()) return wrong(target, "adapter_flags is empty");
  for (const std::string& patch : target.patches) {
    if (std::find(std::begin(kTextPatches), std::end(kTextPatches), patch) == std::end(kTextPatches))
      return wrong(target, "there is no patch '{}'; there is {}", patch, fmt::join(kTextPatches, ", "));
  }
  return {};
}

Status check_costs(const Target& target) {
  const std::pair<std::string_view, const Constant*> constants[] = {
#define JUMAR_TARGET_COST(name, help) {#name, &target.costs.name},
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
  };
  for (const auto& [name, constant] : constants) {
    if (!std::isfinite(constant->value) || constant->value <= 0)
      return wrong(target, "cost {} is {}, but must be more than 0", name, constant->value);
    if (constant->source.empty()) return wrong(target, "cost {} does not say where it is from", name);
  }
  if (target.costs.gm_core_bytes_per_us.value > target.costs.gm_bytes_per_us.value)
    return wrong(target, "cost gm_core_bytes_per_us is more than gm_bytes_per_us of all cores");
  return {};
}

}  // namespace

Status verify(const Target& target) {
  JUMAR_RETURN_IF_ERROR(check_name(target));
  const std::pair<std::string_view, int64_t> counts[] = {{"cube_cores", target.cube_cores},
                                                         {"vector_cores", target.vector_cores},
                                                         {"vector_per_cube", target.vector_per_cube},
                                                         {"ub_bytes", target.ub_bytes},
                                                         {"ub_usable_bytes", target.ub_usable_bytes},
                                                         {"l1_bytes", target.l1_bytes},
                                                         {"l0a_bytes", target.l0a_bytes},
                                                         {"l0b_bytes", target.l0b_bytes},
                                                         {"l0c_bytes", target.l0c_bytes},
                                                         {"align_bytes", target.align_bytes},
                                                         {"vector_bytes", target.vector_bytes},
                                                         {"max_grid", target.max_grid},
                                                         {"max_kernel_name", target.max_kernel_name}};
  for (const auto& [name, count] : counts) {
    if (count < 1 || count > kMaxCount)
      return wrong(target, "{} is {}, but must be from 1 to {}", name, count, kMaxCount);
  }
  JUMAR_RETURN_IF_ERROR(check_counts(target));
  JUMAR_RETURN_IF_ERROR(check_dtypes(target));
  JUMAR_RETURN_IF_ERROR(check_threads(target));
  JUMAR_RETURN_IF_ERROR(check_toolchain(target));
  return check_costs(target);
}

}  // namespace jumar::target
