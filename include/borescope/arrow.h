/// The structs through which tables leave Borescope: the Arrow C data interface and the Arrow C
/// stream interface. Every library that reads Arrow takes them: pyarrow, polars, DuckDB and others.
///
/// The declarations are the ABI that the Arrow project publishes, under the macros that it names,
/// so that this header and others with the same declarations may be included together:
///   https://arrow.apache.org/docs/format/CDataInterface.html
///   https://arrow.apache.org/docs/format/CStreamInterface.html
///
/// Plain C. A struct whose `release` is null holds nothing; whoever receives a struct calls its
/// `release` exactly once, or hands it on by copying its bytes and setting `release` of the source
/// to null.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): for C, too

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

/// Values of ArrowSchema::flags, combined by "or".
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/// The type of a column, or of a table as a struct of its columns.
struct ArrowSchema {
  const char* format;    ///< the type, for instance "l" for int64
  const char* name;      ///< of the column; may be null
  const char* metadata;  ///< keys and values, their lengths in binary; may be null
  int64_t flags;         ///< of ARROW_FLAG_*
  int64_t n_children;    ///< how many columns a struct has
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;  ///< the type of the values, where cells are numbers of them

  void (*release)(struct ArrowSchema*);
  void* private_data;
};

/// The cells of a column, or of a table as a struct of its columns.
struct ArrowArray {
  int64_t length;
  int64_t null_count;  ///< -1: not counted
  int64_t offset;      ///< how many cells of the buffers come before the first one
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  ///< by type; the first is a bitmap of the cells that are not null
  struct ArrowArray** children;
  struct ArrowArray* dictionary;  ///< the values, where cells are numbers of them

  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/// Arrays of one type, one after the other. Used by one thread at a time.
struct ArrowArrayStream {
  /// Gives the type of all arrays, which is released on its own. Returns 0 or a value of errno.
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  /// Gives the next array, which is released on its own; a released one after the last. Returns 0
  /// or a value of errno.
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  /// Describes the failure of the last call; may be null. Valid until the next call.
  const char* (*get_last_error)(struct ArrowArrayStream*);

  /// Ends the stream. What it gave lives on.
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

#ifdef __cplusplus
}
#endif
