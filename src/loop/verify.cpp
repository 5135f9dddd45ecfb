#include <algorithm>
#include <set>

#include "ir/arg_text.h"
#include "loop/loop.h"
#include "loop/text.h"
#include "loop/verify_nest.h"

namespace jumar::loop {
namespace {

using sym::Expr;

bool is_readable_name(std::string_view name) {
  bool has_word = false;
  for (char c : name) {
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!is_word && c != '.') return false;
    has_word |= is_word;
  }
  return has_word && name.front() != '.';
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  Status run() {
    JUMAR_RETURN_IF_ERROR(symbols());
    JUMAR_RETURN_IF_ERROR(inputs());
    JUMAR_RETURN_IF_ERROR(names());
    for (const Buffer& b : program_.buffers) JUMAR_RETURN_IF_ERROR(buffer(b));
    for (size_t k = 1; k < program_.schemas.size(); ++k)
      if (program_.schemas[k - 1].first >= program_.schemas[k].first)
        return broken("program", fmt::format("schemas are not sorted at {}", program_.schemas[k].first));
    for (const Item& i : program_.items)
      JUMAR_RETURN_IF_ERROR(std::visit([&](const auto& v) { return item(v); }, i));
    JUMAR_RETURN_IF_ERROR(args("return", program_.outputs));
    return returned();
  }

 private:
  Status symbols() {
    std::set<std::string> names;
    for (const SymbolInfo& info : program_.symbols) {
      bool is_size = info.symbol && (info.symbol.is_symbol(sym::SymbolKind::kSize) ||
                                     info.symbol.is_symbol(sym::SymbolKind::kUnbacked));
      if (!is_size) return broken("program", "a symbol is no size");
      const std::string& name = info.symbol.symbol_name();
      if (!names.insert(name).second)
        return broken("program", fmt::format("symbol {} is declared twice", name));
      if (info.range.lo > info.range.hi)
        return broken("program", fmt::format("the range of {} is empty", name));
      declared_.symbols.insert(info.symbol);
    }
    return {};
  }

  // Every position among the call's inputs is declared once.
  Status inputs() {
    std::vector<int> seen(program_.input_count);
    bool in_range = true;
    auto see = [&](uint32_t index) {
      if (index < seen.size())
        ++seen[index];
      else
        in_range = false;
    };
    for (const IntInput& input : program_.int_inputs) see(input.index);
    for (const Number& number : program_.numbers)
      if (number.input) see(*number.input);
    for (const Buffer& b : program_.buffers)
      if (b.storage == Storage::kInput || b.storage == Storage::kParameter) see(b.index);
    if (!in_range) return broken("program", fmt::format("an input is not below the {} inputs", seen.size()));
    for (size_t k = 0; k < seen.size(); ++k)
      if (seen[k] != 1) return broken("program", fmt::format("input {} is declared {} times", k, seen[k]));
    for (const IntInput& input : program_.int_inputs) {
      JUMAR_RETURN_IF_ERROR(verify_size(declared_, "program", "an int input", input.expr));
      for (Expr symbol : sym::symbols_of(input.expr)) known_.symbols.insert(symbol);
    }
    for (size_t k = 0; k < program_.numbers.size(); ++k)
      if (program_.numbers[program_.numbers.id_at(k)].input) known_.numbers.insert(program_.numbers.id_at(k));
    return {};
  }

  Status names() {
    std::set<std::string> names;
    for (const Buffer& b : program_.buffers) JUMAR_RETURN_IF_ERROR(name(names, b.name));
    for (const Number& n : program_.numbers) JUMAR_RETURN_IF_ERROR(name(names, n.name));
    std::set<std::string> kernels;
    for (const Item& i : program_.items)
      if (const Kernel* kernel = std::get_if<Kernel>(&i)) JUMAR_RETURN_IF_ERROR(name(kernels, kernel->name));
    std::set<std::string> programs;
    return name(programs, program_.name);
  }

  static Status name(std::set<std::string>& names, const std::string& name) {
    if (!is_readable_name(name)) return broken("program", fmt::format("'{}' is no name", name));
    if (!names.insert(name).second) return broken("program", fmt::format("the name {} is taken twice", name));
    return {};
  }

