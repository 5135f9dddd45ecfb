#include "loop/interp.h"

#include "loop/interp_nest.h"
#include "loop/text.h"

namespace jumar::loop {
namespace {

using sym::Expr;

// Host numbers as arguments see them: a bool number is a bool.
RunArg number_arg(const Number& number, double value) {
  if (number.kind == NumberKind::kBool) return {value != 0};
  return {value};
}

std::optional<double> number_value(const RunArg& arg) {
  if (const double* d = std::get_if<double>(&arg.data)) return *d;
  if (const bool* b = std::get_if<bool>(&arg.data)) return *b ? 1.0 : 0.0;
  if (const int64_t* i = std::get_if<int64_t>(&arg.data)) return static_cast<double>(*i);
  return std::nullopt;
}

}  // namespace

struct ProgramRunner::Impl {
  Impl(const Program& program_in, CallHandler handler_in)
      : program(program_in), handler(std::move(handler_in)) {}

  const Program& program;
  CallHandler handler;
  const std::vector<RunArg>* inputs = nullptr;
  std::unordered_map<Expr, int64_t> symbols;
  std::unordered_map<NumberId, double> numbers;
  std::unordered_map<BufferId, std::unique_ptr<BufferMemory>> memories;
  uint64_t kernel_run = 0;

  Result<std::vector<RunArg>> run(const std::vector<RunArg>& given) {
    inputs = &given;
    memories.clear();
    numbers.clear();
    JUMAR_ASSIGN(symbols, bound_symbols(program, given));
    for (size_t k = 0; k < program.numbers.size(); ++k) {
      NumberId id = program.numbers.id_at(k);
      const Number& number = program.numbers[id];
      if (!number.input) continue;
      std::optional<double> value = number_value(given[*number.input]);
      if (!value) return diagnostic("input", "input {} is no number", *number.input);
      numbers[id] = *value;
    }
    for (const Item& i : program.items)
      JUMAR_RETURN_IF_ERROR(std::visit([&](const auto& v) { return item(v); }, i));
    std::vector<RunArg> outputs;
    for (const Arg& a : program.outputs) {
      JUMAR_ASSIGN(RunArg output, arg(a, "return"));
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  Result<int64_t> value(Expr e) const {
    return sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
      auto found = symbols.find(symbol);
      return found == symbols.end() ? std::nullopt : std::optional(found->second);
    });
  }

  Result<std::vector<int64_t>> all_values(const std::vector<Expr>& exprs) const {
    std::vector<int64_t> out;
    for (Expr e : exprs) {
      JUMAR_ASSIGN(int64_t v, value(e));
      out.push_back(v);
    }
    return out;
  }

  // The memory of a buffer with storage, made when it is first asked for: sizes may wait for a call.
  Result<BufferMemory*> memory(BufferId id) {
    std::unique_ptr<BufferMemory>& slot = memories[id];
    if (slot) return slot.get();
    const Buffer& b = program.buffers[id];
    if (b.storage == Storage::kInput || b.storage == Storage::kParameter) {
      slot = std::make_unique<BufferMemory>(std::get<TensorView>((*inputs)[b.index].data));
      return slot.get();
    }
    JUMAR_ASSIGN(std::vector<int64_t> sizes, all_values(b.type.sizes));
    JUMAR_ASSIGN(std::vector<int64_t> strides, all_values(b.type.strides));
    for (int64_t size : sizes)
      if (size < 0) return diagnostic("bounds", "buffer %{} has a size of {}", b.name, size);
    slot = std::make_unique<BufferMemory>(b.type.dtype, std::move(sizes), std::move(strides));
    return slot.get();
  }

  // A buffer or view as a tensor. Every element of it must be inside its storage and, if `written`, written.
  Result<TensorView> tensor(BufferId id, const std::string& where, bool written) {
    const Buffer& b = program.buffers[id];
    bool is_view = b.storage == Storage::kView;
    JUMAR_ASSIGN(BufferMemory * base, memory(is_view ? b.base : id));
    TensorView view = base->view();
    int64_t first = 0;
    if (is_view) {
      JUMAR_ASSIGN(first, value(b.offset));
      view.dtype = b.type.dtype;
      JUMAR_ASSIGN(view.sizes, all_values(b.type.sizes));
      JUMAR_ASSIGN(view.strides, all_values(b.type.strides));
    }
    int64_t bytes = ir::dtype_bytes(view.dtype);
    int64_t base_bytes = ir::dtype_bytes(base->view().dtype);
    const char* wrong = nullptr;
    for_each_offset(view.sizes, view.strides, [&](int64_t offset) {
      int64_t begin = (first + offset) * bytes;
      if (begin < 0 || begin + bytes > base->extent() * base_bytes) {
        wrong = "bounds";
        return;
      }
      for (int64_t at = begin; written && at < begin + bytes && !wrong; at += std::min(bytes, base_bytes))
        if (!base->is_written(at / base_bytes)) wrong = "poison";
    });
    if (wrong)
      return diagnostic(wrong, "{}: %{} {}", where, b.name,
                        wrong == std::string_view("bounds") ? "reaches outside its storage"
                                                            : "has elements that were never written");
    view.data = static_cast<std::byte*>(view.data) + first * bytes;
    return view;
  }

