#include <algorithm>

#include "runtime/code.h"

namespace jumar::runtime {
namespace {

using plan::Storage;
using plan::TensorId;

constexpr int64_t kBriefBytes = 16 << 10;

// Positions of arguments in the tables of one call.
struct ArgTables {
  std::vector<uint32_t>& operands;
  bool floating = true;  // every operand is of a floating or complex type
  std::string refusal;   // why the call can't be made through libtorch
};

class Compiler {
 public:
  // Without kernels the code is described, as it would be with libtorch, and not run.
  Compiler(plan::Plan plan, const KernelTable* kernels, Engine engine)
      : code_(std::make_unique<Code>(std::move(plan))), plan_(code_->plan), kernels_(kernels) {
    code_->engine = std::move(engine);
    code_->threads = code_->engine.threads;
    if (!code_->threads && code_->engine.native) code_->threads = code_->engine.native->threads();
  }

  Result<std::unique_ptr<Code>> run() {
    JUMAR_RETURN_IF_ERROR(stages());
    tensors();
    inputs();
    JUMAR_RETURN_IF_ERROR(steps());
    places();
    actions();
    tables();
    JUMAR_RETURN_IF_ERROR(check_host_calls());
    code_->is_brief = is_brief();
    return std::move(code_);
  }

 private:
  Slot slot(sym::Expr e) { return code_->program.slot(e); }
  bool is_description() const { return kernels_ == nullptr; }

  // Which symbols get known when: entry bindings first, then the steps in order.
  Status stages() {
    JUMAR_ASSIGN(std::vector<plan::EntryBinding> rows, plan::entry_bindings(plan_));
    for (plan::EntryBinding& row : rows) {
      if (row.of_cores() && !code_->engine.cores && !is_description())
        return diagnostic("target", "the plan asks for {}, but no target is set that has cores",
                          plan::place_text(plan_, row));
      EntryCode entry;
      entry.source = row.source;
      entry.input = row.input;
      entry.dim = row.dim;
      if (row.symbol) entry.stage = begin_stage({row.symbol});
      entry.binding = row;
      code_->entries.push_back(std::move(entry));
    }
    code_->entry_stages = last_stage_;
    for (EntryCode& entry : code_->entries) {
      entry.expr = slot(entry.binding.expr);
      if (entry.stage == 0) continue;
      entry.symbol = slot(entry.binding.symbol);
      entry.coefficient = slot(entry.binding.coefficient);
      entry.rest = slot(entry.binding.rest);
    }
    step_stages_.assign(plan_.steps.size(), 0);
    for (size_t k = 0; k < plan_.steps.size(); ++k) {
      if (const auto* call = std::get_if<plan::CallStep>(&plan_.steps[k].data)) {
        if (!call->result_ints.empty()) step_stages_[k] = begin_stage(call->result_ints);
      } else if (const auto* bind = std::get_if<plan::BindStep>(&plan_.steps[k].data)) {
        if (!plan::is_entry_bind(plan_, *bind)) step_stages_[k] = begin_stage({unknown_of(bind->symbol)});
      }
    }
    return {};
  }

  uint32_t begin_stage(const std::vector<sym::Expr>& symbols) {
    known_.insert(known_.end(), symbols.begin(), symbols.end());
    return last_stage_ = code_->program.begin_stage(symbols);
  }

  // The one symbol of a binding's expression that is not known yet: the verifier has seen to it.
  sym::Expr unknown_of(sym::Expr e) const {
    for (sym::Expr symbol : sym::symbols_of(e))
      if (std::find(known_.begin(), known_.end(), symbol) == known_.end()) return symbol;
    CHECK(false, "{} binds nothing", sym::text(e));
  }

  void tensors() {
    for (size_t k = 0; k < plan_.tensors.size(); ++k) {
      const plan::Tensor& source = plan_.tensors[TensorId(static_cast<uint32_t>(k))];
      TensorCode t;
      t.dtype = source.type.dtype;
      t.element_bytes = ir::dtype_bytes(t.dtype);
      t.rank = static_cast<uint32_t>(source.type.rank());
      t.dims = code_->dims_size;
      code_->dims_size += 2 * t.rank;
      for (sym::Expr e : source.type.sizes) t.sizes.push_back(staged(e, t.stage));
      for (sym::Expr e : source.type.strides) t.strides.push_back(staged(e, t.stage));
      t.root = static_cast<uint32_t>(k);
      if (source.storage == Storage::kView) {
        t.base = source.base.index();
        t.offset = staged(source.offset, t.stage);
        t.root = code_->tensors[t.base].root;
        t.stage = std::max(t.stage, code_->tensors[t.base].stage);
      } else if (source.storage == Storage::kInput || source.storage == Storage::kParameter) {
        t.place = Place::kInput;
        t.input = source.index;
      } else if (source.storage == Storage::kResult) {
        t.place = Place::kResult;
      } else if (source.storage == Storage::kArena && t.stage <= code_->entry_stages) {
        t.place = Place::kArena;
      }
      code_->tensors.push_back(std::move(t));
    }
  }

