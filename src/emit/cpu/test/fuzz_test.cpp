// Random kernels with fixed seeds against the interpreter: shapes, strides, guards, stages and types that
// nobody thought of.
#include <gtest/gtest.h>

#include <random>

#include "emit/cpu/test/native_program.h"

namespace jumar::emit::cpu {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

struct FuzzAxis {
  std::string name;
  int64_t points = 1;
};

// Makes a program of one nest. Inputs are large enough for every address that is made up; outputs are indexed
// by distinct strides, so that points never meet.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  std::string program() {
    const int kept = static_cast<int>(random_.below(4));
    for (int k = 0; k < kept; ++k) kept_.push_back({fmt::format("i{}", k), extent(kept, &kept_points_)});
    const int stages = static_cast<int>(random_.between(1, 3));
    std::string nest = "    nest (" + axes(kept_) + ") {\n";
    for (int s = 0; s < stages; ++s) nest += stage(s == stages - 1);
    nest += "    }\n";
    std::string text = "loop @main {\n" + buffers_;
    text += "  kernel @k {\n" + nest + "  }\n  return " + returned_ + "\n}\n";
    return text;
  }

 private:
  // The interpreter is slow, so the product of extents is bounded.
  static constexpr int64_t kMaxPoints = 4000;

  int64_t extent(int rank, int64_t* points) {
    int64_t out = random_.between(2, 40);
    if (random_.chance(rank <= 1 ? 40 : 10)) out = random_.between(100, 300);
    if (random_.chance(10) || *points * out > kMaxPoints) out = random_.between(1, 3);
    *points *= out;
    return out;
  }

  static std::string axes(const std::vector<FuzzAxis>& list) {
    std::string out;
    for (const FuzzAxis& axis : list)
      out += fmt::format("{}{} in {}", out.empty() ? "" : ", ", axis.name, axis.points);
    return out;
  }

  std::string fresh() { return fmt::format("%{}", values_++); }

  // A non-negative address over some of the axes, and how many elements it needs.
  std::string address(const std::vector<FuzzAxis>& axes, int64_t* elems) {
    std::string out = fmt::format("{}", random_.below(5));
    *elems = 5;
    int64_t stride = 1;
    std::vector<FuzzAxis> order = axes;
    for (size_t k = order.size(); k > 1; --k) {
      if (random_.chance(35))
        std::swap(order[k - 1], order[static_cast<size_t>(random_.below(static_cast<int64_t>(k)))]);
    }
    for (size_t k = order.size(); k-- > 0;) {
      const FuzzAxis& axis = order[k];
      if (random_.chance(15)) continue;
      if (random_.chance(10)) {
        out += fmt::format(" + {}*({} - {})", stride, axis.points - 1, axis.name);
      } else if (random_.chance(10)) {
        const int64_t divisor = random_.between(2, 9);
        out += fmt::format(" + {}*(({} + {})//{})", stride, axis.name, random_.below(4), divisor);
      } else if (random_.chance(10)) {
        out += fmt::format(" + {}*({} % {})", stride, axis.name, random_.between(2, 9));
      } else {
        out += fmt::format(" + {}*{}", stride, axis.name);
      }
      *elems += stride * (axis.points + 9);
      stride *= random_.chance(80) ? axis.points : random_.between(1, 3);
    }
    return out;
  }

  std::string guard(const std::vector<FuzzAxis>& axes) {
    if (axes.empty() || !random_.chance(25)) return "";
    const FuzzAxis& a = random_.pick(axes);
    const FuzzAxis& b = random_.pick(axes);
    switch (random_.below(5)) {
      case 0:
        return fmt::format(" if {} < {}", a.name, random_.below(a.points + 1));
      case 1:
        return fmt::format(" if {} <= {} and {} < {}", random_.below(a.points), a.name, a.name, a.points - 1);
      case 2:
        return fmt::format(" if {} <= {}", a.name, b.name);
      case 3:
        return fmt::format(" if {} % 3 == 1 or {} == {}", a.name, b.name, random_.below(b.points));
      default:
        return fmt::format(" if not (2*{} + 1 < {})", a.name, a.points);
    }
  }

  std::string load(const std::vector<FuzzAxis>& axes) {
    int64_t elems = 0;
    const std::string at = address(axes, &elems);
    static const std::vector<std::string> types = {"f32", "f32", "f32", "bf16", "f16",
                                                   "f64", "i32", "u8",  "bool"};
    const std::string type = random_.pick(types);
    const std::string name = fmt::format("x{}", inputs_);
    buffers_ += fmt::format("  %{}: {}[{}] = input {}\n", name, type, elems, inputs_++);
    const std::string condition = guard(axes);
    const bool real = type[0] == 'f' || type[0] == 'b';
    const std::string otherwise = condition.empty() ? ""
                                  : type == "bool"  ? " else 1"
                                  : real            ? " else 0.5"
                                                    : " else 3";
    const std::string loaded = fresh();
    body_ += fmt::format("        {}: {} = load %{}[{}]{}{}\n", loaded, type, name, at, condition, otherwise);
    if (type == "f32") return loaded;
    const std::string out = fresh();
    body_ += fmt::format("        {}: f32 = cast {}\n", out, loaded);
    return out;
  }

  std::string indirect(const std::vector<FuzzAxis>& axes) {
    int64_t elems = 0;
    const std::string at = address(axes, &elems);
    buffers_ += fmt::format("  %x{}: i64[{}] = input {}\n", inputs_, elems, inputs_);
    const std::string loaded = fresh();
    body_ += fmt::format("        {}: i64 = load %x{}[{}]\n", loaded, inputs_++, at);
    const std::string index = fresh();
    body_ += fmt::format("        {}: i64 = wrap_index {} in 23\n", index, loaded);
    int64_t more = 0;
    const std::string rest = address(axes, &more);
    buffers_ += fmt::format("  %x{}: f32[{}] = input {}\n", inputs_, 23 * 7 + more, inputs_);
    const std::string out = fresh();
    body_ += fmt::format("        {}: f32 = load %x{}[{} + 7*{}]\n", out, inputs_++, rest, index);
    return out;
  }

  std::string combined(std::vector<std::string> values) {
    static const std::vector<std::string> ops = {"add", "sub", "mul", "max", "min"};
    while (values.size() > 1 || random_.chance(20)) {
      const std::string a = random_.pick(values);
      const std::string b = values.back();
      values.pop_back();
      const std::string out = fresh();
      body_ += fmt::format("        {}: f32 = {} {}, {}\n", out, random_.pick(ops), a, b);
      if (values.empty()) return out;
      values.back() = out;
    }
    return values[0];
  }

  void store(const std::vector<FuzzAxis>& axes, const std::string& value) {
    int64_t stride = 1;
    std::string at = "2";
    std::vector<FuzzAxis> order = axes;
    if (order.size() > 1 && random_.chance(30)) std::swap(order[0], order[order.size() - 1]);
    for (size_t k = order.size(); k-- > 0;) {
      if (random_.chance(10)) {
        at += fmt::format(" + {}*({} - {})", stride, order[k].points - 1, order[k].name);
      } else {
        at += fmt::format(" + {}*{}", stride, order[k].name);
      }
      stride *= order[k].points + random_.below(2);
    }
    // Outputs need not be wholly written where only buffers are compared, so a kernel first fills them.
    const std::string name = fmt::format("y{}", outputs_++);
    buffers_ += fmt::format("  %{}: f32[{}] = output\n", name, stride + 3);
    returned_ += (returned_.empty() ? "%" : ", %") + name;
    fills_ += fmt::format("    nest (i0 in {}) {{ stage {{ %0: f32 = const -3.0\n store %{}[i0], %0 }} }}\n",
                          stride + 3, name);
    body_ += fmt::format("        store %{}[{}], {}{}\n", name, at, value, guard(axes));
  }

  std::string stage(bool last) {
    body_.clear();
    std::vector<FuzzAxis> inner;
    const int count = random_.chance(35) ? 0 : static_cast<int>(random_.between(1, 2));
    int64_t points = kept_points_;
    for (int k = 0; k < count; ++k) inner.push_back({fmt::format("r{}", inner_++), extent(count, &points)});
    std::vector<FuzzAxis> all = kept_;
    all.insert(all.end(), inner.begin(), inner.end());
    std::vector<std::string> values = known_;
    const int loads = static_cast<int>(random_.between(1, 3));
    for (int k = 0; k < loads; ++k) values.push_back(random_.chance(15) ? indirect(all) : load(all));
    for (const std::string& position : known_positions_) {
      values.insert(values.begin(), fresh());
      body_ += fmt::format("        {}: f32 = cast {}\n", values.front(), position);
    }
    const std::string value = combined(values);
    if (random_.chance(last ? 100 : 30)) store(all, value);
    if (inner.empty()) {
      known_.push_back(value);
    } else if (random_.chance(70)) {
      fold(inner, value);
    }
    return fmt::format("      stage{} {{\n{}      }}\n", inner.empty() ? "" : " (" + axes(inner) + ")",
                       body_);
  }

  void fold(const std::vector<FuzzAxis>& inner, const std::string& value) {
    static const std::vector<std::string> kinds = {"sum", "max", "min"};
    if (random_.chance(25)) {
      const std::string out = fresh();
      body_ += fmt::format("        {}: f32 = scan {} {} along {}\n", out, random_.pick(kinds), value,
                           inner.back().name);
      return;
    }
    if (random_.chance(20)) {
      const std::string position = fresh();
      std::string at = inner[0].name;
      if (inner.size() > 1) at = fmt::format("{}*{} + {}", inner[1].points, inner[0].name, inner[1].name);
      body_ += fmt::format("        {}: i64 = index {}\n", position, at);
      const std::string best = fresh();
      body_ += fmt::format("        {}: i64 = reduce {} {} at {}\n", best,
                           random_.chance(50) ? "argmax" : "argmin", value, position);
      known_positions_.push_back(best);
      return;
    }
    const std::string out = fresh();
    body_ += fmt::format("        {}: f32 = reduce {} {}\n", out, random_.pick(kinds), value);
    known_.push_back(out);
  }

  Random random_;
  std::vector<FuzzAxis> kept_;
  std::string buffers_;
  std::string body_;
  std::string fills_;
  std::string returned_;
  std::vector<std::string> known_;            // f32 values that later stages may use
  std::vector<std::string> known_positions_;  // i64 values, likewise
  int64_t kept_points_ = 1;
  int values_ = 0;
  int inputs_ = 0;
  int outputs_ = 0;
  int inner_ = 0;

 public:
  const std::string& fills() const { return fills_; }
};

std::string made(uint64_t seed) {
  Maker maker(seed);
  std::string text = maker.program();
  const std::string fill = "  kernel @fill {\n" + maker.fills() + "  }\n";
  return text.insert(text.find("  kernel @k {"), fill);
}

class Fuzz : public testing::TestWithParam<int> {};

TEST_P(Fuzz, RandomKernels) {
  for (int k = 0; k < 25; ++k) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * 1000 + static_cast<uint64_t>(k);
    const std::string text = made(seed);
    // Sums of products of sums grow, and the interpreter folds in double.
    const Status status = check_native(text, {.seed = seed}, {.relative = 1e-4, .absolute = 1e-3});
    ASSERT_TRUE(status.ok()) << "seed " << seed << "\n" << status.error().text().substr(0, 12000);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fuzz, testing::Range(1, 11));

}  // namespace
}  // namespace jumar::emit::cpu
