#include <set>
#include <unordered_set>

#include "plan/entry.h"
#include "plan/number_op.h"
#include "plan/plan.h"

namespace jumar::plan {
namespace {

using sym::Expr;

Diagnostic broken(std::string message) { return {"verify", std::move(message), {}, {}}; }

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  Status run() {
    JUMAR_RETURN_IF_ERROR(symbols());
    JUMAR_RETURN_IF_ERROR(names());
    JUMAR_RETURN_IF_ERROR(inputs());
    for (const Tensor& tensor : plan_.tensors) JUMAR_RETURN_IF_ERROR(declaration(tensor));
    JUMAR_RETURN_IF_ERROR(entry());
    for (size_t k = 0; k < plan_.steps.size(); ++k) {
      Status status = std::visit([this](const auto& data) { return step(data); }, plan_.steps[k].data);
      if (!status.ok()) return broken(fmt::format("step {}: {}", k, status.error().message));
    }
    return outputs();
  }

 private:
  Status symbols() {
    for (const SymbolInfo& info : plan_.symbols) {
      if (!info.symbol || !info.symbol.is_symbol()) return broken("the symbol list holds something else");
      if (!declared_.insert(info.symbol).second)
        return broken(fmt::format("symbol {} is declared twice", info.symbol.symbol_name()));
      if (info.range.lo > info.range.hi)
        return broken(fmt::format("the range of symbol {} is empty", info.symbol.symbol_name()));
    }
    return {};
  }

  Status names() {
    std::set<std::string> seen;
    auto add = [&seen](const std::string& name) -> Status {
      if (name.empty()) return broken("a tensor or number has no name");
      if (!seen.insert(name).second) return broken(fmt::format("%{} is declared twice", name));
      return {};
    };
    for (const IntInput& input : plan_.int_inputs)
      JUMAR_RETURN_IF_ERROR(add(input.name.empty() ? fmt::format("n{}", input.index) : input.name));
    for (const Tensor& tensor : plan_.tensors) JUMAR_RETURN_IF_ERROR(add(tensor.name));
    for (const Number& number : plan_.numbers) JUMAR_RETURN_IF_ERROR(add(number.name));
    for (size_t k = 1; k < plan_.schemas.size(); ++k)
      if (plan_.schemas[k - 1].first >= plan_.schemas[k].first)
        return broken(fmt::format("schemas are not sorted at {}", plan_.schemas[k].first));
    return {};
  }

  Status inputs() {
    std::vector<int> uses(plan_.input_count, 0);
    auto use = [&](uint32_t index) -> Status {
      if (index >= plan_.input_count)
        return broken(fmt::format("input {} of {} inputs", index, plan_.input_count));
      if (++uses[index] > 1) return broken(fmt::format("input {} is declared twice", index));
      return {};
    };
    for (const IntInput& input : plan_.int_inputs) JUMAR_RETURN_IF_ERROR(use(input.index));
    for (const Tensor& tensor : plan_.tensors)
      if (is_input(tensor)) JUMAR_RETURN_IF_ERROR(use(tensor.index));
    for (const Number& number : plan_.numbers)
      if (number.input) JUMAR_RETURN_IF_ERROR(use(*number.input));
    for (uint32_t k = 0; k < plan_.input_count; ++k)
      if (uses[k] == 0) return broken(fmt::format("input {} is not declared", k));
    return {};
  }

  static bool is_input(const Tensor& tensor) {
    return tensor.storage == Storage::kInput || tensor.storage == Storage::kParameter;
  }

  Status known_symbols(Expr e, const std::string& where) const {
    if (!e) return broken(fmt::format("{} has an empty expression", where));
    for (Expr symbol : sym::symbols_of(e))
      if (!declared_.contains(symbol))
        return broken(
            fmt::format("{} mentions {}, which is no symbol of the plan", where, sym::text(symbol)));
    return {};
  }