  Slot staged(sym::Expr e, uint32_t& stage) {
    Slot s = slot(e);
    stage = std::max(stage, code_->program.stage(s));
    return s;
  }

  void inputs() {
    code_->inputs.resize(plan_.input_count);
    for (const plan::IntInput& input : plan_.int_inputs)
      code_->inputs[input.index] = {InputValue::Kind::kInt, 0, input.name, {}, {}};
    for (size_t k = 0; k < plan_.numbers.size(); ++k) {
      const plan::Number& number = plan_.numbers[plan_.numbers.id_at(k)];
      bool is_float = number.kind == plan::NumberKind::kFloat;
      if (number.input)
        code_->inputs[*number.input] = {is_float ? InputValue::Kind::kFloat : InputValue::Kind::kBool,
                                        static_cast<uint32_t>(k),
                                        number.name,
                                        {},
                                        {}};
    }
    for (size_t k = 0; k < code_->tensors.size(); ++k) {
      const TensorCode& t = code_->tensors[k];
      if (t.place == Place::kInput && t.base == kNoIndex)
        code_->inputs[t.input] = tensor_input(static_cast<uint32_t>(k));
    }
    for (const plan::SymbolInfo& info : plan_.symbols)
      if (std::find(known_.begin(), known_.end(), info.symbol) != known_.end())
        code_->symbols.push_back({slot(info.symbol), info.range});
  }

  InputCode tensor_input(uint32_t index) {
    const plan::Tensor& tensor = plan_.tensors[TensorId(index)];
    InputCode input{InputValue::Kind::kTensor, index, tensor.name, ir::text(plan_.cx(), tensor.type), {}};
    for (const plan::SymbolInfo& info : plan_.symbols) {
      auto mentioned = [&](sym::Expr e) { return sym::mentions(e, info.symbol); };
      if (std::any_of(tensor.type.sizes.begin(), tensor.type.sizes.end(), mentioned) ||
          std::any_of(tensor.type.strides.begin(), tensor.type.strides.end(), mentioned))
        input.symbols.emplace_back(info.symbol.symbol_name(), slot(info.symbol));
    }
    return input;
  }

  Status steps() {
    current_stage_ = code_->entry_stages;
    for (size_t k = 0; k < plan_.steps.size(); ++k) {
      step_ = static_cast<uint32_t>(k);
      Status status = std::visit([this](const auto& data) { return step(data); }, plan_.steps[k].data);
      JUMAR_RETURN_IF_ERROR(std::move(status));
      current_stage_ = std::max(current_stage_, step_stages_[k]);
    }
    step_ = static_cast<uint32_t>(plan_.steps.size());
    settle_pending();
    for (const plan::Arg& arg : plan_.outputs) output(arg);
    free_layouts(*code_);
    spread_escapes();
    return {};
  }

  // A called operator's result may share the memory of its operands: where the one leaves the call, so may
  // the others.
  void spread_escapes() {
    auto root = [this](uint32_t tensor) -> TensorCode& {
      return code_->tensors[code_->tensors[tensor].root];
    };
    for (auto call = code_->calls.rbegin(); call != code_->calls.rend(); ++call) {
      const bool escapes = std::any_of(call->results.begin(), call->results.end(), [&](uint32_t result) {
        return result != kNoIndex && root(result).escapes;
      });
      if (!escapes || call->into) continue;
      for (uint32_t operand : call->operands) root(operand).escapes = true;
    }
  }

