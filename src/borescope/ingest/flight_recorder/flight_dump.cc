#include "borescope/ingest/flight_recorder/flight_dump.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/ingest/pickle/plain_reader.h"

namespace borescope::internal {
namespace {

// The keys of an entry, in the order of their numbers in the store.
enum Key : uint32_t {
  kRecordId,
  kPgId,
  kProcessGroup,
  kCollectiveSeq,
  kP2pSeq,
  kOpId,
  kProfilingName,
  kCreated,
  kDuration,
  kInputSizes,
  kOutputSizes,
  kInputTypes,
  kOutputTypes,
  kState,
  kStartedSeen,
  kFinishedSeen,
  kRetired,
  kTimeout,
  kIsP2p,
  kFrames,
  kThreadName,
  kOldSeq,  // of versions 1.x, for collectives and for sends and receives
  kKeys,
};
constexpr std::string_view kKeyNames[] = {"record_id",
                                          "pg_id",
                                          "process_group",
                                          "collective_seq_id",
                                          "p2p_seq_id",
                                          "op_id",
                                          "profiling_name",
                                          "time_created_ns",
                                          "duration_ms",
                                          "input_sizes",
                                          "output_sizes",
                                          "input_dtypes",
                                          "output_dtypes",
                                          "state",
                                          "time_discovered_started_ns",
                                          "time_discovered_completed_ns",
                                          "retired",
                                          "timeout_ms",
                                          "is_p2p",
                                          "frames",
                                          "thread_name",
                                          "seq_id"};
static_assert(std::size(kKeyNames) == kKeys);
constexpr uint8_t kEntryShape = 1;
// Differences of such numbers are whole numbers, and exact ones in JSON.
constexpr int64_t kLargestNumber = int64_t{1} << 53;
constexpr uint8_t kEntriesShape = 2;

// Whether nothing of an operation is outstanding; gloo never changes the state, but retires what is
// over.
bool IsOver(std::string_view name, FlightState state, bool is_retired) {
  return state == FlightState::kCompleted ||
         (is_retired && (name.empty() || name.starts_with("gloo:")));
}

class FlightFolder : public PlainFolder {
 public:
  explicit FlightFolder(FlightDump& dump) : dump_(dump), values_(dump.store->values) {}

  std::optional<PlainValue> FoldDict(std::span<const PlainValue> members) override {
    std::array<PlainValue, kKeys> found;
    std::array<bool, kKeys> has{};
    for (size_t i = 0; i + 1 < members.size(); i += 2) {
      if (members[i].IsText() && members[i].bits < kKeys) {
        found[members[i].bits] = members[i + 1];
        has[members[i].bits] = true;
      }
    }
    const bool has_name = found[kProfilingName].IsText();
    const FlightState state = StateOf(found[kState]);
    const std::optional<int32_t> number = NumberOf(found, has);
    if (!has_name || state == FlightState::kUnknown || !number.has_value()) {
      if (has[kProfilingName] || (has[kRecordId] && has[kState])) {
        Lose(found, has, number.has_value());
      }
      return std::nullopt;
    }
    AddEntry(found, state, *number);
    return PlainFolded(kEntryShape, dump_.entries.size() - 1);
  }

  std::optional<PlainValue> FoldList(std::optional<PlainValue> before,
                                     std::span<const PlainValue> elements) override {
    if (!before.has_value() && !elements.front().IsFolded(kEntryShape)) {
      return std::nullopt;
    }
    return PlainFolded(kEntriesShape, 0);
  }

 private:
  using Members = std::array<PlainValue, kKeys>;
  using HasMember = std::array<bool, kKeys>;

  // The member that has the number by which all ranks of a group know an operation.
  Key KeyOfNumber(const Members& found, const HasMember& has) const {
    if (!has[kCollectiveSeq] && !has[kP2pSeq]) {
      return kOldSeq;
    }
    return IsP2p(found) ? kP2pSeq : kCollectiveSeq;
  }

  // Nothing where it is not there, or can be none.
  std::optional<int32_t> NumberOf(const Members& found, const HasMember& has) const {
    const std::optional<int64_t> number = values_.Int(found[KeyOfNumber(found, has)]);
    const bool fits =
        number.has_value() && *number >= 0 && *number <= std::numeric_limits<int32_t>::max();
    return fits ? std::optional(static_cast<int32_t>(*number)) : std::nullopt;
  }

