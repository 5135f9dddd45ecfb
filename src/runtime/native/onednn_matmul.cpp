#include <algorithm>

#include "runtime/memory.h"
#include "runtime/native/onednn_primitive.h"

namespace jumar::runtime::native {
namespace {

// With fewer rows than this, oneDNN spends a good part of a product on bringing b into its own layout; frozen
// weights are then kept in it.
constexpr int64_t kRowsWorthPacking = 128;

class OneDnnMatmul final : public Matmul {
 public:
  OneDnnMatmul(std::shared_ptr<const OneDnn::Engine> engine, const MatmulTraits& traits)
      : engine_(std::move(engine)), traits_(traits), dtype_(*dnnl_dtype(traits.dtype)) {}

  std::optional<std::string> run(const CallContext& context, const TensorView& a, const TensorView& b,
                                 const TensorView* addend, const TensorView& out) const override {
    if (!has_layout(out)) return std::string("elements of its result overlap");
    Operands operands{a, b, out, form_of(addend)};
    Dense copies[2];
    if (!has_layout(a)) {
      if (!copies[0].copy(context.pool, a)) return std::string("no memory");
      operands.a = copies[0].view;
    }
    if (!has_layout(b)) {
      if (!copies[1].copy(context.pool, b)) return std::string("no memory");
      operands.b = copies[1].view;
      operands.b_is_copy = true;
    }
    // What is not a bias is there before the product, which is added to it.
    if (operands.form == Form::kSum) copy_elements(*addend, out);
    const std::shared_ptr<const PreparedPrimitive> primitive =
        primitives_.get(key(operands), [&] { return prepared(operands); });
    if (!primitive) return std::string("oneDNN has no product for these layouts");
    std::vector<void*> data = {operands.a.data, operands.b.data};
    if (operands.form == Form::kBias) data.push_back(addend->data);
    data.push_back(out.data);
    return primitive->run(context, packed_, data);
  }

 private:
  enum class Form : int64_t { kPlain, kBias, kSum };
  struct Operands {
    TensorView a;
    TensorView b;
    const TensorView& out;
    Form form = Form::kPlain;
    bool b_is_copy = false;
  };

  // Strides of dimensions of size 1 are those of a row-major matrix, whatever they were.
  std::optional<dnnl_memory_desc_t> found_layout(const TensorView& view) const {
    std::vector<int64_t> strides(view.strides, view.strides + view.rank);
    for (size_t k = strides.size(); k-- > 0;)
      if (view.sizes[k] == 1) strides[k] = k + 1 < strides.size() ? strides[k + 1] * view.sizes[k + 1] : 1;
    return strided_desc(*engine_->api, dtype_, sizes_of(view), strides);
  }
  bool has_layout(const TensorView& view) const { return found_layout(view).has_value(); }
  dnnl_memory_desc_t layout(const TensorView& view) const { return *found_layout(view); }

  // An addend that is one row, which all rows of the result get, is a bias where nothing is scaled.
  Form form_of(const TensorView* addend) const {
    if (!addend) return Form::kPlain;
    if (traits_.alpha != 1 || traits_.beta != 1) return Form::kSum;
    const int32_t last = addend->rank - 1;
    for (int32_t k = 0; k < last; ++k)
      if (addend->strides[k] != 0 && addend->sizes[k] != 1) return Form::kSum;
    return addend->strides[last] == 1 || addend->sizes[last] == 1 ? Form::kBias : Form::kSum;
  }

  bool packs(const Operands& o) const {
    return traits_.b_is_frozen && !o.b_is_copy && o.a.sizes[o.a.rank - 2] < kRowsWorthPacking;
  }

  PrimitiveCache::Key key(const Operands& o) const {
    PrimitiveCache::Key key = {static_cast<int64_t>(o.form), packs(o)};
    for (const TensorView* view : {&o.a, &o.b, &o.out}) {
      key.insert(key.end(), view->sizes, view->sizes + view->rank);
      key.insert(key.end(), view->strides, view->strides + view->rank);
    }
    return key;
  }

  // The slow implementation is taken only where there is no other, whatever the layouts are.
  std::unique_ptr<const PreparedPrimitive> prepared(const Operands& o) const {
    std::unique_ptr<const PreparedPrimitive> out = attempt(o, false, true);
    if (!out) out = attempt(o, true, true);
    return out ? std::move(out) : attempt(o, false, false);
  }

  // `dense`: oneDNN gets operands as row-major matrices, by reordering them, and so it gives the result,
  // which must then hold nothing that is added.
  std::unique_ptr<const PreparedPrimitive> attempt(const Operands& o, bool dense, bool fast) const {
    const OneDnnApi& api = *engine_->api;
    if (dense && o.form == Form::kSum) return nullptr;
    const auto wanted = [&](const TensorView& view) {
      return dense ? *strided_desc(api, dtype_, sizes_of(view), dense_strides(sizes_of(view))) : layout(view);
    };
    const dnnl_memory_desc_t a = wanted(o.a);
    const dnnl_memory_desc_t b = packs(o) ? free_desc(api, dtype_, sizes_of(o.b)) : wanted(o.b);
    const dnnl_memory_desc_t out = wanted(o.out);
    std::vector<int64_t> row(static_cast<size_t>(o.out.rank), 1);
    row.back() = o.out.sizes[o.out.rank - 1];
    const dnnl_memory_desc_t bias = *strided_desc(api, dtype_, row, dense_strides(row));
    const bool has_bias = o.form == Form::kBias;
    dnnl_matmul_desc_t descriptor;
    if (api.dnnl_matmul_desc_init(&descriptor, &a, &b, has_bias ? &bias : nullptr, &out) != dnnl_success)
      return nullptr;
    Attributes attributes(api);
    attributes.scale(traits_.alpha);
    if (o.form == Form::kSum) attributes.add(traits_.beta);
    if (!attributes.ok()) return nullptr;
    PrimitiveRequest request{&descriptor, attributes.get(), {}};
    request.tensors.push_back({DNNL_ARG_SRC, layout(o.a), dnnl_query_src_md, false, false});
    request.tensors.push_back({DNNL_ARG_WEIGHTS, layout(o.b), dnnl_query_weights_md, false, packs(o)});
    if (has_bias) request.tensors.push_back({DNNL_ARG_BIAS, bias, dnnl_query_weights_md, false, false});
    request.tensors.push_back({DNNL_ARG_DST, layout(o.out), dnnl_query_dst_md, true, false});
    return PreparedPrimitive::create(engine_, request, fast);
  }

  std::shared_ptr<const OneDnn::Engine> engine_;
  MatmulTraits traits_;
  dnnl_data_type_t dtype_;
  mutable PrimitiveCache primitives_;
  mutable PackedOperands packed_;
};

}  // namespace

std::unique_ptr<const Matmul> OneDnn::matmul(const MatmulTraits& traits) const {
  if (!supports(traits.dtype)) return nullptr;
  return std::make_unique<OneDnnMatmul>(engine_, traits);
}

}  // namespace jumar::runtime::native