  Status declaration(const Tensor& tensor) {
    std::string where = "%" + tensor.name;
    if (tensor.type.strides.size() != tensor.type.sizes.size())
      return broken(fmt::format("{} has {} sizes and {} strides", where, tensor.type.sizes.size(),
                                tensor.type.strides.size()));
    for (Expr e : tensor.type.sizes) JUMAR_RETURN_IF_ERROR(known_symbols(e, where));
    for (Expr e : tensor.type.strides) JUMAR_RETURN_IF_ERROR(known_symbols(e, where));
    if (tensor.storage != Storage::kView) return {};
    size_t own = static_cast<size_t>(&tensor - &*plan_.tensors.begin());
    if (!tensor.base || tensor.base.index() >= own)
      return broken(fmt::format("{} is a view of a tensor that is not declared before it", where));
    return known_symbols(tensor.offset, where);
  }

  Status bound(Expr e, const std::string& where) const {
    JUMAR_RETURN_IF_ERROR(known_symbols(e, where));
    for (Expr symbol : sym::symbols_of(e))
      if (!bound_.contains(symbol))
        return broken(fmt::format("{} uses {} before it is bound", where, sym::text(symbol)));
    return {};
  }

  // The expression must be linear in at most one symbol that is not bound yet; that one becomes bound.
  Status bind_through(Expr e, const std::string& where, bool must_bind) {
    JUMAR_RETURN_IF_ERROR(known_symbols(e, where));
    Expr unknown;
    for (Expr symbol : sym::symbols_of(e)) {
      if (bound_.contains(symbol)) continue;
      if (unknown)
        return broken(fmt::format("{} has two unbound symbols, {} and {}", where, sym::text(unknown),
                                  sym::text(symbol)));
      unknown = symbol;
    }
    if (!unknown) return must_bind ? Status(broken(where + " binds no symbol")) : Status();
    if (!sym::linear_in(plan_.cx(), e, unknown))
      return broken(fmt::format("{} cannot be solved for {}", where, sym::text(unknown)));
    bound_.insert(unknown);
    return {};
  }

  Status entry() {
    JUMAR_ASSIGN(std::vector<EntryBinding> rows, entry_bindings(plan_));
    for (const EntryBinding& row : rows) {
      JUMAR_RETURN_IF_ERROR(known_symbols(row.expr, "a binding"));
      if (row.symbol) bound_.insert(row.symbol);
    }
    for (const Tensor& tensor : plan_.tensors) {
      if (!is_input(tensor)) continue;
      for (Expr e : tensor.type.sizes) JUMAR_RETURN_IF_ERROR(bound(e, "the type of %" + tensor.name));
      for (Expr e : tensor.type.strides) JUMAR_RETURN_IF_ERROR(bound(e, "the type of %" + tensor.name));
    }
    for (const Number& number : plan_.numbers)
      if (number.input) defined_numbers_.insert(number_id(number).index());
    return {};
  }

  NumberId number_id(const Number& number) const {
    return plan_.numbers.id_at(static_cast<size_t>(&number - &*plan_.numbers.begin()));
  }

  const Tensor& root(TensorId id) const {
    while (plan_.tensors[id].storage == Storage::kView) id = plan_.tensors[id].base;
    return plan_.tensors[id];
  }
  TensorId root_id(TensorId id) const {
    while (plan_.tensors[id].storage == Storage::kView) id = plan_.tensors[id].base;
    return id;
  }

  // A tensor whose memory or layout a step uses.
  Status used(TensorId id) const {
    if (!id || id.index() >= plan_.tensors.size()) return broken("a tensor operand is missing");
    const Tensor& tensor = plan_.tensors[id];
    std::string where = "%" + tensor.name;
    TensorId base = root_id(id);
    if (plan_.tensors[base].storage == Storage::kResult && !defined_results_.contains(base.index()))
      return broken(fmt::format("{} is used before a call defines it", where));
    for (Expr e : tensor.type.sizes) JUMAR_RETURN_IF_ERROR(bound(e, "the type of " + where));
    for (Expr e : tensor.type.strides) JUMAR_RETURN_IF_ERROR(bound(e, "the type of " + where));
    if (tensor.storage == Storage::kView) {
      JUMAR_RETURN_IF_ERROR(bound(tensor.offset, "the offset of " + where));
      return used(tensor.base);
    }
    return {};
  }

