// Division of i32 on devices that divide by way of f32: the block program, element by element, against the
// processor's division.
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "tile/npu/layout.h"
#include "tile/npu/tile_npu.h"
#include "tile/npu/walk.h"

namespace jumar::tile::npu {
namespace {

using ir::DType;

// How a device's f32 units may round.
enum class Rounding { kNearest, kUp, kDown };

float rounded(double value, Rounding rounding) {
  const auto nearest = static_cast<float>(value);
  if (rounding == Rounding::kNearest) return nearest;
  return std::nextafter(nearest, rounding == Rounding::kUp ? INFINITY : -INFINITY);
}

// One element of a kernel of two i32 inputs. Floats of operators that are not exact are a unit off.
class Element {
 public:
  Element(const BlockKernel& kernel, Rounding rounding)
      : kernel_(kernel), nest_(kernel.nests[0]), layout_(kernel, nest_), rounding_(rounding) {
    for_each_inst(nest_.body, [&](const BlockInst& inst) {
      if (inst.kind == BlockKind::kStore) stored_ = inst.operands[0];
    });
  }

  int32_t result(int32_t a, int32_t b) {
    inputs_ = {a, b};
    known_.clear();
    return static_cast<int32_t>(of(stored_).integer);
  }

  bool has(BlockOp op) const {
    bool found = false;
    for_each_inst(nest_.body, [&](const BlockInst& inst) {
      found = found || (inst.kind == BlockKind::kOp && inst.op == op && layout_.is_written(inst));
    });
    return found;
  }

 private:
  struct Value {
    int64_t integer = 0;
    float real = 0;
  };

  Value of(BlockId id) {
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    const BlockInst* inst = layout_.definition(id);
    EXPECT_NE(inst, nullptr);
    return known_[id] = computed(*inst);
  }

  Value computed(const BlockInst& inst) {
    const DType dtype = nest_.values[inst.result].dtype;
    switch (inst.kind) {
      case BlockKind::kLoad:
        return {inputs_[inst.access.buffer], 0};
      case BlockKind::kBroadcast:
        return of(inst.operands[0]);
      case BlockKind::kConst:
        if (ir::is_float(dtype)) return {0, static_cast<float>(inst.constant.real)};
        return {inst.constant.integer, 0};
      case BlockKind::kOp:
        return operated(inst);
      default:
        ADD_FAILURE() << "an instruction that a division has no use for";
        return {};
    }
  }

  Value operated(const BlockInst& inst) {
    const Value a = of(inst.operands[0]);
    const Value b = inst.operands[1] ? of(inst.operands[1]) : Value();
    const auto wrapped = [](uint64_t value) {
      return Value{static_cast<int32_t>(static_cast<uint32_t>(value)), 0};
    };
    const auto ua = static_cast<uint64_t>(a.integer);
    const auto ub = static_cast<uint64_t>(b.integer);
    switch (inst.op) {
      case BlockOp::kAddI:
        return wrapped(ua + ub);
      case BlockOp::kSubI:
        return wrapped(ua - ub);
      case BlockOp::kMulI:
        return wrapped(ua * ub);
      case BlockOp::kAndI:
        return {a.integer & b.integer, 0};
      case BlockOp::kOrI:
        return {a.integer | b.integer, 0};
      case BlockOp::kXorI:
        return {a.integer ^ b.integer, 0};
      case BlockOp::kShlI:
        return wrapped(ua << ub);
      case BlockOp::kShrSI:
        return {a.integer >> b.integer, 0};
      case BlockOp::kMinSI:
        return {std::min(a.integer, b.integer), 0};
      case BlockOp::kEqI:
        return {a.integer == b.integer, 0};
      case BlockOp::kNeI:
        return {a.integer != b.integer, 0};
      case BlockOp::kLtI:
        return {a.integer < b.integer, 0};
      case BlockOp::kLeI:
        return {a.integer <= b.integer, 0};
      case BlockOp::kGtI:
        return {a.integer > b.integer, 0};
      case BlockOp::kSelect:
        return a.integer != 0 ? b : of(inst.operands[2]);
      case BlockOp::kDivSI:
        EXPECT_LT(std::abs(a.integer), 1 << 24);
        EXPECT_LT(std::abs(b.integer), 1 << 24);
        return {a.integer / b.integer, 0};
      case BlockOp::kExtSI:
      case BlockOp::kTruncI:  // only what fits
        return a;
      default:
        return real_operated(inst.op, a, b);
    }
  }

