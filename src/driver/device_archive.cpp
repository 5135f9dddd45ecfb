#include "driver/device_archive.h"

#include <algorithm>
#include <map>

#include "driver/json_writer.h"
#include "import/json.h"
#include "plan/binary.h"
#include "runtime/package/weights.h"

namespace jumar::driver {
namespace {

using import::JsonDocument;
using import::JsonValue;

constexpr std::string_view kFormat = "jumar device package 1";
constexpr const char* kWeights = "model.weights";
constexpr std::string_view kFolder = "/data/aotinductor/";
// Texts of a kernel are some hundred kilobytes, plans of large models some megabytes.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

// "bert/data/aotinductor/model/"; nothing where the package is for no device.
std::optional<std::string> folder_of(const ZipArchive& zip) {
  const std::string ending = std::string("/") + device_entry::kKernels;
  for (const auto& [name, entry] : zip.entries())
    if (name.ends_with(ending) && name.find(kFolder) != std::string::npos)
      return name.substr(0, name.size() - ending.size() + 1);
  return std::nullopt;
}

class Reader {
 public:
  Reader(const ZipArchive& zip, std::string folder) : zip_(zip), folder_(std::move(folder)) {}

  const ZipEntry* find(const std::string& name) const { return zip_.find(folder_ + name); }

  Result<std::string> read(const std::string& name) const {
    const ZipEntry* entry = find(name);
    if (entry == nullptr)
      return diagnostic("input", "'{}' is damaged: it has no entry '{}'", zip_.file(), folder_ + name);
    return unpacked(*entry, fmt::format("{}: {}", zip_.file(), folder_ + name), kMostBytes);
  }

 private:
  const ZipArchive& zip_;
  std::string folder_;
};

Result<plan::Plan> plan_of(const std::string& bytes, const std::string& name) {
  JUMAR_ASSIGN(plan::Plan plan,
               plan::read_binary({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, name));
  JUMAR_RETURN_IF_ERROR(plan::verify(plan));
  return plan;
}

Status check_launches(const plan::Plan& plan, std::span<const DeviceKernel> kernels,
                      const std::string& file) {
  for (const plan::Step& step : plan.steps) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.data);
    if (launch == nullptr) continue;
    if (std::ranges::find(kernels, launch->kernel, &DeviceKernel::name) == kernels.end())
      return diagnostic("input", "'{}' is damaged: its plan launches kernel {}, which is not there", file,
                        launch->kernel);
  }
  return {};
}

Result<std::string> text_member(const JsonValue& object, std::string_view key) {
  JUMAR_ASSIGN(const JsonValue value, object.get(key));
  return value.string();
}

}  // namespace

std::string device_kernels_json(const std::string& target, std::span<const DeviceKernel> kernels) {
  JsonWriter json;
  json.object().key("format").text(kFormat).key("target").text(target).key("kernels").list();
  for (const DeviceKernel& kernel : kernels) {
    json.object().key("kernel").text(kernel.name).key("function").text(kernel.function);
    json.key("linalg").text(kernel.linalg).key("binary");
    if (kernel.binary.empty())
      json.null();
    else
      json.text(kernel.binary);
    json.end();
  }
  json.end().end();
  return json.take() + "\n";
}

Result<std::vector<DeviceKernel>> read_device_kernels(const std::string& text, const std::string& file) {
  JUMAR_ASSIGN(const JsonDocument document, JsonDocument::parse(text, file));
  JUMAR_ASSIGN(const std::string format, text_member(document.root(), "format"));
  if (format != kFormat)
    return diagnostic("input", "{}: it is '{}', and this Jumar reads '{}'", file, format, kFormat);
  JUMAR_ASSIGN(const JsonValue list, document.root().get("kernels"));
  JUMAR_ASSIGN(const std::vector<JsonValue> rows, list.array());
  std::vector<DeviceKernel> kernels;
  for (const JsonValue& row : rows) {
    DeviceKernel& kernel = kernels.emplace_back();
    JUMAR_ASSIGN(kernel.name, text_member(row, "kernel"));
    JUMAR_ASSIGN(kernel.function, text_member(row, "function"));
    JUMAR_ASSIGN(kernel.linalg, text_member(row, "linalg"));
    if (!row.has("binary")) continue;
    JUMAR_ASSIGN(kernel.binary, text_member(row, "binary"));
  }
  return kernels;
}

bool is_device_package(const ZipArchive& zip) { return folder_of(zip).has_value(); }

Result<DeviceTexts> device_texts_of(const ZipArchive& zip) {
  const std::optional<std::string> folder = folder_of(zip);
  CHECK(folder.has_value(), "'{}' is for no device", zip.file());
  const Reader reader(zip, *folder);
  DeviceTexts out;
  JUMAR_ASSIGN(out.kernels, reader.read(device_entry::kKernels));
  JUMAR_ASSIGN(out.launches, reader.read(device_entry::kLaunches));
  return out;
}

Result<DeviceArchive> read_device_archive(std::span<const uint8_t> bytes, const std::string& file) {
  JUMAR_ASSIGN(const ZipArchive zip, ZipArchive::read(bytes, file, ZipArchive::Packing::kDeflate));
  const std::optional<std::string> folder = folder_of(zip);
  if (!folder) return diagnostic("input", "'{}' is no package for a device", file);
  const Reader reader(zip, *folder);
  JUMAR_ASSIGN(const std::string target_text, reader.read(device_entry::kTarget));
  const std::string target_name = fmt::format("{}: {}", file, device_entry::kTarget);
  JUMAR_ASSIGN(target::Target target, target::read_target(target_text, target_name));
  JUMAR_ASSIGN(std::string launches, reader.read(device_entry::kLaunches));
  JUMAR_ASSIGN(std::string plan_bytes, reader.read(device_entry::kPlan));
  JUMAR_ASSIGN(std::string manifest, reader.read(device_entry::kManifest));
  JUMAR_ASSIGN(plan::Plan plan, plan_of(plan_bytes, fmt::format("{}: {}", file, device_entry::kPlan)));
  DeviceArchive out{std::move(target),
                    std::move(launches),
                    std::move(plan_bytes),
                    {},
                    std::move(manifest),
                    std::move(plan),
                    std::nullopt,
                    {},
                    {},
                    {}};
  if (reader.find(device_entry::kFolding) != nullptr) {
    JUMAR_ASSIGN(out.folding_bytes, reader.read(device_entry::kFolding));
    JUMAR_ASSIGN(out.folding,
                 plan_of(out.folding_bytes, fmt::format("{}: {}", file, device_entry::kFolding)));
  }
  JUMAR_ASSIGN(const std::string rows, reader.read(device_entry::kKernels));
  JUMAR_ASSIGN(out.kernels, read_device_kernels(rows, fmt::format("{}: {}", file, device_entry::kKernels)));
  std::map<std::string, std::string> texts;
  for (const DeviceKernel& kernel : out.kernels) {
    const auto [it, is_new] = texts.try_emplace(kernel.linalg);
    if (is_new) {
      JUMAR_ASSIGN(it->second, reader.read(kernel.linalg));
    }
    out.code.push_back(it->second);
  }
  JUMAR_RETURN_IF_ERROR(check_launches(out.plan, out.kernels, file));
  if (out.folding) JUMAR_RETURN_IF_ERROR(check_launches(*out.folding, out.kernels, file));
  if (const ZipEntry* weights = reader.find(kWeights); weights != nullptr && !weights->is_deflated)
    out.weights = weights->bytes;
  return out;
}

}  // namespace jumar::driver
