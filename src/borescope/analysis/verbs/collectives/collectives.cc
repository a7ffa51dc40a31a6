// collectives: what each kind of communication moved, and how fast. A row is one collective of one
// group and element type; its calls are those of collectives.h. Message sizes and bandwidths
// are those of NCCL-tests (collectives.h):
//   algo = bytes / time     bus = algo x factor of the collective
// over the calls of which both are known. Time is that of the kernels and includes waiting for
// ranks that come late, so that the best and the median call tell more about the network.
#include "borescope/analysis/measures/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

struct Group {
  const CollectiveCall* first = nullptr;
  std::optional<int64_t> message_bytes;  // of every call, when grouped by it
  std::string_view dtype;                // of every call
  std::set<std::string_view> names;      // as recorded
  DurationStats durations;               // of the calls with kernels
  int64_t count = 0;
  int64_t kernels = 0;
  int64_t unsized = 0;
  int64_t bytes = 0;          // of the calls of known size
  int64_t min_bytes = 0;      // the same
  int64_t max_bytes = 0;      // the same
  int64_t rated_bytes = 0;    // of the calls of known size and time
  TimeCovered time;           // of the calls of known time; covered: those of known size, too
  std::vector<double> rates;  // bytes per ns of each of them
};

struct Keys {
  GroupKeys step;  // of --by, only the step is a key that it knows
  bool size;
};

class Calls {
 public:
  Calls(const RankView& view, const Keys& keys)
      : view_(view), keys_(keys), groups_(keys.step.size() + 6) {}

  void Add(const CollectiveCall& call) {
    const CollectiveMessage message = MessageOf(view_, call);
    const std::optional<int64_t> bytes =
        message.bytes == kMissing ? std::nullopt : std::optional(message.bytes);
    const uint32_t index = groups_.Find(KeyOf(call, message));
    list_.resize(groups_.size());
    Group& group = list_[index];
    if (group.first == nullptr) {
      group.first = &call;
      group.message_bytes = bytes;
      group.dtype = message.dtype;
    }
    AddTo(group, call, bytes);
  }

  const Grouper& groups() const { return groups_; }
  const std::vector<Group>& list() const { return list_; }

 private:
  const Collectives& args() const { return view_.trace.collectives(); }

  // Names that are not understood stay apart.
  std::vector<int64_t> KeyOf(const CollectiveCall& call, const CollectiveMessage& message) {
    std::vector<int64_t> key;
    call.timed() ? keys_.step.Append(call.kernel, key) : keys_.step.Append(call.op, key);
    key.push_back(static_cast<int64_t>(call.kind));
    const uint32_t row = call.args;
    if (row == kNoDetail) {
      key.insert(key.end(), 3, kMissing);
    } else {
      key.push_back(call.kind == CollectiveKind::kUnknown ? args().collective[row].value
                                                          : kMissing);
      key.push_back(args().group[row].value);
      key.push_back(args().group_size[row]);
    }
    key.push_back(TypeKey(message.dtype));
    key.push_back(keys_.size ? message.bytes : kMissing);
    return key;
  }

  void AddTo(Group& group, const CollectiveCall& call, std::optional<int64_t> bytes) const {
    ++group.count;
    group.kernels += call.kernels;
    if (call.args != kNoDetail) {
      group.names.insert(view_.trace.Text(args().collective[call.args]));
    }
    if (call.args == kNoDetail && !call.timed()) {
      group.names.insert(view_.trace.Name(call.op));
    }
    if (call.has_length()) {
      group.durations.Add(call.dur_ns);
      group.time.Add(call.dur_ns, bytes.has_value());
    }
    if (!bytes.has_value()) {
      ++group.unsized;
      return;
    }
    const bool is_first = group.count - group.unsized == 1;
    group.bytes = AddSaturating(group.bytes, *bytes);
    group.min_bytes = is_first ? *bytes : std::min(group.min_bytes, *bytes);
    group.max_bytes = std::max(group.max_bytes, *bytes);
    if (call.has_length() && call.dur_ns > 0) {
      group.rated_bytes = AddSaturating(group.rated_bytes, *bytes);
      group.rates.push_back(ShareOf(*bytes, call.dur_ns));
    }
  }

