#include "target/target.h"

#include <gtest/gtest.h>

#include "support/files.h"

namespace jumar::target {
namespace {

Target known(const std::string& name) { return find_target(name).value(); }

// A complete target that differs from a known one in `entries`.
Result<Target> changed(const std::string& entries, const std::string& from = "Ascend910B1") {
  return read_target(fmt::format("target \"mine\" from \"{}\" {{\n{}\n}}\n", from, entries), "mine.target");
}

std::string refusal(const std::string& entries, const std::string& from = "Ascend910B1") {
  const Result<Target> target = changed(entries, from);
  return target.ok() ? "accepted" : target.error().text();
}

std::string golden(const std::string& name) {
  return bytes_of_file(std::string(JUMAR_TEST_DIR) + "/" + name).value();
}

TEST(Target, KnownTargetsAreWrittenInFull) {
  for (const char* name : {"Ascend910B1", "Ascend950PR_9589"})
    EXPECT_EQ(write_target(known(name)), golden(std::string(name) + ".target")) << name;
}

TEST(Target, WhatIsWrittenReadsBackByteForByte) {
  ASSERT_FALSE(known_targets().empty());
  for (const std::string& name : known_targets()) {
    const std::string text = write_target(known(name));
    const Result<Target> again = read_target(text);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(write_target(*again), text);
  }
}

TEST(Target, FamiliesHaveTheCountsThatTheirCompilersName) {
  struct Row {
    const char* name;
    int64_t cube, vector, ub_usable_bits;
  };
  for (const Row& row : {Row{"Ascend910B1", 24, 48, 1572864}, Row{"Ascend910B3", 20, 40, 1572864},
                         Row{"Ascend910_9391", 24, 48, 1572864}, Row{"Ascend910_9362", 20, 40, 1572864},
                         Row{"Ascend950PR_9589", 32, 64, 2031616}, Row{"Ascend950PR_950z", 4, 8, 2031616},
                         Row{"Ascend950DT_95A2", 36, 72, 2031616}}) {
    const Target target = known(row.name);
    EXPECT_EQ(target.cube_cores, row.cube) << row.name;
    EXPECT_EQ(target.vector_cores, row.vector) << row.name;
    EXPECT_EQ(target.ub_usable_bytes * 8, row.ub_usable_bits) << row.name;
    EXPECT_EQ(target.compiler_target, row.name);
  }
}

TEST(Target, TellsWhatADeviceCanDo) {
  const Target a2 = known("Ascend910B1"), a5 = known("Ascend950PR_9589");
  EXPECT_TRUE(a2.vector_computes("f32"));
  EXPECT_FALSE(a2.vector_computes("bf16"));
  EXPECT_TRUE(a2.cast_computes("bf16"));
  EXPECT_TRUE(a2.scalar_computes("i64"));
  EXPECT_TRUE(a5.vector_computes("i64"));
  EXPECT_FALSE(a5.loads("f64"));
  EXPECT_TRUE(a2.locked_add("i64"));
  EXPECT_TRUE(a2.inexact_division("i32"));
  EXPECT_EQ(a2.indirect_access(), Indirect::kScalar);
  EXPECT_EQ(a5.indirect_access(), Indirect::kSimt);
  EXPECT_TRUE(a5.has_patch("unsigned_src"));
  EXPECT_FALSE(a2.has_patch("unsigned_src"));
  EXPECT_EQ(a5.cost().gm_bytes_per_us.basis, Basis::kPublished);
  EXPECT_GT(known("Ascend950DT_9581").cost().gm_bytes_per_us.value, a5.cost().gm_bytes_per_us.value);
}

TEST(Target, AnUnknownNameListsTheKnownOnes) {
  const Result<Target> target = find_target("Ascend910B7");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.error().code, "target");
  EXPECT_NE(target.error().message.find("there is no target 'Ascend910B7'; did you mean Ascend910B1"),
            std::string::npos)
      << target.error().message;
  EXPECT_NE(target.error().text().find("Ascend950DT_95A2"), std::string::npos);
  // A base is no target.
  EXPECT_FALSE(find_target("atlas-a2").ok());
}

TEST(Target, AFileMayStartFromAKnownTarget) {
  const std::string path = ::testing::TempDir() + "/mine.target";
  ASSERT_TRUE(write_file(path,
                         "# Two cube cores are gone.\ntarget \"mine\" from \"Ascend910B1\" {\n"
                         "  cube_cores 22\n  vector_cores 44\n}\n")
                  .ok());
  const Target mine = known(path);
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.cube_cores, 22);
  EXPECT_EQ(mine.ub_bytes, known("Ascend910B1").ub_bytes);
  // The compiler knows the device by its own name.
  EXPECT_EQ(mine.compiler_target, "Ascend910B1");
  EXPECT_EQ(find_target("/nowhere/mine.target").error().code, "io");
}

