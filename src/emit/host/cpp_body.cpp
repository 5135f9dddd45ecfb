#include "emit/host/cpp_body.h"

#include <algorithm>

#include "runtime/arena.h"

namespace jumar::emit::host {

using runtime::Action;
using runtime::EntryCode;
using runtime::InputValue;
using runtime::kNoIndex;
using runtime::Output;
using runtime::Place;
using runtime::TensorCode;
using Source = plan::EntryBinding::Source;

CppBody::CppBody(const runtime::Code& code, const CppOptions& options)
    : code_(code), plan_(code.plan), options_(options), tensors_(code.tensors.size()) {
  CHECK(options.weights.size() <= code.inputs.size(), "{} weights", options.weights.size());
  user_inputs_ = static_cast<uint32_t>(code.inputs.size() - options.weights.size());
  (void)names_.unique("offsets");  // the variable that arena() declares
}

Status CppBody::write() {
  JUMAR_RETURN_IF_ERROR(name_symbols());
  for (const plan::Number& number : plan_.numbers) numbers_.push_back(names_.unique(number.name));
  sizes();
  inputs();
  arena();
  steps();
  results();
  return {};
}

Status CppBody::name_symbols() {
  for (const plan::SymbolInfo& info : plan_.symbols) {
    const std::string& name = info.symbol.symbol_name();
    if (names_.unique(name) != name)
      return diagnostic("wrapper", "the size symbol {} can't be the name of a variable in C++", name);
  }
  return {};
}

void CppBody::line(const std::string& text) { text_ += cpp_wrapped("    " + text) + "\n"; }
void CppBody::comment(const std::string& text) { line("// " + text); }

// What the step comes from, unless the line above says so already.
void CppBody::origin(uint32_t step) {
  const std::string& origin = plan_.steps[step].origin;
  if (origin == last_origin_) return;
  last_origin_ = origin;
  if (origin.empty()) return;
  text_ += "\n";
  comment(origin);
}

const std::string& CppBody::plan_name(uint32_t tensor) const {
  return plan_.tensors[plan::TensorId(tensor)].name;
}

std::string CppBody::layout(uint32_t index) const {
  return cpp_layout(plan_.cx(), plan_.tensors[plan::TensorId(index)].type);
}

std::string CppBody::number(uint32_t index) const { return numbers_[index]; }

void CppBody::declare(uint32_t index, const std::string& made) { declare(index, plan_name(index), made); }

void CppBody::declare(uint32_t index, const std::string& name, const std::string& made) {
  tensors_[index] = names_.unique(name);
  declarations_.tensors.push_back(name);
  const bool is_used = code_.tensors[code_.tensors[index].root].first != kNoIndex;
  line(is_used ? fmt::format("const Tensor {} = {};", tensors_[index], made) : made + ";");
}

// The tensor's identifier. Buffers and views are declared where they are used first.
std::string CppBody::tensor(uint32_t index) {
  if (!tensors_[index].empty()) return tensors_[index];
  const TensorCode& t = code_.tensors[index];
  if (t.base != kNoIndex) {
    const std::string base = tensor(t.base);
    declare(index, fmt::format("view({}, {}, {})", base, expr_text(t.offset), layout(index)));
  } else {
    CHECK(t.place == Place::kArena, "%{} is used before it is made", plan_name(index));
    const std::string offset =
        arena_offsets_.empty() ? fmt::format("offsets[{}]", t.arena) : cpp_int(arena_offsets_[t.arena]);
    declare(index, fmt::format("buffer({}, {})", offset, layout(index)));
  }
  return tensors_[index];
}

std::string CppBody::symbol_text(sym::Expr symbol) const {
  sym::Range range;
  for (const plan::SymbolInfo& info : plan_.symbols)
    if (info.symbol == symbol) range = info.range;
  const std::string name = cpp_string(symbol.symbol_name());
  if (range.lo == sym::Range::kMin && range.hi == sym::Range::kMax) return fmt::format("{{{}}}", name);
  const std::string hi = range.hi == sym::Range::kMax ? "INT64_MAX" : cpp_int(range.hi);
  return fmt::format("{{{}, {}, {}}}", name, cpp_int(range.lo), hi);
}

// The last arguments of a binding, unless the symbol is the number itself.
std::string CppBody::solved_text(sym::Expr coefficient, sym::Expr rest) const {
  if (coefficient.is_const(1) && rest.is_const(0)) return {};
  return fmt::format(", {}, {}", cpp_expr(coefficient), cpp_expr(rest));
}

void CppBody::sizes() {
  if (code_.entries.empty()) return;
  auto found = [](const EntryCode& entry) {
    if (entry.source == Source::kInt) return fmt::format("integer({})", entry.input);
    return fmt::format("{}({}, {})", entry.source == Source::kSize ? "size" : "stride", entry.input,
                       entry.dim);
  };
  for (const EntryCode& entry : code_.entries) {
    if (entry.stage == 0) continue;
    const sym::Expr symbol = expr(entry.symbol);
    line(fmt::format("const Int {} = symbol({}, {}{});", symbol.symbol_name(), found(entry),
                     symbol_text(symbol), solved_text(expr(entry.coefficient), expr(entry.rest))));
  }
  for (const EntryCode& entry : code_.entries) {
    if (entry.stage != 0 && expr(entry.expr) == expr(entry.symbol)) continue;
    line(fmt::format("expect({}, {}, {});", found(entry), expr_text(entry.expr),
                     cpp_string(sym::text(expr(entry.expr)))));
  }
  text_ += "\n";
}

void CppBody::inputs() {
  for (uint32_t k = 0; k < code_.inputs.size(); ++k) {
    const runtime::InputCode& input = code_.inputs[k];
    if (k == user_inputs_ && k > 0) text_ += "\n";
    if (input.kind == InputValue::Kind::kInt) continue;
    if (input.kind != InputValue::Kind::kTensor) {
      line(fmt::format("const double {} = number({});", number(input.index), k));
      continue;
    }
    if (k < user_inputs_) {
      declare(input.index, fmt::format("input({}, {})", k, layout(input.index)));
    } else {
      const uint32_t weight = k - user_inputs_;
      if (code_.tensors[input.index].first != kNoIndex)
        declare(input.index, options_.weights[weight].name,
                fmt::format("weight({}, {})", weight, layout(input.index)));
    }
  }
  if (!code_.inputs.empty()) text_ += "\n";
}

// Where all sizes are known the offsets are written down; else the program computes them as the executor
// does.
void CppBody::arena() {
  if (code_.planned.empty()) return;
  std::vector<runtime::ArenaRequest> requests;
  bool is_static = true;
  for (const uint32_t index : code_.planned) {
    const TensorCode& t = code_.tensors[index];
    const ir::TensorType& type = plan_.tensors[plan::TensorId(index)].type;
    const sym::Expr extent = ir::storage_extent(plan_.cx(), type);
    is_static = is_static && extent.is_const();
    if (is_static) requests.push_back({extent.const_value() * t.element_bytes, t.first, t.last});
  }
  const std::optional<runtime::ArenaLayout> layout =
      is_static ? runtime::planned_arena(requests) : std::nullopt;
  if (layout) {
    comment("Buffers share one block; those that are in use at the same time do not overlap.");
    arena_offsets_ = layout->offsets;
    line(fmt::format("arena({});", layout->total_bytes));
    return;
  }
  std::string key;
  for (const EntryCode& entry : code_.entries)
    if (entry.stage != 0) key += (key.empty() ? "" : ", ") + expr_text(entry.symbol);
  comment(
      "Buffers share one block. Each with the first and the last step that uses it: those that are in use at "
      "the same time do not overlap.");
  line(fmt::format("const int64_t* offsets = arena({{{}}}, [&] {{", key));
  line("  return std::vector<Request>{");
  for (const uint32_t index : code_.planned) {
    const TensorCode& t = code_.tensors[index];
    line(fmt::format("      {{{}, {}, {}}},  // {}", this->layout(index), t.first, t.last, plan_name(index)));
  }
  line("  };");
  line("});");
}

void CppBody::steps() {
  std::vector<uint32_t> released;
  for (action_ = 0; action_ < code_.actions.size(); ++action_) {
    const Action& action = code_.actions[action_];
    if (action.kind == Action::Kind::kRelease) {
      released.push_back(action.index);
      continue;
    }
    release(released);
    released.clear();
    switch (action.kind) {
      case Action::Kind::kMake:
        make(action.index);
        break;
      case Action::Kind::kLaunch:
        launch(code_.launches[action.index]);
        break;
      case Action::Kind::kCall:
        call(code_.calls[action.index]);
        break;
      case Action::Kind::kBind:
        bind(code_.binds[action.index]);
        break;
      case Action::Kind::kSettle:
        settle(action.index);
        break;
      case Action::Kind::kNumber:
        host_number(code_.numbers[action.index]);
        break;
      case Action::Kind::kCheck:
        check(code_.checks[action.index]);
        break;
      case Action::Kind::kRelease:
        break;
    }
  }
  release(released);
}

void CppBody::results() {
  text_ += "\n";
  std::vector<std::string> values;
  std::vector<std::pair<std::string, std::string>> updates;
  for (uint32_t k = 0; k < code_.outputs.size(); ++k) {
    const std::string value = output_text(code_.outputs[k]);
    const auto update = options_.updates.find(k);
    if (update == options_.updates.end()) {
      values.push_back(value);
    } else {
      updates.emplace_back(tensor(code_.inputs[update->second].index), value);
    }
  }
  for (const auto& [target, value] : updates) line(fmt::format("update({}, {});", target, value));
  declarations_.output_count = static_cast<uint32_t>(values.size());
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + value;
  line(fmt::format("outputs({{{}}});", list));
}

std::string CppBody::output_text(const runtime::OutputCode& output) {
  using Kind = runtime::NumberOperand::Kind;
  if (output.kind == Output::Kind::kNone) return "nullptr";
  const std::string value = operand(output.source);
  if (output.kind != Output::Kind::kBool) return value;
  return output.source.kind == Kind::kConstant ? (output.source.constant != 0 ? "true" : "false")
                                               : value + " != 0";
}

}  // namespace jumar::emit::host
