// Looks at the code that the vector mathematics becomes, and runs the aarch64 form under qemu.
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>

#include <bit>
#include <fstream>
#include <random>

#include "driver/jit/test/vecmath_harness.h"

namespace jumar::driver::jit {
namespace {

// All functions in one module, f32 and f64 each filling a vector register.
void add_all(llvm::Module& module, int vector_bits) {
  for (const MathFunction& function : math_functions()) {
    add_array_function(module, function.name + "_f32", function, false, vector_bits / 32);
    add_array_function(module, function.name + "_f64", function, true, vector_bits / 64);
  }
}

class Target : public testing::TestWithParam<std::string> {};

TEST_P(Target, CodeRefersToNothingOutside) {
  const CpuTarget target = cpu_target(GetParam()).value();
  Codegen codegen(target);
  llvm::LLVMContext context;
  llvm::Module module("all", context);
  codegen.prepare(module);
  add_all(module, target.vector_bits);
  const std::vector<uint8_t> bytes = codegen.object(module);
  const llvm::StringRef content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(content, "all"));
  ASSERT_TRUE(static_cast<bool>(object));
  int defined = 0;
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    const uint32_t flags = llvm::cantFail(symbol.getFlags());
    const std::string name = llvm::cantFail(symbol.getName()).str();
    EXPECT_EQ(flags & llvm::object::SymbolRef::SF_Undefined & (name.empty() ? 0 : ~0u), 0u) << name;
    if ((flags & llvm::object::SymbolRef::SF_Global) != 0) ++defined;
  }
  EXPECT_EQ(defined, static_cast<int>(2 * math_functions().size()));
}

INSTANTIATE_TEST_SUITE_P(VecMath, Target, testing::Values("host", "x86-64-v3", "x86-64-v4", "aarch64"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

std::string assembly_of(const std::string& function, const std::string& target_name, bool is_f64) {
  const CpuTarget target = cpu_target(target_name).value();
  Codegen codegen(target);
  llvm::LLVMContext context;
  llvm::Module module("one", context);
  codegen.prepare(module);
  add_array_function(module, "f", find_function(function), is_f64, target.vector_bits / (is_f64 ? 64 : 32));
  return codegen.assembly(module);
}

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(VecMathCode, UsesTheWidestRegisters) {
  for (const char* name : {"exp", "log", "sin", "erf", "tanh", "pow"}) {
    for (const bool is_f64 : {false, true}) {
      EXPECT_GT(count_of(assembly_of(name, "x86-64-v4", is_f64), "%zmm"), 20) << name;
      const std::string v3 = assembly_of(name, "x86-64-v3", is_f64);
      EXPECT_EQ(count_of(v3, "%zmm"), 0) << name;
      EXPECT_GT(count_of(v3, "vfmadd"), 4) << name;
    }
  }
}

TEST(VecMathCode, TakesTheSlowPathByOneUnlikelyBranch) {
  for (const char* name : {"sin", "cos", "tan", "fmod"}) {
    for (const bool is_f64 : {false, true}) {
      const std::string text = assembly_of(name, "x86-64-v3", is_f64);
      const size_t begin = text.find("\nf:");
      const std::string body = text.substr(begin, text.find(".Lfunc_end", begin) - begin);
      EXPECT_EQ(count_of(body, "callq"), 1) << name << "\n" << body;
      // The call stands behind the loop, whose last instruction is the jump back.
      EXPECT_GT(body.find("callq"), body.rfind("jl\t")) << name << "\n" << body;
    }
  }
  for (const char* name : {"exp", "log", "erf", "tanh", "pow", "sigmoid", "atan2", "erfc", "asinh"}) {
    for (const bool is_f64 : {false, true}) {
      EXPECT_EQ(count_of(assembly_of(name, "x86-64-v3", is_f64), "callq"), 0) << name;
    }
  }
}

constexpr int kSamples = 512;

template <class T>
std::vector<T> sample_array(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values = {T{0},
                           -T{0},
                           T{1},
                           -T{1},
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::denorm_min()};
  while (values.size() < kSamples) {
    const double x =
        std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53, static_cast<int>(random() % 60) - 30);
    values.push_back(static_cast<T>(random() % 2 == 0 ? x : -x));
  }
  return values;
}

template <class T>
llvm::GlobalVariable* array_global(llvm::Module& module, const std::vector<T>& values) {
  llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef<T>(values));
  return new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::InternalLinkage, data,
                                  "in");
}

