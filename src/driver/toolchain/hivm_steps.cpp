// Operations of optimized HIVM, as steps.
#include <algorithm>
#include <iterator>

#include "driver/toolchain/hivm_reader.h"

namespace jumar::driver::toolchain {
namespace {

using Op = HivmOp;

struct NumberRow {
  std::string_view name;
  HivmOp op;
};

// The dialect does not matter: A2 prints arith, A5 arith and llvm.
constexpr NumberRow kNumbers[] = {
    {"addi", Op::kAdd},
    {"add", Op::kAdd},
    {"subi", Op::kSub},
    {"sub", Op::kSub},
    {"muli", Op::kMul},
    {"mul", Op::kMul},
    {"divsi", Op::kDivS},
    {"sdiv", Op::kDivS},
    {"divui", Op::kDivU},
    {"udiv", Op::kDivU},
    {"floordivsi", Op::kFloorDiv},
    {"ceildivsi", Op::kCeilDiv},
    {"ceildivui", Op::kCeilDiv},
    {"remsi", Op::kRemS},
    {"srem", Op::kRemS},
    {"remui", Op::kRemU},
    {"urem", Op::kRemU},
    {"andi", Op::kAnd},
    {"and", Op::kAnd},
    {"ori", Op::kOr},
    {"or", Op::kOr},
    {"xori", Op::kXor},
    {"xor", Op::kXor},
    {"shli", Op::kShl},
    {"shl", Op::kShl},
    {"shrsi", Op::kShrS},
    {"ashr", Op::kShrS},
    {"shrui", Op::kShrU},
    {"lshr", Op::kShrU},
    {"minsi", Op::kMinS},
    {"intr.smin", Op::kMinS},
    {"minui", Op::kMinU},
    {"intr.umin", Op::kMinU},
    {"maxsi", Op::kMaxS},
    {"intr.smax", Op::kMaxS},
    {"maxui", Op::kMaxU},
    {"intr.umax", Op::kMaxU},
    {"select", Op::kSelect},
    {"index_cast", Op::kCopy},
    {"trunci", Op::kCopy},
    {"trunc", Op::kCopy},
    {"unrealized_conversion_cast", Op::kCopy},
    {"extsi", Op::kSignExtend},
    {"sext", Op::kSignExtend},
    {"extui", Op::kZeroExtend},
    {"zext", Op::kZeroExtend},
    {"index_castui", Op::kZeroExtend},
};

struct PredicateRow {
  std::string_view name;
  HivmPredicate predicate;
};
constexpr PredicateRow kPredicates[] = {
    {"eq", HivmPredicate::kEq},   {"ne", HivmPredicate::kNe},   {"slt", HivmPredicate::kSlt},
    {"sle", HivmPredicate::kSle}, {"sgt", HivmPredicate::kSgt}, {"sge", HivmPredicate::kSge},
    {"ult", HivmPredicate::kUlt}, {"ule", HivmPredicate::kUle}, {"ugt", HivmPredicate::kUgt},
    {"uge", HivmPredicate::kUge},
};

// Operations that neither cost anything that is counted nor make a size; a row that ends in '*' is a prefix.
constexpr std::string_view kHarmless[] = {
    "hivm.hir.set_mask*",
    "hivm.hir.set_ctrl",
    "hivm.hir.set_ffts_base_addr",
    "llvm.mlir.undef",
    "llvm.mlir.poison",
    "llvm.extractvalue",
    "llvm.insertvalue",
    "llvm.getelementptr",
    "llvm.bitcast",
    "llvm.alloca",
    "llvm.inttoptr",
    "llvm.ptrtoint",
    "llvm.fcmp",
    "llvm.sitofp",
    "llvm.uitofp",
    "llvm.fptosi",
    "llvm.f*",
    "arith.cmpf",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.divf",
    "arith.negf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.extf",
    "arith.truncf",
    "arith.bitcast",
    "arith.mului_extended",
    "arith.mulsi_extended",
    "math.*",
    "annotation.mark",
    "hivm.hir.get_sys_cnt*",
    "hivm.hir.debug",
    "hivm.hir.dcci",
    "vector.*",
    "arith.remf",
};

bool is_harmless(std::string_view op) {
  return std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](std::string_view row) {
    return row.back() == '*' ? starts_with(op, row.substr(0, row.size() - 1)) : op == row;
  });
}

// The list after a word: `list_after("... sizes: [4, %n], ...", "sizes: ")` is "4, %n".
std::string_view list_after(std::string_view text, std::string_view word) {
  const size_t found = text.find(word);
  if (found == std::string_view::npos) return {};
  size_t at = found + word.size();
  return bracketed(text, at);
}