  Status used(NumberId id) const {
    if (!id || id.index() >= plan_.numbers.size()) return broken("a number operand is missing");
    if (!defined_numbers_.contains(id.index()))
      return broken(fmt::format("%{} is used before it is defined", plan_.numbers[id].name));
    return {};
  }

  Status used(const Arg& arg) const {
    if (const TensorId* id = arg.as<TensorId>()) return used(*id);
    if (const NumberId* id = arg.as<NumberId>()) return used(*id);
    if (const Expr* e = arg.as<Expr>()) return bound(*e, "an argument");
    if (const ArgList* items = arg.as<ArgList>())
      for (const Arg& item : *items) JUMAR_RETURN_IF_ERROR(used(item));
    return {};
  }

  Status step(const BindStep& bind) {
    if (bind.of_cores()) return {};
    if (is_entry_bind(plan_, bind)) return dimension(bind);
    if (!bind.of_tensor()) {
      JUMAR_RETURN_IF_ERROR(used(bind.number));
      return bind_through(bind.symbol, "bind " + sym::text(bind.symbol), true);
    }
    if (!bind.tensor || bind.tensor.index() >= plan_.tensors.size())
      return broken("a tensor operand is missing");
    const Tensor& tensor = plan_.tensors[bind.tensor];
    if (bind.source == BindStep::Source::kItem) {
      JUMAR_RETURN_IF_ERROR(used(bind.tensor));
      if (!ir::is_integer(tensor.type.dtype) && !ir::is_bool(tensor.type.dtype))
        return broken(fmt::format("item of %{}, which holds no integers", tensor.name));
    } else {
      if (tensor.storage != Storage::kResult)
        return broken(fmt::format("size or stride of %{}, which is no input and no result", tensor.name));
      if (!defined_results_.contains(bind.tensor.index()))
        return broken(fmt::format("%{} is used before a call defines it", tensor.name));
      JUMAR_RETURN_IF_ERROR(dimension(bind));
    }
    return bind_through(bind.symbol, "bind " + sym::text(bind.symbol), true);
  }

  Status dimension(const BindStep& bind) const {
    const Tensor& tensor = plan_.tensors[bind.tensor];
    if (bind.dim >= tensor.type.rank())
      return broken(fmt::format("%{} has no dimension {}", tensor.name, bind.dim));
    return {};
  }

  Status step(const LaunchStep& launch) const {
    if (launch.kernel.empty()) return broken("a launch names no kernel");
    for (TensorId id : launch.tensors) JUMAR_RETURN_IF_ERROR(used(id));
    for (Expr e : launch.ints) JUMAR_RETURN_IF_ERROR(bound(e, "an argument"));
    for (NumberId id : launch.floats) JUMAR_RETURN_IF_ERROR(used(id));
    if (launch.phases.empty()) return broken("a launch has no units");
    for (const LaunchPhase& phase : launch.phases) {
      JUMAR_RETURN_IF_ERROR(bound(phase.units, "units"));
      JUMAR_RETURN_IF_ERROR(bound(phase.grain, "grain"));
    }
    return {};
  }

  Status step(const CallStep& call) {
    const Schema* schema = nullptr;
    for (const auto& [name, candidate] : plan_.schemas)
      if (name == call.op) schema = &candidate;
    if (!schema) return broken(fmt::format("operator {} has no schema", call.op));
    if (schema->args.size() != call.args.size())
      return broken(fmt::format("operator {} takes {} arguments, the call has {}", call.op,
                                schema->args.size(), call.args.size()));
    for (const Arg& arg : call.args) JUMAR_RETURN_IF_ERROR(used(arg));
    if (call.into)
      for (TensorId id : call.results) JUMAR_RETURN_IF_ERROR(target(id));
    else
      JUMAR_RETURN_IF_ERROR(define_results(call.results));
    for (Expr symbol : call.result_ints) {
      if (!symbol || !symbol.is_symbol()) return broken("an int result is no symbol");
      JUMAR_RETURN_IF_ERROR(bind_through(symbol, "result " + sym::text(symbol), true));
    }
    return {};
  }

