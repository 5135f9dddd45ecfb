#include "driver/toolchain/install.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include "driver/toolchain/process.h"
#include "support/files.h"
#include "support/mapped_file.h"
#include "support/zip.h"

namespace jumar::driver::toolchain {
namespace {

namespace fs = std::filesystem;

struct Wheel {
  std::string_view requirement;  // of pip
  std::string_view file_prefix;
  // Files, and folders that end in '/'.
  std::vector<std::string_view> programs;
  std::vector<std::string_view> data;
};

std::vector<Wheel> wheels() {
  return {{"triton-ascend==3.2.0", "triton_ascend-", {"triton/backends/ascend/triton-adapter-opt"}, {}},
          {"ascendnpu-ir==1.2.0",
           "ascendnpu_ir-",
           {"ascendnpuir/bin/bishengir-compile", "ascendnpuir/bin/bishengir-compile-a5"},
           {"ascendnpuir/lib/"}}};
}

constexpr std::string_view kManifest = "toolchain.txt";
constexpr std::string_view kWorkPrefix = ".toolchain-";
constexpr std::chrono::hours kWorkLife{1};
constexpr uint64_t kMostFileBytes = uint64_t{2} << 30;
constexpr double kDownloadSeconds = 3600;

// A folder beside the directory, on its file system, that goes away with what is in it.
class WorkFolder {
 public:
  static Result<WorkFolder> create(const fs::path& parent) {
    std::string path = parent / (std::string(kWorkPrefix) + "XXXXXX");
    if (::mkdtemp(path.data()) == nullptr)
      return diagnostic("io", "cannot make a folder in {}: {}", parent.string(), std::strerror(errno));
    return WorkFolder(std::move(path));
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// What installs that were killed left.
void remove_leftovers(const fs::path& parent) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(parent, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code ignored;
    const bool is_work = at->path().filename().string().compare(0, kWorkPrefix.size(), kWorkPrefix) == 0;
    if (is_work && now - at->last_write_time(ignored) > kWorkLife) fs::remove_all(at->path(), ignored);
  }
}

// The wheels are for a certain Python, which does not matter for the programs in them: pip is told which.
Status download(const InstallRequest& request, const std::string& into) {
  struct utsname machine;
  ::uname(&machine);
  ProcessRequest pip;
  pip.command = {request.python,
                 "-m",
                 "pip",
                 "download",
                 "--no-deps",
                 "--disable-pip-version-check",
                 "--only-binary=:all:",
                 "--python-version=3.11",
                 "--implementation=cp",
                 "--abi=cp311",
                 "--dest=" + into};
  for (const char* glibc : {"2_28", "2_27", "2_17"})
    pip.command.push_back(fmt::format("--platform=manylinux_{}_{}", glibc, machine.machine));
  if (!request.index_url.empty()) pip.command.push_back("--index-url=" + request.index_url);
  for (const Wheel& wheel : wheels()) pip.command.emplace_back(wheel.requirement);
  pip.limit_seconds = kDownloadSeconds;
  JUMAR_ASSIGN(const ProcessResult done, run_process(pip));
  if (done.is_ok()) return {};
  const std::string& said = done.errors.empty() ? done.output : done.errors;
  Diagnostic out = diagnostic("toolchain", "{} could not get the wheels ({})", request.python, done.ending());
  out.notes.push_back(said.substr(said.size() > 2000 ? said.size() - 2000 : 0));
  std::string names;
  for (const Wheel& wheel : wheels()) names += " " + std::string(wheel.requirement);
  out.notes.push_back("`jumar toolchain install --from DIRECTORY` takes wheels that were got elsewhere, by " +
                      ("`pip download --no-deps" + names + "`"));
  return out;
}

// The one file of a wheel among files and directories.
Result<std::string> wheel_among(const Wheel& wheel, const std::vector<std::string>& places) {
  std::vector<std::string> found;
  const auto consider = [&](const fs::path& path) {
    const std::string name = path.filename().string();
    const bool fits = name.compare(0, wheel.file_prefix.size(), wheel.file_prefix) == 0;
    if (fits && path.extension() == ".whl") found.push_back(path.string());
  };
  for (const std::string& place : places) {
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      if (!fs::exists(place, error)) return diagnostic("io", "there is no {}", place);
      consider(place);
      continue;
    }
    for (fs::directory_iterator at(place, error); !error && at != fs::directory_iterator();
         at.increment(error))
      consider(at->path());
  }
  if (found.size() == 1) return found[0];
  return diagnostic("input", "{} wheels {}*.whl are in {}; one is needed, of {}", found.size(),
                    wheel.file_prefix, fmt::join(places, ", "), wheel.requirement);
}

Status put(const ZipEntry& entry, const std::string& name, const std::string& folder, bool is_program) {
  JUMAR_ASSIGN(const std::string bytes, unpacked(entry, name, kMostFileBytes));
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  JUMAR_RETURN_IF_ERROR(write_file(path, bytes));
  const mode_t mode = is_program ? 0755 : 0644;
  if (::chmod(path.c_str(), mode) == 0) return {};
  return diagnostic("io", "cannot set the mode of {}: {}", path.string(), std::strerror(errno));
}

Status unpack(const Wheel& wheel, const std::string& file, const std::string& folder, std::string& told) {
  JUMAR_ASSIGN(const std::shared_ptr<const MappedFile> mapped, MappedFile::open(file));
  JUMAR_ASSIGN(const ZipArchive zip, ZipArchive::read(mapped->bytes(), file, ZipArchive::Packing::kDeflate));
  for (const std::string_view program : wheel.programs) {
    if (zip.find(std::string(program)) == nullptr)
      return diagnostic("input", "{} holds no {}", file, std::string(program));
  }
  told += fmt::format("{}\n", fs::path(file).filename().string());
  for (const auto& each : zip.entries()) {
    const std::string& name = each.first;
    const auto is_at = [&](std::string_view place) {
      return place.back() == '/' ? name.compare(0, place.size(), place) == 0 && name.back() != '/'
                                 : name == place;
    };
    const bool is_program = std::any_of(wheel.programs.begin(), wheel.programs.end(), is_at);
    if (!is_program && std::none_of(wheel.data.begin(), wheel.data.end(), is_at)) continue;
    JUMAR_RETURN_IF_ERROR(put(each.second, name, folder, is_program));
    told += fmt::format("  {} ({} bytes)\n", name, each.second.plain_bytes);
  }
  return {};
}

// Puts `made` where `directory` is; what was there ends in `made`'s place.
Status take_place(const std::string& made, const std::string& directory) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) == 0) return {};
  // The directory is new, or the file system cannot exchange.
  std::error_code error;
  if (fs::exists(directory, error)) fs::rename(directory, made + ".old", error);
  if (!error) fs::rename(made, directory, error);
  if (!error) return {};
  return diagnostic("io", "cannot put the toolchain to {}: {}", directory, error.message());
}

}  // namespace

