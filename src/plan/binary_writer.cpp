#include <bit>
#include <concepts>
#include <unordered_map>

#include "plan/binary.h"
#include "plan/binary_format.h"

namespace jumar::plan::binary {
namespace {

using sym::Expr;

class Stream {
 public:
  void u32(uint32_t value) { raw(&value, sizeof(value)); }
  void u64(uint64_t value) { raw(&value, sizeof(value)); }
  void count(size_t value) {
    CHECK(value < kNothing, "a list of {} rows in a plan", value);
    u32(static_cast<uint32_t>(value));
  }
  void text(std::string_view text) { bytes_ += text; }
  void align() { bytes_.resize((bytes_.size() + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes); }
  const std::string& bytes() const { return bytes_; }

 private:
  void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  std::string bytes_;
};

class Strings {
 public:
  uint32_t operator()(const std::string& text) {
    auto [row, is_new] = ids_.try_emplace(text, static_cast<uint32_t>(order_.size()));
    if (is_new) order_.push_back(&row->first);
    return row->second;
  }

  // Count, where each text ends, the texts.
  Stream section() const {
    Stream out;
    out.count(order_.size());
    size_t end = 0;
    for (const std::string* text : order_) out.count(end += text->size());
    for (const std::string* text : order_) out.text(*text);
    return out;
  }

 private:
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<const std::string*> order_;  // keys of a node-based map stay where they are
};

class Exprs {
 public:
  explicit Exprs(Strings& strings) : strings_(strings) {}

  uint32_t operator()(Expr e) {
    if (!e) return kNothing;
    if (auto known = ids_.find(e); known != ids_.end()) return known->second.id;
    Row row{0, 1, 1};
    std::vector<uint32_t> operands;
    for (Expr operand : e.operands()) {
      operands.push_back((*this)(operand));
      const Row& part = ids_.at(operand);
      row.tree_nodes += part.tree_nodes;
      row.height = std::max(row.height, part.height + 1);
      CHECK(row.tree_nodes <= kMaxTreeNodes && row.height <= kMaxHeight, "an expression that no plan reads");
    }
    record(e, operands);
    row.id = static_cast<uint32_t>(ids_.size());
    ids_.emplace(e, row);
    return row.id;
  }

  Stream section() const {
    Stream out;
    out.count(ids_.size());
    out.text(records_.bytes());
    return out;
  }

 private:
  struct Row {
    uint32_t id;
    uint32_t tree_nodes;
    uint32_t height;
  };

  void record(Expr e, const std::vector<uint32_t>& operands) {
    records_.u32(code_of(kOps, e.op()) | static_cast<uint32_t>(operands.size()) << 8);
    if (e.is_const()) {
      records_.u64(static_cast<uint64_t>(e.const_value()));
    } else if (e.is_symbol()) {
      records_.u32(code_of(kSymbolKinds, e.symbol_kind()));
      records_.u32(strings_(e.symbol_name()));
    }
    for (uint32_t operand : operands) records_.u32(operand);
  }

  Strings& strings_;
  std::unordered_map<Expr, Row> ids_;
  Stream records_;
};

// One section at a time; texts and expressions collect beside it.
class Writer {
 public:
  Writer(const Plan& plan, const WriteOptions& options) : plan_(plan), options_(options), exprs_(strings_) {}

  std::string run() {
    head();
    for (const SymbolInfo& info : rows(Section::kSymbols, plan_.symbols)) {
      expr(info.symbol);
      out_->u64(static_cast<uint64_t>(info.range.lo));
      out_->u64(static_cast<uint64_t>(info.range.hi));
    }
    for (const Tensor& item : rows(Section::kTensors, plan_.tensors)) tensor(item);
    for (const Number& item : rows(Section::kNumbers, plan_.numbers)) {
      string(item.name);
      out_->u32(code_of(kNumberKinds, item.kind));
      out_->u32(item.input.value_or(kNothing));
    }
    for (const IntInput& item : rows(Section::kIntInputs, plan_.int_inputs)) {
      out_->u32(item.index);
      expr(item.expr);
      string(item.name);
    }
    for (const Step& item : rows(Section::kSteps, plan_.steps)) {
      string(options_.origins ? item.origin : std::string());
      std::visit([this](const auto& data) { step(data); }, item.data);
    }
    for (const Arg& item : rows(Section::kOutputs, plan_.outputs)) arg(item);
    for (const auto& [op, item] : rows(Section::kSchemas, plan_.schemas)) schema(op, item);
    return assembled();
  }

 private:
  void begin(Section kind) {
    sections_.push_back({kind, {}});
    out_ = &sections_.back().stream;
  }

  template <class Rows>
  const Rows& rows(Section kind, const Rows& rows) {
    begin(kind);
    out_->count(rows.size());
    return rows;
  }

  void head() {
    begin(Section::kHead);
    string(plan_.name);
    out_->u32(plan_.input_count);
  }