  void output(const plan::Arg& arg) {
    OutputCode out;
    if (const TensorId* id = arg.as<TensorId>()) {
      code_->tensors[code_->tensors[id->index()].root].escapes = true;
      use(id->index());
      for (OutputCode& before : code_->outputs)
        if (before.source.kind == NumberOperand::Kind::kTensor &&
            code_->tensors[before.source.index].root == code_->tensors[id->index()].root)
          before.is_last = false;
      out = {Output::Kind::kTensor, {NumberOperand::Kind::kTensor, id->index(), 0}};
    } else if (arg.as<sym::Expr>()) {
      out = {Output::Kind::kInt, operand(arg)};
    } else if (const plan::NumberId* id = arg.as<plan::NumberId>()) {
      bool is_float = plan_.numbers[*id].kind == plan::NumberKind::kFloat;
      out = {is_float ? Output::Kind::kFloat : Output::Kind::kBool, operand(arg)};
    } else if (arg.as<double>() || arg.as<bool>()) {
      out = {arg.as<double>() ? Output::Kind::kFloat : Output::Kind::kBool, operand(arg)};
    }
    code_->outputs.push_back(out);
  }

  void use(uint32_t tensor, uint32_t step) {
    TensorCode& root = code_->tensors[code_->tensors[tensor].root];
    root.first = std::min(root.first, step);
    root.last = std::max(root.last, step);
  }
  void use(uint32_t tensor) { use(tensor, step_); }

  void add(Action::Kind kind, size_t index) {
    step_actions_.push_back({step_, {kind, static_cast<uint32_t>(index)}});
  }

  Status step(const plan::BindStep& bind) {
    if (plan::is_entry_bind(plan_, bind)) return {};
    BindCode code;
    code.source = bind.source;
    code.tensor = bind.tensor.index();
    code.number = bind.number.index();
    code.dim = bind.dim;
    code.stage = step_stages_[step_];
    code.expr = slot(bind.symbol);
    // The symbol of the stage is the one whose register that stage begins with.
    for (sym::Expr symbol : sym::symbols_of(bind.symbol)) {
      if (code_->program.stage(slot(symbol)) != code.stage) continue;
      std::optional<sym::Linear> linear = sym::linear_in(plan_.cx(), bind.symbol, symbol);
      CHECK(linear.has_value(), "{} is not linear in {}", sym::text(bind.symbol), sym::text(symbol));
      code.symbol = slot(symbol);
      code.coefficient = slot(linear->coefficient);
      code.rest = slot(linear->rest);
    }
    code.step = step_;
    if (bind.of_tensor()) use(code.tensor);
    // Sizes and strides are those that the operator returned, whatever the plan expects.
    bool of_result =
        bind.source == plan::BindStep::Source::kSize || bind.source == plan::BindStep::Source::kStride;
    if (!of_result) settle_pending();
    add(Action::Kind::kBind, code_->binds.size());
    code_->binds.push_back(code);
    return {};
  }

  // Results are compared with their types once the sizes and strides that follow the call are bound.
  void settle_pending() {
    for (uint32_t tensor : pending_) {
      use(tensor);
      add(Action::Kind::kSettle, tensor);
    }
    pending_.clear();
  }

  Status step(const plan::LaunchStep& launch) {
    settle_pending();
    LaunchCode code;
    code.kernel = is_description() ? nullptr : (*kernels_)(launch.kernel);
    if (!code.kernel && !is_description())
      return diagnostic("kernel", "the plan launches @{}, which is not there", launch.kernel);
    for (TensorId id : launch.tensors) {
      code.tensors.push_back(id.index());
      use(id.index());
    }
    for (sym::Expr e : launch.ints) code.ints.push_back(slot(e));
    for (plan::NumberId id : launch.floats) code.floats.push_back(id.index());
    for (const plan::LaunchPhase& phase : launch.phases)
      code.phases.push_back({slot(phase.units), slot(phase.grain)});
    code.checks_indices = launch.checks_indices;
    code.step = step_;
    code.source = &launch;
    size_t words = code.tensors.size() + code.ints.size() + code.floats.size() + 1;
    code_->words_size = std::max(code_->words_size, static_cast<uint32_t>(words));
    add(Action::Kind::kLaunch, code_->launches.size());
    code_->launches.push_back(std::move(code));
    return {};
  }

  CallCode call_code(const plan::ArgList& args, const std::vector<TensorId>& results, std::string name) {
    CallCode code;
    code.args = &args;
    code.name = std::move(name);
    code.step = step_;
    for (TensorId id : results) {
      code.results.push_back(id ? id.index() : kNoIndex);
      if (id) use(id.index());
    }
    return code;
  }

  Status step(const plan::PythonStep& python) {
    settle_pending();
    CallCode code = call_code(python.args, python.results, fmt::format("python {}", python.callable));
    code.callable = python.callable;
    for (const plan::Arg& arg : python.args) collect_operands(arg, code.operands);
    finish_call(std::move(code));
    return {};
  }

