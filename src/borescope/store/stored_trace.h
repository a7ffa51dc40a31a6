// A trace with its indexes as the bytes of a file, and back: docs/use/cache.md has the format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/index/trace_index.h"
#include "borescope/store/file_identity.h"
#include "borescope/store/store_folder.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What is stored of a trace and its index beside columns: one list of fields for writing and
// reading.
//
// Not stored are the name of the file and the words of its profiler, which the reader of the input
// gives (Meta::file, Meta::remedy), and OperatorRule, which follows from the trace.

// Values of any kind as bytes, and back: what is small and not a column. One list of fields serves
// both ways: `fields(a), fields(b)` writes a and b, or reads them.

// Appends fields to bytes.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  const std::string& bytes() const { return bytes_; }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
  }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    bytes_ += text;
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(uint8_t{value.has_value()});
    if (value.has_value()) {
      (*this)(*value);
    }
  }
  // `visit` is called with every member.
  template <class List, class Visit>
  void Each(List& list, const Visit& visit) {
    (*this)(uint64_t{list.size()});
    for (auto& member : list) {
      visit(member);
    }
  }

 private:
  std::string bytes_;
};

// Reads what a FieldWriter wrote. Of bytes that end too early, or say what cannot be, values are 0
// or empty, and ok() is false.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  explicit FieldReader(std::string_view bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  // Whether all was read, and nothing else is there.
  bool is_done() const { return ok_ && left_.empty(); }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      (*this)(byte);
      value = byte != 0;
    } else {
      value = T();
      if (Has(sizeof(T))) {
        left_.copy(reinterpret_cast<char*>(&value), sizeof(T));
        left_.remove_prefix(sizeof(T));
      }
    }
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    text.clear();
    if (Has(size)) {
      text = left_.substr(0, size);
      left_.remove_prefix(size);
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    uint8_t has_value = 0;
    (*this)(has_value);
    value.reset();
    if (has_value != 0) {
      (*this)(value.emplace());
    }
  }
  template <class List, class Visit>
  void Each(List& list, const Visit& visit) {
    uint64_t size = 0;
    (*this)(size);
    list.clear();
    for (uint64_t i = 0; i < size && Has(1); ++i) {
      visit(list.emplace_back());
    }
  }

 private:
  bool Has(uint64_t bytes) {
    ok_ = ok_ && bytes <= left_.size();
    return ok_;
  }

  std::string_view left_;
  bool ok_ = true;
};

// Calls `visit` with every column of a trace and its index, whose types may be const; always in the
// same order.
template <class Data, class Index, class Visit>
void ForEachStoredColumn(Data& data, Index& index, const Visit& visit) {
  ForEachTable(data, [&](auto& table) { ForEachColumn(visit, table); });
  visit(index.tree.parent), visit(index.tree.subtree_end), visit(index.correlation.launch_of),
      visit(index.correlation.op_of), visit(index.correlation.rule),
      visit(index.correlation.device_begin), visit(index.correlation.device_rows),
      visit(index.steps.device_step), visit(index.forward_backward), visit(index.class_of_name);
}

template <class IO, class Counts>
void DiagnosticFields(IO& io, Counts& diagnostics) {
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const auto diag = static_cast<Diag>(i);
    Diagnostics::Entry entry = IO::kReads ? Diagnostics::Entry() : diagnostics.Get(diag);
    io(entry.count), io(entry.first_byte), io(entry.first);
    if constexpr (IO::kReads) {
      diagnostics.CountMany(diag, entry.count, entry.first_byte, entry.first);
    }
  }
}

template <class IO, class Cut>
void CutFields(IO& io, Cut& cut) {
  io(cut.begin_ns), io(cut.end_ns), io(cut.steps), io(cut.recording_begin_ns),
      io(cut.recording_end_ns);
}

template <class IO, class Data>
void MetaFields(IO& io, Data& meta) {
  io(meta.format), io(meta.producer), io(meta.rank), io(meta.world_size), io(meta.base_ns);
  io(meta.backend), io(meta.nccl_version), io(meta.trace_name), io(meta.vendor);
  io.Each(meta.devices, [&](auto& device) {
    io(device.id), io(device.name), io(device.total_bytes), io(device.multiprocessors),
        io(device.compute_major), io(device.compute_minor), io(device.warp_size),
        io(device.max_threads_per_multiprocessor);
  });
  io(meta.options.record_shapes), io(meta.options.profile_memory), io(meta.options.with_stack),
      io(meta.options.with_modules), io(meta.options.with_flops);
  io.Each(meta.sensitive, [&](auto& one) { io(one.what), io(one.count); });
  io(meta.text_bytes), io(meta.file_bytes), io(meta.events_begin_byte), io(meta.events_end_byte);
  io(meta.has_events_before_end), io(meta.text_is_cut), io(meta.text_is_object);
  bool is_cut = meta.cut.has_value();
  io(is_cut);
  if constexpr (IO::kReads) {
    meta.cut = is_cut ? std::optional<RecordedCut>(std::in_place) : std::nullopt;
  }
  if (is_cut) {
    CutFields(io, *meta.cut);
  }
}

