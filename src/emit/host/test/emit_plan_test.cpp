#include "emit/host/emit_plan.h"

#include <gtest/gtest.h>

namespace jumar::emit::host {
namespace {

// Launch data that takes all buffers of the program with storage, one unit per kept point of the first axis.
std::vector<KernelLaunch> launches_of(const loop::Program& program) {
  std::vector<KernelLaunch> launches;
  for (const loop::Item& item : program.items) {
    const auto* kernel = std::get_if<loop::Kernel>(&item);
    if (kernel == nullptr) continue;
    KernelLaunch launch;
    launch.symbol = kernel->name;
    const auto add = [&](loop::BufferId id) {
      if (std::find(launch.buffers.begin(), launch.buffers.end(), id) == launch.buffers.end()) {
        launch.buffers.push_back(id);
      }
    };
    for (const loop::Nest& nest : kernel->nests) {
      for (const loop::Stage& stage : nest.stages) {
        for (const loop::Stage::Line& line : stage.body) {
          if (line.inst.buffer) add(line.inst.buffer);
          if (line.inst.number) launch.numbers.push_back(line.inst.number);
          if (line.inst.kind == loop::InstKind::kWrapIndex) launch.checks_indices = true;
        }
      }
      const sym::Expr units = nest.kept.empty() ? program.cx().constant(1) : nest.kept[0].extent;
      launch.phases = {{units, program.cx().constant(4)}};
      for (const sym::Expr symbol : sym::symbols_of(units)) launch.ints.push_back(symbol);
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::string plan_text(const std::string& text) {
  const loop::Program program = loop::read_program(text).value();
  EXPECT_TRUE(loop::verify(program).ok()) << loop::verify(program).error().text();
  const plan::Plan plan = emit_plan(program, launches_of(program));
  const Status status = plan::verify(plan);
  EXPECT_TRUE(status.ok()) << status.error().text();
  const std::string written = plan::write_plan(plan);
  const auto again = plan::read_plan(written);
  EXPECT_TRUE(again.ok()) << again.error().text();
  if (again.ok()) EXPECT_EQ(plan::write_plan(*again), written);
  return written;
}

TEST(EmitPlan, ItemsBecomeStepsInOrder) {
  EXPECT_EQ(plan_text(R"(loop @main symbols(s0 in [2, 4096] hint 128) {
  int(s0) = input 0
  %x: f32[s0, 256] = input 1
  %w: f32[256, 256] = parameter 2
  %t: f32[s0, 256] = temp
  %y: f32[s0, 256] = output
  %unused: f32[s0] = temp
  %wt: f32[256, 256]{1, 256} = view %w offset 0
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  call aten.mm.default(%x, %wt) -> (%t) because "matrix product"
  kernel @k0 {
    nest (i0 in s0, i1 in 256) {
      stage {
        %0: f32 = load %t[256*i0 + i1]
        %1: f32 = const 0.0
        %2: f32 = max %0, %1
        store %y[256*i0 + i1], %2
      }
    }
  }
  return %y, s0*4
}
)"),
            R"(plan @main symbols(s0 in [2, 4096]) {
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  %n0: int(s0) = input 0
  %x: f32[s0, 256] = input 1
  %w: f32[256, 256] = parameter 2
  %t: f32[s0, 256] = arena
  %y: f32[s0, 256] = output
  %wt: f32[256, 256]{1, 256} = view %w offset 0
  call aten.mm.default(%x, %wt) into %t origin "matrix product"
  launch @k0(%t, %y; s0) units s0 grain 4
  return %y, 4*s0
}
)");
}

constexpr const char* kNegate =
    "  kernel @k0 {\n    nest (i0 in 8) {\n      stage {\n        %0: f32 = load %x[i0]\n"
    "        %1: f32 = neg %0\n        store %y[i0], %1\n      }\n    }\n  }\n";

TEST(EmitPlan, SymbolsAreBoundFromSizesThenStridesThenByDivision) {
  const std::string text =
      plan_text(std::string(R"(loop @main symbols(s0 in [2, 64], s1 in [2, 64], s2 in [2, 64]) {
  %x: f32[2*s0, s1]{s2, 1} = input 0
  %y: f32[8] = output
)") + kNegate + "  return %y, s0, s1, s2\n}\n");
  EXPECT_NE(
      text.find("  bind s1 = size(%x, 1)\n  bind s2 = stride(%x, 0)\n  bind 2*s0 = size(%x, 0)\n  launch"),
      std::string::npos)
      << text;
}

TEST(EmitPlan, AnIntInputBindsItsSymbolWithoutAStep) {
  const std::string text = plan_text(std::string(R"(loop @main symbols(s0 in [2, 64]) {
  int(s0) = input 1
  %x: f32[s0] = input 0
  %y: f32[8] = output
)") + kNegate + "  return %y\n}\n");
  EXPECT_EQ(text.find("bind"), std::string::npos) << text;
}

TEST(EmitPlan, PythonCallsNumbersAndChecksBecomeTheirSteps) {
  const std::string text = plan_text(R"(loop @main symbols(s0 in [2, 64]) {
  int(s0) = input 0
  %x: f32[8] = input 1
  %r: f32[8] = result
  %y: f32[8] = output
  check s0 < 40 "too many"
  host %f: float = scalar.truediv(s0, 2.0)
  call python.3(%x, s0) -> (%r) because "custom operator"
  kernel @k0 {
    nest (i0 in 8) {
      stage {
        %0: f32 = load %r[i0]
        %1: f64 = param %f
        %2: f32 = cast %1
        %3: f32 = mul %0, %2
        store %y[i0], %3
      }
    }
  }
  return %y
}
)");
  for (const char* line :
       {"  number %f = truediv(s0, 2.0)\n", "  python 3(%x, s0) -> %r origin \"custom operator\"\n",
        "launch @k0(%r, %y; ; %f)", "message \"too many\"\n", "  %r: f32[8] = result\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(EmitPlan, SizesThatACallDefinesAreReadFromItsResult) {
  const std::string text = plan_text(R"(loop @main symbols(u0 in [0, 8]) {
  %x: f32[8] = input 0
  %r: i64[u0, 1] = result
  %y: i64[u0, 1] = output
  schema aten.nonzero.default(Tensor self) -> (Tensor)
  call aten.nonzero.default(%x) -> (%r) defines(u0) because "data-dependent size"
  kernel @k0 {
    nest (i0 in u0) {
      stage {
        %0: i64 = load %r[i0]
        store %y[i0], %0
      }
    }
  }
  return %y
}
)");
  EXPECT_NE(text.find("  bind u0 = size(%r, 0)\n  launch @k0(%r, %y; u0) units u0"), std::string::npos)
      << text;
}

TEST(EmitPlan, ANumberReadFromATensorIsABind) {
  const std::string text = plan_text(R"(loop @main symbols(u0 in [0, 8]) {
  %x: i64[] = input 0
  schema aten._local_scalar_dense.default(Tensor self) -> (Scalar)
  call aten._local_scalar_dense.default(%x) -> () defines(u0) because "a number"
  return u0
}
)");
  EXPECT_NE(text.find("  bind u0 = item(%x)"), std::string::npos) << text;
}

TEST(EmitPlan, ARoundedNumberIsABindAndAnItemIsANumber) {
  const std::string text = plan_text(R"(loop @main symbols(u0 in [-inf, inf]) {
  %x: f32[] = input 0
  schema aten._local_scalar_dense.default(Tensor self) -> (Scalar)
  host %f: float = aten._local_scalar_dense.default(%x)
  call scalar.trunc(%f) -> () defines(u0) because "a number"
  return u0
}
)");
  EXPECT_NE(text.find("  number %f = item(%x)\n  bind u0 = trunc(%f)"), std::string::npos) << text;
}

TEST(EmitPlan, AResultThatNobodyUsesIsNotLookedAt) {
  const std::string text = plan_text(R"(loop @main {
  %x: f32[4] = input 0
  %v: f32[4] = result
  %i: i64[4] = result
  schema aten.sort.default(Tensor self, int dim, bool descending) -> (Tensor, Tensor)
  call aten.sort.default(%x, 0, false) -> (%v, %i) because "sorts"
  return %v
}
)");
  EXPECT_NE(text.find("aten.sort.default(%x, 0, false) -> %v, _"), std::string::npos) << text;
}

}  // namespace
}  // namespace jumar::emit::host
