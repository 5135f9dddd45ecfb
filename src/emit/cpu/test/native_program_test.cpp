#include "emit/cpu/test/native_program.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cstring>

#include "driver/jit/llvm_setup.h"
#include "tile/tile_cpu.h"

namespace jumar::emit::cpu {

using driver::jit::CpuTarget;
using loop::HostTensor;
using loop::Program;
using loop::TensorView;

namespace {

constexpr size_t kGuardBytes = 128;
constexpr std::byte kGuard{0xa5};

std::optional<int64_t> value_in(const std::unordered_map<sym::Expr, int64_t>& symbols, sym::Expr symbol) {
  const auto found = symbols.find(symbol);
  return found == symbols.end() ? std::nullopt : std::optional(found->second);
}

std::vector<int64_t> values_of(const std::vector<sym::Expr>& exprs,
                               const std::unordered_map<sym::Expr, int64_t>& symbols) {
  std::vector<int64_t> out;
  for (sym::Expr e : exprs)
    out.push_back(*sym::evaluate(e, [&](sym::Expr s) { return value_in(symbols, s); }));
  return out;
}

bool has_tiling(const Program& program) {
  for (const loop::Item& item : program.items) {
    if (const auto* kernel = std::get_if<loop::Kernel>(&item))
      return kernel->nests.front().tiling.has_value();
  }
  return false;
}

bool has_phased_kernel(const Program& program) {
  return std::ranges::any_of(program.items, [](const loop::Item& item) {
    const auto* kernel = std::get_if<loop::Kernel>(&item);
    return kernel && kernel->is_phased;
  });
}

}  // namespace

// Memory of a buffer between guards.
struct NativeProgram::Block {
  std::vector<std::byte> bytes;
  size_t size = 0;

