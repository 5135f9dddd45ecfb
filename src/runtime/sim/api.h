/* The C API of libjumar_sim.so: Ascend kernels on the CPU.
 *
 *   jumar_sim_kernel* kernel = NULL;
 *   char* error = NULL;
 *   if (jumar_sim_compile(text, bytes, NULL, &kernel, &error) != 0) { puts(error); jumar_sim_free(error); }
 *   jumar_sim_fault fault = {0};
 *   void* args[] = {x, y, &fault, (void*)100, (void*)7, (void*)1, (void*)1, (void*)100, (void*)100};
 *   jumar_sim_function(kernel)(0, 7, args);                       // seven blocks of a kernel k(x, y, n)
 *   if (fault.flag) { char* what = jumar_sim_fault_text(kernel, &fault); ... jumar_sim_free(what); }
 *   jumar_sim_destroy(kernel);
 *
 * `text` is linalg as triton-adapter-opt wrote it. A kernel works on blocks [begin, end) of its grid; block b
 * has the program ids z = b % gridZ, y = b / gridZ % gridY, x = b / (gridZ * gridY), as on the device.
 *
 * `args` holds 8-byte words, in this order:
 *   one pointer for each memref argument of the kernel (the lock and the workspace, which the toolchain puts
 *   before them, are not among them),
 *   the address of a jumar_sim_fault,
 *   an int64 for each integer argument, then a double for each f32, f16 or bf16 argument,
 *   gridX, gridY, gridZ,
 *   one int64 for each pointer: how many elements of its type lie behind it.
 * With `floats_last` the doubles come after everything else, as in the words of a plan's launch.
 *
 * Every read and write of an argument is checked against its element count, and of the kernel's own buffers
 * where their shape is not constant. A bad one is not made: it is written into the fault block, the block of
 * the grid ends there, and the function returns after the block that it is in. Memory must not be read by one
 * block and written by another at the same time, so blocks of a kernel with `has_atomics` must run one after
 * another.
 *
 * All functions may be called by several threads at once; a kernel may run in several.
 */
#ifndef JUMAR_SIM_API_H
#define JUMAR_SIM_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JUMAR_SIM_API_VERSION 1

#ifdef JUMAR_BUILDING_SIM
#define JUMAR_SIM_EXPORT __attribute__((visibility("default")))
#else
#define JUMAR_SIM_EXPORT
#endif

typedef struct jumar_sim_kernel jumar_sim_kernel;
typedef void (*jumar_sim_fn)(int64_t begin, int64_t end, void** args);

/* What is 0 takes its default. */
typedef struct jumar_sim_options {
  const char* kernel;         /* the function's name; NULL: the module's only kernel */
  int32_t optimization_level; /* 1, 2 or 3 of LLVM; 0 means 2 */
  int32_t floats_last;        /* see above */
  int32_t keep_buffers;       /* do not fill the kernel's buffers with NaN before each block */
} jumar_sim_options;

enum {
  JUMAR_SIM_READ = 0,   /* reads an argument outside of its elements */
  JUMAR_SIM_WRITE = 1,  /* writes one, or both */
  JUMAR_SIM_BUFFER = 2, /* leaves one of the kernel's own buffers */
  JUMAR_SIM_SHAPE = 3,  /* an operation on views of different sizes */
  JUMAR_SIM_ASSERT = 4, /* a device assertion failed */
  JUMAR_SIM_MEMORY = 5, /* the kernel's buffers of sizes known at run time need too much memory */
};

/* The first fault of a launch. All zero before it. Whoever finds one changes `flag` from 0 to 1 by an atomic
 * compare-exchange, and writes the rest if it was the one to do so; the rest is complete when all threads of
 * the launch are done. The first three words are those of a plan's status block (docs/plan.md). */
typedef struct jumar_sim_fault {
  int64_t flag;
  int64_t element;  /* the first element accessed that is outside; of SHAPE, one size */
  int64_t size;     /* elements that there are; of SHAPE, the other size */
  int64_t argument; /* number among all arguments of the kernel; -1 for none */
  int64_t kind;     /* JUMAR_SIM_READ ... */
  int64_t block;
  int64_t place; /* line of the linalg text; 0 for none */
} jumar_sim_fault;

enum { JUMAR_SIM_POINTER = 0, JUMAR_SIM_INTEGER = 1, JUMAR_SIM_FLOAT = 2 };

typedef struct jumar_sim_argument {
  int32_t kind;     /* JUMAR_SIM_POINTER ... */
  int32_t role;     /* of a pointer: 0 read, 1 written, 2 both, -1 unknown, as the toolchain says */
  const char* type; /* of the elements, or of the value: "f32", "i64", ... */
  int32_t word;     /* its place in `args` */
  int32_t count;    /* of a pointer: the place of its element count; else -1 */
} jumar_sim_argument;

typedef struct jumar_sim_info {
  const char* name;
  int32_t argument_count;
  const jumar_sim_argument* arguments; /* in the kernel's order */
  int32_t word_count;                  /* of `args` */
  int32_t fault_word;
  int32_t grid_word; /* of gridX; gridY and gridZ follow */
  int32_t has_atomics;
  int32_t is_mixed;     /* works on cube cores as well */
  int64_t buffer_bytes; /* memory of one block's buffers, those of sizes known at run time left out */
} jumar_sim_info;

JUMAR_SIM_EXPORT int32_t jumar_sim_api_version(void);

/* 0 and a kernel, or another number and a text that says what is wrong. */
JUMAR_SIM_EXPORT int32_t jumar_sim_compile(const char* text, size_t bytes, const jumar_sim_options* options,
                                           jumar_sim_kernel** kernel, char** error);
JUMAR_SIM_EXPORT jumar_sim_fn jumar_sim_function(const jumar_sim_kernel* kernel);
/* Valid until the kernel is destroyed. */
JUMAR_SIM_EXPORT const jumar_sim_info* jumar_sim_describe(const jumar_sim_kernel* kernel);
/* The kernel, its argument and what happened in one sentence. */
JUMAR_SIM_EXPORT char* jumar_sim_fault_text(const jumar_sim_kernel* kernel, const jumar_sim_fault* fault);
JUMAR_SIM_EXPORT void jumar_sim_free(char* text);
/* No thread may be in the kernel's function. */
JUMAR_SIM_EXPORT void jumar_sim_destroy(jumar_sim_kernel* kernel);

#ifdef __cplusplus
}
#endif

#endif