  int64_t TypeKey(std::string_view dtype) {
    return types_.try_emplace(dtype, static_cast<int64_t>(types_.size())).first->second;
  }

  const RankView& view_;
  const Keys& keys_;
  std::map<std::string_view, int64_t> types_;
  Grouper groups_;
  std::vector<Group> list_;
};

void AddNameColumns(Table& table, const Keys& keys) {
  AddRankKey(table);
  keys.step.AddColumnsBeforeName(table);
  AddString(table, "collective", Role::kKey,
            "What was asked for, in one spelling; unknown when neither arguments nor operators nor "
            "the kernel's name tell.");
  AddString(table, "group", Role::kKey, "Name of the process group; missing when not recorded.");
  AddInt(table, "group_size", Unit::kCount, Role::kKey, "Number of ranks in the group.");
  AddString(table, "dtype", Role::kKey, "Type of the elements, as PyTorch names it.");
  if (keys.size) {
    AddInt(table, "message_bytes", Unit::kBytes, Role::kKey, "Size of the message of one call.");
  }
}

void AddTimeColumns(Table& table) {
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of calls.");
  AddInt(table, "bytes", Unit::kBytes, Role::kSum,
         "Sum of the message sizes, as NCCL-tests counts them: of an all-gather the output, of an "
         "all-reduce, reduce-scatter or all-to-all the input, else the larger; missing when no "
         "size is known. What memory moves for them, input and output, is bytes of roofline.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum,
         "Sum of the durations of the kernels, or of communication between hosts (gloo) from the "
         "request to the end; waiting for late ranks included.")
      .hints.tone = Tone::kComm;
  AddFloat(table, "algo_gbps", Unit::kGigabytesPerSecond, Role::kDerived,
           "Bytes / time over the calls of which both are known; missing, as is bus_gbps, if "
           "coverage is below 0.9.");
  AddFloat(table, "bus_gbps", Unit::kGigabytesPerSecond, Role::kDerived,
           "algo x 2(n-1)/n for all-reduce, x (n-1)/n for all-gather, reduce-scatter, "
           "all-to-all, gather and scatter, x 1 for others.")
      .hints.tone = Tone::kComm;
  AddFloat(table, "median_bus_gbps", Unit::kGigabytesPerSecond, Role::kDerived,
           "The same of the median call; of an even number the mean of the middle two.");
  AddFloat(table, "best_bus_gbps", Unit::kGigabytesPerSecond, Role::kDerived,
           "The same of the fastest call: the one that waited least.");
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean duration of a call.");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "Shortest call.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "Longest call.");
}

void AddRestColumns(Table& table) {
  AddInt(table, "min_message_bytes", Unit::kBytes, Role::kMin, "Smallest message.");
  AddInt(table, "max_message_bytes", Unit::kBytes, Role::kMax, "Largest message.");
  AddInt(table, "kernels", Unit::kCount, Role::kSum, "Communication kernels of these calls.");
  AddInt(table, "untimed", Unit::kCount, Role::kSum,
         "Calls without a communication kernel in the recording, or an event of a library that "
         "communicates between hosts, such as gloo: mostly groups of one rank.");
  AddInt(table, "unsized", Unit::kCount, Role::kSum,
         "Calls whose message size is not known, barriers among them.");
  AddFloat(table, "coverage", Unit::kShare, Role::kDerived,
           "Time of the calls of known size / time of all.");
  AddString(table, "group_desc", Role::kDerived, "Description of the process group.");
  AddString(table, "recorded_as", Role::kDerived,
            "Spellings of the collective in the file, of communication between hosts the names of "
            "the events; missing for kernels without arguments.");
}

void PushName(Row& row, const RankView& view, const Keys& keys, const Group& group) {
  const CollectiveCall& call = *group.first;
  const Collectives& args = view.trace.collectives();
  const bool has_args = call.args != kNoDetail;
  const bool is_raw = has_args && call.kind == CollectiveKind::kUnknown;
  row.Text(is_raw ? view.trace.Text(args.collective[call.args]) : CollectiveKindName(call.kind));
  row.MaybeText(has_args ? view.trace.Text(args.group[call.args]) : std::string_view());
  row.MaybeInt(has_args ? args.group_size[call.args] : kMissing);
  row.MaybeText(group.dtype);
  if (keys.size) {
    row.MaybeInt(group.message_bytes);
  }
}