  // Counts an entry that is left out, and what is wrong with it.
  void Lose(const Members& found, const HasMember& has, bool has_number) {
    const FlightState state = StateOf(found[kState]);
    dump_.bad_fields += has[kProfilingName] && !found[kProfilingName].IsText() ? 1 : 0;
    dump_.bad_fields += has[kState] && state == FlightState::kUnknown ? 1 : 0;
    dump_.bad_fields += !has_number && has[KeyOfNumber(found, has)] ? 1 : 0;
    ++dump_.lost_entries;
    const bool is_retired = values_.Int(found[kRetired]).value_or(0) != 0;
    dump_.lost_outstanding +=
        IsOver(values_.Text(found[kProfilingName]), state, is_retired) ? 0 : 1;
  }

  void AddEntry(const Members& found, FlightState state, int32_t number) {
    FlightEntry entry;
    entry.record_id = Clamped(Whole(found[kRecordId], static_cast<int64_t>(dump_.entries.size())),
                              kLargestNumber);
    entry.created_ns = TimeOf(found[kCreated]);
    entry.discovered_started_ns = TimeOf(found[kStartedSeen]);
    entry.discovered_finished_ns = TimeOf(found[kFinishedSeen]);
    entry.collective_seq = Small(found[kCollectiveSeq], FlightEntry::kNoNumber);
    entry.p2p_seq = Small(found[kP2pSeq], FlightEntry::kNoNumber);
    entry.op_id = Small(found[kOpId], FlightEntry::kNoNumber);
    entry.pg_id = Small(found[kPgId], FlightEntry::kNoNumber);
    // A job that is never to give up has one of years.
    entry.timeout_ms = static_cast<int32_t>(
        std::min<int64_t>(Clamped(Whole(found[kTimeout], 0), std::numeric_limits<int64_t>::max()),
                          std::numeric_limits<int32_t>::max()));
    if (found[kDuration].kind != PlainKind::kNone) {
      entry.duration_ms = static_cast<float>(values_.Number(found[kDuration]).value_or(-1));
    }
    entry.group = GroupOf(found[kProcessGroup]);
    entry.name = TextNumber(found[kProfilingName]);
    entry.input_sizes = SizesNumber(found[kInputSizes]);
    entry.output_sizes = SizesNumber(found[kOutputSizes]);
    entry.input_types = ListNumber(found[kInputTypes]);
    entry.output_types = ListNumber(found[kOutputTypes]);
    entry.frames = ListNumber(found[kFrames]);
    entry.thread_name = TextNumber(found[kThreadName]);
    entry.state = state;
    entry.is_p2p = IsP2p(found);
    (entry.is_p2p ? entry.p2p_seq : entry.collective_seq) = number;
    entry.is_retired = values_.Int(found[kRetired]).value_or(0) != 0;
    dump_.entries.push_back(entry);
  }

  // Of no time before 1970 nor after 2116: those who compare times add days to them.
  int64_t TimeOf(PlainValue value) {
    constexpr int64_t kLatestNs = int64_t{1} << 62U;
    return Clamped(Whole(value, 0), kLatestNs);
  }

  // No less than 0 and no more than `most`; what was is counted.
  int64_t Clamped(int64_t number, int64_t most) {
    dump_.bad_fields += number < 0 || number > most ? 1 : 0;
    return std::clamp<int64_t>(number, 0, most);
  }

  // A text that is a number is taken for it, but no writer writes it.
  int64_t Whole(PlainValue value, int64_t otherwise) {
    const std::optional<int64_t> number = values_.Int(value);
    const bool is_bad = !number.has_value() || value.IsText();
    dump_.bad_fields += is_bad && value.kind != PlainKind::kNone ? 1 : 0;
    return number.value_or(otherwise);
  }

  int32_t Small(PlainValue value, int64_t otherwise) {
    const int64_t number = Whole(value, otherwise);
    const bool fits = number >= std::numeric_limits<int32_t>::min() &&
                      number <= std::numeric_limits<int32_t>::max();
    dump_.bad_fields += fits ? 0 : 1;
    return static_cast<int32_t>(fits ? number : otherwise);
  }

