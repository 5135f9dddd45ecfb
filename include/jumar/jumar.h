/* The C API of Jumar: compile graph text and run what came out.
 *
 *   jumar_context* context;
 *   jumar_program* program;
 *   jumar_results* results;
 *   jumar_error* error = jumar_context_create(&context);
 *   if (!error) error = jumar_compile(context, text, length, "cpu=native\n", &program);
 *   if (!error) error = jumar_program_run(program, inputs, input_count, NULL, &results);
 *   if (error) { puts(jumar_error_message(error)); jumar_error_free(error); }
 *
 * Conventions
 * - Functions that can fail return an error object, or NULL for success; no C++ exception leaves the library.
 *   After a failure, output arguments are untouched.
 * - `X_free(NULL)` does nothing. Text returned as `const char*` ends with a zero byte and lives as long as
 * the object it was asked of.
 * - A context and a program may be used by several threads at once; errors and results by one at a time. A
 *   program keeps its context's resources alive: the order of freeing is free.
 * - The environment (JUMAR_*; `jumar options` lists the variables) is read by jumar_context_create only.
 * - Structures are part of the ABI. Fields are never reordered; JUMAR_ABI_VERSION changes when one is added.
 */
#ifndef JUMAR_JUMAR_H_
#define JUMAR_JUMAR_H_

#include <stddef.h>
#include <stdint.h>

#if defined(JUMAR_BUILDING_LIBRARY)
#define JUMAR_API __attribute__((visibility("default")))
#else
#define JUMAR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define JUMAR_ABI_VERSION 1

/* "0.1.0". */
JUMAR_API const char* jumar_version(void);
/* JUMAR_ABI_VERSION of the library, to be compared with the header's. */
JUMAR_API int32_t jumar_abi_version(void);
/* Names this build of the library; part of the keys of the cache. */
JUMAR_API const char* jumar_build_id(void);

/* ---- Errors ---- */

typedef struct jumar_error jumar_error;

typedef enum jumar_error_kind {
  JUMAR_ERROR_COMPILE = 1,  /* the graph, an option, a file or a tool is at fault */
  JUMAR_ERROR_INTERNAL = 2, /* a bug of Jumar; jumar_error_reproducer may name a file to report */
  JUMAR_ERROR_INPUT = 3,    /* an input is not what the program was compiled for */
  JUMAR_ERROR_INDEX = 4,    /* an index is outside its tensor */
  JUMAR_ERROR_CHECK = 5,    /* a condition of the graph does not hold */
  JUMAR_ERROR_NUMBER = 6,   /* arithmetic of sizes or numbers failed */
  JUMAR_ERROR_OPERATOR = 7, /* a called operator failed, and no host repeated the call */
  JUMAR_ERROR_RESULT = 8,   /* a called operator's result is not what the program was compiled for */
  JUMAR_ERROR_HOST = 9,     /* a function of jumar_host failed; the host knows why */
  JUMAR_ERROR_MEMORY = 10   /* no memory */
} jumar_error_kind;

JUMAR_API jumar_error_kind jumar_error_kind_of(const jumar_error* error);
/* A short stable word ("syntax", "option", "input", ...). */
JUMAR_API const char* jumar_error_code(const jumar_error* error);
/* Complete, for people: place, code, message and notes. */
JUMAR_API const char* jumar_error_message(const jumar_error* error);
/* "file:line:column", or "". */
JUMAR_API const char* jumar_error_where(const jumar_error* error);
/* A file with the input of the compilation that hit a bug, readable by `jumar opt`; or "". */
JUMAR_API const char* jumar_error_reproducer(const jumar_error* error);
JUMAR_API void jumar_error_free(jumar_error* error);

/* ---- Compiling ---- */

/* What compilations share: options of the environment, memory pools, loaded code. */
typedef struct jumar_context jumar_context;
typedef struct jumar_program jumar_program;
typedef struct jumar_text jumar_text;

JUMAR_API jumar_error* jumar_context_create(jumar_context** context);
JUMAR_API void jumar_context_free(jumar_context* context);

JUMAR_API const char* jumar_text_data(const jumar_text* text);
JUMAR_API void jumar_text_free(jumar_text* text);

