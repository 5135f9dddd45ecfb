#include "driver/jit/codegen.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "driver/jit/llvm_setup.h"

namespace jumar::driver::jit {
namespace {

constexpr const char* kPipeline = "function(early-cse,loop-mssa(licm))";

std::string module_text(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

// Appends what LLVM reports through the context. Without a handler LLVM would call exit() on an error.
class DiagnosticCollector : public llvm::DiagnosticHandler {
 public:
  explicit DiagnosticCollector(std::string* errors) : errors_(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(*errors_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << "\n";
    return true;
  }

 private:
  std::string* errors_;
};

// Installs a collector for the life of the scope, also when the scope is left by an exception.
class CollectScope {
 public:
  explicit CollectScope(llvm::LLVMContext& context)
      : context_(context), previous_(context.getDiagnosticHandler()) {
    context_.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(&errors_));
  }
  ~CollectScope() { context_.setDiagnosticHandler(std::move(previous_)); }
  CollectScope(const CollectScope&) = delete;
  CollectScope& operator=(const CollectScope&) = delete;
  const std::string& errors() const { return errors_; }

 private:
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::DiagnosticHandler> previous_;
  std::string errors_;
};

void verify(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  const bool broken = llvm::verifyModule(module, &stream);
  CHECK(!broken, "invalid LLVM IR: {}\n{}", stream.str(), module_text(module));
}

std::unique_ptr<llvm::TargetMachine> make_machine(const CpuTarget& target, const CodegenOptions& options) {
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  CHECK(found != nullptr, "no LLVM target for '{}': {}", target.triple, error);
  CHECK(options.level >= 0 && options.level <= 3, "code generation level {} is not 0..3", options.level);
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      target.triple, target.cpu, target.features, target_options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      static_cast<llvm::CodeGenOptLevel>(options.level)));
  CHECK(machine != nullptr, "LLVM makes no code for {}", target.text());
  return machine;
}

}  // namespace

struct Codegen::Impl {
  Impl(const CpuTarget& t, const CodegenOptions& options)
      : target(t), machine(make_machine(t, options)), library_info(machine->getTargetTriple()) {}

  void run_passes(llvm::Module& module);
  void emit(llvm::Module& module, llvm::raw_pwrite_stream& stream, llvm::CodeGenFileType type);

  CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::TargetLibraryInfoImpl library_info;
};

void Codegen::Impl::run_passes(llvm::Module& module) {
  // The managers must die in this order: each holds references into the ones declared before it.
  llvm::LoopAnalysisManager loop_analyses;
  llvm::FunctionAnalysisManager function_analyses;
  llvm::CGSCCAnalysisManager cgscc_analyses;
  llvm::ModuleAnalysisManager module_analyses;
  llvm::PassBuilder builder(machine.get());
  function_analyses.registerPass([&] { return llvm::TargetLibraryAnalysis(library_info); });
  builder.registerModuleAnalyses(module_analyses);
  builder.registerCGSCCAnalyses(cgscc_analyses);
  builder.registerFunctionAnalyses(function_analyses);
  builder.registerLoopAnalyses(loop_analyses);
  builder.crossRegisterProxies(loop_analyses, function_analyses, cgscc_analyses, module_analyses);
  llvm::ModulePassManager passes;
  llvm::Error error = builder.parsePassPipeline(passes, kPipeline);
  CHECK(!error, "LLVM refuses the pipeline {}: {}", kPipeline, llvm::toString(std::move(error)));
  passes.run(module, module_analyses);
}

void Codegen::Impl::emit(llvm::Module& module, llvm::raw_pwrite_stream& stream, llvm::CodeGenFileType type) {
  verify(module);
  const CollectScope collect(module.getContext());
  run_passes(module);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library_info));
  const bool refused = machine->addPassesToEmitFile(passes, stream, nullptr, type);
  CHECK(!refused, "LLVM cannot write this kind of file for {}", target.text());
  passes.run(module);
  CHECK(collect.errors().empty(), "LLVM reports: {}{}", collect.errors(), module_text(module));
}

Codegen::Codegen(const CpuTarget& target, CodegenOptions options) {
  initialize_llvm();
  impl_ = std::make_unique<Impl>(target, options);
}
Codegen::~Codegen() = default;
Codegen::Codegen(Codegen&&) noexcept = default;
Codegen& Codegen::operator=(Codegen&&) noexcept = default;

const CpuTarget& Codegen::target() const { return impl_->target; }

void Codegen::prepare(llvm::Module& module) const {
  module.setDataLayout(impl_->machine->createDataLayout());
  module.setTargetTriple(impl_->machine->getTargetTriple().str());
}

std::vector<uint8_t> Codegen::object(llvm::Module& module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  impl_->emit(module, stream, llvm::CodeGenFileType::ObjectFile);
  return {bytes.begin(), bytes.end()};
}

std::string Codegen::assembly(llvm::Module& module) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  impl_->emit(module, stream, llvm::CodeGenFileType::AssemblyFile);
  return text.str().str();
}

std::string Codegen::optimized_ir(llvm::Module& module) {
  verify(module);
  impl_->run_passes(module);
  return module_text(module);
}

}  // namespace jumar::driver::jit
