#include "borescope/analysis/measures/matching/match_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

namespace {

int64_t ValueOr(const Column& column, size_t row, int64_t otherwise) {
  return column.IsMissing(row) ? otherwise : std::get<IntValues>(column.values)[row];
}

using Content = std::tuple<std::string_view, std::string_view, int64_t, int64_t, std::string_view,
                           std::string_view, std::string_view, std::string_view, int64_t, int64_t>;

// Kernel and site may differ between ranks that choose or wrap a collective differently, so they
// count only where no sequence number identifies calls.
Content ContentOf(const Table& table, size_t row) {
  const bool by_sequence = Ints(table, "by_sequence")[row] != 0;
  const auto text = [&](std::string_view column) {
    return by_sequence ? std::string_view() : std::string_view(Texts(table, column)[row]);
  };
  return {Texts(table, "group")[row],
          Texts(table, "members")[row],
          ValueOr(*table.Find("group_size"), row, kMissing),
          ValueOr(*table.Find("lane"), row, kMissing),
          Texts(table, "collective")[row],
          text("kernel"),
          text("site"),
          text("dtype"),
          ValueOr(*table.Find("elems"), row, kMissing),
          Ints(table, "by_sequence")[row]};
}

// The part of a key that names the process group.
auto GroupContent(const Content& content) {
  return std::tuple(std::get<0>(content), std::get<1>(content), std::get<2>(content),
                    std::get<3>(content));
}

using Call = MatchedCall;

// The calls as recorded, in any order.
std::vector<Call> ReadCalls(const Table& table, const CollectiveKeys& keys,
                            const RankPlaces& score_of) {
  const IntValues& rank = Ints(table, "rank");
  const IntValues& key = Ints(table, "key");
  const IntValues& position = Ints(table, "position");
  const IntValues& count = Ints(table, "count");
  const IntValues& dur = Ints(table, "dur_ns");
  const IntValues& begin = Ints(table, "begin_ns");
  const IntValues& end = Ints(table, "end_ns");
  const Column& bytes = *table.Find("bytes");
  const Column& step = *table.Find("step");
  std::vector<Call> calls;
  calls.reserve(table.rows());
  for (size_t row = 0; row < table.rows(); ++row) {
    const uint32_t key_row = keys.RowOf(rank[row], key[row]);
    calls.push_back({keys.Number(key_row), key_row, score_of.at(rank[row]),
                     ValueOr(step, row, kMissing), position[row], count[row], dur[row], begin[row],
                     end[row], ValueOr(bytes, row, kMissing), static_cast<uint32_t>(row)});
  }
  return calls;
}

void Join(const Call& call, Call& joined) {
  AddSaturatingTo(joined.dur_ns, call.dur_ns);
  if (call.begin_ns < joined.begin_ns) {
    joined.begin_ns = call.begin_ns;
    joined.row = call.row;
  }
  joined.end_ns = std::max(joined.end_ns, call.end_ns);
  joined.bytes = joined.bytes == kMissing || call.bytes == kMissing
                     ? kMissing
                     : AddSaturating(joined.bytes, call.bytes);
}

// Whether two calls, if they are of one rank, are counted together: from the start or from the end.
bool AreInOnePlace(const CollectiveKeys& keys, const Call& a, const Call& b) {
  return a.key == b.key && (a.step == b.step || keys.BySequence(a.key)) &&
         (a.position < 0) == (b.position < 0);
}

template <class Predicate>  // called with the first call and another
size_t RunLength(std::span<const Call> calls, Predicate belongs) {
  size_t length = 1;
  while (length < calls.size() && belongs(calls[0], calls[length])) {
    ++length;
  }
  return length;
}

// False for more ranks than the group has: then several groups share one name, and which call
// belongs to which group is unknown.
bool IsMatched(std::span<const Call> calls, const CollectiveKeys& keys) {
  const int64_t group_size = keys.GroupSize(calls.front().key);
  const auto count = static_cast<int64_t>(calls.size());
  return count > 1 && (group_size == kMissing || count <= group_size);
}

void UsePlace(std::span<const Call> calls, const CollectiveKeys& keys, const UseCollective& use) {
  const bool is_certain = std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
    return call.count == calls.front().count;
  });
  while (!calls.empty()) {
    const size_t length =
        RunLength(calls, [](const Call& a, const Call& b) { return a.position == b.position; });
    const std::span<const Call> collective = calls.first(length);
    use(collective, is_certain && IsMatched(collective, keys));
    calls = calls.subspan(length);
  }
}

}  // namespace

