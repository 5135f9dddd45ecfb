#include "runtime/native/onednn_primitive.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "runtime/memory.h"

namespace jumar::runtime::native {
namespace {

constexpr size_t kPrimitivesKept = 8;
constexpr size_t kPackedKept = 2;
constexpr int64_t kAlignmentBytes = Pool::kAlignmentBytes;
// How implementations that were written to compare others with are called.
constexpr std::string_view kReference = "ref";
// A primitive's tensors, with those of a reorder and their scratch memory.
constexpr size_t kMostArguments = 8;

int64_t aligned(int64_t bytes) { return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes; }

int64_t scratch_bytes_of(const OneDnnApi& api, const_dnnl_primitive_desc_t descriptor) {
  const dnnl_memory_desc_t* scratch =
      api.dnnl_primitive_desc_query_md(descriptor, dnnl_query_scratchpad_md, 0);
  return scratch ? aligned(static_cast<int64_t>(api.dnnl_memory_desc_get_size(scratch))) : 0;
}

}  // namespace

std::optional<dnnl_data_type_t> dnnl_dtype(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kF32:
      return dnnl_f32;
    case ir::DType::kBF16:
      return dnnl_bf16;
    case ir::DType::kF16:
      return dnnl_f16;
    default:
      return std::nullopt;
  }
}

Attributes::Attributes(const OneDnnApi& api) : api_(api) {
  ok_ = api.dnnl_primitive_attr_create(&attributes_) == dnnl_success &&
        api.dnnl_primitive_attr_set_scratchpad_mode(attributes_, dnnl_scratchpad_mode_user) == dnnl_success;
}

Attributes::~Attributes() {
  if (attributes_) api_.dnnl_primitive_attr_destroy(attributes_);
}

void Attributes::scale(double factor) {
  if (!ok_ || factor == 1) return;
  const float scale = static_cast<float>(factor);
  ok_ = api_.dnnl_primitive_attr_set_output_scales(attributes_, 1, 0, &scale) == dnnl_success;
}

void Attributes::add(double factor) {
  dnnl_post_ops_t ops = nullptr;
  ok_ = ok_ && api_.dnnl_post_ops_create(&ops) == dnnl_success &&
        api_.dnnl_post_ops_append_sum(ops, static_cast<float>(factor)) == dnnl_success &&
        api_.dnnl_primitive_attr_set_post_ops(attributes_, ops) == dnnl_success;
  if (ops) api_.dnnl_post_ops_destroy(ops);
}

std::span<const int64_t> sizes_of(const TensorView& view) {
  return {view.sizes, static_cast<size_t>(view.rank)};
}

std::span<const int64_t> strides_of(const TensorView& view) {
  return {view.strides, static_cast<size_t>(view.rank)};
}

bool Dense::copy(Pool& pool, const TensorView& from) {
  strides = dense_strides(sizes_of(from));
  int64_t bytes = ir::dtype_bytes(from.dtype);
  for (int64_t size : sizes_of(from)) bytes *= size;
  block = pool.take(bytes);
  if (!block) return false;
  view = from;
  view.data = block.data();
  view.strides = strides.data();
  copy_elements(from, view);
  return true;
}

std::vector<int64_t> dense_strides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t k = sizes.size(); k-- > 1;) strides[k - 1] = strides[k] * sizes[k];
  return strides;
}

std::optional<dnnl_memory_desc_t> strided_desc(const OneDnnApi& api, dnnl_data_type_t dtype,
                                               std::span<const int64_t> sizes,
                                               std::span<const int64_t> strides) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t k) { return std::pair(strides[k], k); });
  int64_t reach = 1;
  for (size_t k : order) {
    if (sizes[k] == 1) continue;
    if (strides[k] < reach) return std::nullopt;
    reach = strides[k] * sizes[k];
  }
  dnnl_memory_desc_t out;
  if (api.dnnl_memory_desc_init_by_strides(&out, static_cast<int>(sizes.size()), sizes.data(), dtype,
                                           strides.data()) != dnnl_success)
    return std::nullopt;
  return out;
}

