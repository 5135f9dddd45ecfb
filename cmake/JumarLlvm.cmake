# Finds LLVM 19 and declares the interface target jumar_llvm: static archives only, so that the copy inside
# libjumar is private and cannot clash with another LLVM in the process.
find_program(JUMAR_LLVM_CONFIG NAMES llvm-config-19 REQUIRED)
execute_process(COMMAND ${JUMAR_LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_include
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${JUMAR_LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_libdir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${JUMAR_LLVM_CONFIG} --link-static --libs x86 aarch64 passes orcjit
                OUTPUT_VARIABLE llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_libs)

add_library(jumar_llvm INTERFACE)
# The C headers live in a directory of their own in Debian's packages.
target_include_directories(jumar_llvm SYSTEM INTERFACE "${llvm_include}" "/usr/include/llvm-c-19")
target_compile_definitions(jumar_llvm INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                           __STDC_LIMIT_MACROS)
target_link_directories(jumar_llvm INTERFACE "${llvm_libdir}")
target_link_libraries(jumar_llvm INTERFACE ${llvm_libs} rt dl m z zstd Threads::Threads)
