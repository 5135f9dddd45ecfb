// Control flow of optimized HIVM, structured or as blocks, as jumps.
#include <algorithm>

#include "driver/toolchain/hivm_reader.h"

namespace jumar::driver::toolchain {
namespace {

Diagnostic fault(std::string_view what, std::string_view text) {
  return diagnostic("syntax", "{}: {}", what, std::string(trimmed(text)).substr(0, 200));
}

// How many there are at least.
struct Arity {
  size_t results = 0;
  size_t operands = 0;
};

Arity arity_of(const HivmStep& step) {
  switch (step.op) {
    case HivmOp::kSelect:
      return {1, 3};
    case HivmOp::kZeroExtend:
    case HivmOp::kSignExtend:
    case HivmOp::kCopy:
    case HivmOp::kRetype:
    case HivmOp::kReinterpret:
    case HivmOp::kSubview:
    case HivmOp::kView:
    case HivmOp::kCollapse:
    case HivmOp::kExpand:
    case HivmOp::kMetadata:
      return {1, 1};
    case HivmOp::kAffine:
    case HivmOp::kBlockIndex:
    case HivmOp::kSubBlockIndex:
      return {1, 0};
    case HivmOp::kPointer:
    case HivmOp::kTable:
      return {1, static_cast<size_t>(step.number)};
    case HivmOp::kDim:
      return {1, 2};
    case HivmOp::kBranch:
      return {0, 1};
    case HivmOp::kUnknown:
    case HivmOp::kScalarLoad:
    case HivmOp::kScalarStore:
    case HivmOp::kCall:
    case HivmOp::kVector:
    case HivmOp::kBarrier:
    case HivmOp::kSetFlag:
    case HivmOp::kWaitFlag:
    case HivmOp::kBlockSync:
    case HivmOp::kMove:
    case HivmOp::kJump:
    case HivmOp::kReturn:
      return {0, 0};
    default:
      return {1, 2};
  }
}

// "%a = %x, %b = %y" as {"%a", "%b"} and {"%x", "%y"}.
void split_pairs(std::string_view text, std::vector<std::string>& left, std::vector<std::string>& right) {
  for (const std::string_view part : split_list(text)) {
    const std::vector<std::string> names = names_in(part);
    if (names.size() != 2) continue;
    left.push_back(names[0]);
    right.push_back(names[1]);
  }
}

}  // namespace

HivmStep& HivmFunctionReader::emit(HivmOp op) {
  function_.steps.emplace_back();
  function_.steps.back().op = op;
  return function_.steps.back();
}

void HivmFunctionReader::move(std::vector<uint32_t> results, std::vector<uint32_t> operands) {
  const size_t count = std::min(results.size(), operands.size());
  if (count == 0) return;
  results.resize(count);
  operands.resize(count);
  HivmStep& step = emit(HivmOp::kMove);
  step.results = std::move(results);
  step.operands = std::move(operands);
}

size_t HivmFunctionReader::emit_jump(HivmOp op, size_t target) {
  emit(op).target = static_cast<uint32_t>(target);
  return function_.steps.size() - 1;
}

uint32_t HivmFunctionReader::slot(std::string_view name) {
  const auto found = slots_.find(name);
  if (found != slots_.end()) return found->second;
  const uint32_t out = hidden_slot();
  slots_.emplace(std::string(name), out);
  return out;
}

std::vector<uint32_t> HivmFunctionReader::slots(const std::vector<std::string>& names) {
  std::vector<uint32_t> out;
  for (const std::string& name : names) out.push_back(slot(name));
  return out;
}

uint32_t HivmFunctionReader::constant_slot(int64_t value) {
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const uint32_t out = hidden_slot();
  constants_.emplace(value, out);
  function_.constants.emplace_back(out, value);
  return out;
}

Status HivmFunctionReader::line(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || starts_with(text, "//")) return {};
  if (text.front() == '}') return close(text);
  if (text.front() == '^') {
    label(text);
    return {};
  }
  const HivmLine line(text);
  if (line.op == "scf.for") return begin_for(line);
  if (line.op == "scf.if") return begin_if(line);
  if (line.op == "scf.while") return begin_while(line);
  if (line.op == "scf.condition") return condition(line);
  if (line.op == "cf.br") return jump_to(line.rest);
  if (line.op == "cf.cond_br") return branch(line);
  if (line.op == "scf.yield") {
    yield(line);
    return {};
  }
  if (line.op == "return" || line.op == "func.return" || line.op == "llvm.return") {
    emit(HivmOp::kReturn).operands = slots(line.names());
    return {};
  }
  if (text.back() == '{') return fault("a region of an operation that is not known", text);
  return operation(line);
}