dnnl_memory_desc_t free_desc(const OneDnnApi& api, dnnl_data_type_t dtype, std::span<const int64_t> sizes) {
  dnnl_memory_desc_t out;
  const dnnl_status_t status = api.dnnl_memory_desc_init_by_tag(&out, static_cast<int>(sizes.size()),
                                                                sizes.data(), dtype, dnnl_format_tag_any);
  CHECK(status == dnnl_success, "a descriptor of {} dimensions fails", sizes.size());
  return out;
}

std::shared_ptr<const PackedOperands::Entry> PackedOperands::find(const OneDnnApi& api,
                                                                  const dnnl_memory_desc_t& layout,
                                                                  const void* source, uint64_t generation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const Entry& e = **entry;
    if (e.source != source || e.generation != generation || !api.dnnl_memory_desc_equal(&e.layout, &layout))
      continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front();
  }
  return nullptr;
}

void PackedOperands::add(std::shared_ptr<const Entry> entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // What was made from older elements is of no use any more.
  std::erase_if(entries_, [&](const auto& e) { return e->generation != entry->generation; });
  entries_.push_front(std::move(entry));
  if (entries_.size() > kPackedKept) entries_.pop_back();
}

std::shared_ptr<const PreparedPrimitive> PrimitiveCache::get(const Key& key, const Make& make) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::ranges::find(entries_, key, &decltype(entries_)::value_type::first);
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->second;
    }
  }
  // Made without the lock: other threads may meet known sizes meanwhile.
  std::shared_ptr<const PreparedPrimitive> made = make();
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.emplace_front(key, made);
  if (entries_.size() > kPrimitivesKept) entries_.pop_back();
  return made;
}

std::unique_ptr<const PreparedPrimitive> PreparedPrimitive::create(
    std::shared_ptr<const OneDnn::Engine> engine, const PrimitiveRequest& request, bool fast) {
  std::unique_ptr<PreparedPrimitive> out(new PreparedPrimitive(std::move(engine)));
  if (!out->make(request, fast)) return nullptr;
  return out;
}

PreparedPrimitive::~PreparedPrimitive() {
  for (const Tensor& tensor : tensors_)
    if (tensor.reorder.primitive) engine_->api->dnnl_primitive_destroy(tensor.reorder.primitive);
  if (primitive_) engine_->api->dnnl_primitive_destroy(primitive_);
}

bool PreparedPrimitive::make(const PrimitiveRequest& request, bool fast) {
  const OneDnnApi& api = *engine_->api;
  CHECK(request.tensors.size() + 1 < kMostArguments, "{} tensors", request.tensors.size());
  dnnl_primitive_desc_t descriptor = nullptr;
  if (api.dnnl_primitive_desc_create(&descriptor, request.descriptor, request.attributes, engine_->engine,
                                     nullptr) != dnnl_success)
    return false;
  const char* name = "";
  api.dnnl_primitive_desc_query(descriptor, dnnl_query_impl_info_str, 0, &name);
  bool ok = !fast || !std::string_view(name).starts_with(kReference);
  for (const PrimitiveTensor& tensor : request.tensors) ok = ok && make_tensor(descriptor, tensor);
  if (!ok) {
    api.dnnl_primitive_desc_destroy(descriptor);
    return false;
  }
  return finish(descriptor, primitive_, primitive_scratch_bytes_);
}

bool PreparedPrimitive::make_tensor(const_dnnl_primitive_desc_t descriptor, const PrimitiveTensor& request) {
  const OneDnnApi& api = *engine_->api;
  const dnnl_memory_desc_t* wanted =
      api.dnnl_primitive_desc_query_md(descriptor, request.query, request.argument == DNNL_ARG_BIAS);
  if (!wanted) return false;
  Tensor& tensor = tensors_.emplace_back(Tensor{request, *wanted, {}, 0});
  tensor.wanted_bytes = aligned(static_cast<int64_t>(api.dnnl_memory_desc_get_size(wanted)));
  if (api.dnnl_memory_desc_equal(&request.given, wanted)) return true;
  const dnnl_memory_desc_t& from = request.is_result ? *wanted : request.given;
  const dnnl_memory_desc_t& to = request.is_result ? request.given : *wanted;
  const Attributes attributes(api);
  dnnl_primitive_desc_t reorder = nullptr;
  if (!attributes.ok() ||
      api.dnnl_reorder_primitive_desc_create(&reorder, &from, engine_->engine, &to, engine_->engine,
                                             attributes.get()) != dnnl_success)
    return false;
  if (!finish(reorder, tensor.reorder.primitive, tensor.reorder.scratch_bytes)) return false;
  reorder_scratch_bytes_ = std::max(reorder_scratch_bytes_, tensor.reorder.scratch_bytes);
  return true;
}

