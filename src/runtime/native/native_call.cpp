// Calls of a plan as problems: the rows of ops.def.
#include <algorithm>
#include <set>

#include "runtime/native/call_site.h"

namespace jumar::runtime::native {
namespace {

using plan::Arg;
using plan::Plan;
using plan::TensorId;

constexpr int32_t kMostDimensions = 6;

template <class... Args>
Diagnostic refusal(fmt::format_string<Args...> format, Args&&... args) {
  return diagnostic("unsupported", format, std::forward<Args>(args)...);
}

// A call's arguments, read in order. Tensors are numbered as they are met, as the executor numbers them.
class Reader {
 public:
  Reader(const Plan& plan, const plan::CallStep& step) : plan_(plan), step_(step) {}

  struct Operand {
    uint32_t number = 0;
    const plan::Tensor* tensor = nullptr;
    int32_t rank() const { return static_cast<int32_t>(tensor->type.rank()); }
    ir::DType dtype() const { return tensor->type.dtype; }
  };

  Result<Operand> tensor() {
    const Arg* arg = next();
    const TensorId* id = arg ? arg->as<TensorId>() : nullptr;
    if (!id) return refusal("argument {} is no tensor", position_);
    return Operand{tensors_++, &plan_.tensors[*id]};
  }

  Result<std::optional<Operand>> optional_tensor() {
    if (position_ < step_.args.size() && step_.args[position_].is_none()) {
      ++position_;
      return std::optional<Operand>();
    }
    JUMAR_ASSIGN(Operand operand, tensor());
    return std::optional<Operand>(operand);
  }

  Result<double> number() {
    const Arg* arg = next();
    if (const double* value = arg ? arg->as<double>() : nullptr) return *value;
    if (const bool* value = arg ? arg->as<bool>() : nullptr) return *value ? 1.0 : 0.0;
    if (const sym::Expr* e = arg ? arg->as<sym::Expr>() : nullptr; e && e->is_const())
      return static_cast<double>(e->const_value());
    return refusal("argument {} is no constant number", position_);
  }

  Result<bool> flag() {
    const Arg* arg = next();
    if (const bool* value = arg ? arg->as<bool>() : nullptr) return *value;
    return refusal("argument {} is no constant", position_);
  }

  Result<int64_t> integer() {
    const Arg* arg = next();
    if (std::optional<int64_t> value = constant(arg)) return *value;
    return refusal("argument {} is no constant integer", position_);
  }

  // `count` integers of at least `least`; a list of one stands for as many.
  Result<std::vector<int64_t>> integers(size_t count, int64_t least) {
    const Arg* arg = next();
    const Arg::List* list = arg ? arg->list() : nullptr;
    if (!list || (list->size() != count && list->size() != 1))
      return refusal("argument {} is no list of {} integers", position_, count);
    std::vector<int64_t> out;
    for (const Arg& item : *list) {
      const std::optional<int64_t> value = constant(&item);
      if (!value || *value < least || *value > INT32_MAX)
        return refusal("argument {} holds something that is no constant from {} on", position_, least);
      out.push_back(*value);
    }
    out.resize(count, out[0]);
    return out;
  }

  void skip() { next(); }

  // The only result, of the operands' element type.
  Status check_result(ir::DType dtype, int32_t rank) const {
    if (step_.results.size() != 1 || !step_.results[0] || !step_.result_ints.empty())
      return refusal("its results are not one tensor");
    const ir::TensorType& type = plan_.tensors[step_.results[0]].type;
    if (type.dtype != dtype || static_cast<int32_t>(type.rank()) != rank)
      return refusal("its result has another type than the operator gives");
    if (position_ != step_.args.size()) return refusal("it has {} arguments", step_.args.size());
    return {};
  }

  // Whether a tensor is, or is a view of, one that is the same from call to call.
  bool is_parameter(const Operand& operand) const {
    const plan::Tensor* tensor = operand.tensor;
    while (tensor->storage == plan::Storage::kView) tensor = &plan_.tensors[tensor->base];
    return tensor->storage == plan::Storage::kParameter;
  }

  const plan::CallStep& step() const { return step_; }

 private:
  const Arg* next() { return position_ < step_.args.size() ? &step_.args[position_++] : nullptr; }

  static std::optional<int64_t> constant(const Arg* arg) {
    const sym::Expr* e = arg ? arg->as<sym::Expr>() : nullptr;
    return e ? e->as_const() : std::nullopt;
  }

