# Finds MLIR 19 and declares the interface target jumar_mlir, for libjumar_sim.so alone. Sets JUMAR_MLIR_FOUND.
#
# Either way of linking leaves the process's other copies of LLVM and MLIR alone: Debian's shared ones are opened
# with libjumar_sim.so, which is opened locally; static ones are hidden in it.
option(JUMAR_SIM_STATIC "Link MLIR and LLVM into libjumar_sim.so: 54 MB, and nothing to install where it runs" OFF)
find_path(JUMAR_MLIR_INCLUDE_DIR mlir/IR/MLIRContext.h PATHS "${llvm_include}" NO_DEFAULT_PATH)
find_library(JUMAR_MLIR_LIBRARY MLIR PATHS "${llvm_libdir}" NO_DEFAULT_PATH)
find_library(JUMAR_LLVM_SHARED LLVM-19 PATHS "${llvm_libdir}" NO_DEFAULT_PATH)
file(GLOB mlir_archives "${llvm_libdir}/libMLIR*.a")
list(FILTER mlir_archives EXCLUDE REGEX "libMLIR(.*Test|CAPI|.*Lsp|.*Query|.*Reduce|.*Opt|.*Jit|PDLL|Tblgen|TableGen)")

set(JUMAR_MLIR_FOUND OFF)
if(JUMAR_MLIR_INCLUDE_DIR)
  if(JUMAR_SIM_STATIC AND mlir_archives)
    set(JUMAR_MLIR_FOUND ON)
  elseif(NOT JUMAR_SIM_STATIC AND JUMAR_MLIR_LIBRARY AND JUMAR_LLVM_SHARED)
    set(JUMAR_MLIR_FOUND ON)
  endif()
endif()

if(JUMAR_MLIR_FOUND)
  add_library(jumar_mlir INTERFACE)
  target_include_directories(jumar_mlir SYSTEM INTERFACE "${JUMAR_MLIR_INCLUDE_DIR}")
  target_compile_definitions(jumar_mlir INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                             __STDC_LIMIT_MACROS)
  if(JUMAR_SIM_STATIC)
    # The archives refer to each other in circles.
    target_link_libraries(jumar_mlir INTERFACE -Wl,--start-group ${mlir_archives} -Wl,--end-group jumar_llvm)
  else()
    target_link_libraries(jumar_mlir INTERFACE ${JUMAR_MLIR_LIBRARY} ${JUMAR_LLVM_SHARED})
  endif()
endif()
