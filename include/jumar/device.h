/* The host's part of a package for an NPU: what a program that launches the package's kernels has to know, as
 * constants and functions of one object file for each architecture (host/x86_64.o and host/aarch64.o in the
 * package; the package's own library has it too).
 *
 *   const jumar_device_launch* launch = &jumar_device_program.main.launches[k];
 *   int64_t words[64];
 *   launch->words(sizes, words);       sizes[i] is the value of main.symbols[i]: "s0", "vector_cores"
 *   words[0 .. integers)               the kernel's integer arguments, each of kernel->integer_bits bits
 *   words[integers .. integers + 3)    the grid
 *   the rest                           elements behind each pointer
 *
 * Buffers, called operators and their order are in the plan, in its binary form (docs/plan.md); `step` is the
 * launch's place in it. Nothing here launches anything, allocates memory or calls a library.
 */
#ifndef JUMAR_DEVICE_H_
#define JUMAR_DEVICE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JUMAR_DEVICE_FORMAT 1

/* The code of one or more kernels of the plans. */
typedef struct jumar_device_kernel {
  const char* name;     /* as the plan calls it */
  const char* function; /* in the linalg */
  const char* linalg;   /* the package's entry, beside its weights: "kernels/gelu.linalg.mlir" */
  const char* binary;   /* for the device: "kernels/gelu.o"; NULL where it has yet to be made of the linalg */
  const char* binary_function; /* in the binary; NULL without one */
  int32_t pointers;            /* arguments, in this order */
  int32_t integers;
  int32_t numbers;             /* f32 */
  int32_t in_turn;             /* blocks fold into memory */
  const uint8_t* integer_bits; /* 32 or 64, one for each integer */
  int64_t workspace_bytes;     /* of each block */
  int64_t locks;
} jumar_device_kernel;

typedef struct jumar_device_launch {
  uint32_t step;   /* of the plan */
  uint32_t kernel; /* of the program */
  uint32_t word_count;
  /* 0; or 1 where a word has no value at these sizes: it divides by zero or leaves 64 bits. */
  int32_t (*words)(const int64_t* sizes, int64_t* words);
} jumar_device_launch;

typedef struct jumar_device_plan {
  const uint8_t* bytes; /* binary form; NULL: there is no such plan */
  size_t byte_count;
  const char* const* symbols;
  size_t symbol_count;
  const jumar_device_launch* launches; /* in the order of the plan */
  size_t launch_count;
} jumar_device_plan;

typedef struct jumar_device_program {
  uint64_t format;
  const char* target; /* the device (docs/targets.md) */
  jumar_device_plan main;
  jumar_device_plan folding; /* what is computed of the weights, at load */
  const jumar_device_kernel* kernels;
  size_t kernel_count;
} jumar_device_program_data;

extern const jumar_device_program_data jumar_device_program;

#ifdef __cplusplus
}
#endif
#endif
