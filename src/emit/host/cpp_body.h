// The steps of a plan as the body of a written program's `run`, and what has to be declared around it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/host/cpp_text.h"
#include "emit/host/emit_cpp.h"
#include "runtime/code.h"

namespace jumar::emit::host {

struct CppDeclarations {
  std::vector<std::string> operators;                        // members of Operators
  std::vector<std::pair<std::string, std::string>> kernels;  // of the plan, with their identifiers
  std::vector<std::string> tensors;                          // names, in the order in which tensors appear
  uint32_t output_count = 0;
};

class CppBody {
 public:
  CppBody(const runtime::Code& code, const CppOptions& options);

  // A diagnostic where a symbol's name is no identifier.
  Status write();
  const std::string& text() const { return text_; }
  const CppDeclarations& declarations() const { return declarations_; }

 private:
  struct Pending {  // the results of the latest call
    std::string variable;
    const runtime::CallCode* call = nullptr;
  };

  // cpp_body.cpp
  Status name_symbols();
  void sizes();
  void inputs();
  void arena();
  void steps();
  void results();
  void line(const std::string& text);
  void comment(const std::string& text);
  void origin(uint32_t step);
  std::string tensor(uint32_t index);
  void declare(uint32_t index, const std::string& made);
  void declare(uint32_t index, const std::string& name, const std::string& made);
  std::string layout(uint32_t index) const;
  std::string number(uint32_t index) const;
  std::string symbol_text(sym::Expr symbol) const;
  std::string solved_text(sym::Expr coefficient, sym::Expr rest) const;
  sym::Expr expr(runtime::Slot slot) const { return code_.program.expr(slot); }
  std::string expr_text(runtime::Slot slot) const { return cpp_expr(expr(slot)); }
  const std::string& plan_name(uint32_t tensor) const;
  std::string output_text(const runtime::OutputCode& output);

  // cpp_steps.cpp
  void make(uint32_t tensor);
  void launch(const runtime::LaunchCode& launch);
  void bind(const runtime::BindCode& bind);
  void settle(uint32_t tensor);
  void host_number(const runtime::NumberCode& number);
  void check(const runtime::CheckCode& check);
  void release(const std::vector<uint32_t>& tensors);
  std::string operand(const runtime::NumberOperand& operand);

  // cpp_calls.cpp
  void call(const runtime::CallCode& call);
  void call_writing(const runtime::CallCode& call);
  void take_call(const runtime::CallCode& call);
  std::string operator_of(const runtime::CallCode& call);
  std::string call_args(const runtime::CallCode& call);
  std::string shim_args(const runtime::CallCode& call);
  std::string stack_arg(const runtime::torch::SchemaType& type, const runtime::torch::SiteArg& arg,
                        const runtime::CallCode& call);
  std::string stack_one(runtime::torch::SchemaType::Base base, const runtime::torch::SiteArg& arg,
                        const runtime::CallCode& call);
  std::string int_arg(const runtime::torch::SiteArg& arg) const;
  std::string float_arg(const runtime::torch::SiteArg& arg) const;
  std::string bool_arg(const runtime::torch::SiteArg& arg) const;
  uint32_t result_position(uint32_t tensor) const;

  const runtime::Code& code_;
  const plan::Plan& plan_;
  const CppOptions& options_;
  CppNames names_;
  CppNames operator_names_;
  CppNames kernel_names_;
  CppDeclarations declarations_;
  std::string text_;
  std::string last_origin_;
  std::map<std::string, std::string> operators_;  // declaration -> member
  std::map<std::string, std::string> kernels_;    // of the plan -> identifier
  std::vector<std::string> tensors_;              // identifiers; empty where not declared yet
  std::vector<std::string> numbers_;
  std::vector<int64_t> arena_offsets_;  // where they are constants
  uint32_t user_inputs_ = 0;            // before the weights
  Pending pending_;
  size_t action_ = 0;
};

}  // namespace jumar::emit::host
