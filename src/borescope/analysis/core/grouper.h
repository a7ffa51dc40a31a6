// Grouper: numbers distinct tuples of integers 0, 1, 2, ... in order of first appearance, so that
// sums can be kept in plain vectors. The heart of every "group by".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/phases.h"

namespace borescope::internal {

// GroupKeys: the extra keys of --by. It gives the key values of host and device rows as integers,
// and writes the key columns of the finished groups. To add a key: an enum value, its row in
// kKeyRows, and its value in HostValue and DeviceValue.

enum class GroupKey : uint8_t {
  kRank,
  kStep,
  kThread,
  kGpu,
  kStream,
  kPhase,
  kDomain,
  kModule,
  kModuleInstance,
  kOp,
  kShape,
  kDtype
};

// What is inferred about work that was launched before the recording (measures/align_inherited.h).
struct InferredPlace {
  DeviceId like;            // launched work that it resembles
  int64_t step = kMissing;  // number of the step in which it was launched
  bool knows_instance =
      false;  // whether its module is that of `like`, and not only of the same class
};

// Whether --by has `key`.
bool HasKey(std::span<const std::string> by, std::string_view key);

class GroupKeys {
 public:
  // `by` holds names that AnalysisSpec::by of the analysis accepts. Keys are in the order of
  // GroupKey, not in the given order. `rule` decides the step of device work.
  GroupKeys(const RankView& view, std::span<const std::string> by, StepRule rule);

  size_t size() const { return keys_.size(); }

  // Appends the key values of one row to `values`; kMissing where there is none.
  void Append(HostId id, std::vector<int64_t>& values) const;
  void Append(DeviceId id, std::vector<int64_t>& values) const;
  // The same for what a thread did at a time outside of any row.
  void Append(TrackId thread, int64_t ts_ns, std::vector<int64_t>& values) const;

  // The key values of an operator in a capture that `work` replays: shapes, types and modules are
  // its own, all others those of `work`.
  void AppendReplayed(HostId op, DeviceId work, std::vector<int64_t>& values) const;

  // The key values of work whose launch was not recorded: those of the work that it resembles, but
  // with its own device.
  void AppendInferred(DeviceId work, const InferredPlace& place,
                      std::vector<int64_t>& values) const;

  // The module around a row whose class is a key, to count the instances of a class; kMissing
  // outside of modules. REQUIRES: HasModuleClasses().
  bool HasModuleClasses() const;
  int64_t ModuleInstance(HostId id) const;
  int64_t ModuleInstance(DeviceId id) const;

  // Keys for place and time come before the name, keys that refine the name after it.
  void AddColumnsBeforeName(Table& table) const { AddColumns(table, true); }
  void AddColumnsAfterName(Table& table) const { AddColumns(table, false); }
  // REQUIRES: `values` was filled by Append.
  void PushBeforeName(Row& row, std::span<const int64_t> values) const {
    PushCells(row, values, true);
  }
  void PushAfterName(Row& row, std::span<const int64_t> values) const {
    PushCells(row, values, false);
  }

 private:
  int64_t HostValue(GroupKey key, HostId id) const;
  int64_t DeviceValue(GroupKey key, DeviceId id) const;
  int64_t ThreadValue(GroupKey key, TrackId thread, int64_t ts_ns) const;
  int64_t ModuleValue(GroupKey key, DeviceId id) const;
  int64_t ReplayedValue(GroupKey key, HostId op, DeviceId work) const;
  int64_t InferredValue(GroupKey key, DeviceId work, const InferredPlace& place) const;
  int64_t StepNumber(uint32_t step) const;
  int64_t DomainAround(HostId id) const;
  void FindDomains();
  void UseModules();
  void AddColumns(Table& table, bool before_name) const;
  void PushCells(Row& row, std::span<const int64_t> values, bool before_name) const;

  const RankView& view_;
  StepRule rule_;
  std::vector<GroupKey> keys_;
  std::vector<Phase> host_phases_;  // filled when kPhase is among the keys
  std::vector<StringId> domains_;   // per text, filled when kDomain is among the keys
  // Filled when the modules or their classes are among the keys.
  std::vector<int64_t> modules_;  // per host row
  std::shared_ptr<const ModuleClasses> module_classes_;
};

class Grouper {
 public:
  // Tuples have `width` members.
  explicit Grouper(size_t width);

  // The number of `key`, which is new if it was not seen before. REQUIRES: key.size() == width.
  uint32_t Find(std::span<const int64_t> key);

  size_t size() const { return size_; }
  std::span<const int64_t> key(size_t group) const { return {&keys_[group * width_], width_}; }

 private:
  // Whether a tuple is kept in places_, not in slots_.
  bool IsPlaced(std::span<const int64_t> key) const;
  uint32_t FindPlaced(std::span<const int64_t> key);
  uint32_t Add(std::span<const int64_t> key);
  void Grow();

  size_t width_;
  size_t size_ = 0;
  std::vector<int64_t> keys_;     // size_ tuples, one after another
  std::vector<uint32_t> places_;  // by the number itself; kFree = free
  std::vector<uint32_t> slots_;   // open addressing, power of two; kFree = free
};

}  // namespace borescope::internal
