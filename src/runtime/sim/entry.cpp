#include "runtime/sim/entry.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "runtime/sim/api.h"
#include "runtime/sim/lower.h"
#include "support/check.h"

namespace jumar::runtime::sim {

namespace {

constexpr const char* kPlace = "jumar_sim_place";
constexpr const char* kGrow = "jumar_sim_frame_grow";

llvm::Function* kernel_of(llvm::Module& module) {
  llvm::Function* kernel = module.getFunction(kLoweredName);
  CHECK(kernel != nullptr, "the lowered kernel is not there");
  return kernel;
}

// The same function with two more arguments: the buffers' address and the frame.
llvm::Function* with_frame(llvm::Function* kernel) {
  llvm::LLVMContext& context = kernel->getContext();
  std::vector<llvm::Type*> types(kernel->getFunctionType()->params());
  types.insert(types.end(), 2, llvm::PointerType::getUnqual(context));
  auto* type = llvm::FunctionType::get(kernel->getReturnType(), types, false);
  auto* wider = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "", kernel->getParent());
  wider->splice(wider->begin(), kernel);
  for (llvm::Argument& argument : kernel->args()) {
    argument.replaceAllUsesWith(wider->getArg(argument.getArgNo()));
  }
  wider->takeName(kernel);
  kernel->eraseFromParent();
  wider->addFnAttr(llvm::Attribute::NoInline);
  wider->addFnAttr(llvm::Attribute::NoUnwind);
  return wider;
}

llvm::FunctionCallee place_function(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  llvm::FunctionCallee callee = module.getOrInsertFunction(kPlace, pointer, pointer, llvm::Type::getInt64Ty(context));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->addRetAttr(llvm::Attribute::NoAlias);
  return callee;
}

// malloc, which stands for the buffers of sizes known at run time, becomes growth of the frame. Where there is
// no more, the kernel says so and ends.
void grow_frame(llvm::Function* kernel, llvm::Value* frame) {
  llvm::Module& module = *kernel->getParent();
  llvm::Function* malloc = module.getFunction("malloc");
  if (malloc == nullptr) return;
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* word = llvm::Type::getInt64Ty(context);
  llvm::FunctionCallee grow = module.getOrInsertFunction(kGrow, pointer, pointer, word);
  llvm::cast<llvm::Function>(grow.getCallee())->addRetAttr(llvm::Attribute::NoAlias);
  std::vector<llvm::Type*> report_types(8, word);
  report_types[0] = pointer;
  llvm::FunctionCallee report = module.getOrInsertFunction(
      "jumar_sim_report", llvm::FunctionType::get(llvm::Type::getVoidTy(context), report_types, false));
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : malloc->users()) calls.push_back(llvm::cast<llvm::CallInst>(user));
  for (llvm::CallInst* call : calls) {
    llvm::IRBuilder<> b(call);
    llvm::Value* memory = b.CreateCall(grow, {frame, call->getArgOperand(0)});
    llvm::Value* none = b.CreateICmpEQ(memory, llvm::ConstantPointerNull::get(pointer));
    call->replaceAllUsesWith(memory);
    llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(none, call, true);
    llvm::IRBuilder<> fail(end);
    llvm::Value* size = call->getArgOperand(0);
    unsigned own = kernel->arg_size();
    fail.CreateCall(report, {kernel->getArg(own - 4), fail.getInt64(JUMAR_SIM_MEMORY), fail.getInt64(-1), size, size,
                             fail.getInt64(Frame::kMaxGrownBytes), kernel->getArg(own - 3), fail.getInt64(0)});
    fail.CreateRetVoid();
    end->eraseFromParent();
    call->eraseFromParent();
  }
}

}  // namespace

int64_t lay_out_frame(llvm::Module& module) {
  llvm::Function* kernel = with_frame(kernel_of(module));
  llvm::Value* buffers = kernel->getArg(kernel->arg_size() - 2);
  llvm::FunctionCallee place = place_function(module);
  int64_t bytes = 0;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(kernel->getEntryBlock())) {
    auto* buffer = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (buffer == nullptr) continue;
    auto* count = llvm::dyn_cast<llvm::ConstantInt>(buffer->getArraySize());
    CHECK(count != nullptr, "a buffer without a size");
    llvm::IRBuilder<> b(buffer);
    int64_t element_bytes = module.getDataLayout().getTypeAllocSize(buffer->getAllocatedType());
    int64_t own = element_bytes * count->getSExtValue();
    llvm::CallInst* address = b.CreateCall(place, {buffers, b.getInt64(bytes)});
    if (own > 0) {
      address->addRetAttr(llvm::Attribute::getWithDereferenceableBytes(module.getContext(), own));
      address->addRetAttr(llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(Frame::kAlignBytes)));
    }
    buffer->replaceAllUsesWith(address);
    buffer->eraseFromParent();
    bytes += (own + Frame::kAlignBytes - 1) / Frame::kAlignBytes * Frame::kAlignBytes;
  }
  grow_frame(kernel, kernel->getArg(kernel->arg_size() - 1));
  return bytes;
}

namespace {

// Writes the entry's blocks.
class Entry {
 public:
  Entry(llvm::Module& module, const Signature& signature, const Words& words, const FramePool* pool)
      : module_(module), signature_(signature), words_(words), b_(module.getContext()) {
    pointer_ = llvm::PointerType::getUnqual(module.getContext());
    word_ = b_.getInt64Ty();
    pool_ = llvm::ConstantExpr::getIntToPtr(b_.getInt64(reinterpret_cast<uint64_t>(pool)), pointer_);
  }

