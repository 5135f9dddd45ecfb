#include "support/options.h"

#include <gtest/gtest.h>

namespace jumar {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
}

Options defaults() { return Options::from_environment(environment({{"HOME", "/home/u"}})).value(); }

TEST(Options, EveryDefaultIsAllowed) {
  const Options options = defaults();
  EXPECT_TRUE(options.cache());
  EXPECT_EQ(options.target(), "cpu");
  EXPECT_EQ(options.cpu(), "host");
  EXPECT_EQ(options.pool_bytes(), int64_t{1} << 30);
  EXPECT_TRUE(options.disable_passes().empty());
}

TEST(Options, RowsAreUniqueAndDocumented) {
  std::map<std::string_view, int> names;
  std::map<std::string, int> variables;
  for (const OptionRow& row : option_rows()) {
    EXPECT_EQ(names[row.name]++, 0) << row.name;
    for (const std::string& variable : environment_variables(row))
      EXPECT_EQ(variables[variable]++, 0) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_FALSE(allowed_text(row).empty()) << row.name;
  }
}

TEST(Options, TheEnvironmentGivesWayToTheText) {
  const Options base =
      Options::from_environment(environment({{"JUMAR_MAX_FUSIONS", "7"}, {"JUMAR_CACHE", "off"}})).value();
  EXPECT_EQ(base.max_fusions(), 7);
  EXPECT_FALSE(base.cache());
  const Options options =
      base.with(" max_fusions = 3 \n\n# a remark\ndisable_passes=cse, dead-code\n").value();
  EXPECT_EQ(options.max_fusions(), 3);
  EXPECT_FALSE(options.cache());
  EXPECT_EQ(options.disable_passes(), (std::vector<std::string>{"cse", "dead-code"}));
  EXPECT_EQ(base.max_fusions(), 7);
}

TEST(Options, AnEmptyVariableIsUnset) {
  EXPECT_TRUE(Options::from_environment(environment({{"JUMAR_CACHE", ""}})).value().cache());
}

TEST(Options, ABadVariableIsNamedWithItsValueAndWhatIsAllowed) {
  const auto options = Options::from_environment(environment({{"JUMAR_COMPILE_THREADS", "many"}}));
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().code, "option");
  EXPECT_EQ(options.error().message,
            "environment variable JUMAR_COMPILE_THREADS is 'many', but must be an integer from 0 to 256");
}

TEST(Options, ABadOptionIsNamedWithItsValueAndWhatIsAllowed) {
  const std::pair<const char*, const char*> cases[] = {
      {"cache=maybe", "option cache is 'maybe', but must be true or false"},
      {"provider=gpu", "option provider is 'gpu', but must be one of torch, onednn"},
      {"compile_threads=257", "option compile_threads is '257', but must be an integer from 0 to 256"},
      {"compile_threads=", "option compile_threads is '', but must be an integer from 0 to 256"},
      {"pool_bytes=99999999999G",
       "option pool_bytes is '99999999999G', but must be bytes from 0 to 1099511627776, also with K, M or G"},
      {"pool_bytes=-1",
       "option pool_bytes is '-1', but must be bytes from 0 to 1099511627776, also with K, M or G"},
      {"log=remarks,smoke",
       "option log is 'remarks,smoke', but must be a comma-separated list of remarks, timing"},
      {"cache", "'cache' is not of the form name=value"},
      {"cach=true", "unknown option 'cach'; did you mean cache or cache_dir or cache_size_bytes?"},
      {"fallback=true", "unknown option 'fallback'; did you mean fallback_on_error?"},
      {"xyzzy=1", "unknown option 'xyzzy'"},
  };
  for (const auto& [text, message] : cases) {
    const auto options = defaults().with(text);
    ASSERT_FALSE(options.ok()) << text;
    EXPECT_EQ(options.error().code, "option") << text;
    EXPECT_EQ(options.error().message, message) << text;
  }
}

