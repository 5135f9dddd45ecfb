#include "driver/link/package_object.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "driver/jit/codegen.h"
#include "runtime/package/package_data.h"

namespace jumar::driver::link {
namespace {

constexpr uint64_t kAlignmentBytes = 64;

class Builder {
 public:
  explicit Builder(llvm::Module& module)
      : module_(module),
        cx_(module.getContext()),
        word_(llvm::Type::getInt64Ty(cx_)),
        pointer_(llvm::PointerType::getUnqual(cx_)) {}

  void build(const PackageParts& parts) {
    std::vector<llvm::Constant*> members = {number(runtime::package::kPackageFormat)};
    for (const std::string_view bytes : {parts.plan, parts.folding_plan, parts.manifest}) {
      members.push_back(data(bytes));
      members.push_back(number(bytes.size()));
      members.push_back(number(
          runtime::package::checksum_of(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size())));
    }
    members.push_back(kernels(parts));
    members.push_back(number(parts.kernels.size()));
    members.push_back(parts.device.empty()
                          ? llvm::ConstantPointerNull::get(pointer_)
                          : static_cast<llvm::Constant*>(
                                define(llvm::ConstantDataArray::getString(cx_, parts.device), "", 1)));
    // All members are words or pointers, as in PackageData.
    llvm::Constant* value = llvm::ConstantStruct::getAnon(members);
    hidden(define(value, "jumar_package", 8));
    llvm::Constant* null = llvm::ConstantPointerNull::get(pointer_);
    hidden(define(null, "__dso_handle", 8));
  }

 private:
  llvm::Constant* number(uint64_t value) { return llvm::ConstantInt::get(word_, value); }

  llvm::GlobalVariable* define(llvm::Constant* value, const std::string& name, uint64_t alignment) {
    auto* global = new llvm::GlobalVariable(
        module_, value->getType(), true,
        name.empty() ? llvm::GlobalValue::PrivateLinkage : llvm::GlobalValue::ExternalLinkage, value, name);
    global->setAlignment(llvm::Align(alignment));
    return global;
  }

  static void hidden(llvm::GlobalVariable* global) {
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }

  llvm::Constant* data(std::string_view bytes) {
    if (bytes.empty()) return llvm::ConstantPointerNull::get(pointer_);
    const llvm::StringRef text(bytes.data(), bytes.size());
    return define(llvm::ConstantDataArray::getString(cx_, text, false), "", kAlignmentBytes);
  }

  llvm::Constant* kernels(const PackageParts& parts) {
    if (parts.kernels.empty()) return llvm::ConstantPointerNull::get(pointer_);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(cx_), {word_, word_, pointer_}, false);
    std::vector<llvm::Constant*> rows;
    for (const auto& [name, symbol] : parts.kernels) {
      llvm::Constant* text = define(llvm::ConstantDataArray::getString(cx_, name), "", 1);
      auto* function = llvm::cast<llvm::Function>(module_.getOrInsertFunction(symbol, type).getCallee());
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      rows.push_back(llvm::ConstantStruct::getAnon({text, function}));
    }
    auto* array = llvm::ArrayType::get(rows[0]->getType(), rows.size());
    return define(llvm::ConstantArray::get(array, rows), "", 8);
  }

  llvm::Module& module_;
  llvm::LLVMContext& cx_;
  llvm::Type* word_;
  llvm::PointerType* pointer_;
};

}  // namespace

std::vector<uint8_t> package_object(const jit::CpuTarget& target, const PackageParts& parts) {
  llvm::LLVMContext context;
  llvm::Module module("package", context);
  jit::Codegen codegen(target);
  codegen.prepare(module);
  Builder(module).build(parts);
  return codegen.object(module);
}

}  // namespace jumar::driver::link