  void string(const std::string& text) { out_->u32(strings_(text)); }
  void expr(Expr e) { out_->u32(exprs_(e)); }
  void exprs(const std::vector<Expr>& items) {
    out_->count(items.size());
    for (Expr e : items) expr(e);
  }
  void id(TensorId id) { out_->u32(id ? id.index() : kNothing); }
  void id(NumberId id) { out_->u32(id ? id.index() : kNothing); }
  template <class Id>
  void ids(const std::vector<Id>& items) {
    out_->count(items.size());
    for (Id item : items) id(item);
  }

  void tensor(const Tensor& tensor) {
    string(tensor.name);
    out_->u32(static_cast<uint32_t>(ir::c10_code(tensor.type.dtype)));
    out_->u32(code_of(kStorages, tensor.storage));
    out_->u32(tensor.index);
    id(tensor.base);
    expr(tensor.offset);
    exprs(tensor.type.sizes);
    exprs(tensor.type.strides);
  }

  void step(const BindStep& step) {
    tag(StepTag::kBind);
    out_->u32(code_of(kSources, step.source));
    expr(step.symbol);
    id(step.tensor);
    out_->u32(step.dim);
    id(step.number);
  }

  void step(const LaunchStep& step) {
    tag(StepTag::kLaunch);
    string(step.kernel);
    ids(step.tensors);
    exprs(step.ints);
    ids(step.floats);
    out_->u32(step.checks_indices ? 1 : 0);
    out_->count(step.phases.size());
    for (const LaunchPhase& phase : step.phases) {
      expr(phase.units);
      expr(phase.grain);
    }
  }

  void step(const CallStep& step) {
    tag(StepTag::kCall);
    string(step.op);
    args(step.args);
    ids(step.results);
    out_->u32(step.into ? 1 : 0);
    exprs(step.result_ints);
  }

  void step(const PythonStep& step) {
    tag(StepTag::kPython);
    out_->u32(step.callable);
    args(step.args);
    ids(step.results);
  }

  void step(const NumberStep& step) {
    tag(StepTag::kNumber);
    string(step.op);
    args(step.args);
    id(step.result);
  }

  void step(const CheckStep& step) {
    tag(StepTag::kCheck);
    expr(step.predicate);
    string(step.message);
  }

  void args(const ArgList& items) {
    out_->count(items.size());
    for (const Arg& item : items) arg(item);
  }

  void arg(const Arg& arg) {
    std::visit([this](const auto& value) { argument(value); }, arg.data);
  }
  void argument(NoneArg /*none*/) { tag(ArgTag::kNone); }
  void argument(TensorId value) {
    tag(ArgTag::kTensor);
    id(value);
  }
  void argument(NumberId value) {
    tag(ArgTag::kNumber);
    id(value);
  }
  void argument(Expr value) {
    tag(ArgTag::kExpr);
    expr(value);
  }
  void argument(double value) {
    tag(ArgTag::kFloat);
    out_->u64(std::bit_cast<uint64_t>(value));
  }
  // A template, so that nothing else converts to bool.
  template <std::same_as<bool> Bool>
  void argument(Bool value) {
    tag(ArgTag::kBool);
    out_->u32(value ? 1 : 0);
  }
  void argument(const std::string& value) {
    tag(ArgTag::kString);
    string(value);
  }
  void argument(const WordArg& value) {
    tag(ArgTag::kWord);
    out_->u32(code_of(kWordKinds, value.kind));
    string(value.word);
  }
  void argument(const ArgList& value) {
    tag(ArgTag::kList);
    args(value);
  }

  void schema(const std::string& op, const Schema& schema) {
    string(op);
    out_->count(schema.args.size());
    for (const SchemaArg& item : schema.args) {
      string(item.type);
      string(item.name);
    }
    out_->count(schema.returns.size());
    for (const std::string& item : schema.returns) string(item);
  }

  template <class Tag>
  void tag(Tag tag) {
    out_->u32(static_cast<uint32_t>(tag));
  }

  std::string assembled() {
    // Expressions name symbols, so their section is complete before that of the texts.
    sections_.insert(sections_.begin(),
                     {{Section::kStrings, strings_.section()}, {Section::kExprs, exprs_.section()}});
    Stream table, body;
    const size_t first = kHeaderBytes + sections_.size() * kSectionRowBytes;
    for (const Part& part : sections_) {
      table.u32(static_cast<uint32_t>(part.kind));
      table.u32(0);
      table.u64(first + body.bytes().size());
      table.u64(part.stream.bytes().size());
      body.text(part.stream.bytes());
      body.align();
    }
    Stream header;
    header.text(kMagic);
    header.u32(kMajor);
    header.u32(kMinor);
    header.u64(first + body.bytes().size());
    header.count(sections_.size());
    header.u32(0);
    return header.bytes() + table.bytes() + body.bytes();
  }

  struct Part {
    Section kind;
    Stream stream;
  };

  const Plan& plan_;
  const WriteOptions& options_;
  Strings strings_;
  Exprs exprs_;
  std::vector<Part> sections_;
  Stream* out_ = nullptr;
};

}  // namespace
}  // namespace jumar::plan::binary

namespace jumar::plan {

std::string write_binary(const Plan& plan, const WriteOptions& options) {
  return binary::Writer(plan, options).run();
}

}  // namespace jumar::plan
