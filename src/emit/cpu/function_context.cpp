#include "emit/cpu/function_context.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "support/check.h"

namespace jumar::emit::cpu {
namespace {

llvm::Function* make_function(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {i64, i64, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addParamAttr(2, llvm::Attribute::NoAlias);
  function->addParamAttr(2, llvm::Attribute::ReadOnly);
  llvm::BasicBlock::Create(context, "entry", function);
  return function;
}

bool is_stored(const loop::Kernel& kernel, loop::BufferId buffer) {
  for (const loop::Nest& nest : kernel.nests) {
    for (const loop::Stage& stage : nest.stages) {
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind == loop::InstKind::kStore && line.inst.buffer == buffer) return true;
      }
    }
  }
  return false;
}

}  // namespace

FunctionContext::FunctionContext(llvm::Module& module, const loop::Program& program,
                                 const loop::Kernel& kernel, const KernelSignature& signature)
    : program_(program), signature_(signature) {
  llvm::Function* function = make_function(module, kernel.name);
  b_ = std::make_unique<Builder>(*function, &function->getEntryBlock());
  begin_ = function->getArg(0);
  end_ = function->getArg(1);
  arguments_ = function->getArg(2);
  load_buffers(kernel);
  size_t slot = signature.buffers.size();
  if (signature.checks) status_ = argument(b_->getPtrTy(), slot++);
  for (sym::Expr size : signature.ints) sizes_[size] = {argument(b_->getInt64Ty(), slot++), 0};
  for (loop::NumberId id : signature.numbers) {
    Value* number = argument(b_->getDoubleTy(), slot++);
    if (program.numbers[id].kind == loop::NumberKind::kBool)
      number = b_->CreateFCmpUNE(number, b_->real_of(b_->getDoubleTy(), 0.0));
    numbers_.push_back(number);
  }
}

Value* FunctionContext::argument(llvm::Type* type, size_t slot) {
  llvm::LoadInst* load = b_->CreateLoad(type, b_->CreateConstGEP1_64(b_->getPtrTy(), arguments_, slot));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_->getContext(), {}));
  return load;
}

void FunctionContext::load_buffers(const loop::Kernel& kernel) {
  llvm::MDBuilder metadata(b_->getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain("buffers");
  std::vector<llvm::Metadata*> scopes;
  for (loop::BufferId id : signature_.buffers) {
    Memory memory;
    memory.base = argument(b_->getPtrTy(), buffers_.size());
    memory.type = program_.buffers[id].type.dtype;
    memory.read_only = !is_stored(kernel, id);
    scopes.push_back(metadata.createAnonymousAliasScope(domain));
    buffers_.push_back(memory);
  }
  for (size_t k = 0; k < buffers_.size(); ++k) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    buffers_[k].scope = llvm::MDNode::get(b_->getContext(), {scopes[k]});
    if (!others.empty()) buffers_[k].noalias = llvm::MDNode::get(b_->getContext(), others);
  }
}

const Memory& FunctionContext::buffer(loop::BufferId id) const {
  const auto found = std::ranges::find(signature_.buffers, id);
  CHECK(found != signature_.buffers.end(), "buffer {} is no argument", id.index());
  return buffers_[static_cast<size_t>(found - signature_.buffers.begin())];
}

Value* FunctionContext::number(loop::NumberId id) const {
  const auto found = std::ranges::find(signature_.numbers, id);
  CHECK(found != signature_.numbers.end(), "number {} is no argument", id.index());
  return numbers_[static_cast<size_t>(found - signature_.numbers.begin())];
}

void FunctionContext::leave_if(Value* condition, Value* index, Value* size) {
  llvm::LLVMContext& context = b_->getContext();
  llvm::Function& function = b_->function();
  if (!failure_) {
    failure_ = llvm::BasicBlock::Create(context, "bad_index", &function);
    llvm::IRBuilderBase::InsertPointGuard guard(*b_);
    b_->SetInsertPoint(failure_);
    bad_index_ = b_->CreatePHI(b_->getInt64Ty(), 1);
    bad_size_ = b_->CreatePHI(b_->getInt64Ty(), 1);
  }
  llvm::BasicBlock* next = llvm::BasicBlock::Create(context, "good_index", &function);
  bad_index_->addIncoming(index, b_->GetInsertBlock());
  bad_size_->addIncoming(size, b_->GetInsertBlock());
  b_->CreateCondBr(condition, failure_, next);
  b_->SetInsertPoint(next);
}

void FunctionContext::finish() {
  b_->CreateRetVoid();
  if (!failure_) return;
  b_->SetInsertPoint(failure_);
  Value* exchange = b_->CreateAtomicCmpXchg(status_, b_->i64(0), b_->i64(1), llvm::Align(8),
                                            llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
  b_->when(b_->CreateExtractValue(exchange, 1), [&] {
    b_->CreateStore(bad_index_, b_->CreateConstGEP1_64(b_->getInt64Ty(), status_, 1));
    b_->CreateStore(bad_size_, b_->CreateConstGEP1_64(b_->getInt64Ty(), status_, 2));
  });
  b_->CreateRetVoid();
}

}  // namespace jumar::emit::cpu
