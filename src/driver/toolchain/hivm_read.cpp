// Modules of optimized HIVM: affine maps, functions and what their attributes say.
#include <algorithm>

#include "driver/toolchain/hivm_reader.h"

namespace jumar::driver::toolchain {
namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// func.func @name(%arg0: i64 {...}, ...) -> i8 attributes {...} {
Status read_head(std::string_view text, HivmFunction& function, HivmFunctionReader& reader) {
  const size_t name = text.find('@');
  const size_t open = text.find('(', name);
  if (name == std::string_view::npos || open == std::string_view::npos)
    return diagnostic("syntax", "a function without a name");
  function.name = std::string(text.substr(name + 1, open - name - 1));
  size_t at = open;
  for (const std::string_view argument : split_list(bracketed(text, at))) {
    const size_t colon = argument.find(':');
    if (argument.front() != '%' || colon == std::string_view::npos) continue;
    function.arguments.push_back(reader.slot(trimmed(argument.substr(0, colon))));
    function.argument_types.push_back(type_in(argument.substr(colon + 1)));
  }
  const std::string_view attributes = text.substr(at);
  function.is_entry = holds(attributes, "hacc.entry");
  function.is_vector_code = holds(attributes, "hivm.vector_function");
  function.is_part_of_mix = holds(attributes, "hivm.part_of_mix");
  if (holds(attributes, "func_core_type<AIC>")) function.core = HivmFunction::Core::kCube;
  constexpr std::string_view kHost = "#hacc.host_func_type<";
  if (const size_t host = attributes.find(kHost); host != std::string_view::npos) {
    const std::string_view rest = attributes.substr(host + kHost.size());
    function.host_kind = std::string(rest.substr(0, rest.find('>')));
  }
  return {};
}

class ModuleReader {
 public:
  explicit ModuleReader(std::string_view text) : rest_(text) {}

  Result<HivmProgram> run() {
    while (next()) {
      if (starts_with(line_, "#map")) JUMAR_RETURN_IF_ERROR(map());
      if (starts_with(line_, "func.func") && line_.back() == '{') JUMAR_RETURN_IF_ERROR(function());
    }
    for (HivmCallee& callee : module_.program.callees) {
      const auto& functions = module_.program.functions;
      const auto found = std::find_if(functions.begin(), functions.end(),
                                      [&](const HivmFunction& each) { return each.name == callee.name; });
      if (found != functions.end()) callee.function = static_cast<int>(found - functions.begin());
    }
    if (module_.program.functions.empty()) return diagnostic("syntax", "no function of HIVM is in it");
    return std::move(module_.program);
  }

  int number() const { return number_; }

 private:
  // The next line that holds something.
  bool next() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view whole = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      line_ = trimmed(whole);
      if (line_.empty()) continue;
      is_function_end_ = whole == "  }";
      return true;
    }
    return false;
  }

  // #map1 = affine_map<()[s0, s1] -> (s1, s0)>
  Status map() {
    constexpr std::string_view kMark = "affine_map<";
    const size_t at = line_.find(kMark);
    if (at == std::string_view::npos) return {};
    JUMAR_ASSIGN(AffineMap map,
                 AffineMap::parse(line_.substr(at + kMark.size(), line_.rfind('>') - at - kMark.size())));
    module_.maps.emplace(std::string(trimmed(line_.substr(0, line_.find('=')))),
                         static_cast<uint32_t>(module_.program.maps.size()));
    module_.program.maps.push_back(std::move(map));
    return {};
  }

  // From its head to the bracket that closes it: the compiler prints functions with two columns of space.
  Status function() {
    HivmFunction function;
    HivmFunctionReader reader(module_, function);
    JUMAR_RETURN_IF_ERROR(read_head(line_, function, reader));
    while (next()) {
      if (is_function_end_) {
        JUMAR_RETURN_IF_ERROR(reader.finish());
        module_.program.functions.push_back(std::move(function));
        return {};
      }
      JUMAR_RETURN_IF_ERROR(reader.line(line_));
    }
    return diagnostic("syntax", "the end of {} is missing", function.name);
  }

  HivmModuleReader module_;
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
  bool is_function_end_ = false;
};

}  // namespace

Result<HivmProgram> read_hivm(std::string_view text, const std::string& file) {
  ModuleReader reader(text);
  Result<HivmProgram> out = reader.run();
  if (out.ok()) return out;
  Diagnostic error = std::move(out.error());
  error.where = {file, reader.number(), 0};
  return error;
}

}  // namespace jumar::driver::toolchain