  Result<RunArg> arg(const Arg& a, const std::string& where) {
    if (const BufferId* id = a.as<BufferId>()) {
      JUMAR_ASSIGN(TensorView view, tensor(*id, where, true));
      return RunArg{std::move(view)};
    }
    if (const NumberId* id = a.as<NumberId>()) return number_arg(program.numbers[*id], numbers.at(*id));
    if (const Expr* e = a.as<Expr>()) {
      JUMAR_ASSIGN(int64_t v, value(*e));
      return RunArg{v};
    }
    if (const double* d = a.as<double>()) return RunArg{*d};
    if (const bool* b = a.as<bool>()) return RunArg{*b};
    if (const std::string* s = a.as<std::string>()) return RunArg{*s};
    if (const ir::WordArg* w = a.as<ir::WordArg>()) return RunArg{*w};
    if (const ArgList* list = a.list()) {
      JUMAR_ASSIGN(RunArg::List out, args(*list, where));
      return RunArg{std::move(out)};
    }
    return RunArg{};
  }

  Result<RunArg::List> args(const ArgList& list, const std::string& where) {
    RunArg::List out;
    for (const Arg& a : list) {
      JUMAR_ASSIGN(RunArg value, arg(a, where));
      out.push_back(std::move(value));
    }
    return out;
  }

  Status item(const Kernel& kernel) {
    ++kernel_run;
    uint64_t points = 0;
    for (size_t k = 0; k < kernel.nests.size(); ++k) {
      // To the memory's watch, a nest whose order is promised is a kernel by itself.
      if (kernel.is_phased) ++kernel_run;
      NestContext context{program,
                          symbols,
                          [this](BufferId id) { return memory(id); },
                          [this](NumberId id) { return numbers.at(id); },
                          kernel.name,
                          k,
                          kernel_run,
                          points};
      JUMAR_ASSIGN(uint64_t count, run_nest(context, kernel.nests[k]));
      points += count;
    }
    return {};
  }

  Status item(const Call& call) {
    std::string where = "call " + call_text(program, call);
    if (!handler) return diagnostic("unsupported", "{}: no handler for calls was given", where);
    JUMAR_ASSIGN(RunArg::List values, args(call.args, where));
    JUMAR_ASSIGN(CallResult result, handler(call, values));
    if (result.defines.size() != call.defines.size() || result.tensors.size() != call.results.size())
      return diagnostic("call", "{}: the handler gave {} tensors and {} numbers", where,
                        result.tensors.size(), result.defines.size());
    for (size_t k = 0; k < call.defines.size(); ++k) symbols[call.defines[k]] = result.defines[k];
    for (size_t k = 0; k < call.results.size(); ++k)
      if (call.results[k]) JUMAR_RETURN_IF_ERROR(take_result(where, call.results[k], result.tensors[k]));
    return {};
  }

  Status take_result(const std::string& where, BufferId id, HostTensor& from) {
    JUMAR_ASSIGN(BufferMemory * to, memory(id));
    const std::string& name = program.buffers[id].name;
    if (from.dtype != to->view().dtype || from.sizes != to->view().sizes)
      return diagnostic("call", "{}: the handler gave %{} another type than {}", where, name,
                        ir::text(program.cx(), program.buffers[id].type));
    std::vector<int64_t> offsets;
    for_each_offset(from.sizes, from.strides, [&](int64_t offset) { offsets.push_back(offset); });
    size_t next = 0;
    int64_t bytes = ir::dtype_bytes(from.dtype);
    if (bytes > 8) return diagnostic("unsupported", "{}: %{} is complex", where, name);
    for_each_offset(to->view().sizes, to->view().strides, [&](int64_t offset) {
      to->store(offset, load_scalar(from.bytes.data() + offsets[next++] * bytes, from.dtype));
    });
    return {};
  }

  Status item(const HostOp& host) {
    const Number& number = program.numbers[host.result];
    JUMAR_ASSIGN(RunArg::List values, args(host.args, "host %" + number.name));
    JUMAR_ASSIGN(RunArg result, host_scalar(host.op, values));
    numbers[host.result] = *number_value(result);
    return {};
  }

  Status item(const Check& check) {
    JUMAR_ASSIGN(int64_t holds, value(check.predicate));
    if (holds == 0) return diagnostic("check", "{}", check.message);
    return {};
  }
};

ProgramRunner::ProgramRunner(const Program& program, CallHandler handler)
    : impl_(std::make_unique<Impl>(program, std::move(handler))) {}
ProgramRunner::~ProgramRunner() = default;

Result<std::vector<RunArg>> ProgramRunner::run(const std::vector<RunArg>& inputs) {
  return impl_->run(inputs);
}

std::optional<TensorView> ProgramRunner::buffer(BufferId id) {
  BufferId owner =
      impl_->program.buffers[id].storage == Storage::kView ? impl_->program.buffers[id].base : id;
  if (!impl_->memories.contains(owner)) return std::nullopt;
  Result<TensorView> view = impl_->tensor(id, "buffer", false);
  if (!view.ok()) return std::nullopt;
  return std::move(view).value();
}

}  // namespace jumar::loop
