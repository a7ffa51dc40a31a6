// What is stored of a trace and its index beside columns: one list of fields for writing and
// reading.
//
// Not stored are the name of the file and the words of its profiler, which the reader of the input
// gives (Meta::file, Meta::remedy), and OperatorRule, which follows from the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/index/trace_index.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
