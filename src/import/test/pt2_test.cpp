#include "import/pt2.h"

#include <gtest/gtest.h>

#include <cstring>

#include "archive.h"

namespace jumar::import {
namespace {

using test::Bytes;
using test::ZipWriter;

// The entries of an archive that torch wrote, to be changed and packed again.
std::map<std::string, std::string> entries_of(const std::string& file) {
  const Bytes bytes = test::file_bytes(file);
  const Result<ZipArchive> zip = ZipArchive::read(bytes, file);
  std::map<std::string, std::string> out;
  for (const auto& [name, entry] : zip->entries()) out.emplace(name, entry.text());
  return out;
}

Bytes packed(const std::map<std::string, std::string>& entries) {
  ZipWriter writer;
  for (const auto& [name, body] : entries) writer.add(name, body);
  return writer.finish();
}

std::string message(const std::map<std::string, std::string>& entries) {
  const Bytes bytes = packed(entries);
  const Result<Imported> model = import_pt2(bytes, "m.pt2", {});
  return model.ok() ? "" : model.error().text();
}

// Replaces the first `from` in the program.
std::map<std::string, std::string> edited(const std::string& model, const std::string& from,
                                          const std::string& to) {
  auto entries = entries_of(model + ".pt2");
  std::string& json = entries.at(model + "/models/model.json");
  const size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) json.replace(at, from.size(), to);
  return entries;
}

TEST(Pt2, MutationsAndNestedArguments) {
  const Bytes bytes = test::file_bytes("counter.pt2");
  const Result<Imported> model = import_pt2(bytes, "counter.pt2", {});
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model->user_input_count, 2U);
  ASSERT_EQ(model->inputs.size(), 2U);
  EXPECT_EQ(model->inputs[1].name, "options_rows");
  ASSERT_EQ(model->outputs.size(), 6U);
  EXPECT_EQ(model->outputs[0].role, OutputRole::kUserInputMutation);
  EXPECT_EQ(model->outputs[0].graph_input, 1U);
  EXPECT_EQ(model->outputs[1].role, OutputRole::kBufferMutation);
  EXPECT_EQ(model->graph.inputs[model->outputs[1].graph_input].origin, "total");
  EXPECT_EQ(model->outputs[2].role, OutputRole::kUser);
  ASSERT_EQ(model->graph.symbols.size(), 1U);
  EXPECT_EQ(model->graph.symbols[0].range, (sym::Range{2, 64}));
  EXPECT_EQ(model->graph.symbols[0].hint, 3);
  EXPECT_NE(model->out_spec.find("builtins.dict"), std::string::npos);
  EXPECT_EQ(notes(*model),
            "# result 0 is the new value of input 1 %options_rows\n"
            "# result 1 is the new value of input 4 %b_total\n");
}

TEST(Pt2, WeightsLieInTheFile) {
  const Bytes bytes = test::file_bytes("block.pt2");
  const Result<Imported> model = import_pt2(bytes, "block.pt2", {});
  ASSERT_TRUE(model.ok()) << model.error().text();
  ASSERT_EQ(model->weights.size() + model->user_input_count, model->graph.inputs.size());
  const Weight* turned = nullptr;
  const Weight* tied[2] = {};
  for (const Weight& weight : model->weights) {
    ASSERT_GE(weight.data(), bytes.data());
    ASSERT_LT(weight.data(), bytes.data() + bytes.size());
    if (weight.name == "turned") turned = &weight;
    if (weight.name == "embed.weight") tied[0] = &weight;
    if (weight.name == "head.weight") tied[1] = &weight;
  }
  ASSERT_NE(turned, nullptr);
  EXPECT_TRUE(turned->is_parameter);
  EXPECT_EQ(turned->type.strides[1].const_value(), 4);
  float elements[8];
  std::memcpy(elements, turned->data(), sizeof(elements));
  for (int k = 0; k < 8; ++k) EXPECT_EQ(elements[k], static_cast<float>(k));
  ASSERT_TRUE(tied[0] != nullptr && tied[1] != nullptr);
  EXPECT_EQ(tied[0]->data(), tied[1]->data());
}

TEST(Pt2, FromAFile) {
  const std::string path = std::string(JUMAR_TEST_DIR) + "/archives/block.pt2";
  const Result<Imported> model = import_pt2(path, {});
  ASSERT_TRUE(model.ok()) << model.error().text();
  ASSERT_NE(model->file, nullptr);
  EXPECT_GE(model->weights[0].data(), model->file->bytes().data());
  EXPECT_EQ(import_pt2("/nowhere/at/all.pt2", {}).error().code, "io");
  EXPECT_EQ(import_pt2("/", {}).error().code, "io");
}

