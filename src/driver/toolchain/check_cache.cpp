#include "driver/toolchain/check_cache.h"

#include <bit>

#include "support/bytes.h"

namespace jumar::driver::toolchain {
namespace {

// Changes whenever what is kept, or how it is found out, changes.
constexpr std::string_view kLayout = "kernel check 1";

// One list of members for both directions: `visit` is a writer or a reader of single values.
template <class Visitor>
void visit_failure(Visitor& visit, ToolFailure& failure) {
  visit(failure.tool);
  visit(failure.ending);
  visit(failure.message);
  visit(failure.line);
  visit(failure.column);
  visit.optional(failure.overflow, [&](Overflow& overflow) {
    visit(overflow.memory);
    visit(overflow.needs_bits);
    visit(overflow.available_bits);
  });
  visit(failure.is_time_limit);
  visit(failure.log);
}

template <class Visitor>
void visit_check(Visitor& visit, KernelCheck& check) {
  const auto failure = [&](ToolFailure& each) { visit_failure(visit, each); };
  const auto number = [&](int64_t& each) { visit(each); };
  visit(check.name);
  visit.optional(check.adapted.linalg, [&](LinalgText& linalg) {
    visit(linalg.text);
    visit(linalg.mix_mode);
  });
  visit.optional(check.adapted.failure, failure);
  visit(check.adapted.seconds);
  CompileReport& compiled = check.compiled;
  visit(compiled.stage);
  visit.optional(compiled.failure, failure);
  visit(compiled.dropped_code_motion);
  visit(compiled.dropped_multi_buffer);
  visit(compiled.hivm);
  visit(compiled.device_binary);
  for (std::optional<int64_t>* need : {&compiled.needs.task_type, &compiled.needs.workspace_bytes,
                                       &compiled.needs.lock_count, &compiled.needs.lock_initial})
    visit.optional(*need, number);
  visit(compiled.ub_bytes);
  visit(compiled.seconds);
}

class Writer {
 public:
  void operator()(const std::string& text) { out_.text(text); }
  void operator()(double number) { out_.number(std::bit_cast<uint64_t>(number)); }
  template <class Number>
  void operator()(Number number) {
    out_.number(static_cast<uint64_t>(number));
  }
  template <class T, class Each>
  void optional(std::optional<T>& value, const Each& each) {
    (*this)(value.has_value());
    if (value) each(*value);
  }
  std::string take() { return out_.take(); }

 private:
  ByteWriter out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_(bytes) {}

  void operator()(std::string& text) {
    const std::optional<std::string_view> found = in_.text();
    if (found) text = *found;
    is_whole_ = is_whole_ && found;
  }
  void operator()(double& number) { number = std::bit_cast<double>(next()); }
  template <class Number>
  void operator()(Number& number) {
    number = static_cast<Number>(next());
  }
  template <class T, class Each>
  void optional(std::optional<T>& value, const Each& each) {
    if (next() == 0) return;
    value.emplace();
    each(*value);
  }
  bool is_whole() const { return is_whole_ && in_.at_end(); }

 private:
  uint64_t next() {
    const std::optional<uint64_t> found = in_.number();
    is_whole_ = is_whole_ && found;
    return found.value_or(0);
  }

  ByteReader in_;
  bool is_whole_ = true;
};

bool is_from_outside(const std::optional<ToolFailure>& failure) {
  return failure && (failure->is_time_limit || failure->ending == "killed by SIGKILL");
}

}  // namespace

Hash128 check_key(const TtirKernel& kernel, const std::string& tools_identity, const std::string& flavor) {
  ByteWriter out;
  for (const std::string_view part : {kLayout, std::string_view(kernel.name), std::string_view(kernel.ttir),
                                      std::string_view(tools_identity), std::string_view(flavor)})
    out.text(part);
  return hash_of(out.take());
}

bool is_lasting(const KernelCheck& check) {
  return !is_from_outside(check.adapted.failure) && !is_from_outside(check.compiled.failure);
}

std::string bytes_of(const KernelCheck& check) {
  Writer writer;
  KernelCheck copy = check;  // the list of members serves the reader too
  visit_check(writer, copy);
  return writer.take();
}

std::optional<KernelCheck> check_from(std::string_view bytes) {
  Reader reader(bytes);
  KernelCheck out;
  visit_check(reader, out);
  if (!reader.is_whole() || out.compiled.stage > CompileReport::Stage::kLinked) return std::nullopt;
  return out;
}

}  // namespace jumar::driver::toolchain