// Takes the descriptor over.
bool PreparedPrimitive::finish(dnnl_primitive_desc_t descriptor, dnnl_primitive_t& primitive,
                               int64_t& scratch_bytes) {
  const OneDnnApi& api = *engine_->api;
  scratch_bytes = scratch_bytes_of(api, descriptor);
  const bool ok = api.dnnl_primitive_create(&primitive, descriptor) == dnnl_success;
  api.dnnl_primitive_desc_destroy(descriptor);
  return ok;
}

// One run. It owns memory objects, the stream and scratch memory, and leaves its methods with false after a
// failure.
class PreparedPrimitive::Call {
 public:
  Call(const PreparedPrimitive& primitive, const CallContext& context, PackedOperands& packed)
      : primitive_(primitive), context_(context), packed_(packed), api_(*primitive.engine_->api) {}
  ~Call() {
    for (size_t k = 0; k < memory_count_; ++k) api_.dnnl_memory_destroy(memories_[k]);
    if (stream_) api_.dnnl_stream_destroy(stream_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool run(std::span<void* const> data);
  // What failed.
  const char* error() const { return out_of_memory_ ? "no memory" : "oneDNN failed"; }

 private:
  using Entry = PackedOperands::Entry;
  // A tensor of the primitive, in this call.
  struct Place {
    std::shared_ptr<const Entry> packed;
    dnnl_memory_t given = nullptr;
    dnnl_memory_t wanted = nullptr;
  };

  bool reserve();
  bool set_place(const Tensor& tensor, void* data, Place& place);
  bool pack(const Tensor& tensor, void* data, Place& place);
  bool reorder(const Tensor& tensor, dnnl_memory_t from, dnnl_memory_t to);
  bool execute(const_dnnl_primitive_t primitive, std::span<const dnnl_exec_arg_t> arguments,
               int64_t scratch_bytes);
  bool add_memory(const dnnl_memory_desc_t& layout, void* data, dnnl_memory_t& memory);
  bool wait() { return api_.dnnl_stream_wait(stream_) == dnnl_success; }

  const PreparedPrimitive& primitive_;
  const CallContext& context_;
  PackedOperands& packed_;
  const OneDnnApi& api_;
  dnnl_stream_t stream_ = nullptr;
  std::array<Place, kMostArguments> places_{};
  // Each tensor in two layouts, and scratch memory for the primitive and for every reorder.
  std::array<dnnl_memory_t, 3 * kMostArguments> memories_{};
  size_t memory_count_ = 0;
  Block block_;
  void* scratch_ = nullptr;  // shared by the primitive and the reorders, which run one after the other
  char* next_ = nullptr;
  bool out_of_memory_ = false;
};

bool PreparedPrimitive::Call::run(std::span<void* const> data) {
  const std::vector<Tensor>& tensors = primitive_.tensors_;
  if (api_.dnnl_stream_create(&stream_, primitive_.engine_->engine, dnnl_stream_default_flags) !=
      dnnl_success)
    return false;
  for (size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].reorder.primitive && tensors[k].request.is_frozen)
      places_[k].packed = packed_.find(api_, tensors[k].wanted, data[k], context_.generation);
  if (!reserve()) return false;
  std::array<dnnl_exec_arg_t, kMostArguments> arguments{};
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (!set_place(tensors[k], data[k], places_[k])) return false;
    arguments[k] = {tensors[k].request.argument, places_[k].wanted};
  }
  if (!execute(primitive_.primitive_, {arguments.data(), tensors.size()},
               primitive_.primitive_scratch_bytes_))
    return false;
  for (size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].request.is_result && tensors[k].reorder.primitive &&
        !reorder(tensors[k], places_[k].wanted, places_[k].given))
      return false;
  return wait();
}

