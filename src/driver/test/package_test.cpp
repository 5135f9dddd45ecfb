// Packages made of archives and run through include/jumar/package.h, in a process without libtorch.
#include "driver/package.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include "jumar/package.h"

namespace jumar::driver {
namespace {

using embed::Argument;
using embed::TensorView;

std::string archive(const std::string& name) {
  return std::string(JUMAR_SOURCE_DIR) + "/src/import/test/archives/" + name + ".pt2";
}

class PackageTest : public testing::Test {
 protected:
  PackageTest() {
    std::string name = testing::TempDir() + "jumar-package-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~PackageTest() override { std::filesystem::remove_all(folder_); }

  std::string compiled(const std::string& name, const std::string& options = "provider=onednn") {
    const Options base = Options::from_environment([](const std::string&) { return std::nullopt; }).value();
    const std::string output = folder_ + "/" + name + ".jumar.pt2";
    Report report;
    const Result<PackageSummary> made =
        compile_package({archive(name), "", output, "", {}}, base.with(options).value(), report);
    EXPECT_TRUE(made.ok()) << made.error().text();
    return output;
  }
  static embed::Package loaded(const std::string& path) {
    embed::LoadOptions options;
    options.threads = 2;
    embed::Result<embed::Package> package = embed::Package::load(path, options);
    EXPECT_TRUE(package.ok()) << package.error().message;
    return std::move(package.value());
  }

  std::string folder_;
};

// fc(x) * 2 with the archive's weights, summed over the batch.
class Reference {
 public:
  Reference() : model_(import::import_pt2(archive("counter"), {}).value()) {
    for (const import::Weight& weight : model_.weights) {
      const auto* data = reinterpret_cast<const float*>(weight.data());
      if (weight.name == "fc.weight") weight_ = data;
      if (weight.name == "fc.bias") bias_ = data;
    }
  }
  std::vector<float> y(const std::vector<float>& x) const {
    std::vector<float> out;
    for (size_t row = 0; row < x.size() / 3; ++row) {
      for (size_t k = 0; k < 4; ++k) {
        float sum = bias_[k];
        for (size_t i = 0; i < 3; ++i) sum += x[3 * row + i] * weight_[3 * k + i];
        out.push_back(2 * sum);
      }
    }
    return out;
  }

 private:
  import::Imported model_;
  const float* weight_ = nullptr;
  const float* bias_ = nullptr;
};

void expect_near(const embed::Tensor& found, const std::vector<float>& expected) {
  const std::vector<int64_t> sizes = found.sizes();
  ASSERT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()),
            static_cast<int64_t>(expected.size()));
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(found.data<float>()[k], expected[k], 1e-5) << k;
}

TEST_F(PackageTest, TellsWhatItTakesAndGives) {
  const embed::Package package = loaded(compiled("counter"));
  ASSERT_EQ(package.inputs().size(), 2U);
  EXPECT_EQ(package.inputs()[0].name, "x");
  ASSERT_EQ(package.symbols().size(), 1U);
  const std::string symbol = package.symbols()[0].name;
  EXPECT_EQ(package.symbols()[0].least, 2);
  EXPECT_EQ(package.symbols()[0].most, 64);
  EXPECT_EQ(package.inputs()[0].text(), "f32[" + symbol + ", 3]");
  EXPECT_EQ(package.inputs()[1].text(), "f32[" + symbol + ", 2]");
  EXPECT_EQ(package.results().at(0).text(), "f32[" + symbol + ", 4]");
  std::vector<std::string> names;
  for (const embed::ValueInfo& constant : package.constants()) names.push_back(constant.name);
  EXPECT_NE(std::find(names.begin(), names.end(), "fc.weight"), names.end());
}

TEST_F(PackageTest, RunsAndWritesToArgumentsAndBuffers) {
  const embed::Package package = loaded(compiled("counter"));
  const Reference reference;
  std::vector<float> total(4, 0);
  for (const int64_t batch : {3, 2, 64}) {
    std::vector<float> x(static_cast<size_t>(3 * batch));
    for (size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k));
    std::vector<float> rows(static_cast<size_t>(2 * batch), 3.0f);
    const auto results =
        package.run({TensorView::of(x.data(), {batch, 3}), TensorView::of(rows.data(), {batch, 2})});
    ASSERT_TRUE(results.ok()) << results.error().message;
    const std::vector<float> y = reference.y(x);
    expect_near(results->at(0).tensor(), y);
    std::vector<float> expected;
    for (size_t k = 0; k < 4; ++k) {
      for (size_t row = 0; row < static_cast<size_t>(batch); ++row) total[k] += y[4 * row + k];
      expected.push_back(total[k] + 1);
    }
    expect_near(results->at(1).tensor(), expected);
    EXPECT_EQ(rows[0], 6.0f);
    EXPECT_EQ(rows[2], 3.0f);
  }
}

TEST_F(PackageTest, ErrorsAreValues) {
  const embed::Package package = loaded(compiled("counter"));
  std::vector<double> doubles(9);
  std::vector<float> x(300, 1.0f);
  const auto message = [&](const std::vector<Argument>& arguments) {
    const auto results = package.run(arguments);
    return results.ok() ? "" : results.error().code + ": " + results.error().message;
  };
  const Argument rows = TensorView::of(x.data(), {3, 2});
  EXPECT_NE(message({TensorView::of(doubles.data(), {3, 3}), rows}).find("f64[3, 3]"), std::string::npos);
  EXPECT_NE(message({TensorView::of(x.data(), {65, 3}), rows}).find("65"), std::string::npos);
  EXPECT_NE(message({TensorView::of(x.data(), {4, 3}), rows}).find("input"), std::string::npos);
  EXPECT_NE(message({rows}).find("1 arguments given, the program takes 2"), std::string::npos);
  EXPECT_NE(message({int64_t{3}, rows}).find("input"), std::string::npos);
  EXPECT_EQ(message({TensorView::of(x.data(), {3, 3}), rows}), "");
}

