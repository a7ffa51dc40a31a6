// What PyProf's parse stage writes of every kernel, and how its second stage ties a backward kernel
// to a forward one. Quirks included (docs/use/compat-pyprof.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/pyprof/launch_ranges.h"

namespace borescope::internal {

struct PyProfRecord {
  DeviceId kernel = {};
  std::string name = {};              // short
  std::vector<int64_t> seq = {};      // sequence numbers
  std::vector<int64_t> alt_seq = {};  // more of them
  int64_t sub = 0;                    // number of the kernel of its operator
  bool is_backward = false;
  std::vector<std::string> seq_markers = {};  // "conv2d, seq = 5", those that count
  std::vector<std::string> mods = {}, ops = {};
  std::vector<std::string> layers = {};  // outermost first
  HostId trace = {};                     // innermost trace marker; may be invalid
  HostId call = {};                      // outermost argument marker; may be invalid
  bool is_damaged = false;               // a marker cannot be read
};

class PyProfRecords {
 public:
  // `ranges` are those of `view`.
  PyProfRecords(const RankView& view, PyProfMarkers& markers, const RangesAround& ranges)
      : view_(view), markers_(markers), ranges_(ranges) {}

  // Kernels must come in the order of their launches.
  PyProfRecord Next(DeviceId kernel);

  // As the parse stage has it: a backward kernel has nothing yet of its forward operator.
  PyProfRecord NextParsed(DeviceId kernel);

 private:
  struct SequenceMarker {
    int64_t number;
    std::string name;
  };

  void ReadMarkers(PyProfRecord& record, std::vector<SequenceMarker>& sequences);
  static std::vector<int64_t> ReadSequences(std::vector<SequenceMarker> sequences,
                                            PyProfRecord& record);
  void NumberKernel(PyProfRecord& record, std::vector<int64_t> ids);
  void BorrowFromForward(PyProfRecord& record) const;
  void Remember(const PyProfRecord& record);

  const RankView& view_;
  PyProfMarkers& markers_;
  const RangesAround& ranges_;
  int64_t previous_seq_ = -1;
  int64_t previous_sub_ = -1;
  std::vector<std::string> previous_ops_ = {"na"};
  // The last forward kernel with arguments or without, by its numbers: what a backward kernel gets.
  std::vector<PyProfRecord> forward_;
  HashMap<int64_t, size_t> by_seq_, by_alt_seq_;
};

}  // namespace borescope::internal