  Value real_operated(BlockOp op, const Value& a, const Value& b) const {
    switch (op) {
      case BlockOp::kSIToF:
        return {0, std::abs(a.integer) < 1 << 24 ? static_cast<float>(a.integer)
                                                 : rounded(static_cast<double>(a.integer), rounding_)};
      case BlockOp::kDivF:
        return {0, rounded(static_cast<double>(a.real) / b.real, rounding_)};
      case BlockOp::kMinNumF:
        return {0, std::fmin(a.real, b.real)};
      case BlockOp::kFloor:
        return {0, std::floor(a.real)};
      case BlockOp::kFToSI:
        EXPECT_LT(std::abs(a.real), 2147483648.0F);
        return {static_cast<int32_t>(a.real), 0};
      default:
        ADD_FAILURE() << "operator " << static_cast<int>(op) << " in a division of i32";
        return {};
    }
  }

  const BlockKernel& kernel_;
  const BlockNest& nest_;
  NestLayout layout_;
  Rounding rounding_;
  BlockId stored_;
  std::array<int64_t, 2> inputs_{};
  std::unordered_map<BlockId, Value> known_;
};

int32_t expected(const std::string& op, int64_t a, int64_t b) {
  if (b == 0) return 0;
  const bool floors = (op == "floor_div" || op == "remainder") && a % b != 0 && (a < 0) != (b < 0);
  if (op == "trunc_div" || op == "floor_div") return static_cast<int32_t>(a / b - (floors ? 1 : 0));
  return static_cast<int32_t>(a % b + (floors ? b : 0));
}

struct Divided {
  std::unique_ptr<loop::Program> program;
  TiledKernel kernel;
};

// y = op(a, b), or op(a, known) of a number.
Divided division(const std::string& op, std::optional<int32_t> known, const NpuModel& model = {},
                 const std::string& type = "i32") {
  const std::string tensor = ": " + type + "[5000] = ";
  const std::string value = ": " + type + " = ";
  const std::string divisor = known ? "const " + std::to_string(*known) : "load %b[i0]";
  Result<loop::Program> read =
      loop::read_program("loop @main {\n  %a" + tensor + "input 0\n  %b" + tensor + "input 1\n  %y" + tensor +
                         "output\n  kernel @divide {\n    nest (i0 in 5000) {\n      stage {\n        %0" +
                         value + "load %a[i0]\n        %1" + value + divisor + "\n        %2" + value + op +
                         " %0, %1\n        store %y[i0], %2\n      }\n    }\n  }\n  return %y\n}\n");
  EXPECT_TRUE(read.ok()) << read.error().text();
  Divided out{std::make_unique<loop::Program>(std::move(read).value()), {}};
  const loop::Kernel kernel = std::get<loop::Kernel>(out.program->items[0]);
  out.kernel = tile_npu(*out.program, kernel, model);
  EXPECT_FALSE(out.kernel.choices.empty()) << out.kernel.refusal;
  return out;
}

constexpr int32_t kEdges[] = {INT32_MIN,
                              INT32_MIN + 1,
                              INT32_MIN + 63,
                              INT32_MIN + 64,
                              INT32_MIN + 65,
                              INT32_MAX,
                              INT32_MAX - 1,
                              INT32_MAX - 63,
                              INT32_MAX - 64,
                              INT32_MAX - 65,
                              -(1 << 30) - 1,
                              -(1 << 30),
                              (1 << 30) - 1,
                              1 << 30,
                              (1 << 30) + 1,
                              (1 << 24) - 1,
                              1 << 24,
                              (1 << 24) + 1,
                              -(1 << 24) - 1,
                              46340,
                              46341,
                              -46341,
                              65535,
                              65536,
                              65537,
                              1000003,
                              7,
                              -7,
                              3,
                              -3,
                              2,
                              -2,
                              1,
                              -1,
                              0};

void compare_all(const std::string& op, std::optional<int32_t> known) {
  const Divided made = division(op, known);
  ASSERT_FALSE(made.kernel.choices.empty());
  for (const Rounding rounding : {Rounding::kNearest, Rounding::kUp, Rounding::kDown}) {
    Element element(made.kernel.choices[0].kernel, rounding);
    EXPECT_FALSE(element.has(BlockOp::kRemSI)) << "the device's remainder is a loop over elements";
    int wrong = 0;
    const auto compare = [&](int32_t a, int32_t b) {
      if (known) b = *known;
      const int32_t got = element.result(a, b);
      const int32_t wanted = expected(op, a, b);
      if (got != wanted && ++wrong < 5)
        ADD_FAILURE() << a << ' ' << op << ' ' << b << " is " << wanted << ", not " << got;
    };
    for (const int32_t a : kEdges)
      for (const int32_t b : kEdges) compare(a, b);
    std::mt19937 random(7);
    for (int k = 0; k < 4000; ++k) {
      // Sizes of all kinds, and dividends around multiples of the divisor.
      const auto b = static_cast<int32_t>(random()) >> (random() % 32);
      auto a = static_cast<int32_t>(random()) >> (random() % 32);
      if (k % 2 == 0 && b != 0) {
        const int64_t near = static_cast<int64_t>(a) / b * b + static_cast<int64_t>(random() % 3) - 1;
        a = static_cast<int32_t>(std::clamp<int64_t>(near, INT32_MIN, INT32_MAX));
      }
      compare(a, b);
    }
  }
}

constexpr const char* kDivisions[] = {"trunc_div", "floor_div", "fmod", "remainder"};

TEST(NpuDivision, IsExactWhateverTheRounding) {
  for (const char* const op : kDivisions) compare_all(op, std::nullopt);
}

// A divisor of one sign takes fewer operators, and a large one a single quotient.
TEST(NpuDivision, KnownDivisorsAreExact) {
  for (const char* const op : kDivisions) {
    for (const int32_t known :
         {1, 2, 7, 1000, 2047, 2049, 1 << 20, (1 << 24) + 1, INT32_MAX, -1, -3, -5000, INT32_MIN})
      compare_all(op, known);
  }
}

// Where both fit f32 the device's own quotient is exact, and the remainder is what it leaves.
TEST(NpuDivision, SmallNumbersTakeOneQuotient) {
  for (const char* const op : kDivisions) {
    const Divided made = division(op, 7, {}, "i16");
    ASSERT_FALSE(made.kernel.choices.empty());
    Element element(made.kernel.choices[0].kernel, Rounding::kNearest);
    EXPECT_TRUE(element.has(BlockOp::kDivSI));
    EXPECT_FALSE(element.has(BlockOp::kRemSI));
    for (int32_t a = -300; a < 300; ++a) EXPECT_EQ(element.result(a, 0), expected(op, a, 7));
  }
}

TEST(NpuDivision, DevicesThatDivideAreLeftTo) {
  const Divided made = division("fmod", 7, {.divides_i32 = true});
  ASSERT_FALSE(made.kernel.choices.empty());
  Element element(made.kernel.choices[0].kernel, Rounding::kNearest);
  EXPECT_TRUE(element.has(BlockOp::kRemSI));
  EXPECT_FALSE(element.has(BlockOp::kDivF));
}

}  // namespace
}  // namespace jumar::tile::npu
