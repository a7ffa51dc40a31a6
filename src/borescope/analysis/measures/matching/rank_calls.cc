#include "borescope/analysis/measures/matching/rank_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The process group of a call: by name and members. Without arguments it is that of the other calls
// on its stream, as a communicator keeps to one; where those have none either, the stream is taken
// for it.
struct ProcessGroup {
  int64_t name = kMissing;  // StringId
  int64_t members = kMissing;
  int64_t size = kMissing;
  int64_t lane = kMissing;  // number of the stream among those of the rank's communication

  friend bool operator==(const ProcessGroup&, const ProcessGroup&) = default;
};

class ProcessGroups {
 public:
  ProcessGroups(const RankView& view, const std::vector<CollectiveCall>& calls) : view_(view) {
    for (const CollectiveCall& call : calls) {
      if (call.timed()) {
        LearnFrom(call);
      }
    }
    int64_t lane = 0;
    for (auto& [stream, group] : streams_) {
      group.lane = lane++;
    }
  }

  ProcessGroup Of(const CollectiveCall& call) const {
    if (call.args != kNoDetail) {
      return Recorded(call);
    }
    const Stream& stream = streams_.at(StreamOf(call));
    if (stream.has_group && !stream.is_mixed) {
      return stream.group;
    }
    return {kMissing, kMissing, kMissing, stream.lane};
  }

 private:
  struct Stream {
    ProcessGroup group;
    bool has_group = false;
    bool is_mixed = false;
    int64_t lane = 0;
  };

  std::pair<int64_t, int64_t> StreamOf(const CollectiveCall& call) const {
    return {view_.trace.DeviceOf(call.kernel), view_.trace.StreamOf(call.kernel)};
  }

  ProcessGroup Recorded(const CollectiveCall& call) const {
    const Collectives& args = view_.trace.collectives();
    return {args.group[call.args].value, args.ranks[call.args].value, args.group_size[call.args],
            kMissing};
  }

  void LearnFrom(const CollectiveCall& call) {
    Stream& stream = streams_[StreamOf(call)];
    if (call.args == kNoDetail) {
      return;
    }
    const ProcessGroup group = Recorded(call);
    stream.is_mixed |= stream.has_group && !(stream.group == group);
    stream.group = group;
    stream.has_group = true;
  }

  const RankView& view_;
  std::map<std::pair<int64_t, int64_t>, Stream> streams_;  // by device and stream number
};

using Entry = MatchableCall;

// Sites are names of this trace, or none. Type and elements: missing where sequence numbers decide.
struct KeyList {
  KeyList() : groups(10) {}

  // name, members, size, lane, kind, kernel, site, type, elements, by sequence
  Grouper groups;
};

bool HasSequence(const RankView& view, const CollectiveCall& call) {
  return call.args != kNoDetail && view.trace.collectives().sequence[call.args] >= 0;
}

// Type and elements that the same call of another rank has too.
std::array<int64_t, 2> CommonMessageOf(const RankView& view, const CollectiveCall& call) {
  if (call.args == kNoDetail || HasSequence(view, call)) {
    return {kMissing, kMissing};
  }
  const Collectives& args = view.trace.collectives();
  return {args.dtype[call.args].value,
          CommonElems(call.kind, args.in_elems[call.args], args.out_elems[call.args])};
}

uint32_t KeyOf(const RankView& view, const ProcessGroups& process_groups,
               const CollectiveCall& call, KeyList& keys) {
  const ProcessGroup group = process_groups.Of(call);
  const StringId site = view.trace.strings().Find(CallSite(view, call.kernel));
  const auto [dtype, elems] = CommonMessageOf(view, call);
  const std::array<int64_t, 10> key = {group.name,
                                       group.members,
                                       group.size,
                                       group.lane,
                                       static_cast<int64_t>(call.kind),
                                       view.trace.device().name[call.kernel.value].value,
                                       site.valid() ? site.value : kMissing,
                                       dtype,
                                       elems,
                                       HasSequence(view, call) ? 1 : 0};
  return keys.groups.Find(key);
}

// Where the call is in time: in a step, outside of all, or before everything.
void SetPlace(const RankView& view, bool has_launches, Entry& entry) {
  const Steps& steps = view.steps();
  const HostId launch = view.index.correlation.launch_of[entry.call->kernel.value];
  const uint32_t step = StepOf(view, entry.call->kernel, StepRule::kTime);
  const bool is_before =
      !steps.steps.empty() && RequestTime(view, entry.call->kernel) < steps.steps.front().begin_ns;
  entry.from_end = is_before || (has_launches && !launch.valid());
  entry.step = step == kNoStep || entry.from_end ? kMissing : steps.steps[step].number;
}

bool HasLaunches(const RankView& view, const std::vector<CollectiveCall>& calls) {
  return std::any_of(calls.begin(), calls.end(), [&](const CollectiveCall& call) {
    return call.timed() && view.index.correlation.launch_of[call.kernel.value].valid();
  });
}

std::vector<Entry> EntriesOf(const RankView& view, const std::vector<CollectiveCall>& calls,
                             KeyList& keys) {
  const ProcessGroups process_groups(view, calls);
  const bool has_launches = HasLaunches(view, calls);
  std::vector<Entry> entries;
  for (const CollectiveCall& call : calls) {
    if (!call.timed() || !EndsTogether(call.kind)) {
      continue;
    }
    Entry entry{&call,    KeyOf(view, process_groups, call, keys),      false,
                kMissing, view.trace.device().ts_ns[call.kernel.value], 0,
                0};
    SetPlace(view, has_launches, entry);
    if (HasSequence(view, call)) {
      entry.position = view.trace.collectives().sequence[call.args];
    }
    entries.push_back(entry);
  }
  return entries;
}