  Status step(const plan::CallStep& call) {
    settle_pending();
    CallCode code = call_code(call.args, call.results, call.op);
    code.into = call.into;
    code.stage = step_stages_[step_];
    for (sym::Expr e : call.result_ints) code.result_ints.push_back(slot(e));
    for (const auto& [op, schema] : plan_.schemas)
      if (op == call.op) code.schema = &schema;
    const std::optional<std::string> unprovided = prepare_native(call, code);
    if (!code.native) {
      std::optional<std::string> refusal = prepare_site(call, code);
      if (refusal && unprovided) refusal = *unprovided + "; " + *refusal;
      if (refusal) code_->host_called.push_back({step_, call.op, *refusal});
    }
    finish_call(std::move(code));
    return {};
  }

  // What keeps the provider from making the call; nothing where there is no provider.
  std::optional<std::string> prepare_native(const plan::CallStep& call, CallCode& code) {
    if (!code_->engine.native) return std::nullopt;
    Result<native::CallSite> site =
        native::CallSite::prepare(*code_->engine.native, plan_, call, code_->engine.freezes_parameters);
    if (!site.ok()) return site.error().message;
    if (code_->tensors[code.results[0]].stage > current_stage_)
      return std::string("the sizes of its result are not known before the call");
    for (const plan::Arg& arg : call.args) collect_operands(arg, code.operands);
    code.native = std::move(*site);
    return std::nullopt;
  }

  Status check_host_calls() const {
    if (code_->engine.has_host_calls || is_description()) return {};
    Diagnostic error = diagnostic("unsupported", "the plan makes calls that nothing here can make");
    for (const PreparedPlan::HostCalledOp& call : code_->host_called)
      error.notes.push_back(fmt::format("step {}: {}: {}", call.step, call.op, call.reason));
    for (const CallCode& call : code_->calls)
      if (call.callable)
        error.notes.push_back(fmt::format("step {}: {}: only Python can make it", call.step, call.name));
    if (error.notes.empty()) return {};
    return error;
  }

  std::optional<std::string> prepare_site(const plan::CallStep& call, CallCode& code) {
    ArgTables tables{code.operands, true, {}};
    std::vector<torch::SiteArg> args;
    for (const plan::Arg& arg : call.args) args.push_back(site_arg(arg, tables));
    if (names_storage(*code_, call)) return std::string("its offset counts in the storage of an input");
    if (!code_->engine.torch && !is_description()) return std::string("no libtorch is loaded");
    if (!tables.refusal.empty()) return tables.refusal;
    Result<torch::CallSite> site = torch::CallSite::prepare(code_->engine.torch, call.op, *code.schema,
                                                            std::move(args), tables.floating, call.into);
    if (!site.ok()) return site.error().message;
    if (site->writes()) {
      if (site->target_count() != code.results.size())
        return std::string("it writes another number of results");
      for (uint32_t result : code.results)
        if (result == kNoIndex || code_->tensors[result].stage > current_stage_)
          return std::string("the sizes of its results are not known before the call");
    }
    code.site = std::move(*site);
    return std::nullopt;
  }

  void finish_call(CallCode code) {
    for (uint32_t operand : code.operands) use(operand);
    // What the embedder is given it may keep, so it must not be memory that the next call reuses.
    if (!code.site && !code.native)
      for (uint32_t operand : code.operands) {
        own(operand);
        code_->tensors[code_->tensors[operand].root].escapes = true;
      }
    if (!code.into)
      for (uint32_t result : code.results)
        if (result != kNoIndex) {
          code_->tensors[result].producer = step_;
          pending_.push_back(result);
        }
    add(Action::Kind::kCall, code_->calls.size());
    code_->calls.push_back(std::move(code));
  }

  void own(uint32_t tensor) {
    TensorCode& root = code_->tensors[code_->tensors[tensor].root];
    if (root.place == Place::kArena) root.place = Place::kOwned;
  }

  void collect_operands(const plan::Arg& arg, std::vector<uint32_t>& operands) {
    if (const TensorId* id = arg.as<TensorId>()) operands.push_back(id->index());
    if (const sym::Expr* e = arg.as<sym::Expr>()) slot(*e);
    if (const plan::ArgList* items = arg.as<plan::ArgList>())
      for (const plan::Arg& item : *items) collect_operands(item, operands);
  }

