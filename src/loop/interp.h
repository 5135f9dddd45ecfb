// The reference interpreter of loop programs: slow, sequential, and strict about what docs/loop.md promises.
//
//   ProgramRunner runner(program, {});
//   Result<std::vector<RunArg>> outputs = runner.run({view_of(x), int64_t{4}});
//   const TensorView& y = std::get<TensorView>((*outputs)[0].data);
//
// It runs kernels point by point on raw memory, with operators of scalar_eval.h, and doubles as a sanitizer.
// A program that breaks a promise gets a diagnostic that names kernel, nest, stage, line, point and address:
//   "bounds"  an access outside its buffer, or outside a local
//   "poison"  a read of an element that nothing has written, or an output that was not wholly written
//   "race"    two kept points, or two nests of a kernel that is not phased, that touch one element in a way
//             that order could tell
// What a correct program may raise for its inputs: "index" (wrap_index, check_index), "check" (a check item),
// "input" (inputs that are not as declared), "overflow" (an expression that leaves 64 bits or divides by
// zero).
//
// Sums and products of floats are folded in double and rounded once per result, so they are the best answer,
// not the answer of any one order.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "loop/loop.h"

namespace jumar::loop {

// A tensor in memory that somebody else owns. Strides count elements.
struct TensorView {
  void* data = nullptr;
  ir::DType dtype = ir::DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t element_count() const;
};

// A tensor with memory of its own; bytes hold its storage, from the first element on.
struct HostTensor {
  ir::DType dtype = ir::DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<std::byte> bytes;
  // Zeroed, with the storage that the strides need.
  static HostTensor make(ir::DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);
  static HostTensor contiguous(ir::DType dtype, std::vector<int64_t> sizes);
  TensorView view();
};

// Elements of storage from the first to the last; 0 where a size is 0.
int64_t extent_elems(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
// Calls visit(offset in elements) for every element, row-major.
void for_each_offset(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                     const std::function<void(int64_t)>& visit);

// An argument or result with values in place of references and expressions.
struct RunArg {
  using List = std::vector<RunArg>;
  std::variant<ir::NoneArg, TensorView, int64_t, double, bool, std::string, ir::WordArg, List> data;
};

struct CallResult {
  std::vector<HostTensor> tensors;  // one per result; what stands at a result `none` is ignored
  std::vector<int64_t> defines;     // one per symbol that the call defines
};
using CallHandler = std::function<Result<CallResult>(const Call& call, const RunArg::List& args)>;

class BufferMemory;

class ProgramRunner {
 public:
  // `program` must be verified and outlive the runner. Without a handler, a call is an error.
  ProgramRunner(const Program& program, CallHandler handler);
  ~ProgramRunner();
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // One run, inputs in call order; their memory must stay until the outputs have been read. Outputs point
  // into inputs and into memory of the runner that lives until the next run.
  Result<std::vector<RunArg>> run(const std::vector<RunArg>& inputs);

  // After a run: a buffer of the program as a tensor, whatever has been written of it; nothing where it was
  // never touched.
  std::optional<TensorView> buffer(BufferId id);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Values of the size symbols, from int inputs and from sizes and strides of inputs; checks that all of them
// are as declared.
Result<std::unordered_map<sym::Expr, int64_t>> bound_symbols(const Program& program,
                                                             const std::vector<RunArg>& inputs);

// scalar.mul and its like: Python's meaning, on ints, floats and bools.
Result<RunArg> host_scalar(std::string_view op, const RunArg::List& args);

}  // namespace jumar::loop
