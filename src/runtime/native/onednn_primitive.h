// Primitives of oneDNN for given sizes and strides, and what their calls share; internal to the provider.
//
//   PrimitiveRequest request;           // a primitive's descriptor and its tensors
//   std::unique_ptr<const PreparedPrimitive> primitive = PreparedPrimitive::create(engine, request);
//   primitive->run(context, packed, {{a, b, out}})
//
// oneDNN may want a tensor in a layout of its own. It is then reordered: operands before the primitive runs,
// the result after. Operands that are frozen are reordered once.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <utility>

#include "runtime/native/onednn.h"
#include "runtime/native/onednn_api.h"

namespace jumar::runtime::native {

// One for each provider. An engine holds no state that calls change, so all threads use it.
struct OneDnn::Engine {
  Engine(std::shared_ptr<const OneDnnApi> a, int t) : api(std::move(a)), threads(t) {}
  ~Engine() {
    if (engine) api->dnnl_engine_destroy(engine);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::shared_ptr<const OneDnnApi> api;
  dnnl_engine_t engine = nullptr;
  int threads = 1;
};

std::optional<dnnl_data_type_t> dnnl_dtype(ir::DType dtype);
// A layout given by sizes and strides; nothing where elements overlap, which oneDNN does not take. oneDNN
// tells layouts by the strides of all dimensions, also of those of size 1.
std::optional<dnnl_memory_desc_t> strided_desc(const OneDnnApi& api, dnnl_data_type_t dtype,
                                               std::span<const int64_t> sizes,
                                               std::span<const int64_t> strides);
// A layout that oneDNN is free to choose.
dnnl_memory_desc_t free_desc(const OneDnnApi& api, dnnl_data_type_t dtype, std::span<const int64_t> sizes);
std::vector<int64_t> dense_strides(std::span<const int64_t> sizes);

std::span<const int64_t> sizes_of(const TensorView& view);
std::span<const int64_t> strides_of(const TensorView& view);

// A copy of a tensor whose strides oneDNN does not take.
struct Dense {
  Block block;
  std::vector<int64_t> strides;
  TensorView view;

  // False without memory.
  bool copy(Pool& pool, const TensorView& from);
};

// A primitive's attributes. Scratch memory is the caller's: the library's own belongs to the thread that made
// the primitive.
class Attributes {
 public:
  explicit Attributes(const OneDnnApi& api);
  ~Attributes();
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void scale(double factor);  // the result, before anything is added
  void add(double factor);    // that many times what the result's memory held
  bool ok() const { return ok_; }
  const_dnnl_primitive_attr_t get() const { return attributes_; }

 private:
  const OneDnnApi& api_;
  dnnl_primitive_attr_t attributes_ = nullptr;
  bool ok_ = false;
};

struct PrimitiveTensor {
  int argument = 0;          // DNNL_ARG_SRC
  dnnl_memory_desc_t given;  // how the plan has it
  dnnl_query_t query{};      // how the primitive wants it: dnnl_query_src_md
  bool is_result = false;
  bool is_frozen = false;
};

struct PrimitiveRequest {
  const_dnnl_op_desc_t descriptor = nullptr;
  const_dnnl_primitive_attr_t attributes = nullptr;
  std::vector<PrimitiveTensor> tensors;
};

// Frozen operands in other layouts. Whoever has an entry shares it, so that a call may go on with one that
// has been replaced.
class PackedOperands {
 public:
  struct Entry {
    dnnl_memory_desc_t layout;
    const void* source = nullptr;
    uint64_t generation = 0;
    Block block;
  };
  std::shared_ptr<const Entry> find(const OneDnnApi& api, const dnnl_memory_desc_t& layout,
                                    const void* source, uint64_t generation);
  void add(std::shared_ptr<const Entry> entry);

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<const Entry>> entries_;  // used last is first
};

class PreparedPrimitive {
 public:
  // Null where oneDNN has no implementation, or only its slow one when `fast` is wanted.
  static std::unique_ptr<const PreparedPrimitive> create(std::shared_ptr<const OneDnn::Engine> engine,
                                                         const PrimitiveRequest& request, bool fast);
  ~PreparedPrimitive();
  PreparedPrimitive(const PreparedPrimitive&) = delete;
  PreparedPrimitive& operator=(const PreparedPrimitive&) = delete;

  // `data` in the order of the request's tensors. Nothing, or what failed.
  std::optional<std::string> run(const CallContext& context, PackedOperands& packed,
                                 std::span<void* const> data) const;

 private:
  struct Reorder {
    dnnl_primitive_t primitive = nullptr;
    int64_t scratch_bytes = 0;
  };
  struct Tensor {
    PrimitiveTensor request;
    dnnl_memory_desc_t wanted;
    Reorder reorder;  // without a primitive: it is taken as it is
    int64_t wanted_bytes = 0;
  };
  class Call;

  explicit PreparedPrimitive(std::shared_ptr<const OneDnn::Engine> engine) : engine_(std::move(engine)) {}
  bool make(const PrimitiveRequest& request, bool fast);
  bool make_tensor(const_dnnl_primitive_desc_t descriptor, const PrimitiveTensor& request);
  bool finish(dnnl_primitive_desc_t descriptor, dnnl_primitive_t& primitive, int64_t& scratch_bytes);

  std::shared_ptr<const OneDnn::Engine> engine_;
  dnnl_primitive_t primitive_ = nullptr;
  std::vector<Tensor> tensors_;
  int64_t primitive_scratch_bytes_ = 0;
  int64_t reorder_scratch_bytes_ = 0;
};

// The primitives of one call, by sizes and strides.
class PrimitiveCache {
 public:
  using Key = std::vector<int64_t>;
  using Make = std::function<std::unique_ptr<const PreparedPrimitive>()>;
  // Null where none can be made.
  std::shared_ptr<const PreparedPrimitive> get(const Key& key, const Make& make);

 private:
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const PreparedPrimitive>>> entries_;  // used last is first
};

}  // namespace jumar::runtime::native