TEST_F(PackageTest, LoadsFromMemory) {
  std::ifstream file(compiled("block"), std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  const embed::Package from_file = loaded(folder_ + "/block.jumar.pt2");
  embed::Result<embed::Package> package = embed::Package::load(bytes.data(), bytes.size());
  ASSERT_TRUE(package.ok()) << package.error().message;
  const std::vector<int64_t> tokens = {1, 2, 3, 4, 5, 6};
  const std::vector<Argument> arguments = {TensorView::of(tokens.data(), {2, 3})};
  const auto expected = from_file.run(arguments);
  const auto found = package->run(arguments);
  ASSERT_TRUE(expected.ok() && found.ok());
  for (size_t k = 0; k < 2; ++k) {
    const embed::Tensor& tensor = expected->at(k).tensor();
    const auto count = static_cast<size_t>(tensor.sizes()[0] * tensor.strides()[0]);
    const float* data = tensor.data<float>();
    expect_near(found->at(k).tensor(), {data, data + count});
  }
}

TEST_F(PackageTest, BadIndicesAreErrors) {
  const embed::Package package = loaded(compiled("block"));
  const std::vector<int64_t> tokens = {1, 2, 3, 4, 8, 6};
  const auto results = package.run({TensorView::of(tokens.data(), {2, 3})});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().code, "index");
}

TEST_F(PackageTest, ConstantsAreUpdated) {
  const embed::Package package = loaded(compiled("counter"));
  const std::vector<float> zeros(12);
  const std::vector<float> bias = {1, 2, 3, 4};
  const auto wrong = package.update_constants({{"fc.bias", TensorView::of(bias.data(), {2, 2})}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("'fc.bias' is f32[4]"), std::string::npos) << wrong.error().message;
  EXPECT_FALSE(package.update_constants({{"fc", TensorView::of(bias.data(), {4})}}).ok());
  const auto done = package.update_constants(
      {{"fc.bias", TensorView::of(bias.data(), {4})}, {"fc.weight", TensorView::of(zeros.data(), {4, 3})}});
  ASSERT_TRUE(done.ok()) << done.error().message;
  std::vector<float> x(6, 1.0f);
  const auto results = package.run({TensorView::of(x.data(), {2, 3}), TensorView::of(x.data(), {2, 2})});
  ASSERT_TRUE(results.ok()) << results.error().message;
  expect_near(results->at(0).tensor(), {2, 4, 6, 8, 2, 4, 6, 8});
}

TEST_F(PackageTest, ThreadsShareAModel) {
  const embed::Package package = loaded(compiled("block"));
  std::vector<std::thread> threads;
  std::vector<int> failures(4, 0);
  for (size_t t = 0; t < failures.size(); ++t) {
    threads.emplace_back([&, t] {
      const std::vector<int64_t> tokens(6, static_cast<int64_t>(t));
      const std::vector<Argument> arguments = {TensorView::of(tokens.data(), {2, 3})};
      const auto first = package.run(arguments);
      for (int k = 0; k < 100; ++k) {
        const auto again = package.run(arguments);
        const bool same =
            first.ok() && again.ok() &&
            std::equal(first->at(0).tensor().data<float>(), first->at(0).tensor().data<float>() + 48,
                       again->at(0).tensor().data<float>());
        if (!same) ++failures[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(4, 0));
}

TEST_F(PackageTest, ResultsOutliveThePackage) {
  std::optional<embed::Result<std::vector<embed::Value>>> results;
  const std::vector<int64_t> tokens(6, 1);
  {
    const embed::Package package = loaded(compiled("block"));
    results = package.run({TensorView::of(tokens.data(), {2, 3})});
  }
  ASSERT_TRUE(results->ok());
  EXPECT_TRUE(std::isfinite((*results)->at(0).tensor().data<float>()[0]));
}

TEST_F(PackageTest, BrokenPackagesAreErrors) {
  const auto message = [](const std::string& path) {
    const embed::Result<embed::Package> package = embed::Package::load(path);
    return package.ok() ? "" : package.error().message;
  };
  EXPECT_NE(message(folder_ + "/missing.pt2").find("missing.pt2"), std::string::npos);
  EXPECT_NE(message(archive("block")).find("no package"), std::string::npos);
  const std::string path = compiled("block");
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  for (size_t size = 0; size < bytes.size(); size += bytes.size() / 23) {
    const std::string cut = folder_ + "/cut.pt2";
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, size);
    EXPECT_NE(message(cut), "") << size;
  }
}

TEST_F(PackageTest, WithoutLibtorchOrAProviderTheCallsAreNamed) {
  const embed::Result<embed::Package> package = embed::Package::load(compiled("counter", "provider=torch"));
  ASSERT_FALSE(package.ok());
  EXPECT_NE(package.error().message.find("aten.addmm"), std::string::npos) << package.error().message;
}

TEST_F(PackageTest, ForAnotherArchitectureThereAreNone) {
  const Options base = Options::from_environment([](const std::string&) { return std::nullopt; }).value();
#if defined(__x86_64__)
  const Options options = base.with("cpu=aarch64").value();
#else
  const Options options = base.with("cpu=x86-64-v3").value();
#endif
  Report report;
  const auto made = compile_package({archive("block"), "", folder_ + "/x.pt2", "", {}}, options, report);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, "unsupported");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace jumar::driver