// scf.for %i = %low to %high step %by iter_args(%a = %x) -> (i32) : i32 {
Status HivmFunctionReader::begin_for(const HivmLine& line) {
  const size_t args = line.rest.find("iter_args");
  const std::vector<std::string> bounds = names_in(line.rest.substr(0, args));
  if (bounds.size() != 4) return fault("a loop without its bounds", line.rest);
  std::vector<std::string> carried;
  std::vector<std::string> initial;
  if (args != std::string_view::npos) {
    size_t at = line.rest.find('(', args);
    if (at != std::string_view::npos) split_pairs(bracketed(line.rest, at), carried, initial);
  }
  Region region{Region::Kind::kFor,
                slots(line.results),
                slots(carried),
                {},
                slot(bounds[0]),
                slot(bounds[3]),
                0,
                std::nullopt,
                std::nullopt,
                {}};
  std::vector<uint32_t> from = slots(initial);
  std::vector<uint32_t> into = region.carried;
  from.push_back(slot(bounds[1]));
  into.push_back(region.index);
  move(into, from);
  region.begin = function_.steps.size();
  const uint32_t is_past = hidden_slot();
  HivmStep& compare = emit(HivmOp::kCompare);
  compare.results = {is_past};
  compare.operands = {region.index, slot(bounds[2])};
  compare.number = static_cast<int64_t>(HivmPredicate::kSge);
  region.skip = emit_jump(HivmOp::kBranch);
  function_.steps.back().operands = {is_past};
  regions_.push_back(std::move(region));
  return {};
}

void HivmFunctionReader::close_for(const Region& region) {
  const uint32_t next = hidden_slot();
  HivmStep& add = emit(HivmOp::kAdd);
  add.results = {next};
  add.operands = {region.index, region.step};
  std::vector<uint32_t> into = region.carried;
  std::vector<uint32_t> from = region.yielded;
  from.resize(into.size(), constant_slot(0));
  into.push_back(region.index);
  from.push_back(next);
  move(into, from);
  emit_jump(HivmOp::kJump, region.begin);
  target_here(*region.skip);
  move(region.results, region.carried);
}

// scf.if %condition -> (i32) {
Status HivmFunctionReader::begin_if(const HivmLine& line) {
  const std::vector<std::string> names = line.names();
  if (names.size() != 1) return fault("a condition is missing", line.rest);
  Region region{Region::Kind::kIf, slots(line.results), {}, {}, 0, 0, 0, std::nullopt, std::nullopt, {}};
  const uint32_t is_false = hidden_slot();
  HivmStep& compare = emit(HivmOp::kCompare);
  compare.results = {is_false};
  compare.operands = {slot(names[0]), constant_slot(0)};
  compare.number = static_cast<int64_t>(HivmPredicate::kEq);
  region.skip = emit_jump(HivmOp::kBranch);
  function_.steps.back().operands = {is_false};
  regions_.push_back(std::move(region));
  return {};
}

// scf.while (%a = %x) : (i32) -> (i32) {
Status HivmFunctionReader::begin_while(const HivmLine& line) {
  std::vector<std::string> carried;
  std::vector<std::string> initial;
  size_t at = line.rest.find('(');
  if (at == std::string_view::npos) return fault("a loop without arguments", line.rest);
  if (line.rest.find('%') != std::string_view::npos) split_pairs(bracketed(line.rest, at), carried, initial);
  Region region{Region::Kind::kBefore,
                slots(line.results),
                slots(carried),
                {},
                0,
                0,
                0,
                std::nullopt,
                std::nullopt,
                {}};
  for (size_t k = 0; k < region.results.size(); ++k) region.passed.push_back(hidden_slot());
  move(region.carried, slots(initial));
  region.begin = function_.steps.size();
  regions_.push_back(std::move(region));
  return {};
}

// scf.condition(%goes_on) %a, %b : i32, i32
Status HivmFunctionReader::condition(const HivmLine& line) {
  const std::vector<std::string> names = line.names();
  if (regions_.empty() || regions_.back().kind != Region::Kind::kBefore || names.empty())
    return fault("a condition without its loop", line.rest);
  Region& region = regions_.back();
  std::vector<uint32_t> passed = slots(names);
  const uint32_t goes_on = passed.front();
  passed.erase(passed.begin());
  const uint32_t is_over = hidden_slot();
  HivmStep& compare = emit(HivmOp::kCompare);
  compare.results = {is_over};
  compare.operands = {goes_on, constant_slot(0)};
  compare.number = static_cast<int64_t>(HivmPredicate::kEq);
  move(region.passed, passed);
  region.skip = emit_jump(HivmOp::kBranch);
  function_.steps.back().operands = {is_over};
  return {};
}

void HivmFunctionReader::close_while(const Region& region) {
  move(region.carried, region.yielded);
  emit_jump(HivmOp::kJump, region.begin);
  target_here(*region.skip);
  move(region.results, region.passed);
}

void HivmFunctionReader::yield(const HivmLine& line) {
  if (regions_.empty()) return;
  Region& region = regions_.back();
  region.yielded = slots(line.names());
  if (region.kind == Region::Kind::kIf || region.kind == Region::Kind::kElse)
    move(region.results, region.yielded);
}

