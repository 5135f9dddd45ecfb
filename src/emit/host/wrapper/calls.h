// Calls of libtorch's operators: the base of programs that make any.
//
//   const Tensor t = result(call(op.topk, {x, 5, -1, true, true}), 0, F32({s0, 5}));
//   call_into(op.mm, {t}, x, w);
//
// An operator's result is compared with the type that the program was made for, and copied where its strides
// differ, because kernels rely on them. Where an operator returned memory that it does not own, as views of
// its operands are, the result is copied as well.
#pragma once

#include "emit/host/wrapper/operators.h"
#include "emit/host/wrapper/run_launch.h"

namespace jumar::wrapper {

// What an operator returned, until the next call.
struct Results {
  Frame* frame;
  const char* op;
};

class Calls : public Run {
 protected:
  using Run::Run;

  template <class... Parameters, class... Args>
  void call_into(const Operator<Parameters...>& op, std::initializer_list<TensorRef> targets,
                 const Args&... args) {
    begin_call(targets);
    const std::tuple<Handle> target(frame_.targets.front());
    end_call_into(op.name, std::apply(op.function, std::tuple_cat(target, values(args)...)), targets);
  }
  void call_into(const Dispatched& op, std::initializer_list<TensorRef> targets,
                 std::initializer_list<Arg> args);

  template <class... Parameters, class... Args>
  Results call(const Operator<Parameters...>& op, const Args&... args) {
    begin_call({});
    frame_.results.assign(1, nullptr);
    const std::tuple<Handle*> made(frame_.results.data());
    return end_call(op.name, std::apply(op.function, std::tuple_cat(values(args)..., made)));
  }
  Results call(const Dispatched& op, std::initializer_list<Arg> args);

  // Takes a result of a call, as the type that the program was made for.
  Tensor result(const Results& results, size_t k, const Layout& wanted);
  void copy_result(const Results& results, size_t k, const Tensor& target);
  void expect_count(const Results& results, size_t count) const;
  // Sizes and strides as the operator gave them.
  int64_t size_of(const Results& results, size_t k, int64_t dim) const;
  int64_t stride_of(const Results& results, size_t k, int64_t dim) const;
  int64_t int_of(const Results& results, size_t k, size_t count) const;

 private:
  struct Seen {
    int32_t dtype = 0;
    int64_t rank = 0;
    int64_t* sizes = nullptr;
    int64_t* strides = nullptr;
    void* data = nullptr;
  };

  // An argument as the C values that it is passed as. No operator with a C function of its own takes more
  // than one list of tensors, or more than one tensor that may be missing.
  std::tuple<Handle> values(const Tensor& tensor) { return {handle(tensor)}; }
  std::tuple<Handle*> values(const MaybeTensor& maybe) {
    if (!maybe.tensor) return {nullptr};
    optional_ = handle(*maybe.tensor);
    return {&optional_};
  }
  std::tuple<const Handle*, int64_t> values(const Tensors& tensors) {
    frame_.list.clear();
    for (const TensorRef& item : tensors.items) frame_.list.push_back(handle(*item.tensor));
    return {frame_.list.data(), static_cast<int64_t>(frame_.list.size())};
  }
  std::tuple<const int64_t*, int64_t> values(const Ints& ints) {
    static_assert(sizeof(Int) == sizeof(int64_t));
    return {reinterpret_cast<const int64_t*>(ints.items.begin()), static_cast<int64_t>(ints.items.size())};
  }
  std::tuple<int64_t> values(Int value) { return {value.value()}; }
  std::tuple<int64_t> values(int value) { return {value}; }
  std::tuple<int64_t> values(int64_t value) { return {value}; }
  std::tuple<double> values(double value) { return {value}; }
  std::tuple<int32_t> values(bool value) { return {value}; }
  std::tuple<const char*> values(const char* value) { return {value}; }

  void begin_call(std::initializer_list<TensorRef> targets);
  void end_call_into(const char* op, Error error, std::initializer_list<TensorRef> targets);
  Results end_call(const char* op, Error error);
  void take_stack(const Dispatched& op, const uint64_t* stack);
  void take_handle(uint64_t word);
  void own_results();
  bool is_borrowed(Handle result) const;
  bool seen(Handle handle, Seen& out) const;
  Seen seen_result(const Results& results, size_t k, const char* name) const;
  uint64_t word_of(const Arg& arg, bool is_cell);
  uint64_t plain_word(const Arg& arg);
  int64_t format_code(Format format) const;
  [[noreturn]] void wrong_result(const char* op, const std::string& message) const;

  Handle optional_ = nullptr;
};

}  // namespace jumar::wrapper