  uint32_t TextNumber(PlainValue value) {
    dump_.bad_fields += !value.IsText() && value.kind != PlainKind::kNone ? 1 : 0;
    return value.IsText() ? static_cast<uint32_t>(value.bits) : FlightEntry::kNothing;
  }

  uint32_t ListNumber(PlainValue value) {
    const bool is_list = value.kind == PlainKind::kList || value.kind == PlainKind::kTuple;
    dump_.bad_fields += !is_list && value.kind != PlainKind::kNone ? 1 : 0;
    return is_list ? static_cast<uint32_t>(value.bits) : FlightEntry::kNothing;
  }

  uint32_t SizesNumber(PlainValue value) {
    const uint32_t list = ListNumber(value);
    if (list != FlightEntry::kNothing) {
      dump_.bad_fields += dump_.store->AddSizes(list);
    }
    return list;
  }

  FlightState StateOf(PlainValue value) const {
    const std::string_view text = values_.Text(value);
    for (const FlightState state :
         {FlightState::kScheduled, FlightState::kStarted, FlightState::kCompleted}) {
      if (text == FlightStateName(state)) {
        return state;
      }
    }
    return FlightState::kUnknown;
  }

  // Versions before 2.2 have no such key: send and recv are known by their names.
  bool IsP2p(const Members& found) const {
    if (const std::optional<int64_t> known = values_.Int(found[kIsP2p]); known.has_value()) {
      return *known != 0;
    }
    const std::string_view text = values_.Text(found[kProfilingName]);
    const std::string_view op = text.substr(text.find(':') + 1);
    return op.starts_with("send ") || op.starts_with("recv ");
  }

  // Lists and tuples have one numbering; a dump may name a great many groups.
  uint32_t GroupOf(PlainValue value) {
    if (value.IsContainer()) {
      if (const auto known = groups_.find(value.bits); known != groups_.end()) {
        return known->second;
      }
    }
    const std::span<const PlainValue> pair = values_.Items(value);
    if (pair.size() != 2 || !pair[0].IsText() || !pair[1].IsText()) {
      dump_.bad_fields += value.kind != PlainKind::kNone ? 1 : 0;
      return FlightEntry::kNothing;
    }
    const auto [at, is_new] = group_names_.try_emplace(
        std::pair(pair[0].bits, pair[1].bits), static_cast<uint32_t>(dump_.named_groups.size()));
    if (is_new) {
      dump_.named_groups.push_back({values_.Text(pair[0]), values_.Text(pair[1])});
    }
    groups_.emplace(value.bits, at->second);
    return at->second;
  }

  FlightDump& dump_;
  PlainStore& values_;
  HashMap<uint64_t, uint32_t> groups_;  // by the container that names one
  HashMap<std::pair<uint64_t, uint64_t>, uint32_t> group_names_;
};

// Groups of versions 1.x are numbers of this process, {0: [0, 1, 2, 3]}, and mean other members
// elsewhere: what ranks have in common are the members, and which of the groups with these it is.
// Entries name them by that number alone.
void NameNumberedGroups(const std::vector<std::optional<int64_t>>& ids, FlightDump& dump) {
  PlainStore& values = dump.store->values;
  std::vector<size_t> order;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].has_value()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return *ids[a] < *ids[b]; });
  std::map<std::pair<const int32_t*, size_t>, int> seen;  // equal lists are one in the store
  std::map<int64_t, uint32_t> place_of;
  for (const size_t i : order) {
    FlightGroup& group = dump.groups[i];
    if (group.name.empty()) {
      group.name = std::to_string(seen[{group.ranks.data(), group.ranks.size()}]++);
    }
    if (group.description.empty() && *ids[i] == 0) {
      group.description = "default_pg";  // which a process makes first
    }
    place_of.try_emplace(*ids[i], static_cast<uint32_t>(dump.named_groups.size()));
    dump.named_groups.push_back({values.TextOf(values.Intern(group.name)),
                                 values.TextOf(values.Intern(group.description))});
  }
  for (FlightEntry& entry : dump.entries) {
    const auto place = place_of.find(entry.pg_id);
    if (entry.group == FlightEntry::kNothing && place != place_of.end()) {
      entry.group = place->second;
    }
  }
}

