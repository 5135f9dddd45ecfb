#include "emit/cpu/emit_kernel.h"

#include "emit/cpu/nest_emitter.h"

namespace jumar::emit::cpu {

void emit_kernel(llvm::Module& module, const loop::Program& program, const loop::Kernel& kernel,
                 const EmitOptions& options) {
  const KernelSignature takes = signature(program, kernel);
  FunctionContext function(module, program, kernel, takes);
  Builder& b = function.b();
  if (kernel.nests.size() == 1) {
    NestEmitter(function, kernel.nests[0], options).run_units(function.begin(), function.end());
    function.finish();
    return;
  }
  const sym::Facts facts = program.facts();
  Scope sizes;
  sizes.bindings = function.sizes();
  IndexEmitter index(b, program.cx(), facts, sizes);
  Value* first = b.i64(0);
  for (size_t k = 0; k < kernel.nests.size(); ++k) {
    Value* units = index.value(takes.nest_units[k]);
    Value* begin = b.smax(b.CreateSub(function.begin(), first), b.i64(0));
    Value* end = b.smin(b.CreateSub(function.end(), first), units);
    NestEmitter(function, kernel.nests[k], options).run_units(begin, end);
    first = b.CreateAdd(first, units);
  }
  function.finish();
}

}  // namespace jumar::emit::cpu
