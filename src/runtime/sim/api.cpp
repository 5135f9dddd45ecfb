#include "runtime/sim/api.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "runtime/sim/kernel.h"

using jumar::runtime::sim::Kernel;

struct jumar_sim_kernel {
  std::unique_ptr<Kernel> kernel;
};

namespace {

char* copied(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// "line 3, column 5: what is wrong". The file's name is the caller's to say.
std::string text_of(const jumar::Diagnostic& error) {
  if (error.where.line == 0) return error.message;
  return fmt::format("line {}, column {}: {}", error.where.line, error.where.column, error.message);
}

}  // namespace

int32_t jumar_sim_api_version(void) { return JUMAR_SIM_API_VERSION; }

int32_t jumar_sim_compile(const char* text, size_t bytes, const jumar_sim_options* options,
                          jumar_sim_kernel** kernel, char** error) {
  *kernel = nullptr;
  *error = nullptr;
  jumar::runtime::sim::Options chosen;
  if (options != nullptr) {
    if (options->kernel != nullptr) chosen.kernel = options->kernel;
    if (options->optimization_level >= 1 && options->optimization_level <= 3)
      chosen.level = options->optimization_level;
    chosen.floats_last = options->floats_last != 0;
    chosen.fills_buffers = options->keep_buffers == 0;
  }
  try {
    auto compiled = Kernel::compile({text, bytes}, chosen);
    if (compiled) {
      *kernel = new jumar_sim_kernel{std::move(*compiled)};
      return 0;
    }
    *error = copied(text_of(compiled.error()));
  } catch (const std::exception& broken) {
    *error = copied(std::string("internal error: ") + broken.what());
  }
  return 1;
}

jumar_sim_fn jumar_sim_function(const jumar_sim_kernel* kernel) { return kernel->kernel->function(); }

const jumar_sim_info* jumar_sim_describe(const jumar_sim_kernel* kernel) { return &kernel->kernel->info(); }

char* jumar_sim_fault_text(const jumar_sim_kernel* kernel, const jumar_sim_fault* fault) {
  return copied(kernel->kernel->fault_text(*fault));
}

void jumar_sim_free(char* text) { std::free(text); }

void jumar_sim_destroy(jumar_sim_kernel* kernel) { delete kernel; }
