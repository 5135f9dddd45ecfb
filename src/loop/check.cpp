#include "loop/check.h"

#include <cmath>

#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

using sym::Expr;

// All numbers that a call was given, lists flattened.
struct Mixture {
  std::vector<std::vector<double>> tensors;
  double constant = 0;

  void add(const RunArg& arg) {
    if (const TensorView* view = std::get_if<TensorView>(&arg.data)) {
      std::vector<double> values;
      if (!ir::is_complex(view->dtype)) {
        const std::byte* base = static_cast<const std::byte*>(view->data);
        for_each_offset(view->sizes, view->strides, [&](int64_t offset) {
          values.push_back(as_double(load_scalar(base + offset * ir::dtype_bytes(view->dtype), view->dtype)));
        });
      }
      tensors.push_back(std::move(values));
    } else if (const RunArg::List* list = std::get_if<RunArg::List>(&arg.data)) {
      for (const RunArg& element : *list) add(element);
    } else if (const double* d = std::get_if<double>(&arg.data)) {
      constant += 0.1 * *d;
    } else if (const int64_t* i = std::get_if<int64_t>(&arg.data)) {
      constant += 0.01 * static_cast<double>(*i % 100);
    } else if (const bool* b = std::get_if<bool>(&arg.data)) {
      constant += *b ? 0.03 : 0;
    }
  }

  double element(size_t result, size_t index) const {
    double sum = constant + 0.01 * static_cast<double>(index % 7);
    for (size_t t = 0; t < tensors.size(); ++t)
      if (!tensors[t].empty())
        sum += tensors[t][(index * (2 * t + 3) + result) % tensors[t].size()] / static_cast<double>(2 + t);
    return sum;
  }
};

Result<CallResult> imitation(const Program& program, std::unordered_map<Expr, int64_t>& symbols,
                             const Call& call, const RunArg::List& args) {
  CallResult result;
  auto value_of = [&](Expr e) {
    return sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
      auto found = symbols.find(symbol);
      return found == symbols.end() ? std::nullopt : std::optional(found->second);
    });
  };
  for (Expr symbol : call.defines) {
    int64_t value = 3;
    for (const SymbolInfo& info : program.symbols)
      if (info.symbol == symbol) value = std::clamp<int64_t>(value, info.range.lo, info.range.hi);
    symbols[symbol] = value;
    result.defines.push_back(value);
  }
  Mixture mixture;
  for (const RunArg& arg : args) mixture.add(arg);
  for (size_t r = 0; r < call.results.size(); ++r) {
    result.tensors.emplace_back();
    if (!call.results[r]) continue;
    const Buffer& b = program.buffers[call.results[r]];
    std::vector<int64_t> sizes;
    for (Expr size : b.type.sizes) {
      JUMAR_ASSIGN(int64_t value, value_of(size));
      sizes.push_back(value);
    }
    HostTensor tensor = HostTensor::contiguous(b.type.dtype, std::move(sizes));
    int64_t bytes = ir::dtype_bytes(b.type.dtype);
    for (size_t k = 0; k * bytes < tensor.bytes.size(); ++k) {
      Scalar value = ir::is_float(b.type.dtype) ? scalar_of(mixture.element(r, k), b.type.dtype)
                                                : scalar_of_int(static_cast<int64_t>(k % 2), b.type.dtype);
      store_scalar(tensor.bytes.data() + k * bytes, value);
    }
    result.tensors.back() = std::move(tensor);
  }
  return result;
}

bool close(Scalar a, Scalar b, const Tolerance& t) {
  if (a.bits == b.bits) return true;
  if (!ir::is_float(a.type)) return false;
  double x = as_double(a);
  double y = as_double(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == y) return true;
  if (std::isinf(x) || std::isinf(y)) return false;
  double relative = t.relative;
  if (a.type == ir::DType::kF64) relative = t.relative_f64;
  if (a.type == ir::DType::kF16) relative = std::max(relative, t.relative_f16);
  if (ir::is_low_precision(a.type) && a.type != ir::DType::kF16)
    relative = std::max(relative, t.relative_bf16);
  double absolute = a.type == ir::DType::kF64 ? t.absolute_f64 : t.absolute;
  return std::fabs(x - y) <= absolute + relative * std::fabs(y);
}

std::string scalar_text(Scalar s) {
  return ir::is_float(s.type) ? float_text(as_double(s)) : fmt::format("{}", as_int(s));
}

std::string list_text(const std::vector<int64_t>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

Status compare_output(const std::string& what, const OutputValue& a, const OutputValue& b,
                      const Tolerance& tolerance) {
  if (a.data.index() != b.data.index()) return diagnostic("different", "{} is another kind of value", what);
  if (const HostTensor* x = std::get_if<HostTensor>(&a.data)) {
    HostTensor left = *x;
    HostTensor right = std::get<HostTensor>(b.data);
    return compare_tensors(what, left.view(), right.view(), tolerance);
  }
  bool same = true;
  if (const int64_t* x = std::get_if<int64_t>(&a.data)) same = *x == std::get<int64_t>(b.data);
  if (const bool* x = std::get_if<bool>(&a.data)) same = *x == std::get<bool>(b.data);
  if (const double* x = std::get_if<double>(&a.data))
    same = close(scalar_of(*x, ir::DType::kF64), scalar_of(std::get<double>(b.data), ir::DType::kF64),
                 tolerance);
  if (!same) return diagnostic("different", "{} is another number", what);
  return {};
}

OutputValue output_of(const RunArg& arg) {
  if (const TensorView* view = std::get_if<TensorView>(&arg.data)) return {copy_of(*view)};
  if (const int64_t* i = std::get_if<int64_t>(&arg.data)) return {*i};
  if (const double* d = std::get_if<double>(&arg.data)) return {*d};
  if (const bool* b = std::get_if<bool>(&arg.data)) return {*b};
  return {};
}

}  // namespace