  Status buffer(const Buffer& b) {
    std::string where = "buffer %" + b.name;
    if (b.type.sizes.size() != b.type.strides.size())
      return broken(where,
                    fmt::format("{} strides for {} sizes", b.type.strides.size(), b.type.sizes.size()));
    for (Expr size : b.type.sizes) JUMAR_RETURN_IF_ERROR(verify_size(declared_, where, "a size", size));
    for (Expr stride : b.type.strides)
      JUMAR_RETURN_IF_ERROR(verify_size(declared_, where, "a stride", stride));
    if (b.storage == Storage::kView) {
      if (b.base.index() >= program_.buffers.size()) return broken(where, "the view has no base");
      const Buffer& base = program_.buffers[b.base];
      if (base.storage == Storage::kView)
        return broken(where, fmt::format("its base %{} is a view", base.name));
      JUMAR_RETURN_IF_ERROR(verify_size(declared_, where, "the offset", b.offset));
    }
    if (b.storage != Storage::kInput && b.storage != Storage::kParameter) return {};
    BufferId id = program_.buffers.id_at(&b - &*program_.buffers.begin());
    known_.written.insert(id);
    for (Expr size : b.type.sizes)
      for (Expr symbol : sym::symbols_of(size)) known_.symbols.insert(symbol);
    for (Expr stride : b.type.strides)
      for (Expr symbol : sym::symbols_of(stride)) known_.symbols.insert(symbol);
    return {};
  }

  Status item(const Kernel& kernel) {
    std::set<BufferId> stored;
    for (size_t k = 0; k < kernel.nests.size(); ++k) {
      const Nest& nest = kernel.nests[k];
      std::string where = fmt::format("kernel @{}, nest {}", kernel.name, k);
      JUMAR_RETURN_IF_ERROR(verify_nest(program_, known_, where, nest));
      JUMAR_RETURN_IF_ERROR(verify_tiling(known_, where, nest));
      JUMAR_RETURN_IF_ERROR(touched_types(where, nest));
      for (const Stage& stage : nest.stages)
        for (const Stage::Line& line : stage.body)
          if (line.inst.kind == InstKind::kStore) stored.insert(line.inst.buffer);
      if (kernel.is_phased) known_.written.insert(stored.begin(), stored.end());
    }
    known_.written.insert(stored.begin(), stored.end());
    return {};
  }

  // The sizes of what a kernel touches are known before it runs.
  Status touched_types(const std::string& where, const Nest& nest) {
    for (const Stage& stage : nest.stages)
      for (const Stage::Line& line : stage.body)
        if (line.inst.kind == InstKind::kStore || line.inst.kind == InstKind::kLoad)
          JUMAR_RETURN_IF_ERROR(type_is_known(where, line.inst.buffer));
    return {};
  }

  Status type_is_known(const std::string& where, BufferId id) {
    const Buffer& b = program_.buffers[id];
    for (const std::vector<Expr>* list : {&b.type.sizes, &b.type.strides})
      for (Expr e : *list) JUMAR_RETURN_IF_ERROR(verify_size(known_, where, "the type of %" + b.name, e));
    return {};
  }

  Status read(const std::string& where, BufferId id) {
    if (id.index() >= program_.buffers.size())
      return broken(where, "an argument is no buffer of the program");
    const Buffer& b = program_.buffers[id];
    JUMAR_RETURN_IF_ERROR(type_is_known(where, id));
    if (b.storage == Storage::kView) JUMAR_RETURN_IF_ERROR(verify_size(known_, where, "an offset", b.offset));
    if (!known_.written.contains(b.storage == Storage::kView ? b.base : id))
      return broken(where, fmt::format("nothing has written %{} before", b.name));
    return {};
  }

