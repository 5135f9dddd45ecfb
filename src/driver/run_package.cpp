#include "driver/run_package.h"

#include <algorithm>
#include <cstdio>

#include "driver/device_archive.h"
#include "driver/inspection.h"
#include "driver/package_view.h"
#include "driver/run_arrays.h"
#include "driver/run_device_package.h"
#include "driver/utf8.h"
#include "jumar/package.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kNeedsTorch = "unsupported";  // the code of what a package lacks

Diagnostic diagnostic_of(const embed::Error& error) { return {error.code, error.message, {}, {}}; }

// "tokens: i64[s0, 128]" for each input that a call passes, then the ranges of the sizes.
Result<std::string> input_list(const RunArguments& arguments, std::span<const uint8_t> bytes) {
  JUMAR_ASSIGN(const PackageView view, read_package(bytes, arguments.program));
  JUMAR_ASSIGN(const Inspection rows, inspection(view, {}));
  std::string out;
  for (size_t k = 0; k < rows.inputs.size(); ++k) {
    if (view.manifest.arguments[k].is_constant) continue;
    out += fmt::format("{}: {}\n", rows.inputs[k].name, rows.inputs[k].type);
  }
  if (out.empty()) return out;
  for (const SymbolRow& row : rows.symbols)
    out += fmt::format("{} in [{}, {}]\n", row.name, row.range.lo,
                       row.range.hi == sym::Range::kMax ? "inf" : std::to_string(row.range.hi));
  return printable_lines(out);
}

Result<embed::Package> loaded(const RunArguments& arguments) {
  embed::LoadOptions options;
  options.model = arguments.model;
  options.threads = arguments.threads;
  options.torch_library = arguments.torch_library;
  embed::Result<embed::Package> package = embed::Package::load(arguments.program, options);
  if (package.ok()) return std::move(*package);
  Diagnostic error = diagnostic_of(package.error());
  if (error.code == kNeedsTorch && arguments.torch_library.empty())
    error.notes.emplace_back("a package that calls libtorch needs --torch=<torch>/lib/libtorch_cpu.so");
  return error;
}

embed::DType embed_dtype(ir::DType dtype) {
  for (auto k = embed::DType::kBool; k != embed::DType::kOther;
       k = static_cast<embed::DType>(static_cast<uint8_t>(k) + 1)) {
    if (embed::dtype_name(k) == ir::dtype_name(dtype)) return k;
  }
  return embed::DType::kOther;
}

Result<embed::Argument> argument_of(FileArray& array, embed::Kind wanted) {
  if (wanted == embed::Kind::kTensor || wanted == embed::Kind::kNone) {
    const runtime::TensorView view = array.view();
    return embed::Argument(embed::TensorView{view.data,
                                             embed_dtype(view.dtype),
                                             {view.sizes, view.sizes + view.rank},
                                             {view.strides, view.strides + view.rank}});
  }
  JUMAR_ASSIGN(const HostNumber number, array.number(wanted == embed::Kind::kInt     ? HostKind::kInt
                                                     : wanted == embed::Kind::kFloat ? HostKind::kFloat
                                                                                     : HostKind::kBool));
  return std::visit([](auto value) { return embed::Argument(value); }, number);
}

Result<NpyArray> array_of(const embed::Tensor& tensor) {
  const embed::TensorView view = tensor.view();
  const std::optional<ir::DType> dtype = ir::dtype_from_name(embed::dtype_name(view.dtype));
  if (!dtype) return diagnostic("unsupported", "a result has elements of a type that Jumar does not have");
  return driver::array_of(runtime::TensorView{view.data, *dtype, static_cast<int32_t>(view.sizes.size()),
                                              view.sizes.data(), view.strides.data()});
}

// Nothing for a result that is none.
Result<std::optional<NpyArray>> array_of(const embed::Value& value) {
  if (value.is_tensor()) {
    JUMAR_ASSIGN(NpyArray array, array_of(value.tensor()));
    return std::optional(std::move(array));
  }
  std::optional<NpyArray> array;
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held>) array = driver::array_of(HostNumber(held));
      },
      value.any());
  return array;
}

Status call_and_write(const RunArguments& arguments, const embed::Package& package,
                      const std::vector<embed::Argument>& inputs) {
  std::optional<std::vector<embed::Value>> results;
  const auto call = [&]() -> Status {
    embed::Result<std::vector<embed::Value>> made = package.run(inputs);
    if (!made.ok()) return diagnostic_of(made.error());
    results = std::move(*made);
    return {};
  };
  JUMAR_RETURN_IF_ERROR(call());
  JUMAR_RETURN_IF_ERROR(measure(arguments.repeat, call));
  for (size_t k = 0; k < results->size(); ++k) {
    JUMAR_ASSIGN(const std::optional<NpyArray> array, array_of((*results)[k]));
    if (array) JUMAR_RETURN_IF_ERROR(write_result(arguments.output, k, *array));
  }
  return {};
}

// Packages are compiled: what decides about code has no effect any more.
Status check_arguments(const RunArguments& arguments, bool for_device) {
  if (!arguments.target.empty() || (!for_device && (arguments.sim || !arguments.device_limit.empty())))
    return diagnostic("option", "'{}' is compiled already: {} for exported programs", arguments.program,
                      for_device ? "--target is" : "--target, --device-limit and --sim are");
  if (!arguments.options.empty() && !for_device)
    return diagnostic("option", "'{}' is compiled already: -O has no effect on a package", arguments.program);
  if (for_device && !arguments.sim)
    return diagnostic("unsupported",
                      "'{}' is for a device, and kernels are launched on none yet: --sim runs them in the "
                      "simulator",
                      arguments.program);
  return {};
}

Status run_for_processor(const RunArguments& arguments) {
  JUMAR_ASSIGN(const embed::Package package, loaded(arguments));
  const std::vector<embed::ValueInfo>& wanted = package.inputs();
  if (wanted.size() != arguments.inputs.size())
    return diagnostic("input", "the program has {} inputs, {} are given; without any they are listed",
                      wanted.size(), arguments.inputs.size());
  std::vector<FileArray> arrays;
  arrays.reserve(wanted.size());  // arguments point into them
  std::vector<embed::Argument> inputs;
  for (size_t k = 0; k < wanted.size(); ++k) {
    JUMAR_ASSIGN(FileArray array, FileArray::read(arguments.inputs[k]));
    arrays.push_back(std::move(array));
    JUMAR_ASSIGN(embed::Argument argument, argument_of(arrays.back(), wanted[k].kind));
    inputs.push_back(std::move(argument));
  }
  return call_and_write(arguments, package, inputs);
}

}  // namespace

Status run_package(const RunArguments& arguments, const Options& base, std::span<const uint8_t> bytes) {
  JUMAR_ASSIGN(const bool for_device, [&]() -> Result<bool> {
    JUMAR_ASSIGN(const ZipArchive zip,
                 ZipArchive::read(bytes, arguments.program, ZipArchive::Packing::kDeflate));
    return is_device_package(zip);
  }());
  JUMAR_RETURN_IF_ERROR(check_arguments(arguments, for_device));
  if (arguments.inputs.empty()) {
    JUMAR_ASSIGN(const std::string list, input_list(arguments, bytes));
    std::fwrite(list.data(), 1, list.size(), stdout);
    if (!list.empty()) return {};
  }
  if (for_device) return run_device_package(arguments, base);
  return run_for_processor(arguments);
}

}  // namespace jumar::driver
