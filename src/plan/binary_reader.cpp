#include <bit>
#include <cstring>

#include "plan/binary.h"
#include "plan/binary_cursor.h"
#include "plan/binary_exprs.h"
#include "plan/binary_format.h"

namespace jumar::plan::binary {
namespace {

using sym::Expr;

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, const std::string& what)
      : bytes_(bytes), what_(what), plan_(std::make_shared<sym::Context>()) {}

  Result<Plan> run() {
    JUMAR_RETURN_IF_ERROR(header());
    strings();
    if (enter(Section::kExprs)) exprs_ = read_exprs(plan_.cx(), in_, strings_);
    head();
    rows(Section::kSymbols, 20, [this] { symbol(); });
    rows(Section::kTensors, 32, [this] { tensor(); });
    rows(Section::kNumbers, 12, [this] { number(); });
    rows(Section::kIntInputs, 12, [this] { int_input(); });
    rows(Section::kSteps, 12, [this] { step(); });
    rows(Section::kOutputs, 4, [this] { plan_.outputs.push_back(arg(0)); });
    rows(Section::kSchemas, 12, [this] { schema(); });
    in_.expect_end();
    if (in_.failed()) return bad(in_.message());
    return std::move(plan_);
  }

 private:
  Diagnostic bad(std::string_view message) const {
    return diagnostic("format", "{}: not a usable plan: {}", what_, message);
  }

  // Finds the sections. The sizes are 64-bit numbers of a file: only differences that can't wrap are
  // compared.
  Status header() {
    if (bytes_.size() < kHeaderBytes) return bad(fmt::format("{} bytes are no header", bytes_.size()));
    in_.enter(bytes_, "header", 0);
    if (in_.text(kMagic.size()) != kMagic) return bad("it does not begin with " + std::string(kMagic));
    const uint32_t major = in_.u32(), minor = in_.u32();
    if (major != kMajor)
      return diagnostic("format", "{}: its plan has version {}.{}, this runtime reads version {}: {}", what_,
                        major, minor, kMajor,
                        major > kMajor ? "use a newer one" : "compile the package again");
    const uint64_t size = in_.u64();
    if (size != bytes_.size()) return bad(fmt::format("it has {} bytes of {}", bytes_.size(), size));
    const uint32_t sections = in_.u32();
    in_.u32();
    if (sections > in_.rest() / kSectionRowBytes) return bad(fmt::format("{} sections do not fit", sections));
    for (uint32_t k = 0; k < sections; ++k) {
      const uint32_t kind = in_.u32();
      in_.u32();
      const uint64_t offset = in_.u64(), length = in_.u64();
      if (offset > size || length > size - offset)
        return bad(fmt::format("section {} is not inside of it", k));
      if (kind == 0 || kind > kLastSection) continue;  // of a newer minor version
      if (sections_[kind].data()) return bad(fmt::format("two sections of {}", kSectionNames[kind]));
      sections_[kind] = bytes_.subspan(offset, length);
    }
    for (uint32_t kind = 1; kind <= kLastSection; ++kind)
      if (!sections_[kind].data()) return bad(fmt::format("no section of {}", kSectionNames[kind]));
    return {};
  }

  // False after a failure.
  bool enter(Section section) {
    in_.expect_end();
    begin(section);
    return !in_.failed();
  }

  void begin(Section section) {
    const auto kind = static_cast<size_t>(section);
    const std::span<const uint8_t> bytes = sections_[kind];
    in_.enter(bytes, kSectionNames[kind], static_cast<uint64_t>(bytes.data() - bytes_.data()));
  }

  template <class ReadRow>
  void rows(Section section, size_t row_bytes, ReadRow read_row) {
    if (!enter(section)) return;
    const uint32_t count = in_.count(row_bytes);
    for (uint32_t k = 0; k < count && !in_.failed(); ++k) read_row();
  }

  void strings() {
    begin(Section::kStrings);  // what is behind the header's table is not the header's business
    std::vector<uint32_t> ends(in_.count(sizeof(uint32_t)));
    for (uint32_t& end : ends) end = in_.u32();
    strings_.reserve(ends.size());
    uint32_t begin = 0;
    for (uint32_t end : ends) {
      if (end < begin) in_.fail("texts are not in order");
      strings_.push_back(in_.text(end - begin));
      begin = end;
      if (in_.failed()) return;
    }
  }

