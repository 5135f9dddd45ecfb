// The C API: contexts, compilation and its results. Running is in run.cpp.
#include <memory>
#include <string>

#include "driver/build_id.h"
#include "driver/c_api/error.h"
#include "driver/c_api/program.h"
#include "driver/cli.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/package.h"
#include "driver/stages.h"
#include "jumar/jumar.h"

using jumar::Options;
using jumar::Result;
namespace driver = jumar::driver;

struct jumar_context {
  std::shared_ptr<driver::Context> context;
  std::string build;
};

struct jumar_text {
  std::string text;
};

namespace {

// The options of one compilation: the context's, changed by `text`, which may be null.
Result<Options> options_of(const jumar_context& context, const char* text) {
  return context.context->options().with(text == nullptr ? "" : text);
}

}  // namespace

const char* jumar_version(void) { return driver::kVersion; }

int32_t jumar_abi_version(void) { return JUMAR_ABI_VERSION; }

const char* jumar_build_id(void) {
  // A constant of the file that this code is in; made once, by the first thread that asks.
  static const std::string id = driver::build_id();
  return id.c_str();
}

jumar_error* jumar_context_create(jumar_context** context) {
  return driver::guarded([&]() -> jumar_error* {
    Result<std::shared_ptr<driver::Context>> created = driver::Context::create(jumar::process_environment());
    if (!created.ok()) return driver::new_error(created.error());
    *context = new jumar_context{std::move(*created), {}};
    return nullptr;
  });
}

void jumar_context_free(jumar_context* context) { delete context; }

const char* jumar_text_data(const jumar_text* text) { return text->text.c_str(); }
void jumar_text_free(jumar_text* text) { delete text; }

jumar_error* jumar_resolve_options(jumar_context* context, const char* options, jumar_text** values) {
  return driver::guarded([&]() -> jumar_error* {
    const Result<Options> resolved = options_of(*context, options);
    if (!resolved.ok()) return driver::new_error(resolved.error());
    const auto device = driver::device_of(*resolved);
    if (!device.ok()) return driver::new_error(device.error());
    if (!*device) {
      const auto target = driver::target_of(*resolved, true);
      if (!target.ok()) return driver::new_error(target.error());
    }
    *values = new jumar_text{resolved->text()};
    return nullptr;
  });
}

jumar_error* jumar_compile(jumar_context* context, const char* text, size_t length, const char* options,
                           jumar_program** program) {
  const std::string_view graph(text, length);
  const auto compile = [&]() -> jumar_error* {
    const Result<Options> resolved = options_of(*context, options);
    if (!resolved.ok()) return driver::new_error(resolved.error());
    auto compiled = context->context->compile(graph, *resolved);
    if (!compiled.ok()) return driver::new_error(compiled.error());
    auto shared = std::make_shared<jumar_shared_program>();
    shared->graph = std::move(*compiled);
    *program = new jumar_program{std::move(shared)};
    return nullptr;
  };
  return driver::guarded(compile, [&](const std::string& message) {
    const Result<Options> resolved = options_of(*context, options);
    return resolved.ok() ? driver::write_reproducer(*resolved, graph, message) : std::string();
  });
}

jumar_error* jumar_compile_package(jumar_context* context, const char* archive, const char* model,
                                   const char* output, const char* options,
                                   void (*progress)(void* user, const char* stage), void* user,
                                   jumar_text** report) {
  return driver::guarded([&]() -> jumar_error* {
    const Result<Options> resolved = options_of(*context, options);
    if (!resolved.ok()) return driver::new_error(resolved.error());
    driver::PackageRequest request;
    request.archive = archive;
    request.model = model != nullptr ? model : "";
    request.output = output;
    if (progress != nullptr) {
      request.progress = [&](std::string_view stage) { progress(user, std::string(stage).c_str()); };
    }
    driver::Report made;
    const Result<driver::PackageSummary> summary = driver::compile_package(request, *resolved, made);
    if (!summary.ok()) return driver::new_error(summary.error());
    *report = new jumar_text{driver::json(made, driver::json_body(made))};
    return nullptr;
  });
}

jumar_error* jumar_simulate_package(jumar_context* context, const char* path, const char* options,
                                    jumar_program** program) {
  return driver::guarded([&]() -> jumar_error* {
    const Result<Options> resolved = options_of(*context, options);
    if (!resolved.ok()) return driver::new_error(resolved.error());
    auto loaded = context->context->simulate_package(path, *resolved);
    if (!loaded.ok()) return driver::new_error(loaded.error());
    auto shared = std::make_shared<jumar_shared_program>();
    shared->graph = std::move(*loaded);
    *program = new jumar_program{std::move(shared)};
    return nullptr;
  });
}

const char* jumar_program_signature(const jumar_program* program) {
  return program->graph().signature().c_str();
}

void jumar_program_free(jumar_program* program) { delete program; }

size_t jumar_program_input_count(const jumar_program* program) { return program->graph().input_count(); }
size_t jumar_program_output_count(const jumar_program* program) { return program->graph().output_count(); }
const char* jumar_program_report(const jumar_program* program) { return program->graph().report().c_str(); }
const char* jumar_program_plan(const jumar_program* program) { return program->graph().plan_text().c_str(); }
int32_t jumar_program_is_brief(const jumar_program* program) {
  return program->graph().plan().is_brief() ? 1 : 0;
}
int64_t jumar_program_arena_bytes(const jumar_program* program) {
  return program->graph().last_arena_bytes();
}

int jumar_main(int argc, char** argv) { return driver::command_line(argc, argv); }
