// stragglers: which ranks enter collectives late, so that the others wait. The map lists the calls
// of a rank that end together on all ranks, and what tells which call of another rank is the same
// collective; straggler_match.cc matches and scores them.
//
// The same collective has the same group and kind, and
//   - the same sequence number, where they are recorded;
//   - else the same kernel, call site, element type and size, and the same place among such calls:
//       - of the step, counted from the start;
//       - outside of steps counted from the start; before the first step, and where the launch lies
//         before the recording, counted from the end: recordings begin at different moments of that
//         past, and end it at the same.
// Counting from the start tells nothing where one rank holds more of these calls than another: the
// count travels along, and differing ones are not matched.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/collective_calls.h"
#include "borescope/analysis/verbs/stragglers/straggler_match.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/compat/hta/tables.h"

namespace borescope::internal {
namespace {

// The process group of a call: by name and members. Without arguments it is that of the other calls
// on its stream, as a communicator keeps to one; where those have none either, the stream stands
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

// A call on its way to its position.
struct Entry {
  const CollectiveCall* call;
  uint32_t key;
  bool from_end;
  int64_t step;      // number, kMissing outside
  int64_t ts_ns;     // of its kernel
  int64_t position;  // the sequence number, until set
  int64_t count;     // of those it is counted among from the start; 0: not counted so
};

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

// Where the call stands in time: in a step, outside of all, or before everything.
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

Table CallTable(const RankView& view, const Selected& selected, const std::vector<Entry>& entries) {
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
    if (selected.Keeps(entry.call->kernel)) {
      Row row(table);
      row.Int(view.rank).Int(entry.key).MaybeInt(entry.step).Int(entry.position);
      row.Int(entry.count).Int(entry.call->dur_ns).Int(entry.ts_ns).Int(entry.call->end_ns);
      row.MaybeInt(MessageOf(view, *entry.call).bytes);
    }
  }
  return table;
}

Result<Tables> MapStragglers(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<CollectiveCall> calls = CollectiveCalls(view);
  KeyList keys;
  std::vector<Entry> entries = EntriesOf(view, calls, keys);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.key, a.from_end, a.step, a.ts_ns) <
           std::tuple(b.key, b.from_end, b.step, b.ts_ns);
  });
  SetPositions(keys, entries);
  Table call_table = CallTable(view, selected, entries);
  const auto all = std::count_if(calls.begin(), calls.end(), [&](const CollectiveCall& call) {
    return call.timed() && selected.Keeps(call.kernel);
  });
  const auto used = static_cast<int64_t>(call_table.rows());
  return Tables{RankTable(view, all, all - used), KeyTable(view, keys), std::move(call_table)};
}

Result<void> CheckStragglerTables(const Tables& tables, const Params&) {
  return CheckStragglers(tables);
}

Result<Tables> FinishStragglers(Tables findings, const Params&) {
  return ScoreStragglers(std::move(findings));
}

constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};
constexpr CompatPipeline kCompatPipelines[] = {{Compat::kHta, &kHtaStragglers}};
constexpr std::string_view kRank[] = {"rank"};
constexpr std::string_view kCausedWait[] = {"caused_wait_ns"};
constexpr ViewSpec kViews[] = {
    {"stragglers", ViewKind::kBars, "Waiting caused by each rank", kRank, kCausedWait}};

}  // namespace

const AnalysisSpec kStragglersVerb{
    .name = "stragglers",
    .summary = "ranks that enter collectives late, so that the others wait",
    .example = "borescope stragglers run/",
    .needs = Needs::kCollectiveKernels,
    .params = kHtaParams,
    .answer = {.map = MapStragglers,
               .reduce = ConcatTables,
               .finish = FinishStragglers,
               .check_tables = CheckStragglerTables},
    .compats = kCompatPipelines,
    .views = kViews};

}  // namespace borescope::internal
