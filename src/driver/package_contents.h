// What every package holds of a program, whatever its kernels run on: the manifest, the weights, and the
// archive with the entries that torch's loader looks for.
//
//   PackageContents contents(model, options);
//   contents.describe(graph);                       before the graph is compiled
//   contents.take_weights(graph);                   once its parameters have their layouts
//   contents.identify(plan, folding_plan);          the last change of the manifest
//   JUMAR_ASSIGN(PackageFile file, PackageFile::create("model.jumar.pt2"));
//   JUMAR_RETURN_IF_ERROR(file.add_contents(contents, details, {{"AOTI_DEVICE_KEY", "cpu"}, ...}));
//   JUMAR_RETURN_IF_ERROR(file.zip().add(file.folder() + "...", ...));
//   JUMAR_ASSIGN(uint64_t bytes, file.finish());
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/package_details.h"
#include "driver/package_weights.h"
#include "driver/proxy_nodes.h"
#include "driver/report.h"
#include "driver/zip_writer.h"
#include "graph/graph.h"
#include "graph/passes/split_constants.h"
#include "import/pt2.h"
#include "plan/plan.h"
#include "runtime/package/manifest.h"
#include "support/options.h"

namespace jumar::driver {

// What torch.export.save wrote. `model` says which one of an archive that holds several.
Result<import::Imported> read_exported(const std::string& archive, const std::string& model, Report& report);

// Takes what is computed of the constants alone out of the graph. `compile` is given that part; where it
// answers that nobody could make its calls at load, the graph stays whole.
Result<std::vector<graph::SplitParameter>> fold_constants(
    graph::Graph& graph, size_t first_constant, const std::vector<bool>& is_written,
    const std::function<Result<bool>(const graph::Graph& folding)>& compile);

// Before the names of the folding plan's kernels.
inline constexpr const char* kFoldingPrefix = "fold_";
// A plan as packages hold it: without the origins of its steps, which are for people.
std::string package_plan(const plan::Plan& plan);
// Names the kernels of a folding plan as they are called in a package.
void rename_folding_kernels(plan::Plan& plan);

// By key; what torch's loaders show as metadata. All values are texts, as they demand.
using PackageMetadata = std::vector<std::pair<std::string, std::string>>;

class PackageContents {
 public:
  // `model` outlives the contents.
  PackageContents(const import::Imported& model, const Options& options);

  // What the graph's inputs and outputs are.
  void describe(const graph::Graph& graph);
  // The layouts that the graph gives its parameters.
  void take_weights(const graph::Graph& graph);
  void take_split(const std::vector<graph::SplitParameter>& parameters);
  void take_proxy(const ProxyNodes& proxy);
  // Gives the weights an identity that follows from the manifest and the plans.
  void identify(std::string_view plan, std::string_view folding_plan);

  runtime::package::Manifest& manifest() { return manifest_; }
  const runtime::package::Manifest& manifest() const { return manifest_; }
  // For torch's proxy executor; empty in most packages.
  const std::string& proxy_record() const { return proxy_record_; }
  uint64_t weights_bytes() const { return weights_->bytes(); }
  // The version, and what the call takes and gives.
  PackageMetadata metadata() const;
  // The weights and their trailer, as one entry.
  Status add_weights(ZipWriter& zip, const std::string& name) const;

  // By constant: whether it may lie in memory in another way: no other shares its storage.
  std::vector<bool> movable_constants() const;
  // By constant: whether calls change its elements.
  std::vector<bool> written_constants() const;

 private:
  void describe_types(const graph::Graph& graph);

  const import::Imported& model_;
  std::optional<PackageWeights> weights_;
  runtime::package::Manifest manifest_;
  std::string proxy_record_;
  std::string inputs_;
  std::string results_;
  std::string sizes_;
};

// A package while it is written. The file at the path is replaced by finish(), and untouched before.
class PackageFile {
 public:
  static Result<PackageFile> create(const std::string& path);

  // Metadata, record for people and weights.
  Status add_contents(const PackageContents& contents, const PackageDetails& details,
                      const PackageMetadata& more);
  ZipWriter& zip() { return zip_; }
  // The name of an entry beside the weights: "bert/data/aotinductor/model/model.plan".
  std::string entry(std::string_view name) const { return folder_ + std::string(name); }
  Result<uint64_t> finish();

 private:
  PackageFile(ZipWriter zip, std::string root);
  ZipWriter zip_;
  std::string root_;
  std::string folder_;
};

// Whether every call of the plan can be made where there is no Python, by `proxy` where that is needed.
Status check_package_calls(const plan::Plan& plan, const Options& options, const ProxyNodes& proxy);
// None where no libtorch makes the calls, since there is no executor then.
ProxyNodes package_proxy(const plan::Plan& plan, const Options& options);

}  // namespace jumar::driver