  const Plan& plan_;
  const plan::CallStep& step_;
  size_t position_ = 0;
  uint32_t tensors_ = 0;
};

Status check_dtype(ir::DType dtype) {
  if (dtype == ir::DType::kF32 || dtype == ir::DType::kBF16 || dtype == ir::DType::kF16) return {};
  return refusal("its element type is {}, not f32, bf16 or f16", ir::dtype_name(dtype));
}

Result<MatmulCall> read_factors(Reader& reader) {
  JUMAR_ASSIGN(const Reader::Operand a, reader.tensor());
  JUMAR_ASSIGN(const Reader::Operand b, reader.tensor());
  JUMAR_RETURN_IF_ERROR(check_dtype(a.dtype()));
  if (b.dtype() != a.dtype()) return refusal("its operands have two element types");
  MatmulCall call;
  call.a_is_vector = a.rank() == 1 && b.rank() <= 2;
  call.b_is_vector = b.rank() == 1 && a.rank() <= 2;
  const int32_t a_rank = call.a_is_vector ? 2 : a.rank();
  const int32_t b_rank = call.b_is_vector ? 2 : b.rank();
  if (a_rank != b_rank || a_rank < 2 || a_rank > kMostDimensions)
    return refusal("its operands have {} and {} dimensions", a.rank(), b.rank());
  call.traits.dtype = a.dtype();
  call.traits.rank = a_rank;
  call.traits.b_is_frozen = reader.is_parameter(b);
  call.a = a.number;
  call.b = b.number;
  return call;
}

// mm(self, mat2), bmm(self, mat2), matmul(self, other), mv(self, vec), dot(self, tensor)
Result<NativeCall> read_product(Reader& reader) {
  JUMAR_ASSIGN(MatmulCall call, read_factors(reader));
  const int32_t rank = call.traits.rank - call.a_is_vector - call.b_is_vector;
  JUMAR_RETURN_IF_ERROR(reader.check_result(call.traits.dtype, rank));
  return NativeCall(std::move(call));
}

// addmm(self, mat1, mat2, *, beta, alpha), baddbmm(self, batch1, batch2, *, beta, alpha)
Result<NativeCall> read_sum(Reader& reader) {
  JUMAR_ASSIGN(const Reader::Operand addend, reader.tensor());
  JUMAR_ASSIGN(MatmulCall call, read_factors(reader));
  JUMAR_ASSIGN(call.traits.beta, reader.number());
  JUMAR_ASSIGN(call.traits.alpha, reader.number());
  if (call.a_is_vector || call.b_is_vector) return refusal("an operand is no matrix");
  if (addend.dtype() != call.traits.dtype) return refusal("its operands have two element types");
  if (addend.rank() > call.traits.rank) return refusal("its addend has {} dimensions", addend.rank());
  call.addend = addend.number;
  JUMAR_RETURN_IF_ERROR(reader.check_result(call.traits.dtype, call.traits.rank));
  return NativeCall(std::move(call));
}

// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Result<NativeCall> read_convolution(Reader& reader) {
  JUMAR_ASSIGN(const Reader::Operand input, reader.tensor());
  JUMAR_ASSIGN(const Reader::Operand weight, reader.tensor());
  JUMAR_ASSIGN(const std::optional<Reader::Operand> bias, reader.optional_tensor());
  JUMAR_RETURN_IF_ERROR(check_dtype(input.dtype()));
  const bool same = weight.dtype() == input.dtype() && (!bias || bias->dtype() == input.dtype());
  if (!same) return refusal("its operands have two element types");
  if (input.rank() < 3 || input.rank() > 5 || weight.rank() != input.rank() || (bias && bias->rank() != 1))
    return refusal("its operands have {} and {} dimensions", input.rank(), weight.rank());
  const size_t space = static_cast<size_t>(input.rank()) - 2;
  ConvolutionCall call;
  call.traits.dtype = input.dtype();
  JUMAR_ASSIGN(call.traits.stride, reader.integers(space, 1));
  JUMAR_ASSIGN(call.traits.padding, reader.integers(space, 0));
  JUMAR_ASSIGN(call.traits.dilation, reader.integers(space, 1));
  JUMAR_ASSIGN(const bool transposed, reader.flag());
  if (transposed) return refusal("it is a transposed convolution");
  reader.skip();
  JUMAR_ASSIGN(call.traits.groups, reader.integer());
  if (call.traits.groups < 1) return refusal("it has {} groups", call.traits.groups);
  call.traits.weight_is_frozen = reader.is_parameter(weight);
  call.input = input.number;
  call.weight = weight.number;
  if (bias) call.bias = bias->number;
  JUMAR_RETURN_IF_ERROR(reader.check_result(call.traits.dtype, input.rank()));
  return NativeCall(std::move(call));
}

struct Row {
  std::string_view op;
  Result<NativeCall> (*read)(Reader& reader);
};
constexpr Row kRows[] = {
#define JUMAR_NATIVE_OP(op, function) {op, function},
#include "runtime/native/ops.def"
#undef JUMAR_NATIVE_OP
};

ir::DType dtype_of(const NativeCall& call) {
  return std::visit([](const auto& c) { return c.traits.dtype; }, call);
}

std::vector<Obstacle> found_obstacles(const Plan& plan, const Provider* provider) {
  std::vector<Obstacle> out;
  for (uint32_t k = 0; k < plan.steps.size(); ++k) {
    if (const auto* python = std::get_if<plan::PythonStep>(&plan.steps[k].data))
      out.push_back({k, fmt::format("python {}", python->callable), "only Python can make this call"});
    const auto* step = std::get_if<plan::CallStep>(&plan.steps[k].data);
    if (!step) continue;
    const Result<NativeCall> call = native_call(plan, *step);
    if (!call.ok()) {
      out.push_back({k, step->op, call.error().message});
    } else if (provider && !provider->supports(dtype_of(*call))) {
      out.push_back({k, step->op,
                     fmt::format("products of {} need another processor", ir::dtype_name(dtype_of(*call)))});
    }
  }
  return out;
}

}  // namespace

Result<NativeCall> native_call(const Plan& plan, const plan::CallStep& step) {
  const Row* row = std::ranges::find(kRows, step.op, &Row::op);
  if (row == std::end(kRows)) return refusal("no provider has this operator");
  Reader reader(plan, step);
  return row->read(reader);
}

std::vector<Obstacle> obstacles(const Plan& plan) { return found_obstacles(plan, nullptr); }
std::vector<Obstacle> obstacles(const Plan& plan, const Provider& provider) {
  return found_obstacles(plan, &provider);
}

}  // namespace jumar::runtime::native
