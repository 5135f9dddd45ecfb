#include "runtime/sim/jit.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>

#include "runtime/sim/entry.h"
#include "runtime/sim/runtime_symbols.h"

namespace jumar::runtime::sim {

namespace orc = llvm::orc;

namespace {

Diagnostic failure(llvm::Error error, const char* what) {
  return diagnostic("unsupported", "{}: {}", what, llvm::toString(std::move(error)));
}

// LLVM keeps its targets in tables of the process, which may be filled once.
void set_up_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

Result<orc::JITTargetMachineBuilder> host() {
  set_up_llvm();
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return failure(builder.takeError(), "this processor is not known to LLVM");
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return std::move(*builder);
}

Result<std::unique_ptr<llvm::TargetMachine>> host_machine() {
  JUMAR_ASSIGN(orc::JITTargetMachineBuilder builder, host());
  auto machine = builder.createTargetMachine();
  if (!machine) return failure(machine.takeError(), "this processor is not known to LLVM");
  return std::move(*machine);
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, int level) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level > 1;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2,
                                      llvm::OptimizationLevel::O3};
  builder.buildPerModuleDefaultPipeline(levels[level - 1]).run(module, modules);
}

orc::SymbolMap symbol_map(orc::LLJIT& jit) {
  orc::SymbolMap map;
  for (const RuntimeSymbol& symbol : runtime_symbols()) {
    map[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                             llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  return map;
}

}  // namespace

Status prepare_for_host(llvm::Module& module) {
  JUMAR_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, host_machine());
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  return {};
}

Result<std::unique_ptr<Code>> Code::make(orc::ThreadSafeModule module, int level) {
  JUMAR_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, host_machine());
  optimize(*module.getModuleUnlocked(), *machine, level);
  resolve_buffers(*module.getModuleUnlocked());
  JUMAR_ASSIGN(orc::JITTargetMachineBuilder builder, host());
  orc::LLJITBuilder setup;
  setup.setJITTargetMachineBuilder(std::move(builder));
  setup.setLinkProcessSymbolsByDefault(false);
  setup.setPlatformSetUp(orc::setUpInactivePlatform);
  auto jit = setup.create();
  if (!jit) return failure(jit.takeError(), "no compiler for this process");
  auto code = std::make_unique<Code>();
  code->jit_ = std::move(*jit);
  orc::LLJIT& made = *code->jit_;
  if (auto error = made.getMainJITDylib().define(orc::absoluteSymbols(symbol_map(made)))) {
    return failure(std::move(error), "the runtime's functions");
  }
  if (auto error = made.addIRModule(std::move(module))) return failure(std::move(error), "the kernel");
  auto entry = made.lookup(kEntryName);
  if (!entry) return failure(entry.takeError(), "the kernel calls what is not there");
  code->entry_ = entry->toPtr<void*>();
  return code;
}

}  // namespace jumar::runtime::sim
