// Reads the body of one function of optimized HIVM, line by line: used by read_hivm alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/toolchain/hivm_text.h"

namespace jumar::driver::toolchain {

// What the functions of a module share while it is read.
struct HivmModuleReader {
  HivmProgram program;
  std::map<std::string, uint32_t, std::less<>> maps;  // "#map1"
  std::map<std::string, uint32_t, std::less<>> names;
  std::map<std::string, uint32_t, std::less<>> callees;

  uint32_t name(std::string_view text);
  uint32_t callee(std::string_view text);
  uint32_t type(HivmType type);
};

class HivmFunctionReader {
 public:
  HivmFunctionReader(HivmModuleReader& module, HivmFunction& function)
      : module_(module), function_(function) {}

  uint32_t slot(std::string_view name);
  Status line(std::string_view text);
  // After the last line.
  Status finish();

 private:
  // A region of structured control flow that is not closed yet.
  struct Region {
    enum class Kind : uint8_t { kFor, kIf, kElse, kBefore, kAfter };
    Kind kind;
    std::vector<uint32_t> results;
    std::vector<uint32_t> carried;  // arguments of the loop
    std::vector<uint32_t> passed;   // of a while: from its condition to its body
    uint32_t index = 0;             // of a for: the variable and its step
    uint32_t step = 0;
    size_t begin = 0;                 // the first step of the loop
    std::optional<size_t> skip;       // the jump over the region
    std::optional<size_t> skip_else;  // the jump over the other region of an if
    std::vector<uint32_t> yielded;
  };
  struct Label {
    std::vector<uint32_t> arguments;
    std::optional<size_t> step;
  };
  // A jump to a label that may come later.
  struct Pending {
    size_t jump;
    std::optional<size_t> move;
    std::string label;
  };

  // Control flow: hivm_control.cpp.
  Status close(std::string_view text);
  Status begin_for(const HivmLine& line);
  Status begin_if(const HivmLine& line);
  Status begin_while(const HivmLine& line);
  Status condition(const HivmLine& line);
  void yield(const HivmLine& line);
  void close_for(const Region& region);
  void close_while(const Region& region);
  void label(std::string_view text);
  Status jump_to(std::string_view target);
  Status branch(const HivmLine& line);
  void mark_scalar_loops();
  bool is_scalar_loop(size_t begin, size_t end) const;

  // Everything else: hivm_steps.cpp.
  Status operation(const HivmLine& line);
  void constant(const HivmLine& line);
  bool number_operation(const HivmLine& line);
  bool sync_operation(const HivmLine& line);
  Status affine(const HivmLine& line);
  bool view_operation(const HivmLine& line);
  void subview(const HivmLine& line);
  void call(const HivmLine& line);
  void vector(const HivmLine& line);
  HivmStep& emit(HivmOp op, const HivmLine& line);

  HivmStep& emit(HivmOp op);
  void move(std::vector<uint32_t> results, std::vector<uint32_t> operands);
  size_t emit_jump(HivmOp op, size_t target = 0);
  uint32_t constant_slot(int64_t value);
  uint32_t hidden_slot() { return function_.slots++; }
  std::vector<uint32_t> slots(const std::vector<std::string>& names);
  // Slots of a list of values and constants: "[%0, 4]".
  std::vector<uint32_t> mixed(std::string_view list);
  void target_here(size_t jump) {
    function_.steps[jump].target = static_cast<uint32_t>(function_.steps.size());
  }

  HivmModuleReader& module_;
  HivmFunction& function_;
  std::map<std::string, uint32_t, std::less<>> slots_;
  std::map<int64_t, uint32_t> constants_;
  std::map<std::string, Label, std::less<>> labels_;
  std::vector<Pending> pending_;
  std::vector<Region> regions_;
  std::vector<uint32_t> block_arguments_;
};

}  // namespace jumar::driver::toolchain