// Numbers the entries of one key and place by start. REQUIRES: they are sorted by these.
void SetPositions(const KeyList& keys, std::vector<Entry>& entries) {
  const auto place = [](const Entry& entry) {
    return std::tuple(entry.key, entry.from_end, entry.step);
  };
  for (size_t begin = 0; begin < entries.size();) {
    size_t end = begin;
    while (end < entries.size() && place(entries[end]) == place(entries[begin])) {
      ++end;
    }
    const auto count = static_cast<int64_t>(end - begin);
    const bool by_sequence = keys.groups.key(entries[begin].key).back() != 0;
    for (int64_t i = 0; i < count && !by_sequence; ++i) {
      Entry& entry = entries[begin + static_cast<size_t>(i)];
      entry.position = entry.from_end ? i - count : i;
      entry.count = entry.from_end ? 0 : count;
    }
    begin = end;
  }
}

Table RankTable(const RankView& view, int64_t collectives, int64_t unused) {
  Table table{"ranks", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  AddInt(table, "collectives", Unit::kCount, Role::kDerived, "");
  AddInt(table, "unused", Unit::kCount, Role::kDerived, "");
  Row(table).Int(view.rank).Int(collectives).Int(unused);
  return table;
}

Table KeyTable(const RankView& view, const KeyList& keys) {
  Table table{"keys", "", {}};
  for (const std::string_view name : {"rank", "key"}) {
    AddInt(table, name, Unit::kNone, Role::kKey, "");
  }
  for (const std::string_view name : {"group", "members"}) {
    AddString(table, name, Role::kDerived, "");
  }
  for (const std::string_view name : {"group_size", "lane"}) {
    AddInt(table, name, Unit::kNone, Role::kDerived, "");
  }
  for (const std::string_view name : {"collective", "kernel", "site", "dtype"}) {
    AddString(table, name, Role::kDerived, "");
  }
  AddInt(table, "elems", Unit::kNone, Role::kDerived, "");
  AddInt(table, "by_sequence", Unit::kNone, Role::kDerived, "");
  const auto text = [&](int64_t id) {
    return id == kMissing ? std::string_view()
                          : view.trace.Text(StringId{static_cast<uint32_t>(id)});
  };
  for (size_t i = 0; i < keys.groups.size(); ++i) {
    const std::span<const int64_t> key = keys.groups.key(i);
    Row row(table);
    row.Int(view.rank).Count(i).MaybeText(text(key[0])).MaybeText(text(key[1]));
    row.MaybeInt(key[2]).MaybeInt(key[3]);
    row.Text(CollectiveKindName(static_cast<CollectiveKind>(key[4])));
    row.Text(text(key[5])).MaybeText(text(key[6])).MaybeText(text(key[7]));
    row.MaybeInt(key[8]).Int(key[9]);
  }
  return table;
}

Table CallTable(const RankView& view, const std::vector<Entry>& entries) {
  Table table{"calls", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  for (const std::string_view name : {"key", "step", "position", "count"}) {
    AddInt(table, name, Unit::kNone, Role::kDerived, "");
  }
  for (const std::string_view name : {"dur_ns", "begin_ns", "end_ns"}) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, "");
  }
  AddInt(table, "bytes", Unit::kBytes, Role::kDerived, "");
  for (const Entry& entry : entries) {
    Row row(table);
    row.Int(view.rank).Int(entry.key).MaybeInt(entry.step).Int(entry.position);
    row.Int(entry.count).Int(entry.call->dur_ns).Int(entry.ts_ns).Int(entry.call->end_ns);
    row.MaybeInt(MessageOf(view, *entry.call).bytes);
  }
  return table;
}

Error NoCollectives(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("its collectives are none of one rank: {}", what)};
}

}  // namespace

Result<RankCalls> FindRankCalls(const RankView& view, const Selection& selection) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, selection));
  RankCalls found;
  found.all = CollectiveCalls(view);
  KeyList keys;
  found.matchable = EntriesOf(view, found.all, keys);
  std::stable_sort(found.matchable.begin(), found.matchable.end(),
                   [](const Entry& a, const Entry& b) {
                     return std::tuple(a.key, a.from_end, a.step, a.ts_ns) <
                            std::tuple(b.key, b.from_end, b.step, b.ts_ns);
                   });
  SetPositions(keys, found.matchable);
  std::erase_if(found.matchable,
                [&](const Entry& entry) { return !selected.Keeps(entry.call->kernel); });
  const auto all = std::count_if(found.all.begin(), found.all.end(), [&](const auto& call) {
    return call.timed() && selected.Keeps(call.kernel);
  });
  const auto used = static_cast<int64_t>(found.matchable.size());
  found.tables = {RankTable(view, all, all - used), KeyTable(view, keys),
                  CallTable(view, found.matchable)};
  return found;
}

Result<void> CheckRankCalls(const Tables& ranks_keys_calls) {
  if (ranks_keys_calls[0].rows() != 1) {
    return NoCollectives("it has more or less than one row for the rank");
  }
  const IntValues& keys = Ints(ranks_keys_calls[1], "key");
  for (size_t row = 0; row < keys.size(); ++row) {
    if (keys[row] != static_cast<int64_t>(row)) {
      return NoCollectives("keys are not numbered from 0");
    }
  }
  const Table& calls = ranks_keys_calls[2];
  for (size_t row = 0; row < calls.rows(); ++row) {
    CheckStopAt(row);
    const int64_t key = Ints(calls, "key")[row];
    if (key < 0 || key >= static_cast<int64_t>(keys.size())) {
      return NoCollectives("a call has a key that is not there");
    }
    if (Ints(calls, "dur_ns")[row] < 0) {
      return NoCollectives("a call has a negative length");
    }
  }
  return {};
}

}  // namespace borescope::internal
