// Functions of host objects against the evaluator of docs/sym.md; the library's answer where kernels are for
// a device.
#include "driver/link/host_object.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>

#include "driver/link/package_object.h"
#include "driver/link/shared_library.h"
#include "driver/scratch_directory.h"
#include "jumar/device.h"
#include "jumar/model.h"

namespace jumar::driver {
namespace {

using sym::Expr;

// The library of a package for a device, with nothing but a host object's program in it.
class HostLibrary {
 public:
  explicit HostLibrary(const link::HostProgram& program) {
    const auto scratch = ScratchDirectory::create("/tmp");
    EXPECT_TRUE(scratch.ok());
    const jit::CpuTarget target = link::host_architecture(link::own_architecture());
    const std::vector<uint8_t> host = link::host_object(target, program);
    const std::vector<uint8_t> data = link::package_object(target, {"plan", "", "manifest", {}, "Card"});
    const auto text = [](const std::vector<uint8_t>& bytes) {
      return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    const std::string path = scratch->path() + "/model.so";
    EXPECT_TRUE(link::link_shared_library({false, {text(host), text(data)}, path, scratch->path()}).ok());
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << ::dlerror();
  }
  ~HostLibrary() { ::dlclose(handle_); }
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;

  const jumar_device_program_data& program() const {
    return *static_cast<const jumar_device_program_data*>(::dlsym(handle_, "jumar_device_program"));
  }
  void* handle() const { return handle_; }

 private:
  void* handle_;
};

class Words : public testing::Test {
 protected:
  sym::Context cx_;
  Expr s0_ = cx_.symbol(sym::SymbolKind::kSize, "s0");
  Expr s1_ = cx_.symbol(sym::SymbolKind::kSize, "s1");
  Expr cores_ = cx_.symbol(sym::SymbolKind::kSize, "vector_cores");

