# Finds MLIR 19 and declares the interface target jumar_mlir, for libjumar_sim.so alone. Sets JUMAR_MLIR_FOUND.
find_library(JUMAR_MLIR_LIBRARY MLIR PATHS "${llvm_libdir}" NO_DEFAULT_PATH)
find_path(JUMAR_MLIR_INCLUDE_DIR mlir/IR/MLIRContext.h PATHS "${llvm_include}" NO_DEFAULT_PATH)
set(JUMAR_MLIR_FOUND OFF)
if(JUMAR_MLIR_LIBRARY AND JUMAR_MLIR_INCLUDE_DIR)
  set(JUMAR_MLIR_FOUND ON)
  find_library(JUMAR_LLVM_SHARED LLVM-19 PATHS "${llvm_libdir}" NO_DEFAULT_PATH REQUIRED)
  add_library(jumar_mlir INTERFACE)
  target_include_directories(jumar_mlir SYSTEM INTERFACE "${JUMAR_MLIR_INCLUDE_DIR}")
  target_compile_definitions(jumar_mlir INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                             __STDC_LIMIT_MACROS)
  target_link_libraries(jumar_mlir INTERFACE ${JUMAR_MLIR_LIBRARY} ${JUMAR_LLVM_SHARED})
endif()