void TakeGroups(PlainValue config, FlightDump& dump) {
  const PlainStore& values = dump.store->values;
  const std::span<const PlainValue> items = values.Items(config);
  constexpr size_t kMostMembers = size_t{1} << 23;  // of all groups: they can name one list
  size_t members = 0;
  std::vector<std::optional<int64_t>> ids;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    FlightGroup group;
    const bool is_list = items[i + 1].kind == PlainKind::kList;
    ids.push_back(items[i].IsText() ? std::nullopt : values.Int(items[i]));
    group.name = values.Text(items[i].IsText() ? items[i] : values.Find(items[i + 1], "name"));
    group.description = values.Text(values.Find(items[i + 1], "desc"));
    const FlightStore::Ranks& ranks =
        dump.store->RanksOf(is_list ? items[i + 1] : values.Find(items[i + 1], "ranks"));
    dump.bad_fields += ranks.bad;
    group.ranks = ranks.ranks;
    members += group.ranks.size();
    if (members > kMostMembers) {
      ++dump.bad_fields;
      break;
    }
    dump.groups.push_back(std::move(group));
  }
  ids.resize(dump.groups.size());
  NameNumberedGroups(ids, dump);
  std::stable_sort(dump.groups.begin(), dump.groups.end(),
                   [](const FlightGroup& a, const FlightGroup& b) { return a.name < b.name; });
}

// A group of which an entry has the number in its process alone, by the names that the dump has: a
// process makes its default group first. Nothing where it may be any.
std::optional<FlightGroupName> GroupOfNumber(int32_t pg_id, bool has_names, FlightDump& dump) {
  const auto is_default = [](const auto& group) { return group.description == "default_pg"; };
  PlainStore& values = dump.store->values;
  if (!has_names && pg_id >= 0) {
    return FlightGroupName{values.TextOf(values.Intern(std::to_string(pg_id))),
                           pg_id == 0 ? std::string_view("default_pg") : std::string_view()};
  }
  const bool is_listed_once =
      std::count_if(dump.groups.begin(), dump.groups.end(), is_default) == 1 &&
      std::none_of(dump.named_groups.begin(), dump.named_groups.end(), is_default);
  if (pg_id != 0 || !is_listed_once) {
    return std::nullopt;
  }
  const auto listed = std::find_if(dump.groups.begin(), dump.groups.end(), is_default);
  return FlightGroupName{values.TextOf(values.Intern(listed->name)), "default_pg"};
}

// Entries without the name of their group have that of another entry with the same number. Where
// the dump names no group at all, as those of version 1.0, the numbers are the names. What is still
// of no group counts for nothing.
void NameGroupsOfEntries(FlightDump& dump) {
  std::map<int32_t, uint32_t> place_of;  // by pg_id; kNothing: of no group
  bool are_all_named = true;
  for (const FlightEntry& entry : dump.entries) {
    if (entry.group == FlightEntry::kNothing) {
      are_all_named = false;
    } else if (entry.pg_id >= 0) {
      place_of.try_emplace(entry.pg_id, entry.group);
    }
  }
  if (are_all_named) {
    return;
  }
  const bool has_names = !dump.named_groups.empty() ||
                         std::any_of(dump.groups.begin(), dump.groups.end(),
                                     [](const FlightGroup& group) { return !group.name.empty(); });
  for (FlightEntry& entry : dump.entries) {
    if (entry.group != FlightEntry::kNothing) {
      continue;
    }
    const auto [place, is_new] = place_of.try_emplace(entry.pg_id, FlightEntry::kNothing);
    if (is_new) {
      if (const std::optional<FlightGroupName> name = GroupOfNumber(entry.pg_id, has_names, dump)) {
        place->second = static_cast<uint32_t>(dump.named_groups.size());
        dump.named_groups.push_back(*name);
      }
    }
    entry.group = place->second;
    if (entry.group == FlightEntry::kNothing) {
      ++dump.lost_entries;
      dump.lost_outstanding += IsOver(dump.Name(entry), entry.state, entry.is_retired) ? 0 : 1;
    }
  }
}