Status HivmFunctionReader::close(std::string_view text) {
  if (regions_.empty()) return fault("a bracket that nothing opened", text);
  Region& region = regions_.back();
  if (region.kind == Region::Kind::kIf && text.find("else") != std::string_view::npos) {
    region.skip_else = emit_jump(HivmOp::kJump);
    target_here(*region.skip);
    region.kind = Region::Kind::kElse;
    return {};
  }
  if (region.kind == Region::Kind::kBefore) {
    if (!region.skip) return fault("a loop without its condition", text);
    region.kind = Region::Kind::kAfter;
    return {};
  }
  const Region done = std::move(region);
  regions_.pop_back();
  if (done.kind == Region::Kind::kFor) close_for(done);
  if (done.kind == Region::Kind::kAfter) close_while(done);
  if (done.kind == Region::Kind::kIf) target_here(*done.skip);
  if (done.kind == Region::Kind::kElse) target_here(*done.skip_else);
  return {};
}

// ^bb1(%20: i32):  // 2 preds: ^bb0, ^bb4
void HivmFunctionReader::label(std::string_view text) {
  const std::string_view head = text.substr(0, text.find("//"));
  const std::vector<uint32_t> arguments = slots(names_in(head));
  if (!regions_.empty() && regions_.back().kind == Region::Kind::kAfter) {
    move(arguments, regions_.back().passed);
    return;
  }
  Label& label = labels_[std::string(text.substr(0, text.find_first_of("(:")))];
  label.arguments = arguments;
  label.step = function_.steps.size();
}

// ^bb1(%7, %8 : i32, i32)
Status HivmFunctionReader::jump_to(std::string_view target) {
  target = trimmed(target);
  Pending pending;
  pending.label = std::string(target.substr(0, target.find_first_of("( :,")));
  if (pending.label.empty() || pending.label.front() != '^') return fault("a jump to nowhere", target);
  const std::vector<uint32_t> passed = slots(names_in(target));
  if (!passed.empty()) {
    HivmStep& step = emit(HivmOp::kMove);
    step.operands = passed;
    pending.move = function_.steps.size() - 1;
  }
  pending.jump = emit_jump(HivmOp::kJump);
  pending_.push_back(std::move(pending));
  return {};
}

// cf.cond_br %10, ^bb2(%3 : i32), ^bb3
Status HivmFunctionReader::branch(const HivmLine& line) {
  const std::vector<std::string_view> parts = split_list(line.rest);
  if (parts.size() < 3) return fault("a branch without its targets", line.rest);
  const size_t jump = emit_jump(HivmOp::kBranch);
  function_.steps[jump].operands = slots(names_in(parts[0]));
  JUMAR_RETURN_IF_ERROR(jump_to(parts[2]));
  target_here(jump);
  return jump_to(parts[1]);
}

Status HivmFunctionReader::finish() {
  if (!regions_.empty()) return diagnostic("syntax", "a region of {} is not closed", function_.name);
  for (const Pending& pending : pending_) {
    const auto found = labels_.find(pending.label);
    if (found == labels_.end() || !found->second.step)
      return diagnostic("syntax", "{} has no block {}", function_.name, pending.label);
    const Label& label = found->second;
    function_.steps[pending.jump].target = static_cast<uint32_t>(*label.step);
    if (!pending.move) continue;
    HivmStep& step = function_.steps[*pending.move];
    if (step.operands.size() != label.arguments.size())
      return diagnostic("syntax", "{} values for block {}", step.operands.size(), pending.label);
    step.results = label.arguments;
  }
  emit(HivmOp::kReturn);
  for (const HivmStep& step : function_.steps) {
    const Arity arity = arity_of(step);
    if (step.results.size() < arity.results || step.operands.size() < arity.operands)
      return diagnostic("syntax", "an operation of {} lacks operands or results", function_.name);
  }
  mark_scalar_loops();
  function_.is_repeatable =
      function_.is_vector_code &&
      std::none_of(function_.steps.begin(), function_.steps.end(), [](const HivmStep& step) {
        return step.op == HivmOp::kBlockIndex || step.op == HivmOp::kSubBlockIndex ||
               step.op == HivmOp::kPointer || step.op == HivmOp::kTable || step.op == HivmOp::kCall ||
               (step.op == HivmOp::kReturn && !step.operands.empty());
      });
  return {};
}

// The steps of a loop that is innermost in the text: it loads or stores single elements, and no call in it
// computes on vectors.
bool HivmFunctionReader::is_scalar_loop(size_t begin, size_t end) const {
  bool has_access = false;
  for (size_t k = begin; k < end; ++k) {
    const HivmStep& step = function_.steps[k];
    const bool jumps = step.op == HivmOp::kJump || step.op == HivmOp::kBranch;
    if (jumps && step.target <= k) return false;  // a loop within
    if (step.op == HivmOp::kVector) return false;
    if (step.op == HivmOp::kCall && step.number == 0) return false;
    has_access = has_access || step.op == HivmOp::kScalarLoad || step.op == HivmOp::kScalarStore;
  }
  return has_access;
}

void HivmFunctionReader::mark_scalar_loops() {
  for (size_t k = 0; k < function_.steps.size(); ++k) {
    HivmStep& step = function_.steps[k];
    const bool closes_loop = step.op == HivmOp::kJump && step.target <= k;
    if (closes_loop && is_scalar_loop(step.target, k)) step.number = 1;
  }
}

}  // namespace jumar::driver::toolchain
