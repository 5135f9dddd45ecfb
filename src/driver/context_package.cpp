// Packages for an NPU, run by the simulator.
#include "driver/archive_kind.h"
#include "driver/context.h"
#include "driver/device_archive.h"
#include "driver/json_writer.h"
#include "driver/package_details.h"
#include "support/mapped_file.h"

namespace jumar::driver {
namespace {

namespace package = runtime::package;

package::PackageBytes bytes_of(const std::string& text) {
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  return {data, text.size(), package::checksum_of(data, text.size())};
}

// What a compilation would have said, of the package's record for people.
Result<std::string> report_of(std::span<const uint8_t> bytes, const std::string& path) {
  JUMAR_ASSIGN(const ZipArchive zip, ZipArchive::read(bytes, path, ZipArchive::Packing::kDeflate));
  const ZipEntry* record = details_entry(zip);
  if (record == nullptr) return diagnostic("input", "'{}' is no package of Jumar's", path);
  JUMAR_ASSIGN(const PackageDetails details, PackageDetails::read(record->text(), path));
  return details.report;
}

std::string signature_of(const package::Manifest& manifest) {
  JsonWriter json;
  json.object().key("in_spec").text(manifest.in_spec).key("out_spec").text(manifest.out_spec);
  json.key("arguments").list();
  for (const package::Argument& argument : manifest.arguments)
    json.object().key("name").text(argument.name).key("fixed").boolean(argument.is_constant).end();
  json.end().end();
  return json.take();
}

std::vector<KernelObject> objects_of(const DeviceArchive& archive) {
  std::vector<KernelObject> objects;
  for (size_t k = 0; k < archive.kernels.size(); ++k)
    objects.push_back({archive.kernels[k].name, hash_of("linalg\n" + archive.code[k]), archive.code[k]});
  return objects;
}

}  // namespace

Result<std::shared_ptr<const CompiledGraph>> Context::simulate_package(const std::string& path,
                                                                       const Options& options,
                                                                       const Running& running) {
  JUMAR_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  JUMAR_ASSIGN(const DeviceArchive archive, read_device_archive(file->bytes(), path));
  JUMAR_ASSIGN(Device device, device_of(archive.target, options));
  warn_once(device.warnings);
  auto graph = std::make_shared<CompiledGraph>();
  graph->device_ = std::make_unique<const Device>(std::move(device));
  JUMAR_ASSIGN(graph->sim_kernels_, sim_library_.load(objects_of(archive), options));
  JUMAR_RETURN_IF_ERROR(graph->sim_kernels_.check(archive.plan));
  if (archive.folding) JUMAR_RETURN_IF_ERROR(graph->sim_kernels_.check(*archive.folding));
  JUMAR_ASSIGN(graph->torch_, torch_for(running));
  std::vector<package::PackageKernel> kernels;
  for (const DeviceKernel& kernel : archive.kernels)
    kernels.push_back({kernel.name.c_str(), graph->sim_kernels_.find(kernel.name)});
  const package::PackageData data{package::kPackageFormat,
                                  bytes_of(archive.plan_bytes),
                                  bytes_of(archive.folding_bytes),
                                  bytes_of(archive.manifest_bytes),
                                  kernels.data(),
                                  kernels.size(),
                                  nullptr};
  const auto weights = [&](const package::Manifest& manifest) -> Result<std::shared_ptr<package::Weights>> {
    if (manifest.weights_bytes == 0) return package::Weights::borrowed({});
    if (archive.weights.empty()) return diagnostic("input", "'{}' is damaged: its weights are missing", path);
    const auto offset = static_cast<uint64_t>(archive.weights.data() - file->bytes().data());
    return package::Weights::open(path, offset, archive.weights.size(), manifest.weights_id);
  };
  const auto engine = [&](const package::Manifest&) -> Result<runtime::Engine> {
    JUMAR_ASSIGN(runtime::Engine made, this->engine(options, running, *graph));
    graph->sim_kernels_.equip(made, graph->device_->limit);
    return made;
  };
  JUMAR_ASSIGN(graph->model_, package::Model::create(data, weights, engine));
  graph->signature_ = signature_of(graph->model_->manifest());
  graph->plan_text_ = plan::write_plan(archive.plan);
  JUMAR_ASSIGN(graph->report_, report_of(file->bytes(), path));
  return std::shared_ptr<const CompiledGraph>(std::move(graph));
}

}  // namespace jumar::driver
