#include "driver/jit/kernel_module.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "emit/cpu/emit_kernel.h"

namespace jumar::driver::jit {

struct KernelModule::Impl {
  llvm::LLVMContext context;
  llvm::Module module{"kernel", context};
};

KernelModule::KernelModule(const Codegen& codegen, const loop::Program& program, const loop::Kernel& kernel,
                           const std::string& symbol)
    : impl_(std::make_unique<Impl>()) {
  codegen.prepare(impl_->module);
  emit::cpu::emit_kernel(impl_->module, program, kernel, {});
  llvm::Function* function = impl_->module.getFunction(kernel.name);
  CHECK(function != nullptr, "kernel @{} has no function", kernel.name);
  function->setName(symbol);
}

KernelModule::~KernelModule() = default;
KernelModule::KernelModule(KernelModule&&) noexcept = default;
KernelModule& KernelModule::operator=(KernelModule&&) noexcept = default;

std::vector<uint8_t> KernelModule::object(Codegen& codegen) { return codegen.object(impl_->module); }
std::string KernelModule::assembly(Codegen& codegen) { return codegen.assembly(impl_->module); }
std::string KernelModule::optimized_ir(Codegen& codegen) { return codegen.optimized_ir(impl_->module); }

}  // namespace jumar::driver::jit