// What stands behind the last of some words, which is a type.
std::string_view type_text(std::string_view text) {
  for (const std::string_view word : {" to ", " into ", " -> ", " : "}) {
    const size_t at = text.rfind(word);
    if (at != std::string_view::npos) return text.substr(at + word.size());
  }
  return {};
}

// "[[0, 1], [2]]"
std::vector<std::vector<int>> groups_in(std::string_view text) {
  std::vector<std::vector<int>> out;
  size_t at = text.find("[[");
  if (at == std::string_view::npos) return out;
  for (const std::string_view group : split_list(bracketed(text, at))) {
    size_t begin = 0;
    out.emplace_back();
    for (const std::string_view dim : split_list(bracketed(group, begin)))
      out.back().push_back(static_cast<int>(number_in(dim).value_or(0)));
  }
  return out;
}

}  // namespace

uint32_t HivmModuleReader::name(std::string_view text) {
  const auto [at, is_new] = names.try_emplace(std::string(text), static_cast<uint32_t>(program.names.size()));
  if (is_new) program.names.emplace_back(text);
  return at->second;
}

uint32_t HivmModuleReader::callee(std::string_view text) {
  const auto [at, is_new] =
      callees.try_emplace(std::string(text), static_cast<uint32_t>(program.callees.size()));
  if (is_new) program.callees.push_back({std::string(text), -1});
  return at->second;
}

uint32_t HivmModuleReader::type(HivmType type) {
  program.types.push_back(std::move(type));
  return static_cast<uint32_t>(program.types.size() - 1);
}

HivmStep& HivmFunctionReader::emit(HivmOp op, const HivmLine& line) {
  std::vector<uint32_t> results = slots(line.results);
  std::vector<uint32_t> operands = slots(line.names());
  HivmStep& step = emit(op);
  step.results = std::move(results);
  step.operands = std::move(operands);
  return step;
}

std::vector<uint32_t> HivmFunctionReader::mixed(std::string_view list) {
  std::vector<uint32_t> out;
  for (const std::string_view part : split_list(list))
    out.push_back(part.front() == '%' ? slot(part) : constant_slot(number_in(part).value_or(0)));
  return out;
}

Status HivmFunctionReader::operation(const HivmLine& line) {
  if (line.op == "arith.constant" || line.op == "llvm.mlir.constant") {
    constant(line);
    return {};
  }
  if (starts_with(line.op, "affine.")) return affine(line);
  if (line.op == "func.call" || line.op == "call" || line.op == "llvm.call") {
    call(line);
    return {};
  }
  if (starts_with(line.op, "hivm_regbaseintrins.")) {
    vector(line);
    return {};
  }
  if (number_operation(line) || sync_operation(line) || view_operation(line)) return {};
  if (!is_harmless(line.op)) ++module_.program.unknown[std::string(line.op)];
  if (!line.results.empty()) emit(Op::kUnknown).results = slots(line.results);
  return {};
}

// arith.constant 5 : i32, arith.constant true, llvm.mlir.constant(5 : i32) : i32
void HivmFunctionReader::constant(const HivmLine& line) {
  if (line.results.size() != 1) return;
  std::string_view value = trimmed(line.rest);
  if (!value.empty() && value.front() == '(') value.remove_prefix(1);
  std::optional<int64_t> number = number_in(value);
  if (starts_with(value, "true")) number = 1;
  if (starts_with(value, "false")) number = 0;
  const std::string_view word = value.substr(0, value.find_first_of(" :)"));
  if (word.find_first_of(".e") != std::string_view::npos && !starts_with(value, "true") &&
      !starts_with(value, "false"))
    number = std::nullopt;
  const bool is_new = slots_.find(line.results[0]) == slots_.end();
  const uint32_t into = slot(line.results[0]);
  if (!number) {
    emit(Op::kUnknown).results = {into};
  } else if (is_new) {
    function_.constants.emplace_back(into, *number);
  } else {
    // A name that another region uses for something else.
    const uint32_t from = constant_slot(*number);
    move({into}, {from});
  }
}