/* Checks option text ("name=value" lines, may be NULL) and gives the values of all options in the same form.
 */
JUMAR_API jumar_error* jumar_resolve_options(jumar_context* context, const char* options,
                                             jumar_text** values);

/* Compiles graph text (docs/graph.md) of `length` bytes; `options` as above. */
JUMAR_API jumar_error* jumar_compile(jumar_context* context, const char* text, size_t length,
                                     const char* options, jumar_program** program);
JUMAR_API void jumar_program_free(jumar_program* program);

/* What `jumar compile` does: makes a package of an archive of torch.export.save. `model` names one of several
 * models, or is NULL. `progress`, which may be NULL, is called with what is done next. The file at `output`
 * is replaced when the package is complete. The report is that of jumar_program_report. */
JUMAR_API jumar_error* jumar_compile_package(jumar_context* context, const char* archive, const char* model,
                                             const char* output, const char* options,
                                             void (*progress)(void* user, const char* stage), void* user,
                                             jumar_text** report);

/* A package for an NPU (docs/ascend.md), its kernels run by the simulator. It fails for other packages. The
 * program's inputs are the call's arguments, its weights are its own. */
JUMAR_API jumar_error* jumar_simulate_package(jumar_context* context, const char* path, const char* options,
                                              jumar_program** program);
/* Of such a program, as JSON: {"in_spec": "...", "out_spec": "...", "arguments": [{"name": "x", "fixed":
 * false}]}. The specs are torch's pytree specs; a fixed argument is one that the export has made a constant,
 * and no input. "" of other programs. */
JUMAR_API const char* jumar_program_signature(const jumar_program* program);

JUMAR_API size_t jumar_program_input_count(const jumar_program* program);
JUMAR_API size_t jumar_program_output_count(const jumar_program* program);
/* What was done with the graph, as JSON: stages and their times, kernels, calls with reasons, refusals. */
JUMAR_API const char* jumar_program_report(const jumar_program* program);
/* The host program (docs/plan.md). */
JUMAR_API const char* jumar_program_plan(const jumar_program* program);
/* 1 when every call ends within some microseconds, so that giving up a lock for its duration costs more than
 * it lets others do. */
JUMAR_API int32_t jumar_program_is_brief(const jumar_program* program);
/* Bytes of intermediate tensors of the most recent call. */
JUMAR_API int64_t jumar_program_arena_bytes(const jumar_program* program);

/* ---- Values ---- */

/* A tensor in memory that somebody else owns. dtype_code and dtype_bits are DLPack's (float is 2 and 32). */
typedef struct jumar_tensor {
  void* data; /* the first element */
  const int64_t* sizes;
  const int64_t* strides; /* in elements; NULL means contiguous */
  int32_t rank;
  int32_t device_type; /* DLPack's; 1 is the CPU */
  uint8_t dtype_code;
  uint8_t dtype_bits;
} jumar_tensor;

typedef enum jumar_kind {
  JUMAR_NONE = 0,
  JUMAR_TENSOR = 1,
  JUMAR_INT = 2,
  JUMAR_FLOAT = 3,
  JUMAR_BOOL = 4,   /* `integer` is 0 or 1 */
  JUMAR_STRING = 5, /* arguments of jumar_host only, as the two below */
  JUMAR_WORD = 6,
  JUMAR_LIST = 7
} jumar_kind;

/* An input. `object` is the caller's name for the tensor; it comes back where the tensor does. */
typedef struct jumar_value {
  jumar_kind kind;
  int64_t integer;
  double number;
  jumar_tensor tensor;
  void* object;
} jumar_value;

/* ---- What only the embedder can do ---- */

typedef enum jumar_word_kind {
  JUMAR_WORD_DTYPE = 0,         /* "f32" */
  JUMAR_WORD_LAYOUT = 1,        /* "strided" */
  JUMAR_WORD_MEMORY_FORMAT = 2, /* "channels_last" */
  JUMAR_WORD_DEVICE = 3         /* "cpu" */
} jumar_word_kind;