Result<std::string> install_toolchain(const InstallRequest& request) {
  const auto tell = [&](const std::string& step) {
    if (request.progress) request.progress(step);
  };
  if (request.directory.empty())
    return diagnostic("option", "there is no directory to install to: neither HOME nor an option names one");
  const fs::path parent = fs::absolute(request.directory).lexically_normal().parent_path();
  std::error_code error;
  if (!fs::exists(parent, error)) {
    // Whoever may write here chooses what runs.
    fs::create_directories(parent, error);
    fs::permissions(parent, fs::perms::owner_all, error);
  }
  remove_leftovers(parent);
  JUMAR_ASSIGN(const WorkFolder work, WorkFolder::create(parent));
  std::vector<std::string> places = request.from;
  if (places.empty()) {
    const std::string into = work.path() + "/wheels";
    tell("downloading the wheels, 215 MB");
    JUMAR_RETURN_IF_ERROR(download(request, into));
    places.push_back(into);
  }
  const std::string made = work.path() + "/toolchain";
  std::string told;
  for (const Wheel& wheel : wheels()) {
    JUMAR_ASSIGN(const std::string file, wheel_among(wheel, places));
    tell("unpacking " + fs::path(file).filename().string());
    JUMAR_RETURN_IF_ERROR(unpack(wheel, file, made, told));
  }
  JUMAR_RETURN_IF_ERROR(write_file(made + "/" + std::string(kManifest), told));
  JUMAR_RETURN_IF_ERROR(take_place(made, parent / fs::path(request.directory).filename()));
  return told;
}

std::string installed_from(const std::string& directory) {
  const Result<std::string> text = bytes_of_file(directory + "/" + std::string(kManifest));
  return text.ok() ? *text : "";
}

}  // namespace jumar::driver::toolchain
