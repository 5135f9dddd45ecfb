// Kernels, inputs and expectations that the runtime's tests share.
#pragma once

#include <gtest/gtest.h>
#include <algorithm>
#include <numeric>

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>

#include "runtime/executor.h"

namespace jumar::runtime {

// y[i] = 2*x[i]: args x, y; ints n. A unit is one element.
inline void kernel_double(int64_t begin, int64_t end, void** args) {
  const float* x = static_cast<const float*>(args[0]);
  float* y = static_cast<float*>(args[1]);
  for (int64_t i = begin; i < end; ++i) y[i] = 2 * x[i];
}

// y[i] = x[i] + z[i].
inline void kernel_add(int64_t begin, int64_t end, void** args) {
  const float* x = static_cast<const float*>(args[0]);
  const float* z = static_cast<const float*>(args[1]);
  float* y = static_cast<float*>(args[2]);
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] + z[i];
}

// y[i] = x[i]*f + n: an int and a float argument.
inline void kernel_scale(int64_t begin, int64_t end, void** args) {
  const float* x = static_cast<const float*>(args[0]);
  float* y = static_cast<float*>(args[1]);
  int64_t n;
  double f;
  std::memcpy(&n, &args[2], sizeof n);
  std::memcpy(&f, &args[3], sizeof f);
  for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(x[i] * f + static_cast<double>(n));
}

// y[i] = x[index[i]], indices checked against n.
inline void kernel_gather(int64_t begin, int64_t end, void** args) {
  const float* x = static_cast<const float*>(args[0]);
  const int64_t* index = static_cast<const int64_t*>(args[1]);
  float* y = static_cast<float*>(args[2]);
  IndexStatus* status = static_cast<IndexStatus*>(args[3]);
  int64_t n;
  std::memcpy(&n, &args[4], sizeof n);
  for (int64_t i = begin; i < end; ++i) {
    if (index[i] < 0 || index[i] >= n) {
      int64_t none = 0;
      if (std::atomic_ref<int64_t>(status->flag).compare_exchange_strong(none, 1)) {
        status->index = index[i];
        status->size = n;
      }
      continue;
    }
    y[i] = x[index[i]];
  }
}

// Units below n: y[i] = 2*x[i]. Unit n: z[0] = the sum of y.
inline void kernel_double_then_sum(int64_t begin, int64_t end, void** args) {
  const float* x = static_cast<const float*>(args[0]);
  float* y = static_cast<float*>(args[1]);
  float* z = static_cast<float*>(args[2]);
  int64_t n;
  std::memcpy(&n, &args[3], sizeof n);
  for (int64_t i = begin; i < std::min(end, n); ++i) y[i] = 2 * x[i];
  if (end > n) z[0] = std::accumulate(y, y + n, 0.0f);
}

inline KernelFn test_kernel(std::string_view name) {
  if (name == "double") return kernel_double;
  if (name == "add") return kernel_add;
  if (name == "scale") return kernel_scale;
  if (name == "gather") return kernel_gather;
  if (name == "double_then_sum") return kernel_double_then_sum;
  return nullptr;
}

// A tensor of the test's own.
struct HostData {
  std::vector<char> bytes;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  ir::DType dtype = ir::DType::kF32;

  template <class T>
  static HostData of(ir::DType dtype, std::vector<int64_t> sizes, const std::vector<T>& values) {
    HostData data;
    data.dtype = dtype;
    data.sizes = std::move(sizes);
    data.strides.resize(data.sizes.size());
    int64_t next = 1;
    for (size_t k = data.sizes.size(); k-- > 0;) {
      data.strides[k] = next;
      next *= data.sizes[k];
    }
    data.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
    return data;
  }
  static HostData f32(std::vector<int64_t> sizes, const std::vector<float>& values) {
    return of(ir::DType::kF32, std::move(sizes), values);
  }
  static HostData i64(std::vector<int64_t> sizes, const std::vector<int64_t>& values) {
    return of(ir::DType::kI64, std::move(sizes), values);
  }

  InputValue input(void* host = nullptr) {
    InputValue value;
    value.tensor = {bytes.data(), dtype,          static_cast<int32_t>(sizes.size()),
                    sizes.data(), strides.data(), kDlCpu};
    value.host = host;
    return value;
  }
};

inline InputValue int_input(int64_t value) {
  InputValue input;
  input.kind = InputValue::Kind::kInt;
  input.integer = value;
  return input;
}
inline InputValue float_input(double value) {
  InputValue input;
  input.kind = InputValue::Kind::kFloat;
  input.number = value;
  return input;
}

inline std::shared_ptr<const PreparedPlan> prepared(const std::string& text,
                                                    const torch::Api* torch = nullptr,
                                                    std::shared_ptr<Pool> pool = Pool::create(64 << 20)) {
  Result<plan::Plan> plan = plan::read_plan(text);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  if (!plan.ok()) return nullptr;
  Engine engine;
  engine.pool = std::move(pool);
  engine.torch = torch;
  Result<std::shared_ptr<const PreparedPlan>> result =
      PreparedPlan::prepare(std::move(*plan), test_kernel, engine);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return result.ok() ? *result : nullptr;
}

struct Ran {
  std::optional<RunError> error;
  std::vector<Output> outputs;
};
inline Ran ran(const PreparedPlan& plan, const std::vector<InputValue>& inputs, HostCalls* host = nullptr) {
  Ran out;
  out.outputs.resize(plan.output_count());
  out.error = plan.run(inputs, out.outputs, host);
  return out;
}

inline void expect_error(const Ran& run, RunError::Kind kind, const std::string& message) {
  ASSERT_TRUE(run.error.has_value());
  EXPECT_EQ(static_cast<int>(run.error->kind), static_cast<int>(kind)) << run.error->message;
  EXPECT_EQ(run.error->message, message);
  for (const Output& output : run.outputs)
    EXPECT_EQ(static_cast<int>(output.kind), static_cast<int>(Output::Kind::kNone));
}

// The elements of a result without libtorch, in order of their indices.
template <class T>
std::vector<T> elements(const Output& output) {
  EXPECT_EQ(static_cast<int>(output.kind), static_cast<int>(Output::Kind::kManaged));
  if (!output.managed) return {};
  const DLTensor& t = output.managed->dl_tensor;
  std::vector<T> out;
  int64_t count = 1;
  for (int32_t k = 0; k < t.ndim; ++k) count *= t.shape[k];
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    int64_t offset = 0;
    for (int32_t k = t.ndim - 1; k >= 0; --k) {
      offset += rest % t.shape[k] * t.strides[k];
      rest /= t.shape[k];
    }
    out.push_back(static_cast<const T*>(t.data)[offset]);
  }
  return out;
}

}  // namespace jumar::runtime