void PushRates(Row& row, const Group& group, std::optional<double> factor) {
  if (group.rates.empty()) {
    row.Missing().Missing().Missing().Missing();
    return;
  }
  const bool is_enough = group.time.is_enough();
  const double algo = ShareOf(group.rated_bytes, group.time.covered_ns);
  is_enough ? row.Float(algo) : row.Missing();
  if (!factor.has_value()) {
    row.Missing().Missing().Missing();
    return;
  }
  std::vector<double> rates = group.rates;
  is_enough ? row.Float(algo * *factor) : row.Missing();
  row.Float(Quantile(rates, 0.5) * *factor);
  row.Float(*std::max_element(rates.begin(), rates.end()) * *factor);
}

std::string Joined(const std::set<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

void PushGroup(Table& table, const RankView& view, const Keys& keys, std::span<const int64_t> key,
               const Group& group) {
  const Collectives& args = view.trace.collectives();
  const uint32_t args_row = group.first->args;
  const bool has_args = args_row != kNoDetail;
  const bool has_size = group.count > group.unsized;
  const DurationStats& durations = group.durations;
  Row row(table);
  row.Int(view.rank);
  keys.step.PushBeforeName(row, key);
  PushName(row, view, keys, group);
  row.Int(group.count).MaybeInt(has_size ? group.bytes : kMissing).Int(durations.total_ns);
  PushRates(row, group,
            BusFactor(group.first->kind, has_args ? args.group_size[args_row] : kMissing));
  if (durations.count == 0) {
    row.Missing().Missing().Missing();
  } else {
    row.Share(durations.total_ns, durations.count).Int(durations.min_ns).Int(durations.max_ns);
  }
  row.MaybeInt(has_size ? group.min_bytes : kMissing);
  row.MaybeInt(has_size ? group.max_bytes : kMissing);
  row.Int(group.kernels).Int(group.count - durations.count).Int(group.unsized);
  group.time.all_ns > 0 ? row.Share(group.time.covered_ns, group.time.all_ns) : row.Missing();
  row.MaybeText(has_args ? view.trace.Text(args.group_desc[args_row]) : std::string_view());
  row.MaybeText(Joined(group.names));
}

bool Keeps(const Selected& selected, const CollectiveCall& call) {
  return call.timed() ? selected.Keeps(call.kernel)
                      : !selected.by_track() && selected.Keeps(call.op);
}

Result<Tables> MapCollectives(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const Keys keys{GroupKeys(view, params.by, params.selection.step_rule),
                  HasKey(params.by, "size")};
  const std::vector<CollectiveCall> all = CollectiveCalls(view);
  Calls calls(view, keys);
  for (const CollectiveCall& call : all) {
    if (Keeps(selected, call)) {
      calls.Add(call);
    }
  }
  Table table{"collectives", "Communication per collective and group", {}};
  AddNameColumns(table, keys);
  AddTimeColumns(table);
  AddRestColumns(table);
  for (size_t i = 0; i < calls.list().size(); ++i) {
    PushGroup(table, view, keys, calls.groups().key(i), calls.list()[i]);
  }
  return Tables{params.by.empty() ? Sorted(table, "total_ns") : SortAll(table)};
}

constexpr std::string_view kCollectiveKeys[] = {"step", "size"};
constexpr std::string_view kCollective[] = {"rank", "collective", "dtype"};
constexpr std::string_view kBusRate[] = {"bus_gbps"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kViews[] = {
    {"collectives", ViewKind::kBars, "Bus bandwidth", kCollective, kBusRate},
    {"collectives", ViewKind::kBars, "Time", kCollective, kTotal}};

}  // namespace

const AnalysisSpec kCollectivesVerb{
    .name = "collectives",
    .summary = "message sizes, algorithm and bus bandwidth per collective and group",
    .example = "borescope collectives run/ --by size",
    .needs = Needs::kCollectives,
    .by = kCollectiveKeys,
    .answer = {.map = MapCollectives, .reduce = ConcatTables},
    .views = kViews};

}  // namespace borescope::internal