  std::vector<Expr> expressions() {
    return {cx_.constant(-7),
            cx_.add(cx_.mul(s0_, 3), s1_),
            cx_.mul(s0_, s1_),
            cx_.floordiv(s0_, s1_),
            cx_.mod(s0_, s1_),
            cx_.floordiv(cx_.sub(s0_, 9), 4),
            cx_.mod(cx_.sub(s0_, 9), 4),
            cx_.ceildiv(s0_, cores_),
            cx_.min(cx_.min(s0_, s1_), cores_),
            cx_.max(s0_, cx_.mul(s1_, -2)),
            cx_.eq(s0_, s1_),
            cx_.ne(s0_, s1_),
            cx_.lt(s0_, s1_),
            cx_.le(s0_, cx_.mul(s1_, 2)),
            cx_.logical_and(cx_.lt(s0_, s1_), cx_.lt(s1_, cores_)),
            cx_.logical_or(cx_.lt(s0_, s1_), cx_.lt(s1_, cores_)),
            cx_.logical_not(cx_.lt(s0_, s1_))};
  }
};

TEST_F(Words, AreWhatTheEvaluatorSays) {
  const std::vector<Expr> words = expressions();
  link::HostProgram program;
  program.main.bytes = "plan";
  for (const Expr word : words) program.main.launches.push_back({7, 0, {word}});
  program.main.launches.push_back({8, 0, words});
  const HostLibrary library(program);
  const jumar_device_plan& plan = library.program().main;
  ASSERT_EQ(plan.symbol_count, 3u);
  ASSERT_EQ(plan.launch_count, words.size() + 1);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(plan.bytes), plan.byte_count), "plan");
  constexpr int64_t kMost = INT64_MAX;
  constexpr int64_t kLeast = INT64_MIN;
  const int64_t numbers[] = {kLeast, kLeast + 1, -1'000'003, -9,        -1,        0,    1,
                             2,      7,          48,         1'000'003, kMost - 1, kMost};
  for (const int64_t a : numbers) {
    for (const int64_t b : numbers) {
      for (const int64_t c : {int64_t{1}, int64_t{48}, int64_t{0}}) {
        const std::map<std::string, int64_t> values = {{"s0", a}, {"s1", b}, {"vector_cores", c}};
        std::vector<int64_t> sizes;
        for (size_t k = 0; k < plan.symbol_count; ++k) sizes.push_back(values.at(plan.symbols[k]));
        for (size_t k = 0; k < words.size(); ++k) {
          const Result<int64_t> expected = sym::evaluate(words[k], [&](Expr symbol) {
            return std::optional<int64_t>(values.at(std::string(symbol.symbol_name())));
          });
          int64_t found = 0;
          const int32_t status = plan.launches[k].words(sizes.data(), &found);
          if (status == 0) {
            ASSERT_TRUE(expected.ok()) << sym::text(words[k]) << " at " << a << ", " << b << ", " << c;
            EXPECT_EQ(found, *expected) << sym::text(words[k]) << " at " << a << ", " << b << ", " << c;
          } else if (expected.ok()) {
            // Only where a part of the sum or product leaves 64 bits.
            EXPECT_TRUE(a < -(int64_t{1} << 40) || a > int64_t{1} << 40 || b < -(int64_t{1} << 40) ||
                        b > int64_t{1} << 40)
                << sym::text(words[k]) << " at " << a << ", " << b << ", " << c;
          }
        }
      }
    }
  }
}

TEST_F(Words, HaveAFlagWhereThereIsNoValue) {
  link::HostProgram program;
  program.main.bytes = "plan";
  program.main.launches.push_back({0, 0, {s0_, cx_.floordiv(s0_, s1_)}});
  program.main.launches.push_back({1, 0, {cx_.mul(s0_, s1_)}});
  const HostLibrary library(program);
  const jumar_device_plan& plan = library.program().main;
  int64_t words[2] = {};
  const int64_t zero[] = {5, 0};
  EXPECT_EQ(plan.launches[0].words(zero, words), 1);
  EXPECT_EQ(plan.launches[1].words(zero, words), 0);
  const int64_t large[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(plan.launches[0].words(large, words), 0);
  EXPECT_EQ(words[1], 1);
  EXPECT_EQ(plan.launches[1].words(large, words), 1);
}

TEST(HostObject, HasKernelsAndNoFoldingPlan) {
  link::HostProgram program;
  program.target = "target \"Card\" {}\n";
  program.main.bytes = "plan";
  program.kernels.push_back({"k0",
                             "k0_",
                             "kernels/k0.linalg.mlir",
                             "kernels/k0.o",
                             "jumar_kernel_0",
                             3,
                             {32, 64},
                             1,
                             true,
                             4096,
                             2});
  program.kernels.push_back({"k1", "k1", "kernels/k1.linalg.mlir", "", "", 2, {}, 0, false, 0, 0});
  const HostLibrary library(program);
  const jumar_device_program_data& found = library.program();
  EXPECT_EQ(found.format, static_cast<uint64_t>(JUMAR_DEVICE_FORMAT));
  EXPECT_EQ(std::string(found.target), program.target);
  EXPECT_EQ(found.folding.bytes, nullptr);
  ASSERT_EQ(found.kernel_count, 2u);
  const jumar_device_kernel& first = found.kernels[0];
  EXPECT_EQ(std::string(first.name) + first.function + first.linalg + first.binary + first.binary_function,
            "k0k0_kernels/k0.linalg.mlirkernels/k0.ojumar_kernel_0");
  EXPECT_EQ(first.pointers, 3);
  EXPECT_EQ(first.integers, 2);
  EXPECT_EQ(first.integer_bits[0], 32);
  EXPECT_EQ(first.integer_bits[1], 64);
  EXPECT_EQ(first.numbers, 1);
  EXPECT_EQ(first.in_turn, 1);
  EXPECT_EQ(first.workspace_bytes, 4096);
  EXPECT_EQ(first.locks, 2);
  EXPECT_EQ(found.kernels[1].binary, nullptr);
  EXPECT_EQ(found.kernels[1].integer_bits, nullptr);
}

TEST(HostObject, LibraryRefusesToRunItsKernels) {
  link::HostProgram program;
  program.main.bytes = "plan";
  const HostLibrary library(program);
  const auto get =
      reinterpret_cast<jumar_model_get_api_function>(::dlsym(library.handle(), "jumar_model_get_api"));
  ASSERT_NE(get, nullptr);
  const jumar_model_api* api = get(JUMAR_MODEL_ABI_VERSION);
  const jumar_model_options options = {};
  jumar_model* model = nullptr;
  jumar_model_error* error = api->create(&options, &model);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(std::string(api->error_code(error)), "unsupported");
  EXPECT_NE(std::string(api->error_message(error)).find("its kernels are for Card"), std::string::npos);
  api->error_free(error);
}

TEST(HostObject, IsMadeForEveryArchitecture) {
  link::HostProgram program;
  program.main.bytes = "plan";
  // e_machine of ELF.
  const std::map<std::string_view, uint8_t> machines = {{"x86_64", 62}, {"aarch64", 183}};
  ASSERT_EQ(link::host_architectures().size(), machines.size());
  for (const std::string_view name : link::host_architectures())
    EXPECT_EQ(link::host_object(link::host_architecture(name), program)[18], machines.at(name));
}

}  // namespace
}  // namespace jumar::driver
