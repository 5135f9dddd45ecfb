// A `.pt2` archive of torch.export.save as a graph and its weights.
//
//   JUMAR_ASSIGN(Imported model, import_pt2("model.pt2", {}));
//   model.graph           functional and decomposed, as the other door gives graphs: inputs are the call's
//                         arguments, then the weights
//   model.weights[k]      the elements of graph input model.user_input_count + k, in the mapped file
//   model.outputs[k]      whether result k is the caller's, or new elements of an input
//
// What is wrong with an archive is a diagnostic, never a crash: the file may come from anywhere.
#pragma once

#include "import/translate.h"
#include "import/weights.h"
#include "support/mapped_file.h"

namespace jumar::import {

struct ImportOptions {
  std::string model;  // of an archive that holds several; otherwise empty
  bool raw = false;   // stop before the graph is decomposed and made functional: for tests
};

struct Imported {
  explicit Imported(graph::Graph g) : graph(std::move(g)) {}

  graph::Graph graph;
  size_t user_input_count = 0;
  std::vector<CallInput> inputs;     // leaves of the call's argument tree
  std::vector<GraphOutput> outputs;  // of the graph
  std::vector<Weight> weights;       // of the graph's inputs from user_input_count on
  std::vector<InputRole> weight_roles;
  std::string in_spec;  // torch's pytree specs, as JSON
  std::string out_spec;
  std::vector<std::string> argument_names;
  std::string torch_version;
  std::shared_ptr<const MappedFile> file;  // what the weights point into
};

Result<Imported> import_pt2(const std::string& path, const ImportOptions& options);
// The same from memory, which must outlive the result.
Result<Imported> import_pt2(std::span<const uint8_t> bytes, const std::string& file,
                            const ImportOptions& options);

// What the graph's text does not say, as comments before it: which results are new elements of inputs, and
// which arguments of the call are constants.
std::string notes(const Imported& model);

}  // namespace jumar::import