// A Linux system call of aarch64.
llvm::Value* system_call(llvm::IRBuilder<>& b, int64_t number, llvm::Value* a, llvm::Value* p,
                         llvm::Value* n) {
  llvm::Type* i64 = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(i64, {i64, b.getPtrTy(), i64, i64}, false);
  auto* svc = llvm::InlineAsm::get(type, "svc #0", "={x0},{x0},{x1},{x2},{x8},~{memory}", true);
  return b.CreateCall(svc, {a, p, n, b.getInt64(number)});
}

// A program without a C library that runs every function on two arrays and writes the results to stdout.
void add_start(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto* start = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), false),
                                       llvm::Function::ExternalLinkage, "_start", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", start));
  auto* bytes = llvm::ArrayType::get(b.getInt8Ty(), 8 * kSamples);
  auto* out = new llvm::GlobalVariable(module, bytes, false, llvm::GlobalValue::InternalLinkage,
                                       llvm::Constant::getNullValue(bytes), "out");
  out->setAlignment(llvm::Align(64));
  llvm::GlobalVariable* in[2][2] = {
      {array_global(module, sample_array<float>(1)), array_global(module, sample_array<float>(2))},
      {array_global(module, sample_array<double>(1)), array_global(module, sample_array<double>(2))}};
  for (const MathFunction& function : math_functions()) {
    for (const int wide : {0, 1}) {
      llvm::Function* f = module.getFunction(function.name + (wide != 0 ? "_f64" : "_f32"));
      b.CreateCall(f, {in[wide][0], in[wide][1], out, b.getInt64(kSamples)});
      system_call(b, 64, b.getInt64(1), out, b.getInt64(kSamples * (wide != 0 ? 8 : 4)));
    }
  }
  system_call(b, 93, b.getInt64(0), llvm::ConstantPointerNull::get(b.getPtrTy()), b.getInt64(0));
  b.CreateUnreachable();
}

struct TemporaryFile {
  explicit TemporaryFile(const char* suffix) {
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("jumar-vecmath", suffix, name));
    path = name.str().str();
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  std::string path;
};

template <class T>
void expect_same_bits(std::istream& stream, Harness& harness, const MathFunction& function) {
  std::vector<T> got(kSamples);
  stream.read(reinterpret_cast<char*>(got.data()), static_cast<std::streamsize>(kSamples * sizeof(T)));
  ASSERT_TRUE(stream.good()) << "output ends at " << function.name;
  const std::vector<T> x = sample_array<T>(1);
  const std::vector<T> y = sample_array<T>(2);
  const std::vector<T> want = harness.run<T>(function, 4, x, y);
  for (int k = 0; k < kSamples; ++k) {
    if (function.name == "exp_nonpositive" && x[k] > 0) continue;
    const bool same =
        std::memcmp(&got[k], &want[k], sizeof(T)) == 0 || (std::isnan(got[k]) && std::isnan(want[k]));
    EXPECT_TRUE(same) << fmt::format("{}({}, {}) = {} on aarch64, {} here", function.name, x[k], y[k], got[k],
                                     want[k]);
  }
}

TEST(VecMathCode, GivesTheSameBitsOnAarch64) {
  const auto qemu = llvm::sys::findProgramByName("qemu-aarch64");
  const auto linker = llvm::sys::findProgramByName("ld.lld");
  if (!qemu)
    GTEST_SKIP() << "qemu-aarch64 is not installed (package qemu-user): aarch64 code is only compiled";
  if (!linker) GTEST_SKIP() << "ld.lld is not installed (package lld): aarch64 code is only compiled";
  Codegen codegen(cpu_target("aarch64").value());
  llvm::LLVMContext context;
  llvm::Module module("all", context);
  codegen.prepare(module);
  add_all(module, 128);
  add_start(module);
  const std::vector<uint8_t> bytes = codegen.object(module);
  const TemporaryFile object("o");
  const TemporaryFile program("elf");
  const TemporaryFile output("bin");
  std::ofstream(object.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_EQ(llvm::sys::ExecuteAndWait(*linker, {*linker, "-static", "-o", program.path, object.path}), 0);
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(output.path),
                                                      std::nullopt};
  ASSERT_EQ(llvm::sys::ExecuteAndWait(*qemu, {*qemu, program.path}, std::nullopt, redirects), 0);
  std::ifstream stream(output.path, std::ios::binary);
  Harness harness(host_cpu_target().value());
  for (const MathFunction& function : math_functions()) {
    expect_same_bits<float>(stream, harness, function);
    expect_same_bits<double>(stream, harness, function);
  }
}

}  // namespace
}  // namespace jumar::driver::jit
