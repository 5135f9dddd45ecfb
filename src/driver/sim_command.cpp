#include "driver/sim_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>

#include "driver/run_arrays.h"
#include "driver/sim_library.h"
#include "runtime/memory.h"
#include "runtime/threads.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

std::string argument_list(const jumar_sim_info& kernel) {
  constexpr const char* kRoles[] = {"read", "written", "read and written"};
  std::string out = fmt::format("kernel {}{}\n", kernel.name, kernel.has_atomics ? ", with atomics" : "");
  for (int k = 0; k < kernel.argument_count; ++k) {
    const jumar_sim_argument& argument = kernel.arguments[k];
    if (argument.kind != JUMAR_SIM_POINTER) {
      out += fmt::format("{}: {}\n", k, argument.type);
    } else {
      const bool known = argument.role >= 0 && argument.role <= 2;
      out += fmt::format("{}: pointer to {}{}{}\n", k, argument.type, known ? ", " : "",
                         known ? kRoles[argument.role] : "");
    }
  }
  return out;
}

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value = {};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The element type that MLIR calls "i8" holds booleans, too.
bool fits(std::string_view kernel_type, ir::DType type) {
  const std::string_view name = ir::dtype_name(type);
  if (kernel_type == name) return true;
  if (kernel_type == "i1" || kernel_type == "i8") return ir::dtype_bytes(type) == 1;
  return kernel_type.starts_with('i') && name.starts_with('u') && kernel_type.substr(1) == name.substr(1);
}

class SimRun {
 public:
  SimRun(const SimArguments& arguments, SimKernel kernel)
      : arguments_(arguments), kernel_(std::move(kernel)) {}

  Status run();

 private:
  struct Memory {
    int argument = 0;
    FileArray file;
    std::vector<uint8_t> zeros;
    std::vector<int64_t> sizes;
    ir::DType dtype = ir::DType::kF32;
    bool is_file = false;

    runtime::TensorView view();
    std::vector<int64_t> strides = {};
  };

  Status read_word(int number, const std::string& word);
  Status read_pointer(int number, const std::string& word);
  Status call();
  void set(int place, int64_t value) { words_[static_cast<size_t>(place)] = value; }

  const SimArguments& arguments_;
  SimKernel kernel_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<int64_t> words_;
  jumar_sim_fault fault_ = {};
  std::shared_ptr<runtime::ThreadPool> threads_;
  int64_t blocks_ = 1;
};

runtime::TensorView SimRun::Memory::view() {
  if (is_file) return file.view();
  strides = {1};
  return {zeros.data(), dtype, 1, sizes.data(), strides.data()};
}

Status SimRun::read_pointer(int number, const std::string& word) {
  const jumar_sim_argument& argument = kernel_.info().arguments[number];
  auto memory = std::make_unique<Memory>();
  memory->argument = number;
  const size_t cross = word.find('x');
  const auto count = cross == std::string::npos ? std::nullopt : number_of<int64_t>(word.substr(0, cross));
  const auto type = count ? ir::dtype_from_name(word.substr(cross + 1)) : std::nullopt;
  if (count && type && *count >= 0) {
    memory->dtype = *type;
    memory->sizes = {*count};
    memory->zeros.resize(static_cast<size_t>(*count * ir::dtype_bytes(*type)));
  } else {
    memory->is_file = true;
    JUMAR_ASSIGN(memory->file, FileArray::read(word));
  }
  const runtime::TensorView view = memory->view();
  if (!fits(argument.type, view.dtype)) {
    return diagnostic("input", "argument {} of {} points to {}, but {} has {}", number, kernel_.info().name,
                      argument.type, word, ir::dtype_name(view.dtype));
  }
  int64_t elements = 1;
  for (int k = 0; k < view.rank; ++k) elements *= view.sizes[k];
  set(argument.word, reinterpret_cast<int64_t>(view.data));
  set(argument.count, elements);
  memory_.push_back(std::move(memory));
  return {};
}

