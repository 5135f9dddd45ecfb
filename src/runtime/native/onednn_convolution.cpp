#include <algorithm>

#include "runtime/memory.h"
#include "runtime/native/onednn_primitive.h"

namespace jumar::runtime::native {
namespace {

// Strides of [n, c, space...] whose elements lie in the order n, space, c.
std::vector<int64_t> channels_last_strides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  int64_t next = sizes[1];
  for (size_t k = sizes.size(); k-- > 2;) {
    strides[k] = next;
    next *= sizes[k];
  }
  strides[0] = next;
  return strides;
}

bool is_channels_last(const TensorView& view) {
  return same_places(view.rank, view.sizes, view.strides, channels_last_strides(sizes_of(view)).data());
}

class OneDnnConvolution final : public Convolution {
 public:
  OneDnnConvolution(std::shared_ptr<const OneDnn::Engine> engine, const ConvolutionTraits& traits)
      : engine_(std::move(engine)), traits_(traits), dtype_(*dnnl_dtype(traits.dtype)) {
    // oneDNN counts the elements that are skipped.
    for (int64_t& dilation : traits_.dilation) --dilation;
  }

  std::optional<std::string> run(const CallContext& context, const TensorView& input,
                                 const TensorView& weight, const TensorView* bias,
                                 const TensorView& out) const override {
    if (!layout(out)) return std::string("elements of its result overlap");
    Operands operands{input, weight, bias ? *bias : TensorView{}, out, bias != nullptr};
    Dense copies[3];
    if (!layout(input)) {
      if (!copies[0].copy(context.pool, input)) return std::string("no memory");
      operands.input = copies[0].view;
    }
    if (!layout(weight)) {
      if (!copies[1].copy(context.pool, weight)) return std::string("no memory");
      operands.weight = copies[1].view;
      operands.weight_is_copy = true;
    }
    if (bias && bias->strides[0] != 1 && bias->sizes[0] != 1) {
      if (!copies[2].copy(context.pool, *bias)) return std::string("no memory");
      operands.bias = copies[2].view;
    }
    const std::shared_ptr<const PreparedPrimitive> primitive =
        primitives_.get(key(operands), [&] { return prepared(operands); });
    if (!primitive) return std::string("oneDNN has no convolution for these layouts");
    std::vector<void*> data = {operands.input.data, operands.weight.data};
    if (bias) data.push_back(operands.bias.data);
    data.push_back(out.data);
    return primitive->run(context, packed_, data);
  }

 private:
  struct Operands {
    TensorView input;
    TensorView weight;
    TensorView bias;
    const TensorView& out;
    bool has_bias = false;
    bool weight_is_copy = false;
  };

  // Channels-last where a layout can be seen so: sizes of 1 leave a choice.
  std::optional<dnnl_memory_desc_t> layout(const TensorView& view) const {
    const OneDnnApi& api = *engine_->api;
    if (is_channels_last(view))
      return strided_desc(api, dtype_, sizes_of(view), channels_last_strides(sizes_of(view)));
    const std::vector<int64_t> dense = dense_strides(sizes_of(view));
    const bool is_dense = same_places(view.rank, view.sizes, view.strides, dense.data());
    return strided_desc(api, dtype_, sizes_of(view), is_dense ? dense : strides_of(view));
  }

  // [groups, channels of the result in a group, ...] where there are groups.
  std::vector<int64_t> weight_sizes(const TensorView& weight) const {
    std::vector<int64_t> sizes(weight.sizes, weight.sizes + weight.rank);
    if (traits_.groups == 1) return sizes;
    sizes[0] /= traits_.groups;
    sizes.insert(sizes.begin(), traits_.groups);
    return sizes;
  }
  std::optional<dnnl_memory_desc_t> weight_layout(const TensorView& weight) const {
    const std::vector<int64_t> sizes = weight_sizes(weight);
    std::vector<int64_t> strides(weight.strides, weight.strides + weight.rank);
    if (traits_.groups > 1) strides.insert(strides.begin(), strides[0] * sizes[1]);
    return strided_desc(*engine_->api, dtype_, sizes, strides);
  }

  PrimitiveCache::Key key(const Operands& o) const {
    PrimitiveCache::Key key = {o.has_bias, o.weight_is_copy};
    for (const TensorView* view : {&o.input, &o.weight, &o.out}) {
      key.insert(key.end(), view->sizes, view->sizes + view->rank);
      key.insert(key.end(), view->strides, view->strides + view->rank);
    }
    return key;
  }

  // Channels-last is taken as it is where oneDNN is fast with it; from every other layout, blocks of channels
  // are worth the way there and back.
  std::unique_ptr<const PreparedPrimitive> prepared(const Operands& o) const {
    std::unique_ptr<const PreparedPrimitive> out;
    if (is_channels_last(o.input) && is_channels_last(o.out)) out = attempt(o, false, true);
    if (!out) out = attempt(o, true, true);
    return out ? std::move(out) : attempt(o, false, false);
  }

  std::unique_ptr<const PreparedPrimitive> attempt(const Operands& o, bool free, bool fast) const {
    const OneDnnApi& api = *engine_->api;
    const dnnl_memory_desc_t given_input = *layout(o.input);
    const dnnl_memory_desc_t given_out = *layout(o.out);
    const std::optional<dnnl_memory_desc_t> given_weight = weight_layout(o.weight);
    if (!given_weight) return nullptr;
    const dnnl_memory_desc_t input = free ? free_desc(api, dtype_, sizes_of(o.input)) : given_input;
    const dnnl_memory_desc_t out = free ? free_desc(api, dtype_, sizes_of(o.out)) : given_out;
    const dnnl_memory_desc_t weight = free_desc(api, dtype_, weight_sizes(o.weight));
    const int64_t channels[] = {o.out.sizes[1]};
    const dnnl_memory_desc_t bias = *strided_desc(api, dtype_, channels, dense_strides(channels));
    dnnl_convolution_desc_t descriptor;
    if (api.dnnl_dilated_convolution_forward_desc_init(
            &descriptor, dnnl_forward_inference, dnnl_convolution_direct, &input, &weight,
            o.has_bias ? &bias : nullptr, &out, traits_.stride.data(), traits_.dilation.data(),
            traits_.padding.data(), traits_.padding.data()) != dnnl_success)
      return nullptr;
    Attributes attributes(api);
    if (!attributes.ok()) return nullptr;
    PrimitiveRequest request{&descriptor, attributes.get(), {}};
    const bool is_frozen = traits_.weight_is_frozen && !o.weight_is_copy;
    request.tensors.push_back({DNNL_ARG_SRC, given_input, dnnl_query_src_md, false, false});
    request.tensors.push_back({DNNL_ARG_WEIGHTS, *given_weight, dnnl_query_weights_md, false, is_frozen});
    if (o.has_bias) request.tensors.push_back({DNNL_ARG_BIAS, bias, dnnl_query_weights_md, false, false});
    request.tensors.push_back({DNNL_ARG_DST, given_out, dnnl_query_dst_md, true, false});
    return PreparedPrimitive::create(engine_, request, fast);
  }

  std::shared_ptr<const OneDnn::Engine> engine_;
  ConvolutionTraits traits_;
  dnnl_data_type_t dtype_;
  mutable PrimitiveCache primitives_;
  mutable PackedOperands packed_;
};

}  // namespace

std::unique_ptr<const Convolution> OneDnn::convolution(const ConvolutionTraits& traits) const {
  if (!supports(traits.dtype)) return nullptr;
  return std::make_unique<OneDnnConvolution>(engine_, traits);
}

}  // namespace jumar::runtime::native