  void head() {
    if (!enter(Section::kHead)) return;
    plan_.name = name();
    plan_.input_count = in_.below(kMaxInputs + 1, "input count");
  }

  std::string_view view() {
    const uint32_t id = in_.below(strings_.size(), "text");
    return in_.failed() ? std::string_view() : strings_[id];
  }
  std::string string() { return std::string(view()); }
  std::string name() {
    const std::string_view text = view();
    if (!is_name(text)) in_.fail("a name that is no word");
    return std::string(text);
  }

  // Empty only after a failure.
  Expr expr() {
    const uint32_t id = in_.below(exprs_.size(), "expression");
    return in_.failed() ? Expr() : exprs_[id];
  }
  std::vector<Expr> exprs() {
    std::vector<Expr> items(in_.count(sizeof(uint32_t)));
    for (Expr& item : items) item = expr();
    return items;
  }

  TensorId tensor_id(size_t limit) { return TensorId(in_.below(limit, "tensor")); }
  TensorId tensor_id() { return tensor_id(plan_.tensors.size()); }
  NumberId number_id() { return NumberId(in_.below(plan_.numbers.size(), "number")); }
  // A tensor or nothing, as results that nobody uses.
  std::vector<TensorId> results() {
    std::vector<TensorId> items(in_.count(sizeof(uint32_t)));
    for (TensorId& item : items) {
      const uint32_t id = in_.u32();
      if (id == kNothing) continue;
      if (id >= plan_.tensors.size()) in_.fail_below("tensor", id, plan_.tensors.size());
      item = TensorId(id);
    }
    return items;
  }
  void expect_nothing() {
    if (in_.u32() != kNothing) in_.fail("something where nothing belongs");
  }

  template <class Enum, size_t N>
  Enum enumerator(const std::array<Enum, N>& codes, std::string_view what) {
    return codes[in_.below(N, what)];
  }

  uint32_t input_index() { return in_.below(plan_.input_count, "input"); }

  void symbol() {
    SymbolInfo info;
    info.symbol = expr();
    info.range.lo = static_cast<int64_t>(in_.u64());
    info.range.hi = static_cast<int64_t>(in_.u64());
    if (info.range.lo > info.range.hi) in_.fail("an empty range");
    if (in_.failed()) return;
    if (!info.symbol.is_symbol(sym::SymbolKind::kSize) && !info.symbol.is_symbol(sym::SymbolKind::kUnbacked))
      in_.fail("a symbol that is no size");
    plan_.symbols.push_back(info);
  }

  void tensor() {
    Tensor tensor;
    tensor.name = name();
    const std::optional<ir::DType> dtype = ir::dtype_from_c10(static_cast<int32_t>(in_.u32()));
    if (!dtype) in_.fail("an unknown element type");
    tensor.type.dtype = dtype.value_or(ir::DType::kF32);
    tensor.storage = enumerator(kStorages, "storage");
    const bool is_input = tensor.storage == Storage::kInput || tensor.storage == Storage::kParameter;
    tensor.index = in_.below(is_input ? plan_.input_count : 1, "input");
    if (tensor.storage == Storage::kView) {
      tensor.base = tensor_id();
      tensor.offset = expr();
    } else {
      expect_nothing();
      expect_nothing();
    }
    tensor.type.sizes = exprs();
    tensor.type.strides = exprs();
    if (tensor.type.sizes.size() != tensor.type.strides.size())
      in_.fail("as many strides as sizes are needed");
    plan_.tensors.add(std::move(tensor));
  }

  void number() {
    Number number;
    number.name = name();
    number.kind = enumerator(kNumberKinds, "number kind");
    const uint32_t input = in_.u32();
    if (input != kNothing) number.input = input;
    if (number.input && input >= plan_.input_count) in_.fail_below("input", input, plan_.input_count);
    plan_.numbers.add(std::move(number));
  }

  void int_input() {
    IntInput input;
    input.index = input_index();
    input.expr = expr();
    input.name = string();
    if (!input.name.empty() && !is_name(input.name)) in_.fail("a name that is no word");
    plan_.int_inputs.push_back(std::move(input));
  }

  void step() {
    Step step;
    step.origin = string();
    switch (StepTag(in_.below(static_cast<uint32_t>(StepTag::kCheck) + 1, "step kind"))) {
      case StepTag::kBind:
        step.data = bind();
        break;
      case StepTag::kLaunch:
        step.data = launch();
        break;
      case StepTag::kCall:
        step.data = call();
        break;
      case StepTag::kPython:
        step.data = python();
        break;
      case StepTag::kNumber:
        step.data = number_step();
        break;
      case StepTag::kCheck: {
        CheckStep check;
        check.predicate = expr();
        check.message = string();
        step.data = std::move(check);
      }
    }
    plan_.steps.push_back(std::move(step));
  }

