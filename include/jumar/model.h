/* What the library inside a package exports, beside the functions that torch's loader looks up.
 *
 *   const jumar_model_api* api = jumar_model_get_api(JUMAR_MODEL_ABI_VERSION);   found by dlsym
 *   jumar_model* model;
 *   jumar_model_error* error = api->create(&options, &model);
 *
 * Most programs use jumar/package.h, which finds and loads the library. The runtime that a model needs is
 * part of its library, so that packages of several versions of Jumar live in one process.
 *
 * Conventions: functions that can fail return an error object, or NULL; output arguments are untouched then.
 * A model may be used by several threads at once, results by one at a time. Text lives as long as the object
 * it was asked of. Structures only ever grow at their end, and JUMAR_MODEL_ABI_VERSION changes when one does.
 */
#ifndef JUMAR_MODEL_H_
#define JUMAR_MODEL_H_

#include "jumar/jumar.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JUMAR_MODEL_ABI_VERSION 1

typedef struct jumar_model jumar_model;
typedef struct jumar_model_error jumar_model_error;

typedef struct jumar_model_options {
  /* Where the weights are, `weights_bytes` of them with their trailer: in memory, which the caller keeps and
   * which becomes the model's to write to, or from byte `weights_offset` of a file, from which they are
   * mapped. */
  void* weights;
  const char* path;
  uint64_t weights_offset;
  uint64_t weights_bytes;
  /* Memory that is kept for the next calls, at most; 0: the default, 1 GiB. */
  int64_t pool_bytes;
  /* Threads of a model that does not use libtorch; 0: one per core that the process may use. */
  int32_t threads;
  /* A libtorch_cpu to load where the model needs one and the process has none; or NULL. */
  const char* torch_library;
} jumar_model_options;

/* An input or a result. Sizes and strides are numbers, or expressions of symbols ("s0", "2*s0 + 1"). */
typedef struct jumar_model_value {
  const char* name;
  jumar_kind kind; /* a tensor, or a number */
  uint8_t dtype_code;
  uint8_t dtype_bits;
  int32_t rank;
  const char* const* sizes;
  const char* const* strides; /* in elements */
} jumar_model_value;

typedef struct jumar_model_symbol {
  const char* name;
  int64_t least;
  int64_t most; /* INT64_MAX: no limit */
} jumar_model_symbol;

/* One result of a call: a number, or a tensor that the taker owns. */
typedef struct jumar_model_result {
  jumar_kind kind;
  int64_t integer;
  double number;
  struct DLManagedTensorVersioned* tensor;
} jumar_model_result;

typedef struct jumar_model_api {
  jumar_model_error* (*create)(const jumar_model_options* options, jumar_model** model);
  void (*destroy)(jumar_model* model);

  const char* (*error_code)(const jumar_model_error* error);
  const char* (*error_message)(const jumar_model_error* error);
  void (*error_free)(jumar_model_error* error);

  size_t (*input_count)(const jumar_model* model);
  size_t (*result_count)(const jumar_model* model);
  size_t (*symbol_count)(const jumar_model* model);
  void (*input)(const jumar_model* model, size_t index, jumar_model_value* value);
  void (*result)(const jumar_model* model, size_t index, jumar_model_value* value);
  void (*symbol)(const jumar_model* model, size_t index, jumar_model_symbol* symbol);

  /* `results` has result_count() elements. An argument whose elements the model changes is changed in place.
   */
  jumar_model_error* (*run)(jumar_model* model, const jumar_value* inputs, size_t input_count,
                            jumar_model_result* results);

  size_t (*constant_count)(const jumar_model* model);
  void (*constant)(const jumar_model* model, size_t index, jumar_model_value* value);
  /* Copies new elements of constants, all or none. Calls that are under way end first. */
  jumar_model_error* (*update_constants)(jumar_model* model, const char* const* names,
                                         const jumar_tensor* tensors, size_t count);
} jumar_model_api;

/* NULL when the library does not have that version. */
typedef const jumar_model_api* (*jumar_model_get_api_function)(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif
