#include "driver/jit/jit.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "driver/jit/codegen.h"
#include "driver/jit/cpu_target.h"

namespace jumar::driver::jit {
namespace {

using Unary = double (*)(double);

struct Text {
  explicit Text(const std::string& ir) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(ir, error, context);
    EXPECT_TRUE(module) << error.getMessage().str();
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

std::string affine(double factor, double offset) {
  return fmt::format(
      "define double @f(double %x) {{\n"
      "  %a = fmul double %x, {:e}\n"
      "  %b = fadd double %a, {:e}\n"
      "  ret double %b\n}}\n",
      factor, offset);
}

std::vector<uint8_t> compiled(Codegen& codegen, const std::string& ir) {
  Text text(ir);
  codegen.prepare(*text.module);
  return codegen.object(*text.module);
}

std::vector<uint8_t> compiled(const std::string& ir) {
  Codegen codegen(host_cpu_target().value());
  return compiled(codegen, ir);
}

Unary function(Jit& jit, ObjectHandle handle, std::string_view name = "f") {
  return reinterpret_cast<Unary>(jit.lookup(handle, name).value());
}

TEST(CpuTarget, NamesAreListedForAnUnknownOne) {
  const Result<CpuTarget> target = cpu_target("z80");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.error().code, "option");
  EXPECT_EQ(target.error().message,
            "unknown CPU target 'z80': allowed are host, x86-64-v3, x86-64-v4, aarch64");
}

TEST(CpuTarget, TextIsStable) {
  EXPECT_EQ(cpu_target("host").value().text(), host_cpu_target().value().text());
  EXPECT_EQ(cpu_target("x86-64-v3").value().text(),
            "triple=x86_64-unknown-linux-gnu cpu=x86-64-v3 vector_bits=256 features=");
}

TEST(Codegen, FusesOnlyWhatIsMarkedContract) {
  Codegen codegen(cpu_target("x86-64-v3").value());
  Text plain(affine(3, 1));
  codegen.prepare(*plain.module);
  EXPECT_EQ(codegen.assembly(*plain.module).find("vfmadd"), std::string::npos);
  Text marked(
      "define double @f(double %x, double %y) {\n"
      "  %a = fmul contract double %x, %y\n"
      "  %b = fadd contract double %a, %x\n"
      "  ret double %b\n}\n");
  codegen.prepare(*marked.module);
  EXPECT_NE(codegen.assembly(*marked.module).find("vfmadd"), std::string::npos);
}

TEST(Codegen, MovesInvariantsOutOfLoops) {
  Codegen codegen(cpu_target("x86-64-v3").value());
  Text text(
      "define void @f(double %x, double %y, ptr noalias %p) {\n"
      "entry:\n  br label %loop\n"
      "loop:\n"
      "  %i = phi i64 [ 0, %entry ], [ %n, %loop ]\n"
      "  %q = fdiv double %x, %y\n"
      "  %a = getelementptr double, ptr %p, i64 %i\n"
      "  store double %q, ptr %a\n"
      "  %n = add i64 %i, 1\n"
      "  %c = icmp slt i64 %n, 100\n"
      "  br i1 %c, label %loop, label %exit\n"
      "exit:\n  ret void\n}\n");
  codegen.prepare(*text.module);
  const std::string ir = codegen.optimized_ir(*text.module);
  EXPECT_LT(ir.find("fdiv"), ir.find("loop:")) << ir;
}

TEST(Codegen, BrokenModuleIsAnInternalErrorWithItsText) {
  Text text("define double @f(double %x) {\n  ret double %x\n}\n");
  text.module->getFunction("f")->getEntryBlock().getTerminator()->eraseFromParent();
  Codegen codegen(host_cpu_target().value());
  codegen.prepare(*text.module);
  try {
    codegen.object(*text.module);
    FAIL() << "a module without a terminator was accepted";
  } catch (const InternalError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("invalid LLVM IR"), std::string::npos) << what;
    EXPECT_NE(what.find("define double @f"), std::string::npos) << what;
  }
}

TEST(Codegen, FatalErrorOfLlvmIsAnInternalError) {
  Text text(
      "declare <4 x float> @llvm.aarch64.neon.fmulx.v4f32(<4 x float>, <4 x float>)\n"
      "define <4 x float> @f(<4 x float> %x) {\n"
      "  %r = call <4 x float> @llvm.aarch64.neon.fmulx.v4f32(<4 x float> %x, <4 x float> %x)\n"
      "  ret <4 x float> %r\n}\n");
  Codegen codegen(cpu_target("x86-64-v3").value());
  codegen.prepare(*text.module);
  EXPECT_THROW(codegen.object(*text.module), InternalError);
}

TEST(Codegen, ErrorsReportedThroughTheContextAreInternalErrors) {
  Text text(
      "define void @f() {\n  call void asm sideeffect \"no_such_instruction\", \"\"()\n  ret void\n}\n");
  Codegen codegen(host_cpu_target().value());
  codegen.prepare(*text.module);
  EXPECT_THROW(codegen.object(*text.module), InternalError);
}

TEST(Codegen, WritesObjectsForOtherMachines) {
  Codegen codegen(cpu_target("aarch64").value());
  const std::vector<uint8_t> bytes = compiled(codegen, affine(2, 1));
  ASSERT_GT(bytes.size(), 20u);
  EXPECT_EQ(bytes[18], 183);  // e_machine of an ELF file: EM_AARCH64
}

TEST(Jit, RunsCode) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  const ObjectHandle handle = jit->add_object(compiled(affine(3, 1))).value();
  EXPECT_EQ(function(*jit, handle)(2.0), 7.0);
}

TEST(Jit, ObjectsHaveSymbolScopesOfTheirOwn) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  const ObjectHandle a = jit->add_object(compiled(affine(1, 1))).value();
  const ObjectHandle b = jit->add_object(compiled(affine(1, 2))).value();
  EXPECT_EQ(function(*jit, a)(0.0), 1.0);
  EXPECT_EQ(function(*jit, b)(0.0), 2.0);
  jit->remove(a);
  EXPECT_EQ(function(*jit, b)(0.0), 2.0);
  EXPECT_EQ(jit->num_objects(), 1);
}

TEST(Jit, ResolvesLibmAndNothingElse) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  const auto calling = [](const std::string& name) {
    return compiled(fmt::format(
        "declare double @{0}(double)\n"
        "define double @f(double %x) {{\n  %r = call double @{0}(double %x)\n  ret double %r\n}}\n",
        name));
  };
  const ObjectHandle good = jit->add_object(calling("lgamma")).value();
  EXPECT_EQ(function(*jit, good)(3.0), std::lgamma(3.0));
  const ObjectHandle bad = jit->add_object(calling("getpid")).value();
  const Result<void*> address = jit->lookup(bad, "f");
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.error().code, "input");
  EXPECT_NE(address.error().text().find("getpid"), std::string::npos) << address.error().text();
}

TEST(Jit, MissingSymbolIsADiagnostic) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  const ObjectHandle handle = jit->add_object(compiled(affine(3, 1))).value();
  const Result<void*> address = jit->lookup(handle, "g");
  ASSERT_FALSE(address.ok());
  EXPECT_NE(address.error().message.find("'g'"), std::string::npos);
}

TEST(Jit, DamagedBytesAreADiagnostic) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  const std::vector<uint8_t> good = compiled(affine(3, 1));
  const std::vector<uint8_t> garbage(200, 0x5a);
  EXPECT_FALSE(jit->add_object(garbage).ok());
  EXPECT_FALSE(jit->add_object({}).ok());
  for (size_t size = 1; size < good.size(); size += 7) {
    const Result<ObjectHandle> handle = jit->add_object(std::span(good).first(size));
    if (handle.ok()) {
      EXPECT_FALSE(jit->lookup(*handle, "f").ok()) << size;
    }
  }
  Codegen other(cpu_target("aarch64").value());
#if defined(__x86_64__)
  EXPECT_FALSE(jit->add_object(compiled(other, affine(3, 1))).ok());
#endif
}

int64_t resident_pages() {
  int64_t total = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

TEST(Jit, RemoveFreesMemory) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  const std::vector<uint8_t> object = compiled(affine(3, 1));
  const auto cycle = [&] {
    std::vector<ObjectHandle> handles;
    for (int i = 0; i < 200; ++i) {
      handles.push_back(jit->add_object(object).value());
      EXPECT_EQ(function(*jit, handles.back())(2.0), 7.0);
    }
    for (ObjectHandle handle : handles) jit->remove(handle);
  };
  cycle();
  const int64_t before = resident_pages();
  for (int i = 0; i < 5; ++i) cycle();
  EXPECT_EQ(jit->num_objects(), 0);
  EXPECT_LT(resident_pages() - before, 1024) << "pages; one cycle loads about 400 pages of code";
}

TEST(Jit, ServesSeveralThreads) {
  std::unique_ptr<Jit> jit = Jit::create().value();
  std::atomic<int> wrong = 0;
  const auto work = [&](int seed) {
    Codegen codegen(host_cpu_target().value());
    for (int i = 0; i < 25; ++i) {
      const double offset = seed * 1000 + i;
      const ObjectHandle handle = jit->add_object(compiled(codegen, affine(2, offset))).value();
      if (function(*jit, handle)(3.0) != 6.0 + offset) ++wrong;
      if (i % 2 == 0) jit->remove(handle);
    }
  };
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(jit->num_objects(), 4 * 12);
}

}  // namespace
}  // namespace jumar::driver::jit