/* An argument of a call that the embedder makes; valid during the call. */
typedef struct jumar_arg {
  jumar_kind kind;
  jumar_word_kind word;
  int64_t integer;
  double number;
  const char* text; /* of a string or word; not zero-terminated */
  size_t text_length;
  const struct jumar_arg* items; /* of a list */
  size_t item_count;
  jumar_tensor tensor;
  void* object;       /* the embedder's own object, when the tensor is one as it is */
  void* torch_tensor; /* libtorch's AtenTensorHandle, borrowed, or NULL */
} jumar_arg;

typedef struct jumar_host_results jumar_host_results;
/* Adds a result. `object` owns the tensor's memory; `release(object)` is called when Jumar is done with it.
 */
JUMAR_API void jumar_host_results_add_tensor(jumar_host_results* results, const jumar_tensor* tensor,
                                             void* object, void (*release)(void* object));
/* Adds a result that is no tensor, in the place of one that nothing uses. */
JUMAR_API void jumar_host_results_add_none(jumar_host_results* results);
JUMAR_API void jumar_host_results_add_int(jumar_host_results* results, int64_t value);

/* The functions return 0, or anything else when they failed. */
typedef struct jumar_host {
  void* user;
  /* Call `callable` of the graph (a `python.<k>` node). */
  int (*call_python)(void* user, uint32_t callable, const jumar_arg* args, size_t arg_count,
                     jumar_host_results* results);
  /* Call an operator ("aten.topk.default") with every argument of its schema: one that libtorch's C functions
   * cannot call, or one that has just failed and is repeated so that the host sees why. */
  int (*call_op)(void* user, const char* op, const jumar_arg* args, size_t arg_count,
                 jumar_host_results* results);
} jumar_host;

/* ---- Running ---- */

typedef struct jumar_results jumar_results;
struct DLManagedTensorVersioned; /* of DLPack */

typedef enum jumar_output_kind {
  JUMAR_OUTPUT_NONE = 0,
  JUMAR_OUTPUT_INT = 1,
  JUMAR_OUTPUT_FLOAT = 2,
  JUMAR_OUTPUT_BOOL = 3,
  JUMAR_OUTPUT_TORCH = 4,   /* torch_tensor: an AtenTensorHandle that the results own */
  JUMAR_OUTPUT_MANAGED = 5, /* managed: a DLPack tensor; taken with jumar_results_take_managed */
  JUMAR_OUTPUT_ALIAS = 6    /* a tensor of the embedder, or a view of one */
} jumar_output_kind;

typedef struct jumar_output {
  jumar_output_kind kind;
  int64_t integer;
  double number;
  void* torch_tensor;
  struct DLManagedTensorVersioned* managed;
  /* Of an alias: the index of the input, or -1 and the object that a jumar_host function gave, which the
   * results own. When `whole`, the output is that tensor itself; otherwise it is the view of it that
   * begins `offset` elements after its first element, in elements of the view's type. */
  int64_t input;
  void* object;
  int32_t whole;
  int32_t rank;
  int64_t offset;
  const int64_t* sizes;
  const int64_t* strides;
  uint8_t dtype_code;
  uint8_t dtype_bits;
} jumar_output;

/* `host` may be NULL for programs that make no calls of their own. */
JUMAR_API jumar_error* jumar_program_run(const jumar_program* program, const jumar_value* inputs,
                                         size_t input_count, const jumar_host* host, jumar_results** results);
JUMAR_API size_t jumar_results_count(const jumar_results* results);
/* Borrowed; valid until the results are freed. */
JUMAR_API void jumar_results_get(const jumar_results* results, size_t index, jumar_output* output);
/* Gives the tensor of a managed output to the caller, who calls its deleter. */
JUMAR_API struct DLManagedTensorVersioned* jumar_results_take_managed(jumar_results* results, size_t index);
/* Gives the AtenTensorHandle of a torch output to the caller, who deletes it. */
JUMAR_API void* jumar_results_take_torch(jumar_results* results, size_t index);
JUMAR_API void jumar_results_free(jumar_results* results);

/* ---- The command line ---- */

/* The `jumar` command; returns its exit status. */
JUMAR_API int jumar_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
