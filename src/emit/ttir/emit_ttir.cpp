#include "emit/ttir/emit_ttir.h"

#include <fmt/format.h>

#include "emit/ttir/nest_writer.h"

namespace jumar::emit::ttir {

std::string emit_ttir(const loop::Program& program, const tile::npu::BlockKernel& kernel) {
  FunctionWriter out(program.cx(), kernel.facts);
  std::vector<std::string> arguments;
  for (size_t k = 0; k < kernel.buffers.size(); ++k) {
    const ir::DType dtype = program.buffers[kernel.buffers[k]].type.dtype;
    const std::string element = ir::is_bool(dtype) ? "i8" : element_text(dtype);
    arguments.push_back(fmt::format("%b{}: !tt.ptr<{}>", k, element));
  }
  for (const tile::npu::IntArgument& argument : kernel.ints) {
    const std::string name = "%" + argument.symbol.symbol_name();
    arguments.push_back(fmt::format("{}: {}", name, argument.is_wide ? "i64" : "i32"));
    out.name_symbol(argument.symbol, name, argument.is_wide ? 64 : 32);
  }
  for (size_t k = 0; k < kernel.numbers.size(); ++k) arguments.push_back(fmt::format("%p{}: f32", k));
  out.name_symbol(tile::npu::program_id(program.cx()), out.define("tt.get_program_id x : i32"), 32);
  for (const tile::npu::BlockNest& nest : kernel.nests) NestWriter(program, kernel, nest, out).write();
  return out.text(fmt::format("tt.func public @{}({}) attributes {{noinline = false}}", kernel.name,
                              fmt::join(arguments, ", ")));
}

}  // namespace jumar::emit::ttir
