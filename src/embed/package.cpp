#include "jumar/package.h"

#include <algorithm>
#include <array>

#include "embed/library.h"
#include "runtime/dlpack.h"
#include "support/mapped_file.h"

namespace jumar::embed {
namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  uint8_t code;  // DLPack's
  uint8_t bits;
};

constexpr std::array<DTypeRow, 17> kDTypes = {{{DType::kBool, "bool", 6, 8},
                                               {DType::kI8, "i8", 0, 8},
                                               {DType::kI16, "i16", 0, 16},
                                               {DType::kI32, "i32", 0, 32},
                                               {DType::kI64, "i64", 0, 64},
                                               {DType::kU8, "u8", 1, 8},
                                               {DType::kU16, "u16", 1, 16},
                                               {DType::kU32, "u32", 1, 32},
                                               {DType::kU64, "u64", 1, 64},
                                               {DType::kF16, "f16", 2, 16},
                                               {DType::kBF16, "bf16", 4, 16},
                                               {DType::kF32, "f32", 2, 32},
                                               {DType::kF64, "f64", 2, 64},
                                               {DType::kC64, "c64", 5, 64},
                                               {DType::kC128, "c128", 5, 128},
                                               {DType::kF8E4M3, "f8e4m3fn", 10, 8},
                                               {DType::kF8E5M2, "f8e5m2", 12, 8}}};

const DTypeRow* row_of(DType dtype) {
  const auto it =
      std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeRow& r) { return r.dtype == dtype; });
  return it == kDTypes.end() ? nullptr : &*it;
}

DType dtype_from(uint8_t code, uint8_t bits) {
  for (const DTypeRow& row : kDTypes) {
    if (row.code == code && row.bits == bits) return row.dtype;
  }
  return DType::kOther;
}

Error error_of(const Diagnostic& diagnostic) { return {diagnostic.code, diagnostic.message}; }

Kind kind_from(jumar_kind kind) {
  switch (kind) {
    case JUMAR_TENSOR:
      return Kind::kTensor;
    case JUMAR_INT:
      return Kind::kInt;
    case JUMAR_FLOAT:
      return Kind::kFloat;
    case JUMAR_BOOL:
      return Kind::kBool;
    default:
      return Kind::kNone;
  }
}

ValueInfo info_from(const jumar_model_value& value) {
  ValueInfo out;
  out.name = value.name;
  out.kind = kind_from(value.kind);
  if (out.kind == Kind::kTensor) out.dtype = dtype_from(value.dtype_code, value.dtype_bits);
  out.sizes.assign(value.sizes, value.sizes + value.rank);
  out.strides.assign(value.strides, value.strides + value.rank);
  return out;
}

jumar_tensor tensor_from(const TensorView& view) {
  const DTypeRow* row = row_of(view.dtype);
  jumar_tensor out{};
  out.data = view.data;
  out.sizes = view.sizes.data();
  out.strides = view.strides.empty() && !view.sizes.empty() ? nullptr : view.strides.data();
  out.rank = static_cast<int32_t>(view.sizes.size());
  out.device_type = runtime::kDlCpu;
  // A code that nothing has, so that the model refuses it by name.
  out.dtype_code = row != nullptr ? row->code : UINT8_MAX;
  out.dtype_bits = row != nullptr ? row->bits : 0;
  return out;
}

// A tensor of a model, and what keeps the code that frees it loaded.
struct HeldTensor {
  DLManagedTensorVersioned managed;
  DLManagedTensorVersioned* inner;
  std::shared_ptr<const Library> library;
};

void delete_held(DLManagedTensorVersioned* managed) {
  const std::unique_ptr<HeldTensor> held(static_cast<HeldTensor*>(managed->manager_ctx));
  held->inner->deleter(held->inner);
}

jumar::Result<PackageParts> parts_of(std::span<const uint8_t> bytes, const std::string& file,
                                     const std::string& model) {
  JUMAR_ASSIGN(const ZipArchive zip, ZipArchive::read(bytes, file, ZipArchive::Packing::kDeflate));
  return package_parts(zip, model);
}