template <class IO, class Data>
void StepFields(IO& io, Data& steps) {
  io.Each(steps.steps, [&](auto& step) {
    io(step.number), io(step.begin_ns), io(step.end_ns), io(step.annotation.value),
        io(step.process);
  });
  io.Each(steps.processes, [&](auto& process) { io(process); });
  io.Each(steps.pieces, [&](auto& pieces) {
    io.Each(pieces, [&](auto& piece) { io(piece.begin_ns), io(piece.step); });
  });
  io.Each(steps.process_of, [&](auto& process) { io(process); });
}

template <class IO, class Data, class Index>
void StoredFields(IO& io, Data& data, Index& index) {
  MetaFields(io, data.meta);
  io.Each(data.event_counts, [&](auto& count) {
    io(count.phase), io(count.category.value), io(count.count), io(count.total_ns);
  });
  io(data.begin_ns), io(data.end_ns);
  DiagnosticFields(io, data.diagnostics);
  DiagnosticFields(io, index.diagnostics);
  StepFields(io, index.steps);
}

// The beginning of a stored trace, and the list of its sections.

// Which build of this program wrote something.

// The build id that the linker gave to the program or library that this code is in: another one for
// every change of the code, its libraries or its compiler. Nothing where it gave none. Thread-safe.
std::optional<std::string> BuildIdentity();

inline constexpr std::array<char, 8> kStoredMagic = {'b', 's', 't', 'r', 'a', 'c', 'e', '\n'};
// Of what is described here; that of the columns is in StoredHead::build.
inline constexpr uint32_t kStoredVersion = 1;
// As the machine that wrote it has it.
inline constexpr uint32_t kStoredOrder = 0x01020304;
inline constexpr uint64_t kSectionAlignment = 64;

struct StoredHead {
  std::array<char, 8> magic = kStoredMagic;
  uint32_t version = kStoredVersion;
  uint32_t order = kStoredOrder;
  ContentHash build;      // of the build that wrote it, and the sizes of its columns' values
  ContentHash key;        // of the inputs
  uint64_t bytes = 0;     // of the whole file
  uint64_t sections = 0;  // rows of the list, which follows
  ContentHash checksum;   // of the list and of this with zeros here
};
static_assert(std::has_unique_object_representations_v<StoredHead>);

// One column, or the fields, or the places of texts, or their bytes.
struct StoredSection {
  uint64_t offset = 0;  // in the file; a multiple of kSectionAlignment
  uint64_t bytes = 0;
  ContentHash checksum;
};
static_assert(std::has_unique_object_representations_v<StoredSection>);

// The bytes of a value, and of several.
template <class T>
std::string_view RawBytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
std::string_view RawBytes(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The build, and the sizes of the values of each column: what a file must agree with to be read.
ContentHash BuildHash(const SecretHash& hash);

// What StoredHead::checksum must be.
ContentHash HeadChecksum(StoredHead head, std::span<const StoredSection> list,
                         const SecretHash& hash);

struct StoredTrace {
  Trace trace;
  TraceIndex index;
};

// What is not stored, because it is not in the content of an input.
struct StoredSource {
  std::string file;                            // Meta::file
  Remedy (*remedy_of)(TraceFormat) = nullptr;  // Meta::remedy
};

// Writes a trace and the index of it under the key of its inputs. kInvalidArgument for one that
// ReadStoredTrace would refuse: one with captured calls, or whose rows are not as it expects.
// The first piece is the head of the file, StoredHead.
Result<void> WriteStoredTrace(const Trace& trace, const TraceIndex& index, const ContentHash& key,
                              const SecretHash& hash, int threads, const PutPiece& put);

// The trace whose bytes these are, which `memory` keeps alive; columns and texts are views of them.
// Nothing in them is believed: kCorrupt says what is wrong where they are not those of this build,
// of this key, or whole, or where any number in them leads nowhere.
Result<StoredTrace> ReadStoredTrace(std::string_view bytes, std::shared_ptr<const void> memory,
                                    const ContentHash& key, const StoredSource& source,
                                    const SecretHash& hash, int threads);

// For tests and fuzzing: where the checksums of the bytes are, so that a change of them can be
// hidden from these. Puts right all that a change inside sections has made wrong; bytes that are no
// stored trace stay as they are.
void SealStoredTrace(const SecretHash& hash, std::string& bytes);

}  // namespace borescope::internal
