#include "borescope/packs/pyprof/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

bool IsCell(std::string_view mod) {
  return mod == "LSTMCell" || mod == "GRUCell" || mod == "RNNCell";
}

// By the two spellings PyProf looks for, "Backward, seq = " and "backward, seq = ".
bool EndsBackward(std::string_view name) {
  return name.ends_with("Backward") || name.ends_with("backward");
}

std::string OperatorOfBackward(std::string name) {
  for (const std::string_view part :
       {"torch", "autograd", "_backward", "::", "jit", "(anonymous namespace)"}) {
    for (size_t at = name.find(part); at != std::string::npos; at = name.find(part, at)) {
      name.erase(at, part.size());
    }
  }
  return name.substr(0, name.find("Backward"));
}

bool IsPart(std::string_view a, std::string_view b) { return Contains(a, b) || Contains(b, a); }

void SortUnique(std::vector<int64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// What PyProf's loop takes out: elements are removed while the list is walked, so that the one
// behind each removed element is skipped.
void MoveOthers(int64_t current, std::vector<int64_t>& ids, std::vector<int64_t>& others) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != current) {
      others.push_back(ids[i]);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace

void PyProfRecords::ReadMarkers(PyProfRecord& record, std::vector<SequenceMarker>& sequences) {
  const Trace& trace = view_.trace;
  std::string other;
  for (const HostId row : ranges_.Of(AnchorOf(view_, record.kernel))) {
    if (Contains(trace.Name(row), "CheckpointFunctionBackward")) continue;
    const int64_t number = SequenceOf(trace, row);
    if (number != kMissing) {
      sequences.push_back({number, std::string(trace.Name(row))});
    }
    if (trace.host().kind[row.value] != HostKind::kAnnotation) continue;
    const PyProfMarker& marker = markers_.Of(row);
    if (marker.kind == MarkerKind::kArguments && !marker.call.args.empty()) {
      if (!record.call.valid()) record.call = row;
      if (record.ops.size() == kMostSequences) continue;
      record.mods.push_back(marker.call.mod);
      record.ops.push_back(marker.call.op);
    } else if (marker.kind == MarkerKind::kLayer) {
      record.layers.push_back(marker.layer);
    } else if (marker.kind == MarkerKind::kTrace) {
      record.trace = row;
    } else if (marker.kind == MarkerKind::kBad) {
      record.is_damaged = true;
    } else if (marker.kind != MarkerKind::kModule && other.empty()) {
      other = trace.Name(row);
    }
  }
  KeepInnermost(sequences, kMostSequences);
  KeepInnermost(record.layers, kMostFrames);
  if (record.ops.empty() && sequences.empty() && !other.empty()) record.ops.push_back(other);
}

void PyProfRecords::NumberKernel(PyProfRecord& record, std::vector<int64_t> ids) {
  if (ids.empty()) return;
  int64_t current = ids.front();
  if (!record.is_backward) {
    const auto next = std::upper_bound(ids.begin(), ids.end(), previous_seq_);
    current = next == ids.end() ? previous_seq_ : *next;
  }
  const bool is_same = record.ops == previous_ops_;
  const bool is_cell = !record.ops.empty() && record.ops.front() == "forward" &&
                       !record.mods.empty() && IsCell(record.mods.front());
  if (is_same && (current == previous_seq_ || is_cell)) record.sub = previous_sub_ + 1;
  previous_seq_ = current;
  previous_sub_ = record.sub;
  previous_ops_ = record.ops;
  MoveOthers(current, ids, record.alt_seq);
  record.seq = std::move(ids);
  SortUnique(record.alt_seq);
}

void PyProfRecords::BorrowFromForward(PyProfRecord& record) const {
  auto found = by_seq_.find(record.seq.front());
  if (found == by_seq_.end()) {
    found = by_alt_seq_.find(record.seq.front());
    if (found == by_alt_seq_.end()) return;
  }
  const PyProfRecord& forward = forward_[found->second];
  record.call = forward.call;
  record.mods = forward.mods;
  record.ops = forward.ops;
  record.layers = forward.layers;
  record.trace = forward.trace;
}

void PyProfRecords::Remember(const PyProfRecord& record) {
  if (record.is_backward || (record.seq.empty() && record.alt_seq.empty())) return;
  for (const int64_t number : record.seq) {
    by_seq_[number] = forward_.size();
  }
  for (const int64_t number : record.alt_seq) {
    by_alt_seq_[number] = forward_.size();
  }
  forward_.push_back(record);
}

// Sorted as texts; of neighbours with one number, those whose name is part of the other's are out.
std::vector<int64_t> PyProfRecords::ReadSequences(std::vector<SequenceMarker> sequences,
                                                  PyProfRecord& record) {
  const auto key = [](const SequenceMarker& marker) {
    return std::to_string(marker.number) + marker.name;
  };
  std::sort(sequences.begin(), sequences.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<int64_t> ids;
  std::vector<std::string> ops;
  std::vector<std::string> backward_ops;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const auto& [number, name] = sequences[i];
    if (i > 0 && sequences[i - 1].number == number && IsPart(sequences[i - 1].name, name)) continue;
    ids.push_back(number);
    ops.push_back(name);
    record.seq_markers.push_back(fmt::format("{}, seq = {}", name, number));
    record.is_backward |= EndsBackward(name) || name.ends_with("Backward0");
    if (EndsBackward(name)) backward_ops.push_back(OperatorOfBackward(name));
  }
  if (!record.call.valid() && !ops.empty()) {
    record.ops = std::move(backward_ops.empty() ? ops : backward_ops);
  }
  SortUnique(ids);
  if (ids.size() > 1) std::erase(ids, 0);
  return ids;
}

PyProfRecord PyProfRecords::NextParsed(DeviceId kernel) {
  PyProfRecord record{.kernel = kernel, .name = PyProfShortName(view_.trace.Name(kernel))};
  std::vector<SequenceMarker> sequences;
  ReadMarkers(record, sequences);
  std::vector<int64_t> ids = ReadSequences(std::move(sequences), record);
  if (record.mods.empty()) record.mods = {"na"};
  NumberKernel(record, std::move(ids));
  return record;
}

PyProfRecord PyProfRecords::Next(DeviceId kernel) {
  PyProfRecord record = NextParsed(kernel);
  if (record.is_backward && !record.call.valid() && !record.seq.empty()) BorrowFromForward(record);
  Remember(record);
  return record;
}

}  // namespace borescope::internal
