#include "driver/package_view.h"

#include <algorithm>

#include "driver/archive_kind.h"
#include "driver/package_details.h"
#include "driver/utf8.h"
#include "embed/library.h"
#include "import/json.h"
#include "plan/entry.h"

namespace jumar::driver {
namespace {

namespace package = runtime::package;

template <class... Args>
Diagnostic broken(const std::string& file, fmt::format_string<Args...> format, Args&&... args) {
  return diagnostic("input", "'{}': the record '{}' is broken: {}", file, PackageDetails::kEntry,
                    fmt::format(format, std::forward<Args>(args)...));
}

constexpr size_t kDTypes = 0
#define JUMAR_DTYPE(name, text, bytes, kind, code) +1
#include "ir/dtype.def"
#undef JUMAR_DTYPE
    ;

// Texts of a manifest are shown, and are one line each.
void make_printable(package::Manifest& manifest) {
  const auto clean = [](std::string& text) { text = printable(text); };
  for (package::Argument& argument : manifest.arguments) clean(argument.name);
  for (package::Constant& constant : manifest.constants) {
    clean(constant.name);
    clean(constant.fqn);
  }
  for (std::string& feature : manifest.cpu_features) clean(feature);
  for (auto& [key, value] : manifest.facts) {
    clean(key);
    clean(value);
  }
  clean(manifest.cpu);
  clean(manifest.provider);
}

// Nothing, or what of the manifest does not fit the plans.
std::optional<std::string> misfit(const package::Manifest& manifest, const plan::Plan& plan,
                                  const plan::Plan* folding) {
  using Role = package::CallResult::Role;
  const auto arguments =
      static_cast<size_t>(std::ranges::count(manifest.arguments, false, &package::Argument::is_constant));
  if (plan.input_count != arguments + manifest.plan_constants.size() ||
      plan.outputs.size() != manifest.results.size()) {
    return "the plan takes or gives something else";
  }
  for (const package::CallResult& result : manifest.results) {
    const size_t limit = result.role == Role::kUser               ? 1
                         : result.role == Role::kArgumentMutation ? arguments
                         : result.role == Role::kConstantMutation ? manifest.constants.size()
                                                                  : 0;
    if (result.index >= limit) return "a result is nothing that there is";
  }
  for (const uint32_t step : manifest.proxied_steps) {
    if (step >= plan.steps.size() || !std::holds_alternative<plan::CallStep>(plan.steps[step].data))
      return "a step that torch makes is no call";
  }
  for (const package::Constant& constant : manifest.constants) {
    if (constant.kind > package::Constant::Kind::kLifted || static_cast<size_t>(constant.dtype) >= kDTypes ||
        constant.sizes.size() != constant.strides.size()) {
      return "a constant is nothing that there is";
    }
  }
  const size_t folded = folding == nullptr ? 0 : folding->outputs.size();
  for (const package::PlanConstant& which : manifest.plan_constants) {
    if (which.index >= (which.is_folded ? folded : manifest.constants.size()))
      return "the plan takes a constant that there is not";
  }
  return std::nullopt;
}

Result<ProgramView> read_program(const ProgramTexts& texts, const std::string& file) {
  const std::string place = fmt::format("{}: loops", file);
  JUMAR_ASSIGN(loop::Program program, loop::read_program(texts.loops, place));
  JUMAR_RETURN_IF_ERROR(loop::verify(program));
  JUMAR_ASSIGN(plan::Plan plan, plan::read_plan(texts.plan, fmt::format("{}: plan", file)));
  JUMAR_RETURN_IF_ERROR(plan::verify(plan));
  JUMAR_ASSIGN(const std::vector<plan::EntryBinding> bindings, plan::entry_bindings(plan));
  const auto kernels = std::ranges::count_if(
      program.items, [](const loop::Item& item) { return std::holds_alternative<loop::Kernel>(item); });
  const auto launches = std::ranges::count_if(
      plan.steps, [](const plan::Step& step) { return std::holds_alternative<plan::LaunchStep>(step.data); });
  if (kernels != launches) return broken(file, "{} kernels and {} launches", kernels, launches);
  return ProgramView{std::move(program), std::move(plan)};
}

Status read_report(const std::string& text, const std::string& file, Report& report) {
  JUMAR_ASSIGN(const import::JsonDocument document, import::JsonDocument::parse(text, file));
  JUMAR_ASSIGN(const import::JsonValue fusions, document.root().get("fusions"));
  const std::pair<std::string_view, uint32_t*> counts[] = {{"inlined", &report.inlined},
                                                           {"merged", &report.merged},
                                                           {"siblings", &report.siblings},
                                                           {"joined", &report.joined}};
  for (const auto& [name, count] : counts) {
    JUMAR_ASSIGN(const import::JsonValue value, fusions.get(name));
    JUMAR_ASSIGN(const int64_t number, value.integer());
    if (number < 0 || number > UINT32_MAX) return broken(file, "{} fusions", number);
    *count = static_cast<uint32_t>(number);
  }
  JUMAR_ASSIGN(const import::JsonValue refusals, document.root().get("refusals"));
  JUMAR_ASSIGN(const std::vector<import::JsonValue> rows, refusals.array());
  for (const import::JsonValue& row : rows) {
    Report::Refusal& refusal = report.refusals.emplace_back();
    const std::pair<std::string_view, std::string*> texts[] = {
        {"producer", &refusal.producer}, {"consumer", &refusal.consumer}, {"reason", &refusal.reason}};
    for (const auto& [name, member] : texts) {
      JUMAR_ASSIGN(const import::JsonValue value, row.get(name));
      JUMAR_ASSIGN(*member, value.string());
    }
  }
  return {};
}

Result<std::optional<DeviceView>> read_device(const ZipArchive& zip, const std::string& file) {
  if (!is_device_package(zip)) return std::optional<DeviceView>();
  DeviceView view;
  JUMAR_ASSIGN(const DeviceTexts texts, device_texts_of(zip));
  JUMAR_ASSIGN(view.kernels, read_device_kernels(texts.kernels, fmt::format("{}: device.json", file)));
  JUMAR_ASSIGN(const import::JsonDocument document,
               import::JsonDocument::parse(texts.launches, fmt::format("{}: kernels.json", file)));
  view.launches = texts.launches;
  for (DeviceKernel& kernel : view.kernels)
    for (std::string* text : {&kernel.name, &kernel.function, &kernel.linalg, &kernel.binary})
      *text = printable(*text);
  return std::optional(std::move(view));
}

}  // namespace

Result<PackageView> read_package(std::span<const uint8_t> bytes, const std::string& file) {
  JUMAR_ASSIGN(const ZipArchive zip, ZipArchive::read(bytes, file, ZipArchive::Packing::kDeflate));
  const ZipEntry* record = details_entry(zip);
  if (record == nullptr) return diagnostic("input", "'{}' is no package of Jumar's", file);
  JUMAR_RETURN_IF_ERROR(check_sum(*record, std::string(PackageDetails::kEntry)));
  JUMAR_ASSIGN(const PackageDetails details, PackageDetails::read(record->text(), file));
  JUMAR_ASSIGN(const embed::PackageParts parts, embed::package_parts(zip, ""));
  JUMAR_ASSIGN(package::Manifest manifest, package::Manifest::read(details.manifest));
  JUMAR_ASSIGN(ProgramView main, read_program(details.program, file));
  std::optional<ProgramView> folding;
  if (!details.folding.plan.empty()) {
    JUMAR_ASSIGN(folding, read_program(details.folding, file));
  }
  if (const std::optional<std::string> problem =
          misfit(manifest, main.plan, folding ? &folding->plan : nullptr)) {
    return broken(file, "{}", *problem);
  }
  make_printable(manifest);
  JUMAR_ASSIGN(std::optional<DeviceView> device, read_device(zip, file));
  Report report;
  JUMAR_RETURN_IF_ERROR(read_report(details.report, file, report));
  return PackageView{file,
                     bytes.size(),
                     parts.library.plain_bytes,
                     std::move(manifest),
                     printable(details.target),
                     std::move(report),
                     std::move(main),
                     std::move(folding),
                     std::move(device)};
}

}  // namespace jumar::driver