TEST(Pt2, Versions) {
  EXPECT_EQ(message(edited("block", "\"minor\": 17", "\"minor\": 99")), "");
  EXPECT_NE(message(edited("block", "\"major\": 8", "\"major\": 9")).find("schema version 9"),
            std::string::npos);
  auto entries = entries_of("block.pt2");
  entries["block/archive_version"] = "7";
  EXPECT_NE(message(entries).find("version is '7'"), std::string::npos);
  entries = entries_of("block.pt2");
  entries["block/archive_format"] = "zip";
  EXPECT_NE(message(entries).find("not pt2"), std::string::npos);
}

TEST(Pt2, UnknownMembersAreSkipped) {
  EXPECT_EQ(message(edited("block", "{\"graph_module\":", "{\"new\": [1, {\"a\": 2}], \"graph_module\":")),
            "");
}

TEST(Pt2, MissingEntries) {
  const auto good = entries_of("block.pt2");
  ASSERT_EQ(message(good), "");
  for (const auto& [name, body] : good) {
    auto entries = good;
    entries.erase(name);
    const bool is_needed = name.find(".data/") == std::string::npos &&
                           name.find("byteorder") == std::string::npos &&
                           name.find("sample_inputs") == std::string::npos && !name.ends_with("/version");
    EXPECT_EQ(message(entries) != "", is_needed) << name;
  }
}

TEST(Pt2, ModelsByName) {
  auto entries = entries_of("block.pt2");
  for (const std::string part : {"models/model.json", "data/weights/model_weights_config.json",
                                 "data/constants/model_constants_config.json"}) {
    std::string other = part;
    other.replace(other.find("model", part.rfind('/')), 5, "other");
    entries["block/" + other] = entries["block/" + part];
  }
  const Bytes bytes = packed(entries);
  EXPECT_NE(import_pt2(bytes, "m.pt2", {}).error().message.find("model, other"), std::string::npos);
  ImportOptions options;
  options.model = "other";
  EXPECT_TRUE(import_pt2(bytes, "m.pt2", options).ok());
}

TEST(Pt2, WeightsThatDoNotFit) {
  auto entries = entries_of("block.pt2");
  entries["block/data/weights/weight_0"].pop_back();
  EXPECT_NE(message(entries).find("bytes, but"), std::string::npos);
  const std::string config = "block/data/weights/model_weights_config.json";
  const auto change = [&](const std::string& from, const std::string& to) {
    auto changed = entries_of("block.pt2");
    std::string& json = changed.at(config);
    const size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    return message(changed);
  };
  EXPECT_NE(change("\"as_int\": 4", "\"as_int\": 4611686018427387904").find("2**63"), std::string::npos);
  EXPECT_NE(change("\"as_int\": 4", "\"as_int\": -4").find("negative"), std::string::npos);
  EXPECT_NE(change("\"as_int\": 0}", "\"as_int\": 9223372036854775807}"), "");
  EXPECT_NE(change("\"as_int\": 0}", "\"as_int\": 100}"), "");
  EXPECT_NE(change("\"as_int\": 0}", "\"as_int\": -1}"), "");
  EXPECT_NE(change("\"use_pickle\": false", "\"use_pickle\": true").find("pickle"), std::string::npos);
  EXPECT_NE(change("\"path_name\": \"weight_0\"", "\"path_name\": \"../weight_0\"").find("no entry"),
            std::string::npos);
  EXPECT_NE(change("\"dtype\": 7", "\"dtype\": 5"), "");
  EXPECT_NE(change("\"dtype\": 7", "\"dtype\": 99").find("element type 99"), std::string::npos);
}

TEST(Pt2, ProgramsThatAreWrong) {
  const std::string block = "block";
  // An operator nobody knows, an argument nobody knows, values that are not there, and a tensor elsewhere.
  EXPECT_NE(message(edited(block, "aten.embedding.default", "aten.no_such.default")).find("aten.no_such"),
            std::string::npos);
  EXPECT_NE(message(edited(block, "\"name\": \"weight\"", "\"name\": \"wait\"")).find("in node"),
            std::string::npos);
  EXPECT_NE(message(edited(block, "\"arg\": {\"as_tensor\": {\"name\": \"tokens\"}",
                           "\"arg\": {\"as_tensor\": {\"name\": \"tok\"}")),
            "");
  EXPECT_NE(message(edited(block, "{\"type\": \"cpu\"", "{\"type\": \"cuda\"")).find("cuda"),
            std::string::npos);
  EXPECT_NE(message(edited(block, "\"as_tensor\"", "\"as_nothing\"")), "");
  EXPECT_NE(message(edited(block, "\"nodes\": [", "\"nodes\": [3, "))
                .find("nodes[0]: expected an object, found a number"),
            std::string::npos);
  EXPECT_NE(
      message(edited(block, "\"parameter_name\": \"turned\"", "\"parameter_name\": \"lost\"")).find("'lost'"),
      std::string::npos);
}

TEST(Pt2, EntriesInSeveralFolders) {
  auto entries = entries_of("block.pt2");
  entries["other/file"] = "x";
  EXPECT_NE(message(entries).find("one folder"), std::string::npos);
}

}  // namespace
}  // namespace jumar::import
