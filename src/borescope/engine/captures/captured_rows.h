// Host events of a capture as rows of the trace whose graphs it made.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "borescope/engine/captures/captured_sequences.h"

namespace borescope::internal {

// Adds rows to a trace that is not in use yet.
class CapturedRows {
 public:
  CapturedRows(TraceData& data, std::span<const CaptureFile> files) : data_(data), files_(files) {}

  // The rows of the calls of a graph in `data`, with everything around them that began within the
  // capture; the same rows whenever the same graph is added. They are on the track `track`. Shapes,
  // types, strides and values of operators are left out without `has_arguments`.
  const std::vector<HostId>& Add(const CapturedGraph& graph, uint32_t number, bool has_arguments,
                                 TrackId track);

 private:
  std::vector<uint32_t> RowsOf(const CapturedGraph& graph) const;
  HostId AddRow(const Trace& from, uint32_t row, bool has_arguments, TrackId track);
  uint32_t AddDetail(const Trace& from, uint32_t detail, bool has_arguments);
  StringId Text(const Trace& from, StringId id) { return data_.strings.Intern(from.Text(id)); }

  TraceData& data_;
  std::span<const CaptureFile> files_;
  std::map<std::pair<uint32_t, bool>, std::vector<HostId>> added_;
};

}  // namespace borescope::internal
