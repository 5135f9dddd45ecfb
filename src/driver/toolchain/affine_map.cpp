#include "driver/toolchain/affine_map.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

namespace jumar::driver::toolchain {
namespace {

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace

class AffineParser {
 public:
  explicit AffineParser(std::string_view text) : text_(text), rest_(text) {}

  Result<AffineMap> map() {
    parameters('(', ')');
    if (peek() == '[') parameters('[', ']');
    out_.parameters_ = names_.size();
    if (!take("->") || !take("(")) return fault();
    while (peek() != ')' && !is_wrong_) {
      out_.results_.emplace_back();
      sum();
      if (!take(",")) break;
    }
    if (!take(")") || peek() != '\0' || is_wrong_) return fault();
    return std::move(out_);
  }

 private:
  using Op = AffineMap::Op;

  Diagnostic fault() const { return diagnostic("syntax", "no affine map: {}", std::string(text_)); }

  char peek() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool take(std::string_view token) {
    peek();
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view word() {
    peek();
    size_t size = 0;
    while (size < rest_.size() && std::isalnum(static_cast<unsigned char>(rest_[size])) != 0) ++size;
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  void parameters(char open, char close) {
    if (!take(std::string_view(&open, 1))) {
      is_wrong_ = true;
      return;
    }
    while (peek() != close && peek() != '\0') {
      names_.emplace_back(word());
      if (!take(",")) break;
    }
    if (!take(std::string_view(&close, 1))) is_wrong_ = true;
  }

  void emit(Op op, int64_t number = 0) {
    out_.results_.back().push_back({op, number});
    if (out_.results_.back().size() > AffineMap::kMostSteps) is_wrong_ = true;
  }

  void sum() {
    product();
    while (!is_wrong_) {
      if (take("+")) {
        product();
        emit(Op::kAdd);
      } else if (peek() == '-' && take("-")) {
        product();
        emit(Op::kSub);
      } else {
        return;
      }
    }
  }

  void product() {
    factor();
    while (!is_wrong_) {
      Op op;
      if (take("*")) {
        op = Op::kMul;
      } else if (take("floordiv")) {
        op = Op::kFloorDiv;
      } else if (take("ceildiv")) {
        op = Op::kCeilDiv;
      } else if (take("mod")) {
        op = Op::kMod;
      } else {
        return;
      }
      factor();
      emit(op);
    }
  }

  void factor() {
    if (take("(")) {
      sum();
      if (!take(")")) is_wrong_ = true;
      return;
    }
    if (take("-")) {
      emit(Op::kConstant, 0);
      factor();
      emit(Op::kSub);
      return;
    }
    const std::string_view token = word();
    const auto found = std::find(names_.begin(), names_.end(), token);
    if (found != names_.end()) {
      emit(Op::kParameter, found - names_.begin());
      return;
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (token.empty() || error != std::errc() || end != token.data() + token.size()) is_wrong_ = true;
    emit(Op::kConstant, number);
  }

  std::string_view text_;
  std::string_view rest_;
  std::vector<std::string> names_;
  AffineMap out_;
  bool is_wrong_ = false;
};

Result<AffineMap> AffineMap::parse(std::string_view text) { return AffineParser(text).map(); }

int64_t AffineMap::value(size_t result, std::span<const int64_t> arguments) const {
  CHECK(arguments.size() == parameters_, "{} arguments for {}", arguments.size(), parameters_);
  std::array<int64_t, kMostSteps> stack;
  size_t depth = 0;
  for (const Step& step : results_[result]) {
    if (step.op == Op::kParameter || step.op == Op::kConstant) {
      stack[depth++] = step.op == Op::kConstant ? step.number : arguments[static_cast<size_t>(step.number)];
      continue;
    }
    const int64_t b = stack[--depth];
    int64_t& a = stack[depth - 1];
    switch (step.op) {
      case Op::kAdd:
        a += b;
        break;
      case Op::kSub:
        a -= b;
        break;
      case Op::kMul:
        a *= b;
        break;
      case Op::kFloorDiv:
        a = floor_div(a, b);
        break;
      case Op::kCeilDiv:
        a = -floor_div(-a, b);
        break;
      default:
        a -= b * floor_div(a, b);
        break;
    }
  }
  return stack[0];
}

}  // namespace jumar::driver::toolchain
