// `jumar inspect` of packages that were made here, and of packages that somebody has changed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "../../import/test/archive.h"
#include "driver/archive_kind.h"
#include "driver/inspect_command.h"
#include "driver/package.h"
#include "driver/package_details.h"
#include "driver/package_view.h"
#include "import/json.h"

namespace jumar::driver {
namespace {

using import::test::Bytes;
using import::test::ZipWriter;

std::string archive(const std::string& name) {
  return std::string(JUMAR_SOURCE_DIR) + "/src/import/test/archives/" + name + ".pt2";
}

Bytes bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Bytes package_bytes(const std::string& name, const std::string& options) {
  std::string folder = testing::TempDir() + "jumar-inspect-XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr, "no folder");
  const Options base = Options::from_environment([](const std::string&) { return std::nullopt; }).value();
  Report report;
  const Result<PackageSummary> made =
      compile_package({archive(name), "", folder + "/p.pt2", "", {}}, base.with(options).value(), report);
  EXPECT_TRUE(made.ok()) << made.error().text();
  Bytes bytes = bytes_of(folder + "/p.pt2");
  std::filesystem::remove_all(folder);
  return bytes;
}

const Bytes& counter() {
  static const Bytes bytes = package_bytes("counter", "provider=onednn\ncpu=x86-64-v3");
  return bytes;
}
const Bytes& block() {
  static const Bytes bytes = package_bytes("block", "provider=torch\ncpu=x86-64-v3");
  return bytes;
}

Options no_options() {
  return Options::from_environment([](const std::string&) { return std::nullopt; }).value();
}

InspectArguments named(const std::string& file) {
  InspectArguments arguments;
  arguments.file = file;
  return arguments;
}

std::string text_of(const Result<std::string>& result) {
  return result.ok() ? *result : result.error().text();
}

// The lines below a key, with it.
std::string section(const std::string& text, const std::string& key) {
  const size_t begin = text.find("\n" + key) + 1;
  size_t end = text.find('\n', begin);
  while (end + 1 < text.size() && text[end + 1] == ' ') end = text.find('\n', end + 1);
  return begin == 0 ? "" : text.substr(begin, end + 1 - begin);
}

TEST(Inspect, TellsWhatAPackageTakesAndGives) {
  const std::string text = text_of(inspect(named("counter.pt2"), counter()));
  EXPECT_TRUE(text.starts_with("counter.pt2: a package of jumar compile\njumar: ")) << text;
  const std::string sizes = section(text, "sizes: ");
  const std::string s = sizes.substr(sizes.find("  ") + 2, sizes.find(" in ") - sizes.find("  ") - 2);
  EXPECT_EQ(sizes, "sizes: 1\n  " + s + " in [2, 64], hint 3\n");
  EXPECT_EQ(section(text, "inputs: "),
            "inputs: 2\n  x: f32[" + s + ", 3]\n  options_rows: f32[" + s + ", 2]\n");
  EXPECT_EQ(section(text, "results: "), "results: 4\n  result0: f32[" + s +
                                            ", 4]\n  result1: f32[4]\n  result2: none\n  result3: int(3)\n");
  EXPECT_EQ(section(text, "changed by calls: "),
            "changed by calls: argument 'options_rows', constant 'total'\n");
  EXPECT_EQ(section(text, "constants: "), "constants: 4\n  parameter: 2, 64 bytes\n  buffer: 2, 20 bytes\n");
  EXPECT_EQ(section(text, "compiled for: "), "compiled for: x86-64-v3, 256-bit vectors\n");
  EXPECT_NE(section(text, "needs: ").find("avx2"), std::string::npos);
  EXPECT_EQ(section(text, "called operators: "),
            "called operators: 1\n  1x aten.addmm.default: a matrix product\n");
  EXPECT_EQ(section(text, "runs without libtorch: "),
            "runs without libtorch: yes, with oneDNN (libdnnl.so.2)\n");
}

TEST(Inspect, TellsWhatIsCalledAndWhy) {
  const std::string text = text_of(inspect(named("block.pt2"), block()));
  EXPECT_EQ(section(text, "provider: "), "provider: torch\n");
  EXPECT_NE(section(text, "runs without libtorch: ").find("no, it was compiled with --provider=torch"),
            std::string::npos)
      << text;
  EXPECT_NE(section(text, "kernels: ").find("aten.embedding"), std::string::npos) << text;
}

TEST(Inspect, PrintsWhatIsAskedForAndNothingElse) {
  InspectArguments arguments = named("block.pt2");
  arguments.plan = true;
  const std::string plan = text_of(inspect(arguments, block()));
  EXPECT_TRUE(plan::read_plan(plan).ok()) << plan;
  arguments = named("block.pt2");
  arguments.all_kernels = true;
  const std::string kernels = text_of(inspect(arguments, block()));
  EXPECT_TRUE(kernels.starts_with("# 1 launch\nkernel @")) << kernels;
  arguments.all_kernels = false;
  const size_t begin = kernels.find('@') + 1;
  arguments.kernels = {kernels.substr(begin, kernels.find(' ', begin) - begin)};
  const std::string one = text_of(inspect(arguments, block()));
  EXPECT_TRUE(kernels.starts_with(one)) << one;
  arguments.kernels = {"nothing"};
  EXPECT_NE(text_of(inspect(arguments, block())).find("there is no kernel 'nothing'; there are "),
            std::string::npos);
}

TEST(Inspect, PlansMemoryForGivenSizes) {
  const auto peak = [](const std::string& size) {
    InspectArguments arguments = named("counter.pt2");
    arguments.json = true;
    if (!size.empty()) arguments.sizes = {size};
    const Result<std::string> text = inspect(arguments, counter());
    EXPECT_TRUE(text.ok()) << text_of(text);
    const import::JsonDocument document = import::JsonDocument::parse(*text, "json").value();
    return document.root().get("memory")->get("peak_bytes")->integer().value();
  };
  InspectArguments overview = named("counter.pt2");
  const std::string sizes = section(text_of(inspect(overview, counter())), "sizes: ");
  const std::string s = sizes.substr(sizes.find("  ") + 2, sizes.find(" in ") - sizes.find("  ") - 2);
  EXPECT_EQ(peak(""), peak(s + "=3"));
  EXPECT_GT(peak(s + "=64"), 10 * peak(s + "=4"));
  for (const std::string& wrong : {s + "=1", s + "=65", s + "=", s, std::string("=3"), s + "=3x",
                                   std::string("other=3"), s + "=99999999999999999999"}) {
    overview.sizes = {wrong};
    EXPECT_FALSE(inspect(overview, counter()).ok()) << wrong;
  }
}

TEST(Inspect, JsonHoldsEverything) {
  for (const Bytes* package : {&counter(), &block()}) {
    InspectArguments arguments = named("a \"package\"\n.pt2");
    arguments.json = true;
    const Result<std::string> text = inspect(arguments, *package);
    ASSERT_TRUE(text.ok()) << text_of(text);
    const Result<import::JsonDocument> document = import::JsonDocument::parse(*text, "json");
    ASSERT_TRUE(document.ok()) << text_of(document.error().text());
    EXPECT_EQ(document->root().get("file")->string().value(), "a \"package\"\n.pt2");
    EXPECT_TRUE(plan::read_plan(document->root().get("plan")->string().value()).ok());
    for (const char* key : {"inputs", "symbols", "results", "constants", "kernels", "calls", "refusals"})
      EXPECT_TRUE(document->root().get(key)->array().ok()) << key;
  }
}

TEST(Inspect, ExportedProgramsAreNotCompiled) {
  const std::string text = text_of(inspect(named(archive("counter")), no_options()));
  EXPECT_NE(text.find("an exported program, not compiled"), std::string::npos) << text;
  EXPECT_NE(section(text, "operators: ").find("x aten.linear.default"), std::string::npos) << text;
  EXPECT_NE(section(text, "weights: ").find("parameter: 2, 64 bytes"), std::string::npos) << text;
  InspectArguments arguments = named(archive("mixed"));
  arguments.json = true;
  EXPECT_TRUE(import::JsonDocument::parse(text_of(inspect(arguments, no_options())), "json").ok());
  arguments.json = false;
  arguments.plan = true;
  EXPECT_NE(text_of(inspect(arguments, no_options())).find("it has no kernels and no plan"),
            std::string::npos);
}

TEST(Inspect, OtherFilesAreErrors) {
  EXPECT_NE(text_of(inspect(named("/nowhere.pt2"), no_options())).find("/nowhere.pt2"), std::string::npos);
  const Bytes text = {'n', 'o', ' ', 'z', 'i', 'p'};
  EXPECT_NE(text_of(inspect(named("x"), text)).find("not a usable zip archive"), std::string::npos);
  ZipWriter foreign;
  foreign.add("m/data/aotinductor/model/x.wrapper.so", "\177ELF");
  EXPECT_NE(text_of(inspect(named("x"), foreign.finish())).find("not of `jumar compile`"), std::string::npos);
  ZipWriter other;
  other.add("m/something", "else");
  EXPECT_FALSE(inspect(named("x"), other.finish()).ok());
}

// ---- Packages that somebody has changed ----

// All that can be printed of them; a diagnostic or texts, and never anything else.
bool inspect_all(const Bytes& bytes) {
  bool is_ok = true;
  for (int what = 0; what < 3; ++what) {
    InspectArguments arguments = named("fuzz.pt2");
    arguments.json = what == 1;
    arguments.all_kernels = arguments.plan = arguments.memory = arguments.refusals = what == 2;
    const Result<std::string> text = inspect(arguments, bytes);
    EXPECT_FALSE((text.ok() ? *text : text.error().message).empty());
    is_ok = is_ok && text.ok();
  }
  return is_ok;
}

TEST(Inspect, TruncatedPackagesAreErrors) {
  const Bytes& good = counter();
  ASSERT_TRUE(inspect_all(good));
  for (size_t size = 0; size < good.size(); size += 1 + size / 37)
    EXPECT_FALSE(inspect_all(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(size)))) << size;
}

TEST(Inspect, FlippedBitsAreFoundOrHarmless) {
  std::mt19937 random(1);
  const Bytes& good = counter();
  // What is before the library and after it: the record, names and the directory.
  const Result<ZipArchive> zip = ZipArchive::read(good, "good", ZipArchive::Packing::kDeflate);
  const ZipEntry* record = details_entry(*zip);
  const auto begin = static_cast<size_t>(record->bytes.data() - good.data());
  for (int k = 0; k < 1500; ++k) {
    Bytes bytes = good;
    const size_t place = k % 3 == 0   ? random() % (begin + record->bytes.size())
                         : k % 3 == 1 ? bytes.size() - 1 - random() % 1500
                                      : begin + random() % record->bytes.size();
    bytes[place] ^= static_cast<uint8_t>(1U << random() % 8);
    const bool is_ok = inspect_all(bytes);
    if (place >= begin && place < begin + record->bytes.size()) {
      EXPECT_FALSE(is_ok) << place;
    }
  }
}

Bytes with_record(const Bytes& package, const std::string& record) {
  const Result<ZipArchive> zip = ZipArchive::read(package, "good", ZipArchive::Packing::kDeflate);
  ZipWriter writer;
  for (const auto& [name, entry] : zip->entries())
    writer.add(name,
               name.ends_with(PackageDetails::kEntry) ? record : unpacked(entry, name, 1 << 30).value());
  return writer.finish();
}

void change(std::string& text, std::mt19937& random) {
  if (text.empty()) return;
  const size_t place = random() % text.size();
  const size_t other = random() % text.size();
  switch (random() % 5) {
    case 0:
      text[place] = static_cast<char>(random());
      break;
    case 1:
      text.erase(place, 1 + random() % 12);
      break;
    case 2:  // numbers of other sizes
      if (const size_t digit = text.find_first_of("0123456789", place); digit != std::string::npos)
        text.replace(digit, 1, std::to_string(random() % 4 == 0 ? (1LL << 62) : random() % 40));
      break;
    case 3:
      text.insert(place, text.substr(other, 1 + random() % 60));
      break;
    default: {  // a line twice, or away
      const size_t begin = text.rfind('\n', place) + 1;
      const std::string line = text.substr(begin, text.find('\n', place) - begin) + "\n";
      if (random() % 2 == 0) {
        text.insert(begin, line);
      } else {
        text.erase(begin, line.size());
      }
    }
  }
}

// Damage that the checksum would hide.
TEST(Inspect, ChangedRecordsAreErrorsOrTexts) {
  std::mt19937 random(2);
  size_t accepted = 0;
  for (const Bytes* package : {&counter(), &block()}) {
    const Result<ZipArchive> zip = ZipArchive::read(*package, "good", ZipArchive::Packing::kDeflate);
    const std::string record(details_entry(*zip)->text());
    const PackageDetails good = PackageDetails::read(record, "good").value();
    ASSERT_TRUE(inspect_all(with_record(*package, good.bytes())));
    for (int k = 0; k < 800; ++k) {
      PackageDetails details = good;
      std::string* texts[] = {&details.manifest, &details.report, &details.program.loops,
                              &details.program.plan};
      for (int changes = 1 + static_cast<int>(random() % 2); changes > 0; --changes)
        change(*texts[random() % std::size(texts)], random);
      accepted += inspect_all(with_record(*package, details.bytes())) ? 1 : 0;
    }
    for (int k = 0; k < 200; ++k) {
      std::string changed = record;
      change(changed, random);
      inspect_all(with_record(*package, changed));
    }
  }
  EXPECT_GT(accepted, 0U);  // such as other names of symbols
}

TEST(Inspect, ControlCharactersAreNotPrinted) {
  const Result<ZipArchive> zip = ZipArchive::read(block(), "good", ZipArchive::Packing::kDeflate);
  PackageDetails details = PackageDetails::read(details_entry(*zip)->text(), "good").value();
  runtime::package::Manifest manifest = runtime::package::Manifest::read(details.manifest).value();
  manifest.arguments[0].name = "tokens\x1b[2J\nresults: 9\xff";
  details.manifest = manifest.bytes();
  const std::string text = text_of(inspect(named("\x1b.pt2"), with_record(block(), details.bytes())));
  EXPECT_NE(text.find("tokens\uFFFD[2J\uFFFDresults: 9\uFFFD: i64"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Inspect, ManifestsThatDoNotFitAreErrors) {
  const Result<ZipArchive> zip = ZipArchive::read(counter(), "good", ZipArchive::Packing::kDeflate);
  const PackageDetails good = PackageDetails::read(details_entry(*zip)->text(), "good").value();
  using runtime::package::Manifest;
  const auto is_refused = [&](const std::function<void(Manifest&)>& change) {
    PackageDetails details = good;
    Manifest manifest = Manifest::read(details.manifest).value();
    change(manifest);
    details.manifest = manifest.bytes();
    return !inspect(named("x"), with_record(counter(), details.bytes())).ok();
  };
  EXPECT_FALSE(is_refused([](Manifest&) {}));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.arguments.pop_back(); }));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.results.pop_back(); }));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.results[0].index = 99; }));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.plan_constants[0].index = 99; }));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.plan_constants[0].is_folded = true; }));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.constants[0].dtype = static_cast<ir::DType>(200); }));
  EXPECT_TRUE(is_refused([](Manifest& m) { m.constants[0].sizes.push_back(3); }));
  // Nothing is allocated for what a manifest claims.
  EXPECT_FALSE(is_refused([](Manifest& m) {
    for (int64_t& size : m.constants[0].sizes) size = int64_t{1} << 62;
  }));
}

}  // namespace
}  // namespace jumar::driver