bool HivmFunctionReader::number_operation(const HivmLine& line) {
  if (line.op == "arith.cmpi" || line.op == "llvm.icmp") {
    std::string_view word = trimmed(line.rest);
    if (!word.empty() && word.front() == '"') word.remove_prefix(1);
    word = word.substr(0, word.find_first_of("\", "));
    const auto row = std::find_if(std::begin(kPredicates), std::end(kPredicates),
                                  [&](const PredicateRow& each) { return each.name == word; });
    if (row == std::end(kPredicates)) return false;
    HivmStep& step = emit(Op::kCompare, line);
    step.number = static_cast<int64_t>(row->predicate);
    step.bits = last_bits(line.rest);
    return true;
  }
  const size_t dot = line.op.find('.');
  const std::string_view dialect = line.op.substr(0, dot);
  if (dialect != "arith" && dialect != "llvm" && dialect != "builtin") return false;
  const std::string_view name = line.op.substr(dot + 1);
  const auto row = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                [&](const NumberRow& each) { return each.name == name; });
  if (row == std::end(kNumbers)) return false;
  HivmStep& step = emit(row->op, line);
  step.bits = last_bits(line.rest);
  if (row->op == Op::kZeroExtend || row->op == Op::kSignExtend)
    step.number = last_bits(line.rest.substr(0, line.rest.find(" to ")));
  return true;
}

bool HivmFunctionReader::sync_operation(const HivmLine& line) {
  if (line.op == "hivm.hir.pipe_barrier") {
    emit(Op::kBarrier);
  } else if (line.op == "hivm.hir.set_flag") {
    emit(Op::kSetFlag);
  } else if (line.op == "hivm.hir.wait_flag") {
    emit(Op::kWaitFlag);
  } else if (starts_with(line.op, "hivm.hir.sync_block")) {
    emit(Op::kBlockSync);
  } else if (line.op == "hivm.hir.get_block_idx") {
    emit(Op::kBlockIndex, line);
  } else if (line.op == "hivm.hir.get_sub_block_idx") {
    emit(Op::kSubBlockIndex, line);
  } else {
    return false;
  }
  return true;
}

// affine.min #map2()[%35, %34]
Status HivmFunctionReader::affine(const HivmLine& line) {
  const std::string_view rest = trimmed(line.rest);
  const auto found = module_.maps.find(rest.substr(0, rest.find_first_of("( [")));
  if (found == module_.maps.end()) return diagnostic("syntax", "no affine map here: {}", std::string(rest));
  HivmStep& step = emit(Op::kAffine, line);
  step.index = found->second;
  step.number = static_cast<int64_t>(line.op == "affine.min"   ? HivmPick::kMin
                                     : line.op == "affine.max" ? HivmPick::kMax
                                                               : HivmPick::kFirst);
  const AffineMap& map = module_.program.maps[step.index];
  const bool fits = step.operands.size() == map.parameters() && map.parameters() <= kMostMapParameters;
  if (!fits || map.results() == 0)
    return diagnostic("syntax", "{} operands of an affine map of {}", step.operands.size(), map.parameters());
  return {};
}

namespace {

// Operations that become one step by their names.
constexpr std::pair<std::string_view, HivmOp> kViews[] = {
    {"memref.cast", HivmOp::kCopy},
    {"memref.memory_space_cast", HivmOp::kRetype},
    {"hivm.hir.bitcast", HivmOp::kRetype},
    {"hivm.hir.pointer_cast", HivmOp::kPointer},
    {"memref.alloc", HivmOp::kPointer},
    {"memref.alloca", HivmOp::kPointer},
    {"memref.view", HivmOp::kView},
    {"memref.collapse_shape", HivmOp::kCollapse},
    {"memref.expand_shape", HivmOp::kExpand},
    {"memref.extract_strided_metadata", HivmOp::kMetadata},
    {"memref.dim", HivmOp::kDim},
    {"memref.get_global", HivmOp::kTable},
};

}  // namespace