TEST(Target, AFileMayHoldBasesOfItsOwn) {
  const std::string text =
      "base \"small\" from \"atlas-a5\" { cube_cores 2 vector_cores 4 }\n"
      "target \"mine\" from \"small\" { cost launch_us 2.5 measured \"by me\" }\n";
  const Target mine = read_target(text).value();
  EXPECT_EQ(mine.vector_cores, 4);
  EXPECT_EQ(mine.compiler_target, "mine");
  EXPECT_EQ(mine.cost().launch_us.value, 2.5);
  EXPECT_EQ(mine.cost().launch_us.basis, Basis::kMeasured);
  EXPECT_EQ(mine.cost().launch_us.source, "by me");
  EXPECT_EQ(read_target("base \"b\" {}").error().message, "the file describes no target");
  EXPECT_EQ(read_target(text + "target \"b\" from \"mine\" {}", "m.target").error().text(),
            "m.target:3:1: error[target]: a file describes one target, but this one also 'b'");
}

TEST(Target, SyntaxErrorsAreNamedWithTheirLine) {
  EXPECT_EQ(
      refusal("ub_byte 3")
          .find("mine.target:2:1: error[target]: there is no entry 'ub_byte'; did you mean ub_bytes or "),
      0u)
      << refusal("ub_byte 3");
  EXPECT_EQ(refusal("\ncube_cores 0"),
            "mine.target:3:12: error[target]: 0 is no count: it must be from 1 to 2147483647");
  EXPECT_EQ(refusal("simt true\nsimt true"), "mine.target:3:1: error[target]: simt is given twice");
  EXPECT_EQ(refusal("loads [f32 f16]"), "mine.target:2:12: error[syntax]: expected ',', found 'f16'");
  EXPECT_EQ(refusal("simt maybe"), "mine.target:2:6: error[syntax]: expected true or false, found 'maybe'");
  EXPECT_EQ(refusal("cost launch_us 1.0 guessed \"x\""),
            "mine.target:2:20: error[syntax]: expected measured, published or assumed, found 'guessed'");
  EXPECT_NE(refusal("cost lunch_us 1.0 assumed \"x\"").find("did you mean launch_us?"), std::string::npos);
  EXPECT_NE(refusal("", "Ascend1").find("there is no target or base 'Ascend1'"), std::string::npos);
  EXPECT_EQ(read_target("device \"x\" {}", "m").error().text(),
            "m:1:1: error[syntax]: expected 'target' or 'base', found 'device'");
}

TEST(Target, AnIncompleteTargetNamesWhatIsMissing) {
  const Result<Target> target = read_target("target \"mine\" { cube_cores 3 }", "m.target");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.error().where.line, 1);
  EXPECT_NE(target.error().message.find("does not give family, source, vector_cores, "), std::string::npos);
  EXPECT_NE(target.error().message.find("cost launch_us"), std::string::npos);
}

TEST(Target, TheVerifierRefusesWhatCannotBe) {
  const std::string at = "mine.target:1:1: error[target]: target 'mine': ";
  EXPECT_EQ(refusal("vector_cores 47"),
            at + "vector_cores is 47, but cube_cores 24 with vector_per_cube 2 make 48");
  EXPECT_EQ(refusal("ub_usable_bytes 196640"), at + "ub_usable_bytes is 196640, more than ub_bytes 196608");
  EXPECT_EQ(refusal("ub_usable_bytes 1000"), at + "ub_usable_bytes is 1000, no multiple of align_bytes 32");
  EXPECT_EQ(refusal("loads [f32, f64]"),
            at +
                "loads has 'f64', which no vector unit takes; element types are f32, f16, bf16, i8, u8, i16, "
                "u16, i32, u32, i64, u64, bool");
  EXPECT_EQ(refusal("stores [f32, f32]"), at + "stores has 'f32' twice");
  EXPECT_EQ(refusal("vector_computes [u64]"), at + "vector_computes has 'u64', but loads has not");
  EXPECT_EQ(refusal("cast_computes [f32]"), at + "'f32' is in vector_computes and in cast_computes");
  EXPECT_EQ(refusal("atomic_add [i64]"), at + "'i64' is in atomic_add and in locked_add");
  EXPECT_EQ(refusal("indirect \"magic\""), at + "indirect is 'magic', but must be scalar or simt");
  EXPECT_EQ(refusal("indirect \"simt\""), at + "indirect is simt, but simt is false");
  EXPECT_EQ(refusal("simt true"),
            at + "with simt it gives simt_ub_bytes, simt_compiler_flags and adapter_simt_flags");
  EXPECT_EQ(refusal("simt_ub_bytes 64"),
            at + "simt_ub_bytes, simt_compiler_flags and adapter_simt_flags mean nothing without simt");
  EXPECT_EQ(refusal("compiler \"/bin/sh\""), at + "compiler is '/bin/sh', but must be one word without '/'");
  EXPECT_EQ(refusal("patches [ \"x\" ]"), at + "there is no patch 'x'; there is unsigned_src");
  EXPECT_EQ(refusal("cost launch_us 0.0 assumed \"x\""), at + "cost launch_us is 0, but must be more than 0");
  EXPECT_EQ(refusal("cost launch_us 1.0 assumed \"\""), at + "cost launch_us does not say where it is from");
  EXPECT_EQ(refusal("cost gm_core_bytes_per_us 1e9 assumed \"x\""),
            at + "cost gm_core_bytes_per_us is more than gm_bytes_per_us of all cores");
  EXPECT_EQ(read_target("target \"a b\" from \"Ascend910B1\" {}").error().message,
            "target 'a b': a name has letters, digits, '_', '-' and '.' only");
}

}  // namespace
}  // namespace jumar::target
