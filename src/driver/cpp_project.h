// `jumar compile --emit=cpp`: an exported program, or a graph's text, as a C++ project that people read and
// build where they want, without headers of torch.
//
//   model.cpp  model.h  wrapper.h  kernels/*.o  weights.bin  CMakeLists.txt
//
// model.cpp is what the executor would do (emit/host/emit_cpp.h); its library looks for weights.bin beside
// itself and for libtorch in its process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "driver/report.h"
#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct CppProjectRequest {
  std::string input;      // an archive of torch.export.save, or a file with graph text
  std::string model;      // of an archive that holds several; otherwise empty
  std::string directory;  // made where it is not there
  std::string name;       // of the program; the input's name when empty
  // Called with what is done now, before each part of the work.
  std::function<void(std::string_view stage)> progress;
};

struct CppProjectSummary {
  std::string name;
  size_t kernels = 0;
  uint64_t weights_bytes = 0;
};

Result<CppProjectSummary> write_cpp_project(const CppProjectRequest& request, const Options& options,
                                            Report& report);

}  // namespace jumar::driver