void TakeStatus(PlainValue status, FlightDump& dump) {
  const PlainStore& values = dump.store->values;
  dump.has_status = status.kind == PlainKind::kDict;
  const std::span<const PlainValue> items = values.Items(status);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    const std::optional<int64_t> id = values.Int(items[i]);
    if (!id.has_value() || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
      ++dump.bad_fields;
      continue;
    }
    const auto number = [&](std::string_view key) {
      return std::clamp<int64_t>(values.Int(values.Find(items[i + 1], key)).value_or(-1), -1,
                                 kLargestNumber);
    };
    dump.status.push_back({.pg_id = static_cast<int32_t>(*id),
                           .enqueued = number("last_enqueued_collective"),
                           .started = number("last_started_collective"),
                           .completed = number("last_completed_collective")});
  }
  std::stable_sort(dump.status.begin(), dump.status.end(),
                   [](const FlightStatus& a, const FlightStatus& b) { return a.pg_id < b.pg_id; });
}

}  // namespace

std::string_view FlightStateName(FlightState state) {
  constexpr std::string_view kNames[] = {"", "scheduled", "started", "completed"};
  return kNames[static_cast<size_t>(state)];
}

FlightStore::FlightStore() {
  for (const std::string_view name : kKeyNames) {
    values.Intern(name);
  }
}

