// collectives: what each kind of communication moved, and how fast. A row is one collective of one
// group and element type; its calls are those of collectives.h. Message sizes and bandwidths
// are those of NCCL-tests (collectives.h):
//   algo = bytes / time     bus = algo x factor of the collective
// over the calls of which both are known. Time is that of the kernels and includes waiting for
// ranks that come late, so that the best and the median call tell more about the network.
#include "borescope/analysis/measures/collectives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

struct CollectiveRow {
  int64_t rank = 0;
  std::string_view collective = {};
  std::optional<std::string_view> group = {};
  std::optional<int64_t> group_size = {};
  std::optional<std::string_view> dtype = {};
  std::optional<int64_t> message_bytes = {};  // of every call, when grouped by it
  int64_t count = 0;
  std::optional<int64_t> bytes = {};
  int64_t total_ns = 0;
  std::optional<double> algo_gbps = {};
  std::optional<double> bus_gbps = {};
  std::optional<double> median_bus_gbps = {};
  std::optional<double> best_bus_gbps = {};
  std::optional<double> mean_ns = {};
  std::optional<int64_t> min_ns = {};
  std::optional<int64_t> max_ns = {};
  std::optional<int64_t> min_message_bytes = {};
  std::optional<int64_t> max_message_bytes = {};
  int64_t kernels = 0;
  int64_t untimed = 0;
  int64_t unsized = 0;
  std::optional<double> coverage = {};
  std::optional<std::string_view> group_desc = {};
  std::optional<std::string> recorded_as = {};

  static constexpr TableNames kTable{"collectives", "Communication per collective and group"};
  static constexpr ColumnOf<CollectiveRow> kColumns[] = {
      {"rank", &CollectiveRow::rank, Role::kKey, kRankDoc},
      {"collective", &CollectiveRow::collective, Role::kKey,
       "What was asked for, in one spelling; unknown when neither arguments nor operators nor "
       "the kernel's name tell."},
      {"group", &CollectiveRow::group, Role::kKey,
       "Name of the process group; missing when not recorded."},
      {"group_size", &CollectiveRow::group_size, Unit::kCount, Role::kKey,
       "Number of ranks in the group."},
      {"dtype", &CollectiveRow::dtype, Role::kKey, "Type of the elements, as PyTorch names it."},
      {"message_bytes", &CollectiveRow::message_bytes, Unit::kBytes, Role::kKey,
       "Size of the message of one call."},
      {"count", &CollectiveRow::count, Unit::kCount, Role::kSum, "Number of calls."},
      {"bytes", &CollectiveRow::bytes, Unit::kBytes, Role::kSum,
       "Sum of the message sizes, as NCCL-tests counts them: of an all-gather the output, of an "
       "all-reduce, reduce-scatter or all-to-all the input, else the larger; missing when no "
       "size is known. What memory moves for them, input and output, is bytes of roofline."},
      {"total_ns", &CollectiveRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the kernels, or of communication between hosts (gloo) from the "
       "request to the end; waiting for late ranks included.",
       InTone(Tone::kComm)},
      {"algo_gbps", &CollectiveRow::algo_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Bytes / time over the calls of which both are known; missing, as is bus_gbps, if "
       "coverage is below 0.9."},
      {"bus_gbps", &CollectiveRow::bus_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "algo x 2(n-1)/n for all-reduce, x (n-1)/n for all-gather, reduce-scatter, "
       "all-to-all, gather and scatter, x 1 for others.",
       InTone(Tone::kComm)},
      {"median_bus_gbps", &CollectiveRow::median_bus_gbps, Unit::kGigabytesPerSecond,
       Role::kDerived,
       "The same of the median call; of an even number the mean of the middle two."},
      {"best_bus_gbps", &CollectiveRow::best_bus_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "The same of the fastest call: the one that waited least."},
      {"mean_ns", &CollectiveRow::mean_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean duration of a call."},
      {"min_ns", &CollectiveRow::min_ns, Unit::kNanoseconds, Role::kMin, "Shortest call."},
      {"max_ns", &CollectiveRow::max_ns, Unit::kNanoseconds, Role::kMax, "Longest call."},
      {"min_message_bytes", &CollectiveRow::min_message_bytes, Unit::kBytes, Role::kMin,
       "Smallest message."},
      {"max_message_bytes", &CollectiveRow::max_message_bytes, Unit::kBytes, Role::kMax,
       "Largest message."},
      {"kernels", &CollectiveRow::kernels, Unit::kCount, Role::kSum,
       "Communication kernels of these calls."},
      {"untimed", &CollectiveRow::untimed, Unit::kCount, Role::kSum,
       "Calls without a communication kernel in the recording, or an event of a library that "
       "communicates between hosts, such as gloo: mostly groups of one rank."},
      {"unsized", &CollectiveRow::unsized, Unit::kCount, Role::kSum,
       "Calls whose message size is not known, barriers among them."},
      {"coverage", &CollectiveRow::coverage, Unit::kShare, Role::kDerived,
       "Time of the calls of known size / time of all."},
      {"group_desc", &CollectiveRow::group_desc, Role::kDerived,
       "Description of the process group."},
      {"recorded_as", &CollectiveRow::recorded_as, Role::kDerived,
       "Spellings of the collective in the file, of communication between hosts the names of "
       "the events; missing for kernels without arguments."}};
};

struct Group {
  CollectiveRow row = {};
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::set<std::string_view> names = {};  // as recorded
  DurationStats durations = {};           // of the calls with kernels
  int64_t rated_bytes = 0;                // of the calls of known size and time
  TimeCovered time = {};           // of the calls of known time; covered: those of known size, too
  std::vector<double> rates = {};  // bytes per ns of each of them
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
    const uint32_t index = groups_.Find(KeyOf(call, message));
    if (index == list_.size()) {
      list_.push_back(NewGroup(call, message));
    }
    AddTo(list_[index], call, Recorded(message.bytes));
  }

