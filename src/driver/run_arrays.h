// Arrays of files as arguments and results of a run: what running an archive and running a package share.
//
//   JUMAR_ASSIGN(FileArray x, FileArray::read("x.npy"));
//   x.view()                                             row-major, whatever the file's order is
//   JUMAR_RETURN_IF_ERROR(write_result("out_{}.npy", 0, array));
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runtime/executor.h"
#include "support/npy.h"

namespace jumar::driver {

using HostNumber = std::variant<int64_t, double, bool>;
enum class HostKind : uint8_t { kInt, kFloat, kBool };

class FileArray {
 public:
  static Result<FileArray> read(const std::string& path);

  // Valid as long as the array stays where it is.
  runtime::TensorView view();
  // The only element, for an argument that is no tensor.
  Result<HostNumber> number(HostKind kind) const;

 private:
  std::string path_;
  ir::DType dtype_ = ir::DType::kF32;
  NpyArray array_;
  std::vector<int64_t> strides_;
};

// As an input of a plan: a tensor, or a number of this kind. The array stays where it is.
Result<runtime::InputValue> input_of(FileArray& array, std::optional<HostKind> number);

Result<NpyArray> array_of(const runtime::TensorView& tensor);
NpyArray array_of(const HostNumber& number);
// A result of a plan that was called with `inputs`.
Result<NpyArray> array_of(const runtime::torch::Api* torch, const runtime::Output& output,
                          std::span<const runtime::InputValue> inputs);

// Writes the file and prints its name, element type and sizes. The first `{}` of `pattern` becomes the
// number.
Status write_result(const std::string& pattern, size_t number, const NpyArray& array);

// Calls so often, and prints the median and the least time to stderr.
Status measure(int count, const std::function<Status()>& call);

}  // namespace jumar::driver
