#include "emit/cpu/emit_kernel.h"

#include "emit/cpu/nest_emitter.h"

namespace jumar::emit::cpu {

namespace {

// Each nest has the units after those of the nests before it.
void run_side_by_side(FunctionContext& function, const loop::Kernel& kernel, const Values& nest_units,
                      const EmitOptions& options) {
  Builder& b = function.b();
  Value* first = b.i64(0);
  for (size_t k = 0; k < kernel.nests.size(); ++k) {
    Value* begin = b.smax(b.CreateSub(function.begin(), first), b.i64(0));
    Value* end = b.smin(b.CreateSub(function.end(), first), nest_units[k]);
    NestEmitter(function, kernel.nests[k], options).run_units(begin, end);
    first = b.CreateAdd(first, nest_units[k]);
  }
}

// The kernel's only unit runs every nest to its end before the next.
void run_in_order(FunctionContext& function, const loop::Kernel& kernel, const Values& nest_units,
                  const EmitOptions& options) {
  Builder& b = function.b();
  b.when(b.CreateICmpSLT(function.begin(), function.end()), [&] {
    for (size_t k = 0; k < kernel.nests.size(); ++k)
      NestEmitter(function, kernel.nests[k], options).run_units(b.i64(0), nest_units[k]);
  });
}

}  // namespace

void emit_kernel(llvm::Module& module, const loop::Program& program, const loop::Kernel& kernel,
                 const EmitOptions& options) {
  const KernelSignature takes = signature(program, kernel);
  FunctionContext function(module, program, kernel, takes);
  if (kernel.nests.size() == 1 && !kernel.is_serial) {
    NestEmitter(function, kernel.nests[0], options).run_units(function.begin(), function.end());
    function.finish();
    return;
  }
  const sym::Facts facts = program.facts();
  Scope sizes;
  sizes.bindings = function.sizes();
  IndexEmitter index(function.b(), program.cx(), facts, sizes);
  Values nest_units;
  for (sym::Expr units : takes.nest_units) nest_units.push_back(index.value(units));
  (kernel.is_serial ? run_in_order : run_side_by_side)(function, kernel, nest_units, options);
  function.finish();
}

}  // namespace jumar::emit::cpu