Status SimRun::read_word(int number, const std::string& word) {
  const jumar_sim_argument& argument = kernel_.info().arguments[number];
  if (argument.kind == JUMAR_SIM_POINTER) return read_pointer(number, word);
  int64_t bits = 0;
  bool ok = false;
  if (argument.kind == JUMAR_SIM_INTEGER) {
    const auto value = number_of<int64_t>(word);
    ok = value.has_value();
    bits = value.value_or(0);
  } else if (const auto value = number_of<double>(word)) {
    ok = true;
    std::memcpy(&bits, &*value, sizeof bits);
  }
  if (!ok) {
    return diagnostic("input", "argument {} of {} is a number of type {}, not {}", number,
                      kernel_.info().name, argument.type, word);
  }
  set(argument.word, bits);
  return {};
}

Status SimRun::call() {
  fault_ = {};
  // Blocks with atomics run one after another.
  const bool alone = kernel_.info().has_atomics != 0;
  struct Work {
    jumar_sim_fn function;
    void** words;
  } work = {kernel_.function(), reinterpret_cast<void**>(words_.data())};
  const auto body = [](int64_t begin, int64_t end, void* context) {
    const Work& mine = *static_cast<Work*>(context);
    mine.function(begin, end, mine.words);
  };
  if (alone) {
    body(0, blocks_, &work);
  } else {
    threads_->parallel_for(0, blocks_, 1, body, &work);
  }
  if (fault_.flag != 0) return diagnostic("sim", "{}", kernel_.fault_text(fault_));
  return {};
}

Status SimRun::run() {
  const jumar_sim_info& kernel = kernel_.info();
  words_.resize(static_cast<size_t>(kernel.word_count));
  if (arguments_.words.size() != static_cast<size_t>(kernel.argument_count)) {
    return diagnostic("input", "{} takes {} arguments, not {}", kernel.name, kernel.argument_count,
                      arguments_.words.size());
  }
  if (arguments_.grid.size() > 3) return diagnostic("input", "a grid has at most three axes");
  for (int k = 0; k < kernel.argument_count; ++k) {
    JUMAR_RETURN_IF_ERROR(read_word(k, arguments_.words[static_cast<size_t>(k)]));
  }
  set(kernel.fault_word, reinterpret_cast<int64_t>(&fault_));
  for (int axis = 0; axis < 3; ++axis) {
    const auto at = static_cast<size_t>(axis);
    const int64_t programs = at < arguments_.grid.size() ? arguments_.grid[at] : 1;
    set(kernel.grid_word + axis, programs);
    blocks_ *= programs;
  }
  threads_ = runtime::ThreadPool::create(arguments_.threads);
  JUMAR_RETURN_IF_ERROR(call());
  for (const auto& memory : memory_) {
    if (kernel.arguments[memory->argument].role == 0) continue;
    JUMAR_ASSIGN(const NpyArray array, array_of(memory->view()));
    JUMAR_RETURN_IF_ERROR(write_result(arguments_.output, static_cast<size_t>(memory->argument), array));
  }
  if (arguments_.repeat > 0) return measure(arguments_.repeat, [&] { return call(); });
  return {};
}

}  // namespace

Status sim_command(const SimArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(const Options options, base.with(fmt::format("{}", fmt::join(arguments.options, "\n"))));
  JUMAR_ASSIGN(const std::string text, bytes_of_file(arguments.file));
  JUMAR_ASSIGN(const std::shared_ptr<const SimLibrary> library, SimLibrary::open(options.sim_library()));
  Result<SimKernel> made = library->compile(text, {arguments.kernel, false});
  if (!made.ok()) {
    made.error().where.file = arguments.file;
    return made.error();
  }
  SimKernel kernel = std::move(made).value();
  if (arguments.words.empty()) {
    const std::string list = argument_list(kernel.info());
    std::fwrite(list.data(), 1, list.size(), stdout);
    return {};
  }
  return SimRun(arguments, std::move(kernel)).run();
}

}  // namespace jumar::driver
