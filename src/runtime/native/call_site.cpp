#include "runtime/native/call_site.h"

#include <algorithm>
#include <array>

#include "runtime/memory.h"

namespace jumar::runtime::native {
namespace {

constexpr size_t kMostDimensions = 8;

std::string mismatch(std::span<const TensorView> operands, const TensorView& result) {
  std::string out = "sizes do not fit: ";
  for (const TensorView& operand : operands) out += type_text(operand) + ", ";
  return out + "giving " + type_text(result);
}

bool is_empty(const TensorView& view) {
  return std::any_of(view.sizes, view.sizes + view.rank, [](int64_t size) { return size == 0; });
}

// What a product is added to, seen with the sizes of the result: it may have fewer dimensions, or size 1
// where it is repeated.
struct Repeated {
  std::array<int64_t, kMostDimensions> strides{};
  TensorView view;

  // False when sizes do not fit.
  bool set(const TensorView& from, const TensorView& like) {
    view = like;
    view.data = from.data;
    view.strides = strides.data();
    for (int32_t k = 0; k < like.rank; ++k) {
      const int32_t own = k - (like.rank - from.rank);
      const bool repeats = own < 0 || from.sizes[own] == 1;
      if (!repeats && from.sizes[own] != like.sizes[k]) return false;
      strides[static_cast<size_t>(k)] = repeats ? 0 : from.strides[own];
    }
    return true;
  }
};

// Factors whose product is 0, for a sum over no elements: of one element, a zero that is repeated.
struct Nothing {
  static constexpr double kZero = 0;  // the bytes of a zero of any type
  std::array<int64_t, kMostDimensions> a_sizes{};
  std::array<int64_t, kMostDimensions> b_sizes{};
  std::array<int64_t, kMostDimensions> strides{};
  TensorView a;
  TensorView b;

  explicit Nothing(const TensorView& out) : a(out), b(out) {
    std::copy(out.sizes, out.sizes + out.rank, a_sizes.begin());
    std::copy(out.sizes, out.sizes + out.rank, b_sizes.begin());
    a_sizes[static_cast<size_t>(out.rank) - 1] = 1;
    b_sizes[static_cast<size_t>(out.rank) - 2] = 1;
    a.data = b.data = const_cast<double*>(&kZero);  // operands are only read
    a.sizes = a_sizes.data();
    b.sizes = b_sizes.data();
    a.strides = b.strides = strides.data();
  }
};

// A vector, or nothing but an element, as a matrix: `rows` and `columns` say which of the two it has already.
struct AsMatrix {
  std::array<int64_t, 2> sizes{1, 1};
  std::array<int64_t, 2> strides{1, 1};
  TensorView view;