  explicit Block(size_t size_bytes) : bytes(size_bytes + 2 * kGuardBytes, kGuard), size(size_bytes) {}
  std::byte* data() { return bytes.data() + kGuardBytes; }
  bool intact() const {
    for (size_t k = 0; k < kGuardBytes; ++k) {
      if (bytes[k] != kGuard || bytes[kGuardBytes + size + k] != kGuard) return false;
    }
    return true;
  }
};

NativeProgram::NativeProgram(const Program& program, const CpuTarget& target)
    : program_(program), jit_(driver::jit::Jit::create().value()) {
  driver::jit::initialize_llvm();
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  driver::jit::Codegen codegen(target);
  codegen.prepare(module);
  for (const loop::Item& item : program.items) {
    if (const auto* kernel = std::get_if<loop::Kernel>(&item)) emit_kernel(module, program, *kernel, {});
  }
  llvm::raw_string_ostream stream(ir_);
  module.print(stream, nullptr);
  handle_ = jit_->add_object(codegen.object(module)).value();
}

NativeProgram::~NativeProgram() { jit_->remove(handle_); }

Status NativeProgram::run_kernel(const loop::Kernel& kernel, const std::vector<void*>& buffers,
                                 const std::unordered_map<sym::Expr, int64_t>& symbols,
                                 const std::vector<double>& numbers, int pieces) {
  const KernelSignature takes = signature(program_, kernel);
  const auto value = [&](sym::Expr e) {
    return sym::evaluate(e, [&](sym::Expr s) { return value_in(symbols, s); }).value();
  };
  IndexStatus status;
  std::vector<void*> args;
  for (loop::BufferId id : takes.buffers) args.push_back(buffers[id.index()]);
  if (takes.checks) args.push_back(&status);
  for (sym::Expr size : takes.ints) args.push_back(reinterpret_cast<void*>(value(size)));
  for (loop::NumberId id : takes.numbers) {
    void* slot = nullptr;
    std::memcpy(&slot, &numbers[id.index()], sizeof slot);
    args.push_back(slot);
  }
  JUMAR_ASSIGN(void* address, jit_->lookup(handle_, kernel.name));
  const auto function = reinterpret_cast<KernelFn>(address);
  int64_t first = 0;
  for (const plan::LaunchPhase& phase : takes.phases) {
    const int64_t units = value(phase.units);
    // Later pieces first: no unit of a phase may depend on another.
    for (int64_t piece = pieces - 1; piece >= 0; --piece)
      function(first + units * piece / pieces, first + units * (piece + 1) / pieces, args.data());
    first += units;
    if (status.flag != 0) break;
  }
  if (status.flag != 0) return diagnostic("index", "index {} of {}", status.index, status.size);
  return {};
}

Result<loop::ProgramResult> NativeProgram::run(loop::ProgramInputs& inputs, int pieces) {
  JUMAR_ASSIGN(auto symbols, loop::bound_symbols(program_, inputs.args));
  std::vector<std::optional<Block>> blocks(program_.buffers.size());
  std::vector<void*> buffers(program_.buffers.size());
  for (size_t k = 0; k < program_.buffers.size(); ++k) {
    const loop::Buffer& buffer = program_.buffers[program_.buffers.id_at(k)];
    const auto sizes = values_of(buffer.type.sizes, symbols);
    const auto strides = values_of(buffer.type.strides, symbols);
    const size_t bytes =
        static_cast<size_t>(loop::extent_elems(sizes, strides) * ir::dtype_bytes(buffer.type.dtype));
    blocks[k].emplace(bytes);
    buffers[k] = blocks[k]->data();
    // Inputs are copied between guards too, so that reads beyond them at least don't find their neighbours.
    if (buffer.storage == loop::Storage::kInput || buffer.storage == loop::Storage::kParameter)
      std::memcpy(buffers[k], std::get<TensorView>(inputs.args[buffer.index].data).data, bytes);
  }
  std::vector<double> numbers;
  for (const loop::Number& number : program_.numbers) {
    const loop::RunArg& arg = inputs.args[*number.input];
    const auto* real = std::get_if<double>(&arg.data);
    numbers.push_back(real ? *real : static_cast<double>(std::get<bool>(arg.data)));
  }
  for (const loop::Item& item : program_.items) {
    JUMAR_RETURN_IF_ERROR(run_kernel(std::get<loop::Kernel>(item), buffers, symbols, numbers, pieces));
  }
  loop::ProgramResult result;
  for (size_t k = 0; k < program_.buffers.size(); ++k) {
    const loop::Buffer& buffer = program_.buffers[program_.buffers.id_at(k)];
    if (!blocks[k]->intact()) return diagnostic("bounds", "a kernel wrote outside %{}", buffer.name);
    TensorView view{buffers[k], buffer.type.dtype, values_of(buffer.type.sizes, symbols),
                    values_of(buffer.type.strides, symbols)};
    result.buffers.emplace(buffer.name, loop::copy_of(view));
  }
  return result;
}

tile::CpuModel model_of(const CpuTarget& target) {
  return {.vector_bytes = target.vector_bits / 8, .cheap_masks = target.has_avx512};
}

std::vector<CpuTarget> test_targets() {
  std::vector<CpuTarget> targets = {driver::jit::cpu_target("x86-64-v3").value()};
  CpuTarget host = driver::jit::host_cpu_target().value();
  if (host.has_avx512) targets.push_back(std::move(host));
  return targets;
}

namespace {

// Nothing, or how what the program computes natively differs from what was expected.
Status compare_native(const Program& program, const CpuTarget& target, loop::ProgramInputs& inputs,
                      const Result<loop::ProgramResult>& expected, const loop::Tolerance& tolerance) {
  NativeProgram native(program, target);
  for (int pieces : {1, 3}) {
    const auto noted = [&](Diagnostic d) {
      d.notes.push_back(fmt::format("{} pieces on {}", pieces, target.cpu));
      d.notes.push_back(loop::write_program(program));
      d.notes.push_back(native.ir());
      return d;
    };
    Result<loop::ProgramResult> got = native.run(inputs, pieces);
    if (!expected.ok()) {
      if (expected.error().code != "index") return expected.error();
      if (got.ok() || got.error().code != "index") return noted(expected.error());
      continue;
    }
    if (!got.ok()) return noted(got.error());
    for (auto& [name, tensor] : got->buffers) {
      const auto found = expected->buffers.find(name);
      if (found == expected->buffers.end()) continue;
      HostTensor reference = found->second;
      Status same = loop::compare_tensors(name, tensor.view(), reference.view(), tolerance);
      if (!same.ok()) return noted(same.error());
    }
  }
  return {};
}

}  // namespace

Status check_native(const std::string& text, const loop::CheckOptions& options,
                    const loop::Tolerance& tolerance) {
  JUMAR_ASSIGN(Program program, loop::read_program(text));
  JUMAR_RETURN_IF_ERROR(loop::verify(program));
  JUMAR_ASSIGN(loop::ProgramInputs inputs, loop::random_inputs(program, options));
  const Result<loop::ProgramResult> expected = loop::run_program(program, inputs, {});
  for (const CpuTarget& target : test_targets()) {
    const bool is_tiled = has_tiling(program);
    if (!is_tiled) tile::tile_cpu(program, model_of(target));
    JUMAR_RETURN_IF_ERROR(loop::verify(program));
    JUMAR_RETURN_IF_ERROR(compare_native(program, target, inputs, expected, tolerance));
    const bool was_joined = !is_tiled && has_phased_kernel(program);
    JUMAR_ASSIGN(program, loop::read_program(text));
    if (!was_joined) continue;
    for (loop::Item& item : program.items)
      if (auto* kernel = std::get_if<loop::Kernel>(&item)) tile::tile_cpu(program, *kernel, model_of(target));
    JUMAR_RETURN_IF_ERROR(compare_native(program, target, inputs, expected, tolerance));
    JUMAR_ASSIGN(program, loop::read_program(text));
  }
  return {};
}

}  // namespace jumar::emit::cpu