// Scratch memory and tensors that are reordered for this call.
bool PreparedPrimitive::Call::reserve() {
  const int64_t scratch_bytes =
      std::max(primitive_.primitive_scratch_bytes_, primitive_.reorder_scratch_bytes_);
  int64_t bytes = scratch_bytes;
  for (const Tensor& tensor : primitive_.tensors_)
    if (tensor.reorder.primitive && !tensor.request.is_frozen) bytes += tensor.wanted_bytes;
  if (bytes == 0) return true;
  block_ = context_.pool.take(bytes);
  out_of_memory_ = !block_;
  scratch_ = block_.data();
  next_ = static_cast<char*>(block_.data()) + scratch_bytes;
  return !out_of_memory_;
}

bool PreparedPrimitive::Call::set_place(const Tensor& tensor, void* data, Place& place) {
  if (place.packed) return add_memory(tensor.wanted, place.packed->block.data(), place.wanted);
  if (!add_memory(tensor.request.given, data, place.given)) return false;
  place.wanted = place.given;
  if (!tensor.reorder.primitive) return true;
  if (tensor.request.is_frozen) return pack(tensor, data, place);
  if (!add_memory(tensor.wanted, std::exchange(next_, next_ + tensor.wanted_bytes), place.wanted))
    return false;
  return tensor.request.is_result || reorder(tensor, place.given, place.wanted);
}

bool PreparedPrimitive::Call::pack(const Tensor& tensor, void* data, Place& place) {
  auto entry = std::make_shared<Entry>();
  *entry = {tensor.wanted, data, context_.generation, context_.pool.take(tensor.wanted_bytes)};
  out_of_memory_ = !entry->block;
  const bool ok = !out_of_memory_ && add_memory(tensor.wanted, entry->block.data(), place.wanted) &&
                  reorder(tensor, place.given, place.wanted) && wait();
  if (!ok) return false;
  packed_.add(entry);
  place.packed = std::move(entry);
  return true;
}

bool PreparedPrimitive::Call::reorder(const Tensor& tensor, dnnl_memory_t from, dnnl_memory_t to) {
  const std::array<dnnl_exec_arg_t, 2> arguments{{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
  return execute(tensor.reorder.primitive, arguments, tensor.reorder.scratch_bytes);
}

bool PreparedPrimitive::Call::execute(const_dnnl_primitive_t primitive,
                                      std::span<const dnnl_exec_arg_t> arguments, int64_t scratch_bytes) {
  std::array<dnnl_exec_arg_t, kMostArguments> all{};
  std::ranges::copy(arguments, all.begin());
  size_t count = arguments.size();
  if (scratch_bytes > 0) {
    dnnl_memory_desc_t layout;
    const dnnl_dim_t size[] = {scratch_bytes};
    const dnnl_dim_t stride[] = {1};
    if (api_.dnnl_memory_desc_init_by_strides(&layout, 1, size, dnnl_u8, stride) != dnnl_success)
      return false;
    all[count].arg = DNNL_ARG_SCRATCHPAD;
    if (!add_memory(layout, scratch_, all[count++].memory)) return false;
  }
  return api_.dnnl_primitive_execute(primitive, stream_, static_cast<int>(count), all.data()) == dnnl_success;
}

bool PreparedPrimitive::Call::add_memory(const dnnl_memory_desc_t& layout, void* data,
                                         dnnl_memory_t& memory) {
  CHECK(memory_count_ < memories_.size(), "{} memory objects", memory_count_);
  if (api_.dnnl_memory_create(&memory, &layout, primitive_.engine_->engine, data) != dnnl_success)
    return false;
  memories_[memory_count_++] = memory;
  return true;
}

std::optional<std::string> PreparedPrimitive::run(const CallContext& context, PackedOperands& packed,
                                                  std::span<void* const> data) const {
  const OpenMpThreads threads(*engine_->api, engine_->threads);
  Call call(*this, context, packed);
  if (call.run(data)) return std::nullopt;
  return std::string(call.error());
}

}  // namespace jumar::runtime::native