  AsMatrix(const TensorView& from, bool rows, bool columns) : view(from) {
    if (rows && columns) return;
    const size_t place = rows ? 0 : 1;
    if (from.rank == 1) {
      sizes[place] = from.sizes[0];
      strides[place] = from.strides[0];
    }
    view.rank = 2;
    view.sizes = sizes.data();
    view.strides = strides.data();
  }
};

bool matmul_fits(const TensorView& a, const TensorView& b, const TensorView& out) {
  const int32_t rank = out.rank;
  if (a.sizes[rank - 1] != b.sizes[rank - 2] || a.sizes[rank - 2] != out.sizes[rank - 2] ||
      b.sizes[rank - 1] != out.sizes[rank - 1])
    return false;
  for (int32_t k = 0; k < rank - 2; ++k) {
    const int64_t size = out.sizes[k];
    const bool fits = (a.sizes[k] == size && b.sizes[k] == size) || (a.sizes[k] == size && b.sizes[k] == 1) ||
                      (a.sizes[k] == 1 && b.sizes[k] == size);
    if (!fits) return false;
  }
  return true;
}

// (input + 2*padding - dilation*(kernel - 1) - 1) // stride + 1; false where the window does not fit.
bool convolved_size(int64_t input, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    int64_t& out) {
  int64_t window = 0;
  int64_t padded = 0;
  if (__builtin_mul_overflow(dilation, kernel - 1, &window) ||
      __builtin_add_overflow(input, 2 * padding, &padded) || kernel < 1 || window >= padded)
    return false;
  out = (padded - window - 1) / stride + 1;
  return true;
}

bool convolution_fits(const ConvolutionTraits& traits, const TensorView& input, const TensorView& weight,
                      const TensorView* bias, const TensorView& out) {
  const int64_t channels = weight.sizes[0];
  bool fits = out.sizes[0] == input.sizes[0] && out.sizes[1] == channels && channels % traits.groups == 0 &&
              input.sizes[1] % traits.groups == 0 && weight.sizes[1] == input.sizes[1] / traits.groups &&
              (!bias || bias->sizes[0] == channels);
  for (size_t k = 0; fits && k < traits.stride.size(); ++k) {
    int64_t size = 0;
    fits = convolved_size(input.sizes[k + 2], weight.sizes[k + 2], traits.stride[k], traits.padding[k],
                          traits.dilation[k], size) &&
           size == out.sizes[k + 2];
  }
  return fits;
}

}  // namespace

Result<CallSite> CallSite::prepare(const Provider& provider, const plan::Plan& plan,
                                   const plan::CallStep& step, bool frozen) {
  JUMAR_ASSIGN(NativeCall call, native_call(plan, step));
  CallSite site(std::move(call));
  if (MatmulCall* matmul = std::get_if<MatmulCall>(&site.call_)) {
    matmul->traits.b_is_frozen = matmul->traits.b_is_frozen && frozen;
    site.matmul_ = provider.matmul(matmul->traits);
  } else if (ConvolutionCall* convolution = std::get_if<ConvolutionCall>(&site.call_)) {
    convolution->traits.weight_is_frozen = convolution->traits.weight_is_frozen && frozen;
    site.convolution_ = provider.convolution(convolution->traits);
  }
  if (!site.matmul_ && !site.convolution_)
    return diagnostic("unsupported", "the provider does not have it for these element types here");
  return site;
}

std::optional<std::string> CallSite::call(const CallContext& context, std::span<const TensorView> operands,
                                          const TensorView& result) const {
  if (const MatmulCall* matmul = std::get_if<MatmulCall>(&call_))
    return call_matmul(context, *matmul, operands, result);
  return call_convolution(context, std::get<ConvolutionCall>(call_), operands, result);
}

std::optional<std::string> CallSite::call_matmul(const CallContext& context, const MatmulCall& call,
                                                 std::span<const TensorView> operands,
                                                 const TensorView& result) const {
  const AsMatrix a_matrix(operands[call.a], !call.a_is_vector, true);
  const AsMatrix b_matrix(operands[call.b], true, !call.b_is_vector);
  const AsMatrix out_matrix(result, !call.a_is_vector, !call.b_is_vector);
  const TensorView& a = a_matrix.view;
  const TensorView& b = b_matrix.view;
  const TensorView& out = out_matrix.view;
  Repeated addend;
  const bool fits = matmul_fits(a, b, out) && (!call.addend || addend.set(operands[*call.addend], out));
  if (!fits) return mismatch(operands, result);
  if (is_empty(out)) return std::nullopt;
  const TensorView* added = call.addend && call.traits.beta != 0 ? &addend.view : nullptr;
  if (!is_empty(a)) return matmul_->run(context, a, b, added, out);
  const Nothing none(out);
  return matmul_->run(context, none.a, none.b, added, out);
}

std::optional<std::string> CallSite::call_convolution(const CallContext& context, const ConvolutionCall& call,
                                                      std::span<const TensorView> operands,
                                                      const TensorView& result) const {
  const TensorView& input = operands[call.input];
  const TensorView& weight = operands[call.weight];
  const TensorView* bias = call.bias ? &operands[*call.bias] : nullptr;
  if (!convolution_fits(call.traits, input, weight, bias, result)) return mismatch(operands, result);
  if (is_empty(result)) return std::nullopt;
  if (is_empty(weight)) return std::string("a convolution of no channels");
  return convolution_->run(context, input, weight, bias, result);
}

}  // namespace jumar::runtime::native
