// One kernel's function while it is being written: its arguments and its way out for bad indices.
#pragma once

#include <vector>

#include "emit/cpu/memory_emitter.h"
#include "emit/cpu/signature.h"

namespace jumar::emit::cpu {

class FunctionContext {
 public:
  // Creates the function and loads its arguments. Nothing is computed from them yet.
  FunctionContext(llvm::Module& module, const loop::Program& program, const loop::Kernel& kernel,
                  const KernelSignature& signature);

  Builder& b() { return *b_; }
  const loop::Program& program() const { return program_; }
  sym::Context& cx() const { return program_.cx(); }
  Value* begin() const { return begin_; }
  Value* end() const { return end_; }
  const Memory& buffer(loop::BufferId id) const;
  Value* number(loop::NumberId id) const;
  const std::unordered_map<sym::Expr, Scope::Binding>& sizes() const { return sizes_; }

  // Leaves the function, with a report, where the scalar condition holds.
  void leave_if(Value* condition, Value* index, Value* size);
  // Ends the function.
  void finish();

 private:
  Value* argument(llvm::Type* type, size_t slot);
  void load_buffers(const loop::Kernel& kernel);

  const loop::Program& program_;
  const KernelSignature& signature_;
  std::unique_ptr<Builder> b_;
  Value* begin_ = nullptr;
  Value* end_ = nullptr;
  Value* arguments_ = nullptr;
  Value* status_ = nullptr;
  std::vector<Memory> buffers_;
  std::vector<Value*> numbers_;
  std::unordered_map<sym::Expr, Scope::Binding> sizes_;
  llvm::BasicBlock* failure_ = nullptr;
  llvm::PHINode* bad_index_ = nullptr;
  llvm::PHINode* bad_size_ = nullptr;
};

}  // namespace jumar::emit::cpu
