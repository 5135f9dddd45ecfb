#include "driver/opt.h"

#include <gtest/gtest.h>

#include "plan/binary.h"

namespace jumar::driver {
namespace {

Result<std::string> opt_plan(const std::string& bytes) {
  const Result<Options> options = Options::from_environment([](const std::string&) { return std::nullopt; });
  OptRequest request;
  request.to = Level::kPlan;
  Report report;
  return opt(request, bytes, "a.plan", *options, report);
}

TEST(Opt, ReadsPlansInEitherForm) {
  const std::string text = "plan @m {\n  %x: f32[2] = input 0\n  return %x\n}\n";
  const std::string blob = plan::write_binary(*plan::read_plan(text));
  for (const std::string& form : {text, blob}) {
    const Result<std::string> out = opt_plan(form);
    ASSERT_TRUE(out.ok()) << out.error().text();
    EXPECT_EQ(*out, text);
  }
  const Result<std::string> cut = opt_plan(blob.substr(0, blob.size() - 1));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, "format");
}

}  // namespace
}  // namespace jumar::driver