  Status arg(const std::string& where, const Arg& a) {
    if (const BufferId* id = a.as<BufferId>()) return read(where, *id);
    if (const Expr* e = a.as<Expr>()) return verify_size(known_, where, "an argument", *e);
    if (const NumberId* number = a.as<NumberId>()) {
      if (known_.numbers.contains(*number)) return {};
      return broken(where, number->index() < program_.numbers.size()
                               ? fmt::format("number %{} is not known here", program_.numbers[*number].name)
                               : "an argument is no number of the program");
    }
    if (const ArgList* list = a.list()) return args(where, *list);
    return {};
  }

  Status args(const std::string& where, const ArgList& list) {
    for (const Arg& a : list) JUMAR_RETURN_IF_ERROR(arg(where, a));
    return {};
  }

  Status item(const Call& call) {
    std::string where = "call " + call.op;
    JUMAR_RETURN_IF_ERROR(args(where, call.args));
    if (!call.op.starts_with("python.") && !call.op.starts_with("scalar."))
      JUMAR_RETURN_IF_ERROR(schema(where, call));
    for (Expr symbol : call.defines) {
      if (!symbol || !symbol.is_symbol(sym::SymbolKind::kUnbacked) || !declared_.symbols.contains(symbol))
        return broken(where, "it defines what is no unbacked symbol of the program");
      if (!known_.symbols.insert(symbol).second)
        return broken(where, fmt::format("it defines {}, which is known already", symbol.symbol_name()));
    }
    for (BufferId id : call.results) {
      if (!id) continue;
      if (id.index() >= program_.buffers.size()) return broken(where, "a result is no buffer of the program");
      const Buffer& b = program_.buffers[id];
      JUMAR_RETURN_IF_ERROR(type_is_known(where, id));
      if (b.storage == Storage::kResult && known_.written.contains(id))
        return broken(where, fmt::format("result %{} is returned twice", b.name));
      if (b.storage != Storage::kResult && b.storage != Storage::kTemp && b.storage != Storage::kOutput)
        return broken(where, fmt::format("%{} can't take a result", b.name));
      known_.written.insert(id);
    }
    return {};
  }

  Status schema(const std::string& where, const Call& call) {
    auto found = std::lower_bound(program_.schemas.begin(), program_.schemas.end(), call.op,
                                  [](const auto& row, const std::string& op) { return row.first < op; });
    if (found == program_.schemas.end() || found->first != call.op)
      return broken(where, "it has no schema line");
    size_t count = found->second.args.size();
    if (count == call.args.size()) return {};
    return broken(where, fmt::format("{} arguments, its schema has {}", call.args.size(), count));
  }

  Status item(const HostOp& host) {
    std::string where = "host " + host.op;
    JUMAR_RETURN_IF_ERROR(args(where, host.args));
    if (host.result.index() >= program_.numbers.size()) return broken(where, "its result is no number");
    const Number& number = program_.numbers[host.result];
    if (number.input || !known_.numbers.insert(host.result).second)
      return broken(where, fmt::format("number %{} is defined twice", number.name));
    return {};
  }

  Status item(const Check& check) { return verify_size(known_, "check", "the predicate", check.predicate); }

  Status returned() {
    for (const Buffer& b : program_.buffers) {
      BufferId id = program_.buffers.id_at(&b - &*program_.buffers.begin());
      if (b.storage == Storage::kOutput && !known_.written.contains(id))
        return broken("return", fmt::format("nothing has written output %{}", b.name));
    }
    for (const Arg& a : program_.outputs) {
      const BufferId* id = a.as<BufferId>();
      if (!id) continue;
      const Buffer& b = program_.buffers[*id];
      const Buffer& owner = b.storage == Storage::kView ? program_.buffers[b.base] : b;
      if (owner.storage == Storage::kTemp)
        return broken("return", fmt::format("%{} is a temp and can't be returned", owner.name));
    }
    for (const Number& number : program_.numbers)
      if (!number.input &&
          !known_.numbers.contains(program_.numbers.id_at(&number - &*program_.numbers.begin())))
        return broken("program", fmt::format("nothing defines number %{}", number.name));
    return {};
  }

  const Program& program_;
  Known declared_;  // every symbol of the program
  Known known_;     // symbols begin with those that inputs mention
};

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace jumar::loop