TEST(Options, OfSeveralVariablesTheFirstThatIsSetCounts) {
  std::map<std::string, std::string> variables = {{"TORCHINDUCTOR_COMPILE_THREADS", "3"}};
  EXPECT_EQ(Options::from_environment(environment(variables)).value().toolchain_threads(), 3);
  variables["TORCHNPU_PRECOMPILE_THREADS"] = "5";
  EXPECT_EQ(Options::from_environment(environment(variables)).value().toolchain_threads(), 5);
  variables["JUMAR_TOOLCHAIN_THREADS"] = "";
  EXPECT_EQ(Options::from_environment(environment(variables)).value().toolchain_threads(), 5);
  variables["JUMAR_TOOLCHAIN_THREADS"] = "7";
  const Options options = Options::from_environment(environment(variables)).value();
  EXPECT_EQ(options.toolchain_threads(), 7);
  // Threads that make CPU code are another matter.
  EXPECT_EQ(options.compile_threads(), 0);
  variables["JUMAR_TOOLCHAIN_THREADS"] = "";
  variables["TORCHNPU_PRECOMPILE_THREADS"] = "-1";
  EXPECT_EQ(
      Options::from_environment(environment(variables)).error().message,
      "environment variable TORCHNPU_PRECOMPILE_THREADS is '-1', but must be an integer from 0 to 1024");
}

TEST(Options, AShareThatIsNoneCountsAsTheDefaultWithAWarning) {
  EXPECT_EQ(defaults().costmodel_ratio(), 0.25);
  EXPECT_TRUE(defaults().warnings().empty());
  EXPECT_EQ(defaults().with("costmodel_ratio=1").value().costmodel_ratio(), 1.0);
  EXPECT_EQ(defaults().with("costmodel_ratio=0.5").value().costmodel_ratio(), 0.5);
  for (const char* text : {"0", "-0.5", "1.01", "half", "nan", "inf", "0.5x"}) {
    const Options options =
        Options::from_environment(environment({{"INDUCTOR_ASCEND_COSTMODEL_RATIO", text}})).value();
    EXPECT_EQ(options.costmodel_ratio(), 0.25) << text;
    EXPECT_EQ(options.warnings(),
              std::vector<std::string>{fmt::format(
                  "environment variable INDUCTOR_ASCEND_COSTMODEL_RATIO is '{}', but must be a number "
                  "above 0 and at most 1: 0.25 is taken",
                  text)});
    EXPECT_TRUE(options.with("costmodel_ratio=0.5").value().warnings().empty());
  }
}

TEST(Options, ValuesKnowWhereTheyAreFrom) {
  const Options options = Options::from_environment(environment({{"NPU_DEVICE_LIMIT", " 14,28 "}})).value();
  EXPECT_EQ(options.device_limit(), "14,28");
  EXPECT_EQ(options.source("device_limit"), "environment variable NPU_DEVICE_LIMIT");
  EXPECT_EQ(options.with("device_limit=1,2").value().source("device_limit"), "option device_limit");
  EXPECT_EQ(options.source("target"), "the default of target");
}

TEST(Options, BytesTakeUnits) {
  EXPECT_EQ(defaults().with("pool_bytes=64M").value().pool_bytes(), 64 << 20);
  EXPECT_EQ(defaults().with("pool_bytes=12").value().pool_bytes(), 12);
}

TEST(Options, OnlyRowsThatAffectCodeEnterTheCodeText) {
  const Options a = defaults();
  EXPECT_EQ(a.code_text(), a.with("cache=false\nlog=timing\npool_bytes=0").value().code_text());
  EXPECT_NE(a.code_text(), a.with("emulate_precision_casts=true").value().code_text());
  EXPECT_NE(a.code_text(), a.with("cpu=x86-64-v3").value().code_text());
  // Another core limit needs no other kernels.
  EXPECT_EQ(a.code_text(), a.with("device_limit=14,28").value().code_text());
}

TEST(Options, TextReadsBackToTheSameOptions) {
  const Options a = defaults().with("cpu=x86-64-v3\nlog=timing,remarks\nmax_fusions=4").value();
  EXPECT_EQ(defaults().with(a.text()).value().text(), a.text());
}

TEST(Options, DirectoriesFollowTheEnvironment) {
  EXPECT_EQ(defaults().resolved_cache_dir(), "/home/u/.cache/jumar");
  EXPECT_EQ(Options::from_environment(environment({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}))
                .value()
                .resolved_cache_dir(),
            "/x/jumar");
  EXPECT_EQ(Options::from_environment(environment({})).value().resolved_cache_dir(), "");
  EXPECT_EQ(defaults().with("cache_dir=/c").value().resolved_cache_dir(), "/c");
  EXPECT_EQ(defaults().resolved_reproducer_dir(), "/tmp");
}

}  // namespace
}  // namespace jumar