  torch::SiteArg site_arg(const plan::Arg& arg, ArgTables& tables) {
    using Kind = torch::SiteArg::Kind;
    torch::SiteArg out;
    if (const TensorId* id = arg.as<TensorId>()) {
      out.kind = Kind::kTensor;
      out.is_slot = true;
      out.slot = static_cast<uint32_t>(tables.operands.size());
      tables.operands.push_back(id->index());
      ir::DType dtype = code_->tensors[id->index()].dtype;
      tables.floating = tables.floating && (ir::is_float(dtype) || ir::is_complex(dtype));
    } else if (const sym::Expr* e = arg.as<sym::Expr>()) {
      out.kind = Kind::kInt;
      out.is_slot = !e->is_const();
      out.slot = slot(*e);
      if (e->is_const()) out.integer = e->const_value();
    } else if (const plan::NumberId* id = arg.as<plan::NumberId>()) {
      out.kind = plan_.numbers[*id].kind == plan::NumberKind::kFloat ? Kind::kFloat : Kind::kBool;
      out.is_slot = true;
      out.slot = id->index();
    } else if (const double* number = arg.as<double>()) {
      out.kind = Kind::kFloat;
      out.number = *number;
    } else if (const bool* flag = arg.as<bool>()) {
      out.kind = Kind::kBool;
      out.integer = *flag;
    } else if (const std::string* text = arg.as<std::string>()) {
      out.kind = Kind::kString;
      out.text = *text;
    } else if (const plan::WordArg* word = arg.as<plan::WordArg>()) {
      return word_arg(*word, tables);
    } else if (const plan::ArgList* items = arg.as<plan::ArgList>()) {
      out.kind = Kind::kList;
      for (const plan::Arg& item : *items) out.items.push_back(site_arg(item, tables));
    }
    return out;
  }

  torch::SiteArg word_arg(const plan::WordArg& word, ArgTables& tables) {
    using Kind = torch::SiteArg::Kind;
    torch::SiteArg out;
    out.text = word.word;
    const torch::Api* api = code_->engine.torch;
    std::optional<int64_t> value;
    switch (word.kind) {
      case plan::WordArg::Kind::kDType: {
        out.kind = Kind::kDType;
        if (std::optional<ir::DType> dtype = ir::dtype_from_name(word.word)) value = ir::c10_code(*dtype);
        break;
      }
      case plan::WordArg::Kind::kLayout:
        out.kind = Kind::kLayout;
        if (word.word == "strided") value = api ? api->aoti_torch_layout_strided() : 0;
        break;
      case plan::WordArg::Kind::kMemoryFormat:
        out.kind = Kind::kMemoryFormat;
        value = memory_format(api, word.word);
        break;
      case plan::WordArg::Kind::kDevice:
        out.kind = Kind::kDevice;
        if (word.word == "cpu") value = -1;
        if (word.word == "cpu:0") value = 0;
        break;
    }
    if (!value) tables.refusal = fmt::format("'{}' is not supported in its arguments", word.word);
    out.integer = value.value_or(0);
    return out;
  }

  // The numbers are libtorch's; without it any will do.
  static std::optional<int64_t> memory_format(const torch::Api* api, const std::string& word) {
    if (word == "contiguous") return api ? api->aoti_torch_memory_format_contiguous_format() : 0;
    if (word == "preserve") return api ? api->aoti_torch_memory_format_preserve_format() : 0;
    if (word == "channels_last") return api ? api->aoti_torch_memory_format_channels_last() : 0;
    if (word == "channels_last_3d") return api ? api->aoti_torch_memory_format_channels_last_3d() : 0;
    return std::nullopt;
  }

  Status step(const plan::NumberStep& number) {
    settle_pending();
    NumberCode code;
    code.op = *plan::number_op_from_name(number.op);
    for (size_t k = 0; k < number.args.size(); ++k) code.operands[k] = operand(number.args[k]);
    code.result = number.result.index();
    code.step = step_;
    add(Action::Kind::kNumber, code_->numbers.size());
    code_->numbers.push_back(code);
    return {};
  }

  NumberOperand operand(const plan::Arg& arg) {
    using Kind = NumberOperand::Kind;
    if (const sym::Expr* e = arg.as<sym::Expr>()) return {Kind::kSlot, slot(*e), 0};
    if (const plan::NumberId* id = arg.as<plan::NumberId>()) return {Kind::kNumber, id->index(), 0};
    if (const double* value = arg.as<double>()) return {Kind::kConstant, 0, *value};
    if (const bool* value = arg.as<bool>()) return {Kind::kConstant, 0, *value ? 1.0 : 0.0};
    uint32_t tensor = arg.as<TensorId>()->index();
    use(tensor);
    return {Kind::kTensor, tensor, 0};
  }

