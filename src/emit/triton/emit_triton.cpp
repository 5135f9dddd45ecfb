#include "emit/triton/emit_triton.h"

#include <fmt/format.h>

#include "emit/triton/nest_writer.h"

namespace jumar::emit::triton {
namespace {

// What a file says about its kernel before it begins.
std::string comment_of(const loop::Program& program, const tile::npu::BlockKernel& kernel,
                       const ArgumentNames& names, const std::vector<std::string>& ints) {
  std::string out;
  for (size_t k = 0; k < kernel.buffers.size(); ++k) {
    const loop::Buffer& buffer = program.buffers[kernel.buffers[k]];
    std::vector<std::string> sizes;
    for (sym::Expr size : buffer.type.sizes) sizes.push_back(sym::text(size));
    out += fmt::format("# {}: {}[{}]\n", names.buffers[k], ir::dtype_name(buffer.type.dtype),
                       fmt::join(sizes, ", "));
  }
  for (size_t k = 0; k < kernel.ints.size(); ++k)
    out += fmt::format("# {} = {}\n", ints[k], sym::text(kernel.ints[k].value));
  return out + fmt::format("# programs: {}\n", sym::text(kernel.grid));
}

std::string quoted(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", name);
  return out;
}

}  // namespace

std::string emit_triton(const loop::Program& program, const tile::npu::BlockKernel& kernel) {
  SourceWriter out(kernel.facts);
  ArgumentNames names;
  std::vector<std::string> arguments;
  std::string signature;
  const auto add = [&](const std::string& name, const std::string& type) {
    arguments.push_back(name);
    signature += fmt::format("    \"{}\": \"{}\",\n", name, type);
    return name;
  };
  for (loop::BufferId id : kernel.buffers) {
    const loop::Buffer& buffer = program.buffers[id];
    names.buffers.push_back(add(out.unique(buffer.name + "_ptr"), "*" + signature_text(buffer.type.dtype)));
  }
  std::vector<std::string> ints;
  for (const tile::npu::IntArgument& argument : kernel.ints) {
    ints.push_back(add(out.unique(argument.symbol.symbol_name()), argument.is_wide ? "i64" : "i32"));
    out.name_symbol(argument.symbol, ints.back(), argument.is_wide ? 64 : 32);
  }
  for (loop::NumberId id : kernel.numbers)
    names.numbers.push_back(add(out.unique(program.numbers[id].name), "fp32"));
  const std::string pid = out.unique("pid");
  out.name_symbol(tile::npu::program_id(program.cx()), pid, 32);
  out.line(pid + " = tl.program_id(0)");
  for (size_t k = 0; k < kernel.nests.size(); ++k) {
    if (kernel.nests.size() > 1) {
      out.blank();
      out.line(fmt::format("# Nest {} of {}", k + 1, kernel.nests.size()));
    }
    NestWriter(program, kernel, kernel.nests[k], names, out).write();
  }
  const std::string once = ints.empty() ? "" : fmt::format("(do_not_specialize=[{}])", quoted(ints));
  return out.text(comment_of(program, kernel, names, ints),
                  fmt::format("@triton.jit{}\ndef {}({}):\n", once, kernel.name, fmt::join(arguments, ", ")),
                  "SIGNATURE = {\n" + signature + "}\n");
}

}  // namespace jumar::emit::triton