  void write();

 private:
  llvm::Value* word(int index, llvm::Type* type) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(pointer_, args_, static_cast<uint64_t>(index)));
  }
  llvm::CallInst* call(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> operands) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* operand : operands) types.push_back(operand->getType());
    auto callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    return b_.CreateCall(callee, operands);
  }
  void add_memref(llvm::Value* address, llvm::Value* count) {
    operands_.insert(operands_.end(), {address, address, b_.getInt64(0), count, b_.getInt64(1)});
  }
  void load_arguments(llvm::Function* kernel);
  void call_kernel(llvm::Function* kernel, llvm::Value* block, llvm::Value* fault, llvm::Value* frame);

  llvm::Module& module_;
  const Signature& signature_;
  const Words& words_;
  llvm::IRBuilder<> b_;
  llvm::PointerType* pointer_;
  llvm::Type* word_;
  llvm::Value* pool_;
  llvm::Value* args_ = nullptr;
  std::vector<llvm::Value*> operands_;
};

void Entry::load_arguments(llvm::Function* kernel) {
  for (unsigned i = 0; i < signature_.first; ++i) {
    add_memref(llvm::ConstantPointerNull::get(pointer_), b_.getInt64(0));
  }
  for (size_t i = 0; i < signature_.arguments.size(); ++i) {
    const Argument& argument = signature_.arguments[i];
    llvm::Type* type = kernel->getArg(static_cast<unsigned>(operands_.size()))->getType();
    if (argument.kind == Argument::Kind::kPointer) {
      add_memref(word(words_.arguments[i], pointer_), word(words_.counts[i], word_));
    } else if (argument.kind == Argument::Kind::kInteger) {
      operands_.push_back(b_.CreateTrunc(word(words_.arguments[i], word_), type));
    } else {
      operands_.push_back(b_.CreateFPTrunc(word(words_.arguments[i], b_.getDoubleTy()), type));
    }
  }
}

void Entry::call_kernel(llvm::Function* kernel, llvm::Value* block, llvm::Value* fault, llvm::Value* frame) {
  std::vector<llvm::Value*> operands = operands_;
  llvm::Value* grid[3];
  for (int axis = 0; axis < 3; ++axis) {
    grid[axis] = word(words_.grid + axis, word_);
    operands.push_back(b_.CreateTrunc(grid[axis], b_.getInt32Ty()));
  }
  llvm::Value* z = b_.CreateURem(block, grid[2]);
  llvm::Value* rest = b_.CreateUDiv(block, grid[2]);
  llvm::Value* ids[] = {b_.CreateUDiv(rest, grid[1]), b_.CreateURem(rest, grid[1]), z};
  for (llvm::Value* id : ids) operands.push_back(b_.CreateTrunc(id, b_.getInt32Ty()));
  llvm::Value* buffers = call("jumar_sim_frame_begin", pointer_, {frame});
  operands.insert(operands.end(), {fault, block, buffers, frame});
  b_.CreateCall(kernel, operands);
}

void Entry::write() {
  llvm::Function* kernel = kernel_of(module_);
  llvm::LLVMContext& context = module_.getContext();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {word_, word_, pointer_}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntryName, module_);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  auto* start = llvm::BasicBlock::Create(context, "start", entry);
  auto* head = llvm::BasicBlock::Create(context, "head", entry);
  auto* look = llvm::BasicBlock::Create(context, "look", entry);
  auto* body = llvm::BasicBlock::Create(context, "body", entry);
  auto* done = llvm::BasicBlock::Create(context, "done", entry);
  b_.SetInsertPoint(start);
  args_ = entry->getArg(2);
  llvm::Value* fault = word(words_.fault, pointer_);
  load_arguments(kernel);
  llvm::Value* frame = call("jumar_sim_frame_take", pointer_, {pool_});
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* block = b_.CreatePHI(word_, 2);
  block->addIncoming(entry->getArg(0), start);
  b_.CreateCondBr(b_.CreateICmpSLT(block, entry->getArg(1)), look, done);
  b_.SetInsertPoint(look);
  llvm::LoadInst* flag = b_.CreateAlignedLoad(word_, fault, llvm::Align(8));
  flag->setAtomic(llvm::AtomicOrdering::Monotonic);
  b_.CreateCondBr(b_.CreateICmpEQ(flag, b_.getInt64(0)), body, done);
  b_.SetInsertPoint(body);
  call_kernel(kernel, block, fault, frame);
  block->addIncoming(b_.CreateAdd(block, b_.getInt64(1)), b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  call("jumar_sim_frame_give", b_.getVoidTy(), {pool_, frame});
  b_.CreateRetVoid();
}

}  // namespace

void add_entry(llvm::Module& module, const Signature& signature, const Words& words, const FramePool* pool) {
  Entry(module, signature, words, pool).write();
}

void resolve_buffers(llvm::Module& module) {
  llvm::Function* place = module.getFunction(kPlace);
  if (place == nullptr) return;
  std::vector<llvm::CallInst*> calls;
  for (llvm::User* user : place->users()) calls.push_back(llvm::cast<llvm::CallInst>(user));
  for (llvm::CallInst* call : calls) {
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(b.CreateGEP(b.getInt8Ty(), call->getArgOperand(0), call->getArgOperand(1)));
    call->eraseFromParent();
  }
  place->eraseFromParent();
}

}  // namespace jumar::runtime::sim