Value value_from(const jumar_model_result& result, const std::shared_ptr<const Library>& library) {
  switch (result.kind) {
    case JUMAR_TENSOR: {
      auto* held = new HeldTensor{*result.tensor, result.tensor, library};
      held->managed.manager_ctx = held;
      held->managed.deleter = delete_held;
      return Value(Tensor(&held->managed));
    }
    case JUMAR_INT:
      return Value(result.integer);
    case JUMAR_FLOAT:
      return Value(result.number);
    case JUMAR_BOOL:
      return Value(result.integer != 0);
    default:
      return {};
  }
}

}  // namespace

const char* dtype_name(DType dtype) {
  const DTypeRow* row = row_of(dtype);
  return row != nullptr ? row->name : "?";
}

size_t dtype_bytes(DType dtype) {
  const DTypeRow* row = row_of(dtype);
  return row != nullptr ? row->bits / 8 : 0;
}

TensorView TensorView::of(const DLManagedTensorVersioned& tensor) {
  const DLTensor& t = tensor.dl_tensor;
  TensorView out;
  out.data = static_cast<char*>(t.data) + t.byte_offset;
  out.dtype = t.dtype.lanes == 1 ? dtype_from(t.dtype.code, t.dtype.bits) : DType::kOther;
  out.sizes.assign(t.shape, t.shape + t.ndim);
  if (t.strides != nullptr) out.strides.assign(t.strides, t.strides + t.ndim);
  return out;
}

Tensor::~Tensor() {
  if (tensor_ != nullptr) tensor_->deleter(tensor_);
}
void* Tensor::raw_data() const {
  return static_cast<char*>(tensor_->dl_tensor.data) + tensor_->dl_tensor.byte_offset;
}
DType Tensor::dtype() const {
  return dtype_from(tensor_->dl_tensor.dtype.code, tensor_->dl_tensor.dtype.bits);
}
std::vector<int64_t> Tensor::sizes() const { return TensorView::of(*tensor_).sizes; }
std::vector<int64_t> Tensor::strides() const { return TensorView::of(*tensor_).strides; }

std::string ValueInfo::text() const {
  if (kind != Kind::kTensor) {
    constexpr std::array<const char*, 5> kNames = {"none", "tensor", "int", "float", "bool"};
    return kNames[static_cast<size_t>(kind)];
  }
  std::string out = dtype_name(dtype) + std::string("[");
  for (size_t k = 0; k < sizes.size(); ++k) out += (k > 0 ? ", " : "") + sizes[k];
  return out + "]";
}

struct Package::Impl {
  // Destroyed from the last to the first: the model, then its code.
  std::shared_ptr<const Library> library;
  std::shared_ptr<jumar_model> model;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> results;
  std::vector<ValueInfo> constants;
  std::vector<Symbol> symbols;

  const jumar_model_api& api() const { return library->api(); }

  Error taken(jumar_model_error* error) const {
    Error out{api().error_code(error), api().error_message(error)};
    api().error_free(error);
    return out;
  }

  void describe() {
    const auto list = [&](size_t count, auto read, std::vector<ValueInfo>& out) {
      for (size_t k = 0; k < count; ++k) {
        jumar_model_value value{};
        read(model.get(), k, &value);
        out.push_back(info_from(value));
      }
    };
    list(api().input_count(model.get()), api().input, inputs);
    list(api().result_count(model.get()), api().result, results);
    list(api().constant_count(model.get()), api().constant, constants);
    for (size_t k = 0; k < api().symbol_count(model.get()); ++k) {
      jumar_model_symbol symbol{};
      api().symbol(model.get(), k, &symbol);
      symbols.push_back({symbol.name, symbol.least, symbol.most});
    }
  }

  // The library and the model of it. The options' weights or path are filled in by the caller.
  std::optional<Error> load(const PackageParts& parts, const std::string& name, const LoadOptions& given,
                            jumar_model_options options) {
    const jumar::Result<std::string> image = library_image(parts, name);
    if (!image.ok()) return error_of(image.error());
    jumar::Result<std::shared_ptr<const Library>> loaded = Library::load(*image, name);
    if (!loaded.ok()) return error_of(loaded.error());
    library = std::move(*loaded);
    options.pool_bytes = given.pool_bytes;
    options.threads = given.threads;
    options.torch_library = given.torch_library.empty() ? nullptr : given.torch_library.c_str();
    jumar_model* made = nullptr;
    if (jumar_model_error* error = api().create(&options, &made)) {
      Error out = taken(error);
      out.message = "cannot load '" + name + "': " + out.message;
      return out;
    }
    model = std::shared_ptr<jumar_model>(made, api().destroy);
    describe();
    return std::nullopt;
  }
};

