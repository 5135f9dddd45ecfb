#include "support/npy.h"

#include <gtest/gtest.h>

#include <random>

namespace jumar {
namespace {

std::string file_of(std::string header, std::string_view elements) {
  std::string out = std::string("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + std::string(elements);
}

Result<NpyArray> parsed(std::string_view text) {
  return parse_npy({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "x.npy");
}

TEST(Npy, ReadsWhatNumPyWrites) {
  // np.save of np.array([[1, 2, 3]], dtype=np.int16)
  const std::string header =
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }                                "
      "                          \n";
  const Result<NpyArray> array = parsed(file_of(header, std::string_view("\x01\x00\x02\x00\x03\x00", 6)));
  ASSERT_TRUE(array.ok()) << array.error().text();
  EXPECT_EQ(array->type, "<i2");
  EXPECT_EQ(array->sizes, (std::vector<int64_t>{1, 3}));
  EXPECT_FALSE(array->is_column_major);
  EXPECT_EQ(array->elements, (std::vector<uint8_t>{1, 0, 2, 0, 3, 0}));
}

TEST(Npy, TakesEntriesInAnyOrder) {
  const Result<NpyArray> array =
      parsed(file_of("{'shape': (2,), 'fortran_order': True,'descr': '|b1'}\n", std::string_view("\1\0", 2)));
  ASSERT_TRUE(array.ok()) << array.error().text();
  EXPECT_EQ(array->sizes, (std::vector<int64_t>{2}));
  EXPECT_TRUE(array->is_column_major);
}

TEST(Npy, ReadsWhatItWrites) {
  for (std::string_view type : {"|b1", "<i8", "<f2", "<f4", "<f8", "|u1", "<V2"})
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{}, {0}, {1}, {7}, {2, 0, 3}, {2, 3, 4, 5, 6}}) {
      NpyArray array{std::string(type), sizes, false, {}};
      int64_t bytes = npy_type_bytes(type);
      for (int64_t size : sizes) bytes *= size;
      for (int64_t k = 0; k < bytes; ++k) array.elements.push_back(static_cast<uint8_t>(k));
      const std::string text = npy_bytes(array);
      EXPECT_EQ((text.size() - array.elements.size()) % 64, 0u);
      const Result<NpyArray> found = parsed(text);
      ASSERT_TRUE(found.ok()) << found.error().text();
      EXPECT_EQ(found->type, array.type);
      EXPECT_EQ(found->sizes, array.sizes);
      EXPECT_EQ(found->elements, array.elements);
    }
}

TEST(Npy, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) {
    const Result<NpyArray> array = parsed(text);
    return array.ok() ? "" : array.error().message;
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
  EXPECT_EQ(message(file_of(good, "1234")), "");
  EXPECT_EQ(message(""), "x.npy is no .npy file");
  EXPECT_EQ(message(std::string("\x93NUMPY\x09\x00zzzz", 12)),
            "x.npy is a .npy file of format 9, not 1 to 3");
  EXPECT_EQ(message(std::string("\x93NUMPY\x01\x00\xff", 9)), "x.npy ends within its header");
  EXPECT_EQ(message(file_of(good, "1234").substr(0, 30)), "x.npy ends within its header");
  EXPECT_EQ(message(file_of(good, "123")), "x.npy has 3 bytes of elements, which are not 1 of type '<f4'");
  EXPECT_EQ(message(file_of(good, "12345")), "x.npy has 5 bytes of elements, which are not 1 of type '<f4'");
  EXPECT_EQ(message(file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "1234")),
            "x.npy has elements of type '>f4', which are not read");
  EXPECT_EQ(message(file_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "1234")),
            "x.npy has elements of type '|O', which are not read");
  const char* huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}";
  EXPECT_EQ(message(file_of(huge, "")),
            "x.npy has 0 bytes of elements, which are not 4294967296*4294967296*4 of type '<f8'");
  for (const char* header : {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
                             "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
                             "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                             "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}"})
    EXPECT_EQ(message(file_of(header, "1234")), "x.npy has a header of another form than .npy files")
        << header;
}

TEST(Npy, SurvivesDamage) {
  const std::string good = npy_bytes({"<f4", {2, 3}, false, std::vector<uint8_t>(24, 1)});
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good.substr(0, random() % (good.size() + 1));
    for (int k = 0; k < 3 && !bad.empty(); ++k) bad[random() % bad.size()] = static_cast<char>(random());
    const Result<NpyArray> array = parsed(bad);
    if (array.ok()) {
      EXPECT_LE(array->elements.size(), bad.size());
    }
  }
}

}  // namespace
}  // namespace jumar