const FlightStore::Ranks& FlightStore::RanksOf(PlainValue value) {
  const auto [at, is_new] = ranks_.try_emplace(std::pair(value.kind, value.bits));
  Ranks& read = at->second;
  if (!is_new) {
    return read;
  }
  const auto add = [&](std::optional<int64_t> rank) {
    if (rank.has_value() && *rank >= 0 && *rank < FlightDump::kMostRanks) {
      read.ranks.push_back(static_cast<int32_t>(*rank));
    } else {
      ++read.bad;
    }
  };
  if (value.IsText()) {
    std::string_view text = Trimmed(values.Text(value));
    if (text.starts_with('[') && text.ends_with(']')) {
      text = text.substr(1, text.size() - 2);
    }
    while (!Trimmed(text).empty()) {
      const size_t end = std::min(text.find(','), text.size());
      add(ParseNumber<int64_t>(Trimmed(text.substr(0, end))));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else {
    for (const PlainValue& item : values.Items(value)) {
      add(values.Int(item));
    }
  }
  std::sort(read.ranks.begin(), read.ranks.end());
  read.ranks.erase(std::unique(read.ranks.begin(), read.ranks.end()), read.ranks.end());
  read.ranks.shrink_to_fit();
  return read;
}

// Sums and products are exact up to what fits.
constexpr int64_t kMostElements = int64_t{1} << 62U;

// One shape may be named by many lists, and one list by many entries: each is read once.
FlightStore::Elements FlightStore::ElementsOfShape(PlainValue shape) {
  if (!shape.IsContainer()) {
    return {.elements = 1};  // of no extents
  }
  const auto [at, is_new] = shape_elements_.try_emplace(shape.bits);
  if (is_new) {
    Elements made = {.elements = 1};
    for (const PlainValue& item : values.Items(shape)) {
      const std::optional<int64_t> size = values.Int(item);
      const int64_t extent = std::max<int64_t>(size.value_or(0), 0);
      made.bad += size.value_or(-1) < 0 ? 1 : 0;
      made.elements = extent != 0 && made.elements > kMostElements / extent
                          ? kMostElements
                          : made.elements * extent;
    }
    at->second = made;
  }
  return at->second;
}

uint64_t FlightStore::AddSizes(uint32_t list) {
  const auto [at, is_new] = elements_.try_emplace(list);
  if (is_new) {
    Elements sum;
    for (const PlainValue& shape : values.Items({.kind = PlainKind::kList, .bits = list})) {
      const Elements one = ElementsOfShape(shape);
      sum.elements += std::min(one.elements, kMostElements - sum.elements);
      sum.bad += one.bad;
    }
    at->second = sum;
  }
  return at->second.bad;
}

const FlightStatus* FlightDump::StatusOf(int32_t pg_id) const {
  const auto at =
      std::lower_bound(status.begin(), status.end(), pg_id,
                       [](const FlightStatus& one, int32_t id) { return one.pg_id < id; });
  return at == status.end() || at->pg_id != pg_id ? nullptr : &*at;
}

std::vector<int64_t> FlightDump::Sizes(uint32_t list) const {
  std::vector<int64_t> sizes;
  if (list == FlightEntry::kNothing) {
    return sizes;
  }
  // A pickle can name one list many times.
  constexpr size_t kMost = size_t{1} << 20;
  for (const PlainValue& shape : store->values.Items({.kind = PlainKind::kList, .bits = list})) {
    const std::span<const PlainValue> extents = store->values.Items(shape);
    if (sizes.size() + extents.size() >= kMost) break;
    for (const PlainValue& extent : extents) {
      sizes.push_back(std::max<int64_t>(store->values.Int(extent).value_or(0), 0));
    }
    sizes.push_back(-1);
  }
  return sizes;
}

std::vector<std::string_view> FlightDump::Texts(uint32_t list) const {
  std::vector<std::string_view> texts;
  if (list == FlightEntry::kNothing) {
    return texts;
  }
  for (const PlainValue& text : store->values.Items({.kind = PlainKind::kList, .bits = list})) {
    texts.push_back(store->values.Text(text));
  }
  return texts;
}

std::vector<FlightFrame> FlightDump::Frames(const FlightEntry& entry) const {
  std::vector<FlightFrame> frames;
  if (entry.frames == FlightEntry::kNothing) {
    return frames;
  }
  for (const PlainValue& frame :
       store->values.Items({.kind = PlainKind::kList, .bits = entry.frames})) {
    frames.push_back({.file = store->values.Text(store->values.Find(frame, "filename")),
                      .function = store->values.Text(store->values.Find(frame, "name")),
                      .line = store->values.Int(store->values.Find(frame, "line")).value_or(0)});
  }
  return frames;
}

Result<FlightDump> ReadFlightDump(ByteSource& source, std::shared_ptr<FlightStore> store) {
  FlightDump dump;
  dump.store = std::move(store);
  PlainStore& values = dump.store->values;
  FlightFolder folder(dump);
  BS_ASSIGN(const PlainRead read, ReadPlain(source, values, folder));
  if (read.root.kind != PlainKind::kDict && read.is_cut) {
    return Error{.code = ErrorCode::kCorrupt,
                 .cause = "the file ends before anything of a dump is complete"};
  }
  if (read.root.kind != PlainKind::kDict) {
    return Error{.code = ErrorCode::kUnsupportedFormat,
                 .cause = "the file is no dump of the flight recorder: no dictionary"};
  }
  constexpr std::string_view kKeys[] = {"version", "entries", "pg_config", "pg_status"};
  const bool has_any = std::any_of(std::begin(kKeys), std::end(kKeys), [&](std::string_view key) {
    return values.Find(read.root, key).kind != PlainKind::kNone;
  });
  if (!has_any && dump.entries.empty() && !read.is_cut) {
    return Error{.code = ErrorCode::kUnsupportedFormat,
                 .cause = "the file is no dump of the flight recorder: it has no entries"};
  }
  const auto text = [&](std::string_view key) {
    return std::string(values.Text(values.Find(read.root, key)));
  };
  dump.version = text("version");
  dump.library = text("comm_lib_version").empty() ? text("nccl_version") : text("comm_lib_version");
  TakeGroups(values.Find(read.root, "pg_config"), dump);
  NameGroupsOfEntries(dump);
  TakeStatus(values.Find(read.root, "pg_status"), dump);
  dump.entries.shrink_to_fit();
  dump.is_cut = read.is_cut;
  dump.bytes = read.bytes;
  const auto is_before = [](const FlightEntry& a, const FlightEntry& b) {
    return a.record_id < b.record_id;
  };
  if (!std::is_sorted(dump.entries.begin(), dump.entries.end(), is_before)) {
    std::stable_sort(dump.entries.begin(), dump.entries.end(), is_before);
  }
  return dump;
}

bool IsKnownFlightVersion(std::string_view version) {
  const size_t dot = version.find('.');
  if (dot == std::string_view::npos) {
    return false;
  }
  const std::optional<int> major = ParseNumber<int>(version.substr(0, dot));
  const std::optional<int> minor = ParseNumber<int>(version.substr(dot + 1));
  constexpr int kNewestMinor = 10;
  return major.has_value() && minor.has_value() &&
         (*major == 1 || (*major == 2 && *minor >= 0 && *minor <= kNewestMinor));
}

}  // namespace borescope::internal
