// einsum of one or two operands, as a batch of matrix products.
//
//   "bik,bkj->bij"      batch b, rows i, summed k, columns j:  bmm of [b, i, k] and [b, k, j]
#include <algorithm>

#include "import/decomposer.h"

namespace jumar::import {

namespace {

struct Equation {
  std::vector<std::string> operands;  // the letters of each
  std::string result;
};

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

// Nothing for what is not handled: an ellipsis, or a letter that an operand has twice.
std::optional<Equation> parsed(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  Equation out;
  std::string left = text.substr(0, arrow);
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    out.operands.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  if (arrow != std::string::npos) out.result = text.substr(arrow + 2);
  std::string all;
  for (const std::string& letters : out.operands) all += letters;
  for (const std::string& letters : out.operands) {
    for (const char letter : letters) {
      const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      if (!is_letter || std::count(letters.begin(), letters.end(), letter) > 1) return std::nullopt;
      // Without an arrow the result has the letters that stand once, sorted.
      if (arrow == std::string::npos && std::count(all.begin(), all.end(), letter) == 1) out.result += letter;
    }
  }
  if (arrow == std::string::npos) std::sort(out.result.begin(), out.result.end());
  for (const char letter : out.result) {
    if (!has(all, letter) || std::count(out.result.begin(), out.result.end(), letter) > 1)
      return std::nullopt;
  }
  return out;
}

// A tensor whose dimensions have letters.
struct Lettered {
  ValueId value;
  std::string letters;
};

ValueId ordered(Call& c, const Lettered& x, const std::string& order) {
  if (x.letters == order) return x.value;
  std::vector<size_t> dims;
  for (const char letter : order) dims.push_back(x.letters.find(letter));
  return c.permuted(x.value, dims);
}

// Sums over the letters that nobody else has.
Lettered summed(Call& c, Lettered x, const std::string& kept) {
  ArgList dims;
  Sizes sizes;
  std::string letters;
  const ir::TensorType type = c.type(x.value);
  for (size_t k = 0; k < x.letters.size(); ++k) {
    if (has(kept, x.letters[k])) {
      letters += x.letters[k];
      sizes.push_back(type.sizes[k]);
    } else {
      dims.push_back(c.integer(static_cast<int64_t>(k)));
    }
  }
  if (dims.empty()) return x;
  return {c.op("aten.sum.dim_IntList", {Arg(x.value), Arg(dims), Arg(false), Arg()},
               c.shapes().contiguous(type.dtype, sizes)),
          letters};
}

std::string only(const std::string& letters, const std::string& in, bool wanted) {
  std::string out;
  for (const char letter : letters) {
    if (has(in, letter) == wanted) out += letter;
  }
  return out;
}

Sizes sizes_of(Call& c, const Lettered& x, const std::string& letters) {
  Sizes out;
  const ir::TensorType type = c.type(x.value);
  for (const char letter : letters) out.push_back(type.sizes[x.letters.find(letter)]);
  return out;
}

Outcome product(Call& c, Lettered a, Lettered b, const std::string& result) {
  a = summed(c, a, b.letters + result);
  b = summed(c, b, a.letters + result);
  const std::string shared = only(a.letters, b.letters, true);
  for (const char letter : shared) {
    const std::string one(1, letter);
    if (!c.shapes().equal(sizes_of(c, a, one), sizes_of(c, b, one)))
      return Call::refuse("a dimension is broadcast");
  }
  const std::string batch = only(shared, result, true), inner = only(shared, result, false);
  const std::string rows = only(a.letters, shared, false), columns = only(b.letters, shared, false);
  const Sizes batch_sizes = sizes_of(c, a, batch), row_sizes = sizes_of(c, a, rows);
  const Sizes column_sizes = sizes_of(c, b, columns);
  const Expr count = ir::element_count(c.cx(), batch_sizes), n = ir::element_count(c.cx(), row_sizes);
  const Expr k = ir::element_count(c.cx(), sizes_of(c, a, inner)),
             m = ir::element_count(c.cx(), column_sizes);
  const ValueId left = c.reshaped(ordered(c, a, batch + rows + inner), {count, n, k});
  const ValueId right = c.reshaped(ordered(c, b, batch + inner + columns), {count, k, m});
  const ValueId out = c.op("aten.bmm.default", {Arg(left), Arg(right)},
                           c.shapes().contiguous(c.type(a.value).dtype, {count, n, m}));
  Sizes sizes = batch_sizes;
  sizes.insert(sizes.end(), row_sizes.begin(), row_sizes.end());
  sizes.insert(sizes.end(), column_sizes.begin(), column_sizes.end());
  return c.done(ordered(c, {c.reshaped(out, sizes), batch + rows + columns}, result));
}

}  // namespace

// einsum(equation, tensors, path). The result of one operand may be a view of it, which is why it is not
// called.
Outcome decompose_einsum(Call& c) {
  const ArgList* tensors = c.arg(1).list();
  const std::optional<Equation> equation = parsed(c.word(0));
  if (tensors == nullptr || !equation || equation->operands.size() != tensors->size())
    return Call::refuse("its equation has an ellipsis or a diagonal");
  std::vector<Lettered> operands;
  for (size_t k = 0; k < tensors->size(); ++k) {
    const auto* value = (*tensors)[k].as<ValueId>();
    if (value == nullptr || c.rank(*value) != equation->operands[k].size())
      return Call::refuse("its ranks do not fit");
    operands.push_back({*value, equation->operands[k]});
  }
  if (operands.size() == 2) return product(c, operands[0], operands[1], equation->result);
  if (operands.size() != 1) return Call::refuse("it has more than two operands");
  return c.done(ordered(c, summed(c, operands[0], equation->result), equation->result));
}

}  // namespace jumar::import