CollectiveKeys::CollectiveKeys(const Table& table) : table_(table) {
  const IntValues& rank = Ints(table, "rank");
  std::map<Content, uint32_t> numbers;
  std::map<decltype(GroupContent(Content())), uint32_t> groups;
  for (size_t row = 0; row < table.rows(); ++row) {
    first_row_.try_emplace(rank[row], row);
    const Content content = ContentOf(table, row);
    const auto next = static_cast<uint32_t>(row_of_.size());
    const auto [at, is_new] = numbers.try_emplace(content, next);
    if (is_new) {
      row_of_.push_back(row);
      by_sequence_.push_back(Ints(table, "by_sequence")[row] != 0 ? 1 : 0);
      const auto next_group = static_cast<uint32_t>(groups.size());
      group_of_.push_back(groups.try_emplace(GroupContent(content), next_group).first->second);
    }
    number_.push_back(at->second);
  }
}

int64_t CollectiveKeys::GroupSize(uint32_t number) const {
  return ValueOr(*table_.Find("group_size"), row_of_[number], kMissing);
}

const std::string& CollectiveKeys::Text(uint32_t row, std::string_view column) const {
  return Texts(table_, column)[row];
}

RankPlaces PlacesOfRanks(const Table& ranks) {
  RankPlaces places;
  for (const int64_t rank : Ints(ranks, "rank")) {
    places.emplace(rank, static_cast<uint32_t>(places.size()));
  }
  return places;
}

std::vector<Call> SortedCalls(const Table& table, const CollectiveKeys& keys,
                              const RankPlaces& places) {
  std::vector<Call> calls = ReadCalls(table, keys, places);
  const auto order = [&](const Call& call) {
    return std::tuple(call.key, keys.BySequence(call.key) ? 0 : call.step, call.position,
                      call.score);
  };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const Call& a, const Call& b) { return order(a) < order(b); });
  size_t last = 0;
  for (size_t i = 1; i < calls.size(); ++i) {
    if (order(calls[i]) == order(calls[last])) {
      Join(calls[i], calls[last]);
    } else {
      calls[++last] = calls[i];
    }
  }
  calls.resize(std::min(calls.size(), last + 1));
  return calls;
}

void ForEachCollective(std::span<const Call> sorted, const CollectiveKeys& keys,
                       const UseCollective& use) {
  while (!sorted.empty()) {
    const size_t length =
        RunLength(sorted, [&](const Call& a, const Call& b) { return AreInOnePlace(keys, a, b); });
    UsePlace(sorted.first(length), keys, use);
    sorted = sorted.subspan(length);
  }
}

namespace {

// The process group of a call, by name and members. A call without arguments has the group of the
// other calls on its stream, as a communicator uses one stream; where those have none either, the
// stream itself is taken for the group.
struct ProcessGroup {
  int64_t name = kMissing;  // StringId
  int64_t members = kMissing;
  int64_t size = kMissing;
  int64_t lane = kMissing;  // number of the stream among the rank's streams with communication

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

// Sites are names of this trace, or none. Type and elements are missing where sequence numbers
// identify calls.
struct KeyList {
  KeyList() : groups(10) {}

  // name, members, size, lane, kind, kernel, site, type, elements, by sequence
  Grouper groups;
};

bool HasSequence(const RankView& view, const CollectiveCall& call) {
  return call.args != kNoDetail && view.trace.collectives().sequence[call.args] >= 0;
}

// The element type and count that the same collective has on every rank.
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

// Sets the step of the call, and whether it is outside of all steps or before all launches.
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
  return {ErrorCode::kCorrupt, fmt::format("its collectives are not those of one rank: {}", what)};
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

Result<void> CheckRankCalls(std::span<const Table> ranks_keys_calls) {
  if (ranks_keys_calls[0].rows() != 1) {
    return NoCollectives("it does not have exactly one row for the rank");
  }
  const IntValues& keys = Ints(ranks_keys_calls[1], "key");
  for (size_t row = 0; row < keys.size(); ++row) {
    if (keys[row] != static_cast<int64_t>(row)) {
      return NoCollectives("keys are not numbered from 0");
    }
  }
  const Table& calls = ranks_keys_calls[2];
  for (const size_t row : EachIndex(calls.rows())) {
    const int64_t key = Ints(calls, "key")[row];
    if (key < 0 || key >= static_cast<int64_t>(keys.size())) {
      return NoCollectives("a call has a key that does not exist");
    }
    if (Ints(calls, "dur_ns")[row] < 0) {
      return NoCollectives("a call has a negative length");
    }
  }
  return {};
}

}  // namespace borescope::internal