  BindStep bind() {
    BindStep step;
    step.source = enumerator(kSources, "source");
    step.symbol = expr();
    const bool has_dim = step.source <= BindStep::Source::kStride;
    if (step.of_tensor())
      step.tensor = tensor_id();
    else
      expect_nothing();
    const bool is_known = !in_.failed() && has_dim;
    step.dim = in_.below(is_known ? plan_.tensors[step.tensor].type.rank() : 1, "dimension");
    if (step.of_number())
      step.number = number_id();
    else
      expect_nothing();
    return step;
  }

  LaunchStep launch() {
    LaunchStep step;
    step.kernel = name();
    step.tensors.resize(in_.count(sizeof(uint32_t)));
    for (TensorId& id : step.tensors) id = tensor_id();
    step.ints = exprs();
    step.floats.resize(in_.count(sizeof(uint32_t)));
    for (NumberId& id : step.floats) id = number_id();
    step.checks_indices = in_.flag();
    step.phases.resize(in_.count(2 * sizeof(uint32_t)));
    for (LaunchPhase& phase : step.phases) {
      phase.units = expr();
      phase.grain = expr();
    }
    return step;
  }

  CallStep call() {
    CallStep step;
    step.op = name();
    step.args = args(0);
    step.results = results();
    step.into = in_.flag();
    step.result_ints = exprs();
    return step;
  }

  PythonStep python() {
    PythonStep step;
    step.callable = in_.below(size_t{INT32_MAX} + 1, "callable");
    step.args = args(0);
    step.results = results();
    return step;
  }

  NumberStep number_step() {
    NumberStep step;
    step.op = name();
    step.args = args(0);
    step.result = number_id();
    return step;
  }

  ArgList args(int depth) {
    // Lists nest, so the count of one is no reason to allocate it before its items are there.
    const uint32_t count = in_.count(sizeof(uint32_t));
    ArgList items;
    for (uint32_t k = 0; k < count && !in_.failed(); ++k) items.push_back(arg(depth));
    return items;
  }

  Arg arg(int depth) {
    switch (ArgTag(in_.below(static_cast<uint32_t>(ArgTag::kList) + 1, "argument kind"))) {
      case ArgTag::kNone:
        return {};
      case ArgTag::kTensor:
        return tensor_id();
      case ArgTag::kNumber:
        return number_id();
      case ArgTag::kExpr:
        return expr();
      case ArgTag::kFloat:
        return std::bit_cast<double>(in_.u64());
      case ArgTag::kBool:
        return in_.flag();
      case ArgTag::kString:
        return string();
      case ArgTag::kWord: {
        const WordArg::Kind kind = enumerator(kWordKinds, "word kind");
        return WordArg{kind, string()};
      }
      case ArgTag::kList:
        if (depth < kMaxListDepth) return args(depth + 1);
        in_.fail("lists are nested too deep");
    }
    return {};
  }

  void schema() {
    std::pair<std::string, Schema> row;
    row.first = name();
    row.second.args.resize(in_.count(2 * sizeof(uint32_t)));
    for (SchemaArg& item : row.second.args) {
      item.type = string();
      item.name = name();
    }
    row.second.returns.resize(in_.count(sizeof(uint32_t)));
    for (std::string& item : row.second.returns) item = string();
    plan_.schemas.push_back(std::move(row));
  }

  const std::span<const uint8_t> bytes_;
  const std::string& what_;
  std::array<std::span<const uint8_t>, kLastSection + 1> sections_;
  Cursor in_;
  std::vector<std::string_view> strings_;
  std::vector<Expr> exprs_;
  Plan plan_;
};

}  // namespace
}  // namespace jumar::plan::binary

namespace jumar::plan {

Result<Plan> read_binary(std::span<const uint8_t> bytes, const std::string& what) {
  return binary::Reader(bytes, what).run();
}

bool is_binary(std::span<const uint8_t> bytes) {
  return bytes.size() >= binary::kMagic.size() &&
         std::memcmp(bytes.data(), binary::kMagic.data(), binary::kMagic.size()) == 0;
}

}  // namespace jumar::plan