Result<Package> Package::load(const std::string& path, const LoadOptions& options) {
  auto impl = std::make_shared<Impl>();
  auto file = MappedFile::open(path);
  if (!file.ok()) return error_of(file.error());
  const std::span<const uint8_t> bytes = (*file)->bytes();
  const jumar::Result<PackageParts> parts = parts_of(bytes, path, options.model);
  if (!parts.ok()) return error_of(parts.error());
  jumar_model_options given{};
  given.path = path.c_str();
  given.weights_offset =
      parts->weights.empty() ? 0 : static_cast<uint64_t>(parts->weights.data() - bytes.data());
  given.weights_bytes = parts->weights.size();
  if (std::optional<Error> error = impl->load(*parts, path, options, given)) return *std::move(error);
  return Package(std::move(impl));
}

Result<Package> Package::load(void* data, size_t size, const LoadOptions& options) {
  auto impl = std::make_shared<Impl>();
  const std::string name = "<memory>";
  auto* bytes = static_cast<uint8_t*>(data);
  const jumar::Result<PackageParts> parts = parts_of({bytes, size}, name, options.model);
  if (!parts.ok()) return error_of(parts.error());
  jumar_model_options given{};
  given.weights = parts->weights.empty() ? bytes : bytes + (parts->weights.data() - bytes);
  given.weights_bytes = parts->weights.size();
  if (std::optional<Error> error = impl->load(*parts, name, options, given)) return *std::move(error);
  return Package(std::move(impl));
}

const std::vector<ValueInfo>& Package::inputs() const { return impl_->inputs; }
const std::vector<ValueInfo>& Package::results() const { return impl_->results; }
const std::vector<ValueInfo>& Package::constants() const { return impl_->constants; }
const std::vector<Symbol>& Package::symbols() const { return impl_->symbols; }

Result<std::vector<Value>> Package::run(const std::vector<Argument>& arguments) const {
  std::vector<jumar_value> inputs(arguments.size());
  for (size_t k = 0; k < arguments.size(); ++k) {
    jumar_value& input = inputs[k];
    if (const auto* tensor = std::get_if<TensorView>(&arguments[k])) {
      if (!tensor->strides.empty() && tensor->strides.size() != tensor->sizes.size()) {
        return Error{"input", fmt::format("argument {} has {} sizes and {} strides", k, tensor->sizes.size(),
                                          tensor->strides.size())};
      }
      input.kind = JUMAR_TENSOR;
      input.tensor = tensor_from(*tensor);
    } else if (const auto* integer = std::get_if<int64_t>(&arguments[k])) {
      input.kind = JUMAR_INT;
      input.integer = *integer;
    } else if (const auto* number = std::get_if<double>(&arguments[k])) {
      input.kind = JUMAR_FLOAT;
      input.number = *number;
    } else {
      input.kind = JUMAR_BOOL;
      input.integer = std::get<bool>(arguments[k]) ? 1 : 0;
    }
  }
  std::vector<jumar_model_result> results(impl_->results.size());
  if (jumar_model_error* error =
          impl_->api().run(impl_->model.get(), inputs.data(), inputs.size(), results.data())) {
    return impl_->taken(error);
  }
  std::vector<Value> out;
  out.reserve(results.size());
  for (const jumar_model_result& result : results) out.push_back(value_from(result, impl_->library));
  return out;
}

Result<std::monostate> Package::update_constants(
    const std::vector<std::pair<std::string, TensorView>>& constants) const {
  std::vector<const char*> names;
  std::vector<jumar_tensor> tensors;
  for (const auto& [name, view] : constants) {
    names.push_back(name.c_str());
    tensors.push_back(tensor_from(view));
  }
  if (jumar_model_error* error =
          impl_->api().update_constants(impl_->model.get(), names.data(), tensors.data(), names.size())) {
    return impl_->taken(error);
  }
  return std::monostate{};
}

}  // namespace jumar::embed
