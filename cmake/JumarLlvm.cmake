# Finds LLVM 19 and declares the interface target jumar_llvm: static archives only, so that the copy inside
# libjumar is private and cannot clash with another LLVM in the process.
find_program(JUMAR_LLVM_CONFIG NAMES llvm-config-19 REQUIRED)
execute_process(COMMAND ${JUMAR_LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_include
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${JUMAR_LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_libdir
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${JUMAR_LLVM_CONFIG} --link-static --libs x86 aarch64 passes orcjit lto option
                OUTPUT_VARIABLE llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_libs)
# Debian lists Polly among what link-time optimisation needs; it is another package and nothing here calls it.
list(REMOVE_ITEM llvm_libs -lPolly -lPollyISL)

add_library(jumar_llvm INTERFACE)
# The C headers live in a directory of their own in Debian's packages.
target_include_directories(jumar_llvm SYSTEM INTERFACE "${llvm_include}" "/usr/include/llvm-c-19")
target_compile_definitions(jumar_llvm INTERFACE _GNU_SOURCE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS
                           __STDC_LIMIT_MACROS)
target_link_directories(jumar_llvm INTERFACE "${llvm_libdir}")
target_link_libraries(jumar_llvm INTERFACE ${llvm_libs} rt dl m z zstd Threads::Threads)

# lld as a library, for linking packages in-process. It comes before LLVM's archives, which it needs.
find_library(JUMAR_LLD_ELF lldELF PATHS "${llvm_libdir}" NO_DEFAULT_PATH REQUIRED)
find_library(JUMAR_LLD_COMMON lldCommon PATHS "${llvm_libdir}" NO_DEFAULT_PATH REQUIRED)
add_library(jumar_lld INTERFACE)
target_link_libraries(jumar_lld INTERFACE ${JUMAR_LLD_ELF} ${JUMAR_LLD_COMMON} ${llvm_libs} rt dl m z zstd)