CallHandler imitated_calls(const Program& program, const std::vector<RunArg>& inputs) {
  Result<std::unordered_map<Expr, int64_t>> bound = bound_symbols(program, inputs);
  std::unordered_map<Expr, int64_t> symbols;
  if (bound.ok()) symbols = *bound;
  return [&program, symbols](const Call& call, const RunArg::List& args) mutable {
    return imitation(program, symbols, call, args);
  };
}

HostTensor copy_of(const TensorView& view) {
  HostTensor copy = HostTensor::contiguous(view.dtype, view.sizes);
  int64_t bytes = ir::dtype_bytes(view.dtype);
  const std::byte* from = static_cast<const std::byte*>(view.data);
  std::byte* to = copy.bytes.data();
  for_each_offset(view.sizes, view.strides, [&](int64_t offset) {
    std::copy_n(from + offset * bytes, bytes, to);
    to += bytes;
  });
  return copy;
}

Result<ProgramResult> run_program(const Program& program, const ProgramInputs& inputs, CallHandler handler) {
  JUMAR_RETURN_IF_ERROR(verify(program));
  ProgramRunner runner(program, handler ? std::move(handler) : imitated_calls(program, inputs.args));
  JUMAR_ASSIGN(std::vector<RunArg> outputs, runner.run(inputs.args));
  ProgramResult result;
  for (const RunArg& output : outputs) result.outputs.push_back(output_of(output));
  for (size_t k = 0; k < program.buffers.size(); ++k) {
    BufferId id = program.buffers.id_at(k);
    if (program.buffers[id].storage == Storage::kView) continue;
    if (std::optional<TensorView> view = runner.buffer(id))
      result.buffers.emplace(program.buffers[id].name, copy_of(*view));
  }
  return result;
}

Result<ProgramResult> run_program(const Program& program, const CheckOptions& options) {
  JUMAR_ASSIGN(ProgramInputs inputs, random_inputs(program, options));
  return run_program(program, inputs, options.call);
}

Result<ProgramResult> run_program_text(std::string_view text, const CheckOptions& options) {
  JUMAR_ASSIGN(Program program, read_program(text));
  return run_program(program, options);
}

Status compare_tensors(const std::string& what, const TensorView& a, const TensorView& b,
                       const Tolerance& tolerance) {
  if (a.dtype != b.dtype || a.sizes != b.sizes)
    return diagnostic("different", "{} is {}{} and {}{}", what, ir::dtype_name(a.dtype), list_text(a.sizes),
                      ir::dtype_name(b.dtype), list_text(b.sizes));
  HostTensor left = copy_of(a);
  HostTensor right = copy_of(b);
  if (left.bytes == right.bytes) return {};
  int64_t bytes = ir::dtype_bytes(a.dtype);
  if (ir::is_complex(a.dtype)) return diagnostic("different", "{} differs", what);
  for (size_t k = 0; k * bytes < left.bytes.size(); ++k) {
    Scalar x = load_scalar(left.bytes.data() + k * bytes, a.dtype);
    Scalar y = load_scalar(right.bytes.data() + k * bytes, a.dtype);
    if (close(x, y, tolerance)) continue;
    std::vector<int64_t> index(a.sizes.size());
    size_t rest = k;
    for (size_t d = index.size(); d-- > 0; rest /= a.sizes[d]) index[d] = rest % a.sizes[d];
    return diagnostic("different", "{} at {} is {} and {}", what, list_text(index), scalar_text(x),
                      scalar_text(y));
  }
  return {};
}

Status compare_outputs(const ProgramResult& a, const ProgramResult& b, const Tolerance& tolerance) {
  if (a.outputs.size() != b.outputs.size())
    return diagnostic("different", "{} and {} outputs", a.outputs.size(), b.outputs.size());
  for (size_t k = 0; k < a.outputs.size(); ++k)
    JUMAR_RETURN_IF_ERROR(compare_output(fmt::format("output {}", k), a.outputs[k], b.outputs[k], tolerance));
  return {};
}

Status compare_programs(const Program& a, const Program& b, const CheckOptions& options,
                        const Tolerance& tolerance) {
  // A program may change its inputs.
  JUMAR_ASSIGN(ProgramInputs inputs, random_inputs(a, options));
  JUMAR_ASSIGN(ProgramInputs others, random_inputs(a, options));
  Result<ProgramResult> left = run_program(a, inputs, options.call);
  Result<ProgramResult> right = run_program(b, others, options.call);
  auto may_raise = [](const Diagnostic& error) { return error.code == "index" || error.code == "check"; };
  if (!left.ok() && !may_raise(left.error())) return left.error();
  if (!right.ok() && !may_raise(right.error())) return right.error();
  if (!left.ok() && !right.ok() && left.error().code == right.error().code) return {};
  if (!left.ok()) return diagnostic("different", "only the first raises: {}", left.error().message);
  if (!right.ok()) return diagnostic("different", "only the second raises: {}", right.error().message);
  for (size_t k = 0; k < inputs.tensors.size(); ++k)
    JUMAR_RETURN_IF_ERROR(compare_tensors(fmt::format("tensor {} of the inputs", k), inputs.tensors[k].view(),
                                          others.tensors[k].view(), tolerance));
  return compare_outputs(*left, *right, tolerance);
}

}  // namespace jumar::loop
