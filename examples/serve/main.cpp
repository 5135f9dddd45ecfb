// Serves one loaded model from several threads, and prints how fast.
//
//   serve PACKAGE [--threads N] [--requests N] [--pool-threads N] [--size NAME=N ...] [--torch LIBTORCH_CPU]
//
// --pool-threads says how many threads work on one call of a package that needs no libtorch.
// Each request has inputs of its own: tokens or random numbers, by the inputs' types. Sizes that the package
// leaves open are those given by --size, or 2.
#include <jumar/package.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace embed = jumar::embed;

namespace {

struct Settings {
  std::string package;
  int threads = 4;
  int requests = 100;
  std::map<std::string, int64_t> sizes;
  embed::LoadOptions load;
};

// The memory of one request.
struct Request {
  std::vector<std::vector<char>> memory;
  std::vector<embed::Argument> arguments;
};

int usage() {
  std::fputs(
      "serve PACKAGE [--threads N] [--requests N] [--pool-threads N] [--size NAME=N ...] "
      "[--torch LIBTORCH_CPU]\n",
      stderr);
  return 2;
}

bool parse(int argc, char** argv, Settings& settings) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word.rfind("--", 0) != 0) {
      settings.package = word;
      continue;
    }
    if (++k == argc) return false;
    const std::string value = argv[k];
    if (word == "--threads") {
      settings.threads = std::atoi(value.c_str());
    } else if (word == "--requests") {
      settings.requests = std::atoi(value.c_str());
    } else if (word == "--pool-threads") {
      settings.load.threads = std::atoi(value.c_str());
    } else if (word == "--torch") {
      settings.load.torch_library = value;
    } else if (word == "--size" && value.find('=') != std::string::npos) {
      const size_t split = value.find('=');
      settings.sizes[value.substr(0, split)] = std::atoll(value.c_str() + split + 1);
    } else {
      return false;
    }
  }
  return !settings.package.empty() && settings.threads > 0 && settings.requests > 0;
}

// Sizes of inputs are numbers or single symbols.
int64_t size_of(const std::string& text, const std::map<std::string, int64_t>& sizes) {
  const auto it = sizes.find(text);
  if (it != sizes.end()) return it->second;
  const int64_t number = std::atoll(text.c_str());
  return number > 0 ? number : 2;
}

Request make_request(const embed::Package& package, const Settings& settings, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> token(0, 99);
  std::normal_distribution<float> number;
  Request request;
  for (const embed::ValueInfo& input : package.inputs()) {
    embed::TensorView view;
    view.dtype = input.dtype;
    int64_t count = 1;
    for (const std::string& size : input.sizes) {
      view.sizes.push_back(size_of(size, settings.sizes));
      count *= view.sizes.back();
    }
    std::vector<char>& memory =
        request.memory.emplace_back(static_cast<size_t>(count) * embed::dtype_bytes(input.dtype));
    view.data = memory.data();
    for (int64_t k = 0; k < count; ++k) {
      if (input.dtype == embed::DType::kI64) static_cast<int64_t*>(view.data)[k] = token(random);
      if (input.dtype == embed::DType::kF32) static_cast<float*>(view.data)[k] = number(random);
    }
    request.arguments.emplace_back(std::move(view));
  }
  return request;
}

// The milliseconds of each request, or what went wrong with the first that failed.
struct Outcome {
  std::vector<double> milliseconds;
  std::string problem;
};

void serve(const embed::Package& package, const Settings& settings, unsigned seed, Outcome& outcome) {
  const Request request = make_request(package, settings, seed);
  for (int k = 0; k < settings.requests; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    const embed::Result<std::vector<embed::Value>> results = package.run(request.arguments);
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
    if (!results) {
      outcome.problem = results.error().message;
      return;
    }
    outcome.milliseconds.push_back(ms.count());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) return usage();
  auto begin = std::chrono::steady_clock::now();
  const embed::Result<embed::Package> package = embed::Package::load(settings.package, settings.load);
  if (!package) {
    std::fprintf(stderr, "%s\n", package.error().message.c_str());
    return 1;
  }
  const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - begin;
  std::printf("loaded in %.2f ms\n", load.count());
  for (const embed::ValueInfo& input : package->inputs())
    std::printf("  input %s: %s\n", input.name.c_str(), input.text().c_str());
  for (const embed::ValueInfo& result : package->results())
    std::printf("  result %s: %s\n", result.name.c_str(), result.text().c_str());

  std::vector<Outcome> outcomes(static_cast<size_t>(settings.threads));
  std::vector<std::thread> threads;
  begin = std::chrono::steady_clock::now();
  for (size_t k = 0; k < outcomes.size(); ++k)
    threads.emplace_back([&, k] { serve(*package, settings, static_cast<unsigned>(k), outcomes[k]); });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  std::vector<double> all;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.problem.empty()) {
      std::fprintf(stderr, "%s\n", outcome.problem.c_str());
      return 1;
    }
    all.insert(all.end(), outcome.milliseconds.begin(), outcome.milliseconds.end());
  }
  std::sort(all.begin(), all.end());
  std::printf("%zu requests by %d threads: %.1f per second, median %.2f ms, 99%% within %.2f ms\n",
              all.size(), settings.threads, static_cast<double>(all.size()) / seconds.count(),
              all[all.size() / 2], all[all.size() * 99 / 100]);
  return 0;
}
