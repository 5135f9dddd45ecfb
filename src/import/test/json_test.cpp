#include "import/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace jumar::import {
namespace {

std::string syntax_error(std::string_view text) {
  const Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  return document.ok() ? "" : document.error().message;
}

TEST(Json, ReadsEveryKind) {
  const std::string text = R"( {"a": [1, -2.5e3, true, false, null], )"
                           R"("b": {"c": "x\n\u00e9\ud83d\ude00\"\\/"}, "d": "-Infinity"} )";
  const Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  ASSERT_TRUE(document.ok()) << document.error().text();
  const JsonValue root = document->root();
  const auto items = root.get("a")->array();
  ASSERT_EQ(items->size(), 5U);
  EXPECT_EQ(*(*items)[0].integer(), 1);
  EXPECT_EQ(*(*items)[1].number(), -2500.0);
  EXPECT_TRUE(*(*items)[2].boolean());
  EXPECT_FALSE(*(*items)[3].boolean());
  EXPECT_TRUE((*items)[4].is_null());
  EXPECT_EQ(*root.get("b")->get("c")->string(), "x\n\xc3\xa9\xf0\x9f\x98\x80\"\\/");
  EXPECT_EQ(*root.get("d")->number(), -INFINITY);
  EXPECT_TRUE(root.has("a"));
  EXPECT_FALSE(root.has("z"));
  const auto member = root.get("b")->only_member();
  EXPECT_EQ(member->first, "c");
}

TEST(Json, EscapedKeysAreFound) {
  const Result<JsonDocument> document = JsonDocument::parse(R"({"\u0061\/": 1})", "a.json");
  EXPECT_EQ(*document->root().get("a/")->integer(), 1);
}

TEST(Json, ErrorsNameThePlace) {
  const Result<JsonDocument> document = JsonDocument::parse(R"({"a": [{"b": "text"}, {"b": 3}]})", "a.json");
  const auto items = document->root().get("a")->array();
  EXPECT_EQ((*items)[0].get("b")->integer().error().message, "a[0].b: expected an integer, found a string");
  EXPECT_EQ((*items)[1].get("c").error().message, "a[1]: there is no 'c'");
  EXPECT_EQ(document->root().array().error().message, "the whole text: expected an array, found an object");
  EXPECT_EQ(document->root().get("a")->only_member().error().message,
            "a: expected an object, found an array");
}

TEST(Json, NumbersThatDoNotFit) {
  const Result<JsonDocument> document =
      JsonDocument::parse("[9223372036854775807, 9223372036854775808, 1e400, 1.5]", "a.json");
  const auto items = document->root().array();
  EXPECT_EQ(*(*items)[0].integer(), INT64_MAX);
  EXPECT_FALSE((*items)[1].integer().ok());
  EXPECT_FALSE((*items)[2].number().ok());
  EXPECT_FALSE((*items)[3].integer().ok());
}

TEST(Json, SyntaxErrors) {
  for (const std::string_view text :
       {"",   "{",  "[1,]",  "{\"a\" 1}", "{a: 1}", "\"\\x\"",  "\"\\u12\"", "\"abc", "01",    "-",
        "1.", "1e", "[1] 2", "tru",       "NaN",    "\"\x01\"", "{\"a\": }", "'a'",   "[1 2]", "\"\\"})
    EXPECT_NE(syntax_error(text), "") << text;
}

TEST(Json, DepthIsBounded) {
  EXPECT_NE(syntax_error(std::string(100000, '[')).find("too deep"), std::string::npos);
  EXPECT_EQ(syntax_error(std::string(200, '[') + std::string(200, ']')), "");
}

}  // namespace
}  // namespace jumar::import