bool HivmFunctionReader::view_operation(const HivmLine& line) {
  const std::string_view name = line.op;
  if (name == "memref.load" || name == "llvm.load") {
    emit(Op::kScalarLoad, line).number = name == "llvm.load" ? 1 : 0;
    return true;
  }
  if (name == "memref.store" || name == "llvm.store") {
    HivmStep& step = emit(Op::kScalarStore, line);
    // The view comes after the value that is stored.
    step.number = name == "llvm.store" ? 1 : 0;
    if (step.operands.size() > 1) std::swap(step.operands[0], step.operands[1]);
    return true;
  }
  if (name == "memref.subview") {
    subview(line);
    return true;
  }
  if (name == "memref.reinterpret_cast") {
    std::vector<uint32_t> operands = slots(line.names());
    operands.resize(std::min<size_t>(operands.size(), 1));
    for (const std::string_view word : {"sizes: ", "strides: "}) {
      const std::vector<uint32_t> list = mixed(list_after(line.rest, word));
      operands.insert(operands.end(), list.begin(), list.end());
    }
    HivmStep& step = emit(Op::kReinterpret, line);
    step.operands = std::move(operands);
    step.index = module_.type(type_in(type_text(line.rest)));
    return true;
  }
  const auto row = std::find_if(std::begin(kViews), std::end(kViews),
                                [&](const auto& each) { return each.first == name; });
  if (row == std::end(kViews)) return false;
  HivmStep& step = emit(row->second, line);
  step.index = module_.type(type_in(type_text(line.rest)));
  step.groups = groups_in(line.rest);
  if (row->second == Op::kExpand) {
    const std::vector<uint32_t> sizes = mixed(list_after(line.rest, "output_shape "));
    step.operands.resize(std::min<size_t>(step.operands.size(), 1));
    step.operands.insert(step.operands.end(), sizes.begin(), sizes.end());
  }
  if (row->second == Op::kView && step.operands.size() > 1)
    step.operands.erase(step.operands.begin() + 1);  // where it begins
  if (name == "hivm.hir.pointer_cast") {
    size_t at = 0;
    step.number = static_cast<int64_t>(names_in(bracketed(line.rest, at)).size());
  }
  return true;
}

// memref.subview %x[%at, 0] [%rows, 32] [1, 1] : memref<...> to memref<...>
void HivmFunctionReader::subview(const HivmLine& line) {
  size_t at = line.rest.find('[');
  bracketed(line.rest, at);
  const std::string_view sizes = bracketed(line.rest, at);
  const std::string_view steps = bracketed(line.rest, at);
  HivmStep step;
  step.op = Op::kSubview;
  step.results = slots(line.results);
  step.operands = slots(line.names());
  step.operands.resize(std::min<size_t>(step.operands.size(), 1));
  for (const std::string_view list : {sizes, steps}) {
    const std::vector<uint32_t> more = mixed(list);
    step.operands.insert(step.operands.end(), more.begin(), more.end());
  }
  const HivmType type = type_in(type_text(line.rest));
  step.index = module_.type(type);
  // A result of lower rank drops dimensions of size 1, from the front as far as that fits.
  const std::vector<std::string_view> parts = split_list(sizes);
  size_t surplus = parts.size() > type.sizes.size() ? parts.size() - type.sizes.size() : 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    const size_t next = static_cast<size_t>(__builtin_popcountll(static_cast<uint64_t>(step.number)));
    const bool wants_one = next < type.sizes.size() && type.sizes[next] == 1 && surplus < parts.size() - k;
    const bool stays = parts[k] != "1" || surplus == 0 || wants_one;
    if (stays) {
      step.number |= int64_t{1} << k;
    } else {
      --surplus;
    }
  }
  function_.steps.push_back(std::move(step));
}

// call @name(%a, %b) {attributes} : (types) -> ()
void HivmFunctionReader::call(const HivmLine& line) {
  const size_t at = line.rest.find('@');
  if (at == std::string_view::npos) return;
  const size_t open = line.rest.find('(', at);
  size_t end = open;
  const std::string_view operands = bracketed(line.rest, end);
  HivmStep& step = emit(Op::kCall);
  step.results = slots(line.results);
  step.operands = slots(names_in(operands));
  step.index = module_.callee(line.rest.substr(at + 1, open - at - 1));
  const size_t types = line.rest.rfind(" : (");
  const bool touches_gm =
      types != std::string_view::npos && line.rest.find("address_space<gm>", types) != std::string_view::npos;
  const bool touches_memory =
      types != std::string_view::npos && line.rest.find("memref<", types) != std::string_view::npos;
  step.number = touches_gm || !touches_memory ? 1 : 0;  // nothing that computes on vectors
}

// "hivm_regbaseintrins.intr.hivm.vadd.s.x"(%1, %2, %3) : (...) -> vector<64xf32>
void HivmFunctionReader::vector(const HivmLine& line) {
  constexpr std::string_view kPrefix = "hivm_regbaseintrins.intr.hivm.";
  const std::string_view name = starts_with(line.op, kPrefix) ? line.op.substr(kPrefix.size()) : line.op;
  HivmStep& step = emit(Op::kVector);
  step.results = slots(line.results);
  step.index = module_.name(name);
  // The lanes of the result, or of the first operand where nothing results.
  size_t at = line.rest.rfind("-> vector<");
  if (at == std::string_view::npos) at = line.rest.find("(vector<", line.rest.rfind(" : ("));
  if (at != std::string_view::npos)
    step.number = number_in(line.rest.substr(line.rest.find('<', at) + 1)).value_or(0);
}

}  // namespace jumar::driver::toolchain
