#include "driver/inspect_command.h"

#include <charconv>
#include <filesystem>

#include "driver/archive_kind.h"
#include "driver/device_json.h"
#include "driver/device_project.h"
#include "driver/device_table.h"
#include "driver/exported_view.h"
#include "driver/inspect_json.h"
#include "driver/inspect_text.h"
#include "driver/utf8.h"
#include "support/files.h"
#include "support/mapped_file.h"

namespace jumar::driver {
namespace {

// "s0=8"
Result<SizeValues> size_values(const std::vector<std::string>& given) {
  SizeValues sizes;
  for (const std::string& text : given) {
    const size_t split = std::min(text.find('='), text.size());
    const char* end = text.data() + text.size();
    int64_t size = 0;
    const auto [last, error] = std::from_chars(std::min(text.data() + split + 1, end), end, size);
    if (split == 0 || error != std::errc() || last != end)
      return diagnostic("option", "'{}' is no size: NAME=NUMBER is wanted", text);
    sizes[text.substr(0, split)] = size;
  }
  return sizes;
}

bool wants_parts(const InspectArguments& arguments) {
  return arguments.all_kernels || !arguments.kernels.empty() || arguments.plan || arguments.refusals ||
         arguments.memory;
}

Result<std::string> parts_text(const InspectArguments& arguments, const PackageView& view,
                               const Inspection& rows) {
  if (arguments.at_load && !view.folding)
    return diagnostic("input", "'{}' computes nothing at load", arguments.file);
  const ProgramView& program = arguments.at_load ? *view.folding : view.main;
  const PlanRows& part = arguments.at_load ? *rows.folding : rows.main;
  std::string out;
  if (arguments.all_kernels || !arguments.kernels.empty()) {
    const std::vector<std::string> all;
    JUMAR_ASSIGN(const std::string loops,
                 kernels_text(program, part, arguments.all_kernels ? all : arguments.kernels));
    out += loops;
  }
  if (arguments.plan) out += plan::write_plan(program.plan);
  if (arguments.memory) out += memory_text(part.memory);
  if (arguments.refusals) out += refusals_text(view.report);
  return out;
}

Result<std::string> package_text(const InspectArguments& arguments, std::span<const uint8_t> bytes) {
  JUMAR_ASSIGN(const PackageView view, read_package(bytes, arguments.file));
  JUMAR_ASSIGN(const SizeValues sizes, size_values(arguments.sizes));
  JUMAR_ASSIGN(const Inspection rows, inspection(view, sizes));
  if (arguments.json) return inspection_json(view, rows);
  if (wants_parts(arguments)) return parts_text(arguments, view, rows);
  if (!view.device) return overview_text(view, rows);
  JUMAR_ASSIGN(const std::string table, device_launch_table(view.device->launches, arguments.file));
  return overview_text(view, rows) + "\n" + table;
}

Result<std::string> archive_text(const InspectArguments& arguments, std::span<const uint8_t> bytes) {
  JUMAR_ASSIGN(const ExportedView view, read_exported_view(bytes, arguments.file, arguments.model));
  if (wants_parts(arguments))
    return diagnostic("input", "'{}' is an exported program, not compiled: it has no kernels and no plan",
                      arguments.file);
  return arguments.json ? exported_json(view) : exported_text(view);
}

Result<std::string> device_text(const InspectArguments& arguments, const std::string& json,
                                const std::string& file) {
  if (wants_parts(arguments))
    return diagnostic("input", "'{}' holds a device's kernels as files: look there", arguments.file);
  JUMAR_ASSIGN(const std::string table, device_table(json, file));
  return arguments.json ? json : table;
}

Result<std::string> folder_text(const InspectArguments& arguments) {
  const std::string file = (std::filesystem::path(arguments.file) / kKernelsFile).string();
  const Result<std::string> json = bytes_of_file(file);
  if (!json.ok())
    return diagnostic("input", "the folder '{}' is not of jumar compile --target: it has no {}",
                      arguments.file, kKernelsFile);
  return device_text(arguments, *json, file);
}

Result<std::string> compiled_text(const InspectArguments& arguments, const Options& base) {
  std::string given = "target=" + arguments.target;
  if (!arguments.device_limit.empty()) given += "\ndevice_limit=" + arguments.device_limit;
  JUMAR_ASSIGN(const Options options, base.with(given));
  if (options.target() == "cpu") return diagnostic("option", "cpu is no device");
  DeviceProjectRequest request;
  request.input = arguments.file;
  request.model = arguments.model;
  Report report;
  JUMAR_ASSIGN(const DeviceProject project, device_project(request, options, report));
  return device_text(arguments, project.json, arguments.file);
}

}  // namespace

Result<std::string> inspect(const InspectArguments& arguments, std::span<const uint8_t> bytes) {
  JUMAR_ASSIGN(const ArchiveKind kind, [&]() -> Result<ArchiveKind> {
    JUMAR_ASSIGN(const ZipArchive zip,
                 ZipArchive::read(bytes, arguments.file, ZipArchive::Packing::kDeflate));
    return archive_kind(zip);
  }());
  if (kind == ArchiveKind::kForeign) {
    return diagnostic("input",
                      "'{}' is a package, but not of `jumar compile`: another compiler, such as AOTInductor, "
                      "made it, and only the loaders of torch know what is in it",
                      arguments.file);
  }
  const bool is_package = kind == ArchiveKind::kPackage;
  JUMAR_ASSIGN(const std::string text,
               is_package ? package_text(arguments, bytes) : archive_text(arguments, bytes));
  // A terminal obeys control characters, and the file may hold any.
  return printable_lines(text);
}

Result<std::string> inspect(const InspectArguments& arguments, const Options& base) {
  if (std::filesystem::is_directory(arguments.file) || !arguments.target.empty()) {
    JUMAR_ASSIGN(const std::string text,
                 arguments.target.empty() ? folder_text(arguments) : compiled_text(arguments, base));
    return printable_lines(text);
  }
  JUMAR_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(arguments.file));
  return inspect(arguments, file->bytes());
}

}  // namespace jumar::driver