  Status step(const plan::CheckStep& check) {
    settle_pending();
    add(Action::Kind::kCheck, code_->checks.size());
    code_->checks.push_back({slot(check.predicate), step_, &check});
    return {};
  }

  void places() {
    for (size_t k = 0; k < code_->tensors.size(); ++k) {
      TensorCode& t = code_->tensors[k];
      if (t.base != kNoIndex || t.place != Place::kArena || t.first == kNoIndex) continue;
      t.arena = static_cast<uint32_t>(code_->planned.size());
      code_->planned.push_back(static_cast<uint32_t>(k));
    }
  }

  // The steps' own actions, with memory made before the first use and references dropped after the last.
  void actions() {
    std::vector<std::vector<uint32_t>> made(plan_.steps.size() + 1);
    std::vector<std::vector<uint32_t>> dropped(plan_.steps.size() + 1);
    for (size_t k = 0; k < code_->tensors.size(); ++k) {
      const TensorCode& t = code_->tensors[k];
      if (t.base != kNoIndex || t.first == kNoIndex) continue;
      if (t.place == Place::kOwned) made[t.first].push_back(static_cast<uint32_t>(k));
      if (t.place == Place::kOwned || t.place == Place::kResult) {
        dropped[t.last].push_back(static_cast<uint32_t>(k));
        code_->owning.push_back(static_cast<uint32_t>(k));
      }
    }
    size_t next = 0;
    for (uint32_t s = 0; s <= plan_.steps.size(); ++s) {
      for (uint32_t tensor : made[s]) code_->actions.push_back({Action::Kind::kMake, tensor});
      for (; next < step_actions_.size() && step_actions_[next].first == s; ++next)
        code_->actions.push_back(step_actions_[next].second);
      if (s == plan_.steps.size()) break;  // what lives on now is the results'
      for (uint32_t tensor : dropped[s]) code_->actions.push_back({Action::Kind::kRelease, tensor});
    }
  }

  void tables() {
    code_->tensors_by_stage.resize(last_stage_ + 1);
    for (size_t k = 0; k < code_->tensors.size(); ++k)
      code_->tensors_by_stage[code_->tensors[k].stage].push_back(static_cast<uint32_t>(k));
  }

  // What launches do is bounded by their grain, below which a launch is not worth another thread; but where
  // one thread has to do it all the grain says nothing, so the bytes have to be few as well.
  bool is_brief() const {
    if (!code_->calls.empty()) return false;
    int64_t bytes = 0;
    for (const plan::Tensor& tensor : plan_.tensors) {
      const sym::Expr count = ir::element_count(plan_.cx(), tensor.type.sizes);
      const std::optional<int64_t> own = plan_.cx().mul(count, ir::dtype_bytes(tensor.type.dtype)).as_const();
      if (!own || *own > kBriefBytes) return false;
      bytes += *own;
    }
    return bytes <= kBriefBytes &&
           std::all_of(code_->launches.begin(), code_->launches.end(), [](const LaunchCode& launch) {
             return std::ranges::all_of(launch.source->phases, [](const plan::LaunchPhase& phase) {
               return phase.units.is_const() && phase.grain.is_const() &&
                      phase.units.const_value() <= phase.grain.const_value();
             });
           });
  }

  std::unique_ptr<Code> code_;
  const plan::Plan& plan_;
  const KernelTable* kernels_;
  std::vector<sym::Expr> known_;
  uint32_t last_stage_ = 0;
  std::vector<uint32_t> step_stages_;
  uint32_t current_stage_ = 0;  // the latest that has run when the current step begins
  uint32_t step_ = 0;
  std::vector<std::pair<uint32_t, Action>> step_actions_;
  std::vector<uint32_t> pending_;
};

}  // namespace

Result<std::unique_ptr<Code>> compiled(plan::Plan plan, const KernelTable& kernels, Engine engine) {
  return Compiler(std::move(plan), &kernels, std::move(engine)).run();
}

Result<std::unique_ptr<Code>> described(plan::Plan plan) {
  return Compiler(std::move(plan), nullptr, {}).run();
}

}  // namespace jumar::runtime