  Status target(TensorId id) const {
    JUMAR_RETURN_IF_ERROR(used(id));
    Storage storage = root(id).storage;
    if (storage != Storage::kArena && storage != Storage::kOutput)
      return broken(
          fmt::format("a call writes into %{}, which is neither arena nor output", plan_.tensors[id].name));
    return {};
  }

  Status define_results(const std::vector<TensorId>& results) {
    for (TensorId id : results) {
      if (!id) continue;
      if (id.index() >= plan_.tensors.size()) return broken("a result is missing");
      const Tensor& tensor = plan_.tensors[id];
      if (tensor.storage != Storage::kResult)
        return broken(fmt::format("%{} takes a result but is not declared as one", tensor.name));
      if (!defined_results_.insert(id.index()).second)
        return broken(fmt::format("%{} is defined twice", tensor.name));
    }
    return {};
  }

  Status step(const PythonStep& python) {
    for (const Arg& arg : python.args) JUMAR_RETURN_IF_ERROR(used(arg));
    return define_results(python.results);
  }

  Status step(const NumberStep& number) {
    std::optional<NumberOp> op = number_op_from_name(number.op);
    if (!op) return broken(fmt::format("'{}' is no operation on numbers", number.op));
    if (number.args.size() != number_op_arity(*op))
      return broken(fmt::format("{} takes {} arguments, found {}", number.op, number_op_arity(*op),
                                number.args.size()));
    for (const Arg& arg : number.args) {
      JUMAR_RETURN_IF_ERROR(used(arg));
      bool is_tensor = arg.as<TensorId>() != nullptr;
      bool is_number = arg.as<NumberId>() || arg.as<Expr>() || arg.as<double>() || arg.as<bool>();
      if (*op == NumberOp::kItem ? !is_tensor : !is_number)
        return broken(fmt::format("{} cannot take this kind of argument", number.op));
    }
    if (!number.result || number.result.index() >= plan_.numbers.size()) return broken("a result is missing");
    const Number& result = plan_.numbers[number.result];
    if (*op != NumberOp::kItem && result.kind != number_op_kind(*op))
      return broken(fmt::format("%{} has not the kind that {} gives", result.name, number.op));
    if (!defined_numbers_.insert(number.result.index()).second)
      return broken(fmt::format("%{} is defined twice", result.name));
    return {};
  }

  Status step(const CheckStep& check) const { return bound(check.predicate, "a check"); }

  Status outputs() const {
    for (size_t k = 0; k < plan_.outputs.size(); ++k) {
      const Arg& arg = plan_.outputs[k];
      if (arg.as<std::string>() || arg.as<WordArg>() || arg.as<ArgList>())
        return broken(fmt::format("output {} is neither a tensor nor a number nor none", k));
      Status status = used(arg);
      if (!status.ok()) return broken(fmt::format("output {}: {}", k, status.error().message));
      const TensorId* id = arg.as<TensorId>();
      if (id && root(*id).storage == Storage::kArena)
        return broken(fmt::format("output {}: %{} lies in the arena, which the next call reuses", k,
                                  plan_.tensors[*id].name));
    }
    return {};
  }

  const Plan& plan_;
  std::unordered_set<Expr> declared_;
  std::unordered_set<Expr> bound_;
  std::unordered_set<uint32_t> defined_results_;
  std::unordered_set<uint32_t> defined_numbers_;
};

}  // namespace

Status verify(const Plan& plan) { return Verifier(plan).run(); }

}  // namespace jumar::plan