  // The rows, in the order of the groups.
  std::vector<CollectiveRow> Rows() {
    std::vector<CollectiveRow> rows;
    for (Group& group : list_) {
      Finish(group);
      rows.push_back(std::move(group.row));
    }
    return rows;
  }

  const Grouper& groups() const { return groups_; }

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

  Group NewGroup(const CollectiveCall& call, const CollectiveMessage& message) const {
    CollectiveRow row{.rank = view_.rank,
                      .collective = CollectiveKindName(call.kind),
                      .dtype = Recorded(message.dtype)};
    if (keys_.size) row.message_bytes = Recorded(message.bytes);
    if (const uint32_t at = call.args; at != kNoDetail) {
      if (call.kind == CollectiveKind::kUnknown) {
        row.collective = view_.trace.Text(args().collective[at]);
      }
      row.group = Recorded(view_.trace.Text(args().group[at]));
      row.group_size = Recorded(args().group_size[at]);
      row.group_desc = Recorded(view_.trace.Text(args().group_desc[at]));
    }
    return {.row = std::move(row), .kind = call.kind};
  }

  std::string_view RecordedName(const CollectiveCall& call) const {
    if (call.args != kNoDetail) return view_.trace.Text(args().collective[call.args]);
    return call.timed() ? std::string_view() : view_.trace.Name(call.op);
  }

  void AddTo(Group& group, const CollectiveCall& call, std::optional<int64_t> bytes) const {
    CollectiveRow& row = group.row;
    ++row.count;
    row.kernels += call.kernels;
    if (const std::string_view name = RecordedName(call); !name.empty()) group.names.insert(name);
    if (call.has_length()) {
      group.durations.Add(call.dur_ns);
      group.time.Add(call.dur_ns, bytes.has_value());
    }
    if (!bytes.has_value()) {
      ++row.unsized;
      return;
    }
    row.bytes = AddSaturating(row.bytes.value_or(0), *bytes);
    row.min_message_bytes = std::min(row.min_message_bytes.value_or(*bytes), *bytes);
    row.max_message_bytes = std::max(row.max_message_bytes.value_or(0), *bytes);
    if (call.has_length() && call.dur_ns > 0) {
      group.rated_bytes = AddSaturating(group.rated_bytes, *bytes);
      group.rates.push_back(ShareOf(*bytes, call.dur_ns));
    }
  }

  // What follows from the sums.
  static void Finish(Group& group) {
    CollectiveRow& row = group.row;
    const DurationStats& durations = group.durations;
    row.total_ns = durations.total_ns;
    row.untimed = row.count - durations.count;
    if (durations.count > 0) {
      row.mean_ns = ShareOf(durations.total_ns, durations.count);
      row.min_ns = durations.min_ns;
      row.max_ns = durations.max_ns;
    }
    if (group.time.all_ns > 0) row.coverage = ShareOf(group.time.covered_ns, group.time.all_ns);
    if (!group.names.empty()) row.recorded_as = fmt::format("{}", fmt::join(group.names, ", "));
    FinishRates(group);
  }

  static void FinishRates(Group& group) {
    if (group.rates.empty()) {
      return;
    }
    CollectiveRow& row = group.row;
    const double algo = ShareOf(group.rated_bytes, group.time.covered_ns);
    if (group.time.is_enough()) row.algo_gbps = algo;
    if (const auto factor = BusFactor(group.kind, row.group_size.value_or(kMissing))) {
      if (group.time.is_enough()) row.bus_gbps = algo * *factor;
      row.median_bus_gbps = Quantile(group.rates, 0.5) * *factor;
      row.best_bus_gbps = *std::max_element(group.rates.begin(), group.rates.end()) * *factor;
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
  Table table = MakeTable(calls.Rows());
  InsertKeys(table, "collective", keys.step, [&](size_t row) { return calls.groups().key(row); });
  if (!keys.size) DropColumn(table, "message_bytes");
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
