#include "driver/entry.h"

#include <gtest/gtest.h>

namespace jumar::driver {
namespace {

GraphEntry example() {
  return {"plan @main {}",
          "\"kernels\": []",
          {{"k0",
            {1, 2},
            std::string("\0\x7f"
                        "ELF",
                        5)},
           {"k1", {3, 4}, ""}}};
}

TEST(Entry, ReadsBack) {
  const std::optional<GraphEntry> entry = entry_from_bytes(entry_bytes(example()));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->plan_text, example().plan_text);
  EXPECT_EQ(entry->report_body, example().report_body);
  ASSERT_EQ(entry->kernels.size(), 2u);
  EXPECT_EQ(entry->kernels[0].name, "k0");
  EXPECT_EQ(entry->kernels[0].key, (Hash128{1, 2}));
  EXPECT_EQ(entry->kernels[0].object, example().kernels[0].object);
}

TEST(Entry, BytesOfAnotherFormAreRefused) {
  const std::string good = entry_bytes(example());
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(entry_from_bytes(good.substr(0, length))) << length;
  }
  EXPECT_FALSE(entry_from_bytes(good + "x"));
  std::string huge = good;
  huge[7] = '\x7f';  // the plan's length
  EXPECT_FALSE(entry_from_bytes(huge));
}

}  // namespace
}  // namespace jumar::driver
