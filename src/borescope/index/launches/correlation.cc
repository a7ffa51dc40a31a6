#include "borescope/index/launches/correlation.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/parallel.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/index/call_tree.h"
#include "borescope/index/id_map.h"
#include "borescope/index/launches/inherited_work.h"

namespace borescope::internal {

namespace {

// More calls or kernels of one number have too many answers to compare.
constexpr size_t kMostContested = 4;
// A launch may have lost its number to one that begins no further away: they run at the same time.
constexpr int64_t kNearNs = 1'000'000;
constexpr size_t kMostRivals = 64;  // of which the nearest are compared

// One contested number: calls and kernels of which each belongs to one of the others.
struct Contest {
  std::vector<HostId> calls;
  std::vector<DeviceId> work;
  bool is_one_each = true;   // each call starts one of the rows
  bool is_repeated = false;  // several calls have the number
};

// An answer: for each row of work the call in Contest::calls, or kNobody.
constexpr uint8_t kNobody = kMostContested;
using Answer = std::array<uint8_t, kMostContested>;

// What the uncontested rest of the recording shows.
class Experience {
 public:
  Experience(const Trace& trace, const Correlation& links, const HashSet<uint32_t>& contested)
      : trace_(trace) {
    const DeviceEvents& device = trace.device();
    for (const uint32_t row : EachRow(device.size())) {
      const HostId launch = links.launch_of[row];
      if (!launch.valid() || !IsDeviceWork(device.kind[row]) || contested.contains(launch.value)) {
        continue;
      }
      const uint32_t thread = trace.host().track[launch.value].value;
      threads_.insert(thread);
      streams_.insert({thread, device.track[row].value});
      if (links.op_of[row].valid()) {
        names_.insert({trace.host().name[links.op_of[row].value].value, device.name[row].value});
      }
    }
  }

  // Whether the thread of a call uses the stream, as far as is known.
  bool IsOfThread(HostId call, DeviceId work) const {
    const uint32_t thread = trace_.host().track[call.value].value;
    return !threads_.contains(thread) ||
           streams_.contains({thread, trace_.device().track[work.value].value});
  }

  // How well a call and a kernel fit: of a thread that uses the stream, of an operator with such
  // kernels. REQUIRES: IsOfThread.
  int Fit(HostId call, HostId op, DeviceId work) const {
    int fit = threads_.contains(trace_.host().track[call.value].value) ? 2 : 0;
    if (op.valid()) {
      const uint32_t op_name = trace_.host().name[op.value].value;
      fit += names_.contains({op_name, trace_.device().name[work.value].value}) ? 2 : 0;
      fit += IsNamedLike(trace_.Name(op), trace_.Name(work)) ? 1 : 0;
    }
    return fit;
  }

 private:
  // "aten::mm" and "gemm_k": the operator's name without namespace and underscores is in the other.
  static bool IsNamedLike(std::string_view op, std::string_view kernel) {
    const size_t colon = op.rfind(':');
    op.remove_prefix(colon == std::string_view::npos ? 0 : colon + 1);
    while (op.starts_with('_')) {
      op.remove_prefix(1);
    }
    while (op.ends_with('_')) {
      op.remove_suffix(1);
    }
    return op.size() > 1 && Contains(kernel, op);
  }

  const Trace& trace_;
  HashSet<uint32_t> threads_;                       // that launched anything
  HashSet<std::pair<uint32_t, uint32_t>> streams_;  // thread, stream
  HashSet<std::pair<uint32_t, uint32_t>> names_;    // operator, kernel
};

// Compares all answers to a contest.
class Judge {
 public:
  Judge(const Trace& trace, const CallLinks& calls, const Experience& experience,
        const Contest& contest)
      : trace_(trace), links_(calls), experience_(experience), contest_(contest) {}

  // For each row of work its launch, or an invalid one.
  std::vector<HostId> Decide() {
    Answer answer{};
    Try(answer, 0, 0, 0);
    std::vector<HostId> launches(contest_.work.size());
    for (size_t i = 0; i < launches.size(); ++i) {
      const auto is_same = [&](const Answer& other) { return other[i] == best_.front()[i]; };
      const auto is_same_op = [&](const Answer& other) {
        return OpOf(other[i]) == OpOf(best_.front()[i]);
      };
      const bool is_sure =
          !best_.empty() && best_.front()[i] != kNobody &&
          (std::all_of(best_.begin(), best_.end(), is_same) ||
           (OpOf(best_.front()[i]).valid() && std::all_of(best_.begin(), best_.end(), is_same_op)));
      launches[i] = is_sure ? contest_.calls[best_.front()[i]] : HostId{};
    }
    return launches;
  }

 private:
  HostId OpOf(uint8_t call) const {
    return call == kNobody ? HostId{}
                           : links_.operators[trace_.host().detail[contest_.calls[call].value]];
  }

  bool NamesKernel(HostId call) const {
    return trace_.runtime_calls().kernel[trace_.host().detail[call.value]] != StringId{0};
  }

  // Whether a call can have started a row at all.
  bool IsPossible(HostId call, DeviceId work) const {
    const HostEvents& host = trace_.host();
    const StringId kernel = trace_.runtime_calls().kernel[host.detail[call.value]];
    const bool is_kernel = trace_.device().kind[work.value] == DeviceKind::kKernel;
    return host.ts_ns[call.value] <= trace_.device().ts_ns[work.value] &&
           experience_.IsOfThread(call, work) &&
           (!is_kernel || kernel == StringId{0} || kernel == trace_.device().name[work.value]) &&
           (is_kernel || !IsLaunchOfOneKernel(trace_.Name(call)));
  }

  // Calls that copy or set memory start kernels less often than launches do.
  int CopyPenalty(HostId call, size_t row) const {
    const bool is_kernel = trace_.device().kind[contest_.work[row].value] == DeviceKind::kKernel;
    return is_kernel && !Contains(trace_.Name(call), "Launch") ? 4 : 0;
  }

  // Whether a row and an earlier one of its stream are in the order of their calls, where these do
  // not name their kernels.
  bool IsInOrder(const Answer& answer, size_t earlier, size_t later) const {
    const DeviceEvents& device = trace_.device();
    if (answer[earlier] == kNobody || answer[later] == kNobody ||
        device.track[contest_.work[earlier].value] != device.track[contest_.work[later].value]) {
      return true;
    }
    const HostId first = contest_.calls[answer[earlier]];
    const HostId second = contest_.calls[answer[later]];
    if (NamesKernel(first) && NamesKernel(second)) {
      return true;
    }
    return trace_.host().end_ns(second) > trace_.host().ts_ns[first.value];
  }

  void Try(Answer& answer, size_t row, size_t given, int fit) {
    if (row == contest_.work.size()) {
      Compare(answer, given, fit);
      return;
    }
    for (size_t call = 0; call <= contest_.calls.size(); ++call) {
      const bool is_nobody = call == contest_.calls.size();
      answer[row] = is_nobody ? kNobody : static_cast<uint8_t>(call);
      if (is_nobody) {
        Try(answer, row + 1, given, fit);
      } else if (IsAllowed(answer, row)) {
        const HostId id = contest_.calls[call];
        const int more =
            experience_.Fit(id, OpOf(answer[row]), contest_.work[row]) - CopyPenalty(id, row);
        Try(answer, row + 1, given + 1, fit + more);
      }
    }
  }

  bool IsAllowed(const Answer& answer, size_t row) const {
    if (!IsPossible(contest_.calls[answer[row]], contest_.work[row])) {
      return false;
    }
    for (size_t other = 0; contest_.is_one_each && other < row; ++other) {
      if (answer[other] == answer[row] || !IsInOrder(answer, other, row)) {
        return false;
      }
    }
    return true;
  }

  // Keeps the best answers: most work with a launch, then the best fit.
  void Compare(const Answer& answer, size_t given, int fit) {
    const std::pair rating(given, fit);
    if (!best_.empty() && rating < rating_) {
      return;
    }
    if (rating > rating_) {
      best_.clear();
    }
    rating_ = rating;
    best_.push_back(answer);
  }

  const Trace& trace_;
  const CallLinks& links_;
  const Experience& experience_;
  const Contest& contest_;
  std::vector<Answer> best_;
  std::pair<size_t, int> rating_{0, std::numeric_limits<int>::min()};
};

// Finds what is contested.
class Contests {
 public:
  Contests(const Trace& trace, const CallLinks& calls, const Correlation& links)
      : trace_(trace), calls_(calls), links_(links), work_of_(trace.runtime_calls().size()) {
    CountWork();
    FindCalls();
  }

  // By the call that the rows of work are linked to now.
  const HashMap<uint32_t, Contest>& all() const { return contests_; }
  std::vector<uint32_t> Ordered() const {
    std::vector<uint32_t> keys;
    // Sorted below, so that the order of the table does not show.
    for (const auto& [call, contest] : contests_.InAnyOrder()) {
      keys.push_back(call);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

 private:
  void CountWork();
  void FindCalls();
  void AddOverfull();
  void AddRepeated();
  void AddIdleLaunches();
  void CollectWork();
  bool IsSettled(const Contest& contest) const;
  HostId NearestOverfull(HostId idle) const;
  bool IsAroundLaunch(HostId call);
  const std::vector<char>& OneKernelNames();

  const Trace& trace_;
  const CallLinks& calls_;
  const Correlation& links_;
  ColumnData<uint8_t> work_of_;  // per runtime call: kernels, at most 2
  std::vector<char> is_one_kernel_;
  std::vector<HostId> overfull_;  // by begin
  HashMap<uint32_t, Contest> contests_;
};

void Contests::CountWork() {
  const DeviceEvents& device = trace_.device();
  for (const uint32_t row : EachRow(device.size())) {
    const HostId launch = links_.launch_of[row];
    if (launch.valid() && device.kind[row] == DeviceKind::kKernel) {
      uint8_t& count = work_of_[trace_.host().detail[launch.value]];
      count = std::min<uint8_t>(count + 1, 2);
    }
  }
}

const std::vector<char>& Contests::OneKernelNames() {
  if (is_one_kernel_.empty()) {
    is_one_kernel_.resize(trace_.strings().size());
    for (uint32_t name = 0; name < is_one_kernel_.size(); ++name) {
      is_one_kernel_[name] = IsLaunchOfOneKernel(trace_.Text({name})) ? 1 : 0;
    }
  }
  return is_one_kernel_;
}

void Contests::FindCalls() {
  const bool has_overfull =
      std::find(work_of_.begin(), work_of_.end(), uint8_t{2}) != work_of_.end();
  if (has_overfull) {
    AddOverfull();
  }
  if (!calls_.repeats.empty()) {
    AddRepeated();
  }
  if (!overfull_.empty()) {
    AddIdleLaunches();
  }
  if (!contests_.empty()) {
    CollectWork();
  }
}

// Calls that start one kernel and have several.
void Contests::AddOverfull() {
  const HostEvents& host = trace_.host();
  const std::vector<char>& is_one = OneKernelNames();
  const DeviceEvents& device = trace_.device();
  for (const uint32_t row : EachRow(device.size())) {
    const HostId launch = links_.launch_of[row];
    if (launch.valid() && device.kind[row] == DeviceKind::kKernel &&
        work_of_[host.detail[launch.value]] == 2 && is_one[host.name[launch.value].value] != 0 &&
        contests_.try_emplace(launch.value, Contest{{launch}, {}, true, false}).second) {
      overfull_.push_back(launch);
    }
  }
  std::sort(overfull_.begin(), overfull_.end(), [&](HostId a, HostId b) {
    return std::pair(host.ts_ns[a.value], a) < std::pair(host.ts_ns[b.value], b);
  });
}

// Calls with the number of another one, unless one is in the other: then the inner one launched.
void Contests::AddRepeated() {
  const HostEvents& host = trace_.host();
  const auto is_nested = [&](HostId a, HostId b) {
    return host.track[a.value] == host.track[b.value] && (Covers(host, a, b) || Covers(host, b, a));
  };
  for (const HostId call : calls_.repeats) {
    CheckStopAt(call.value);
    const HostId known{
        calls_.launches.Get(trace_.runtime_calls().correlation[host.detail[call.value]])};
    if (!IsLaunchName(trace_.Name(call)) || is_nested(call, known)) {
      continue;
    }
    const auto [place, is_new] =
        contests_.try_emplace(known.value, Contest{{known}, {}, true, true});
    Contest& contest = place->second;
    contest.is_repeated = true;
    const auto is_known = [&](HostId other) { return is_nested(call, other); };
    if (contest.calls.size() <= kMostContested &&
        std::none_of(contest.calls.begin(), contest.calls.end(), is_known)) {
      contest.calls.push_back(call);
    }
    contest.is_one_each = contest.is_one_each && IsLaunchOfOneKernel(trace_.Name(call)) &&
                          IsLaunchOfOneKernel(trace_.Name(known));
  }
}

HostId Contests::NearestOverfull(HostId idle) const {
  const HostEvents& host = trace_.host();
  const int64_t begin_ns = host.ts_ns[idle.value];
  const auto next = std::partition_point(overfull_.begin(), overfull_.end(), [&](HostId call) {
    return host.ts_ns[call.value] < begin_ns;
  });
  if (next == overfull_.end() || next == overfull_.begin()) {
    return next == overfull_.end() ? overfull_.back() : *next;
  }
  const HostId before = *std::prev(next);
  return begin_ns - host.ts_ns[before.value] <= host.ts_ns[next->value] - begin_ns ? before : *next;
}

// Whether a call contains another launch, which then launched: the runtime calls the driver.
bool Contests::IsAroundLaunch(HostId call) {
  constexpr uint32_t kMostRows = 16;
  const HostEvents& host = trace_.host();
  const std::vector<char>& is_one = OneKernelNames();
  for (uint32_t row = call.value + 1; row < host.size() && row <= call.value + kMostRows; ++row) {
    if (host.track[row] != host.track[call.value] || host.ts_ns[row] > host.end_ns(call)) {
      return false;
    }
    if (is_one[host.name[row].value] != 0 && Covers(host, call, {row})) {
      return true;
    }
  }
  return false;
}

// Launches that have no work: each may be that of a kernel of the overfull call nearest in time.
void Contests::AddIdleLaunches() {
  const HostEvents& host = trace_.host();
  const std::vector<char>& is_one = OneKernelNames();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kRuntime || host.detail[row] == kNoDetail ||
        is_one[host.name[row].value] == 0 || work_of_[host.detail[row]] != 0) {
      continue;
    }
    const int64_t number = trace_.runtime_calls().correlation[host.detail[row]];
    const bool is_repeat = IsCorrelation(number) && calls_.launches.Get(number) != row;
    if (is_repeat || IsAroundLaunch({row})) {
      continue;
    }
    const HostId overfull = NearestOverfull({row});
    Contest& contest = contests_.find(overfull.value)->second;
    const int64_t apart_ns = std::abs(host.ts_ns[row] - host.ts_ns[overfull.value]);
    if (!contest.is_repeated && apart_ns <= kNearNs && contest.calls.size() < kMostRivals) {
      contest.calls.push_back({row});
    }
  }
}

void Contests::CollectWork() {
  const DeviceEvents& device = trace_.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (!links_.launch_of[row].valid() || !IsDeviceWork(device.kind[row])) {
      continue;
    }
    const auto contest = contests_.find(links_.launch_of[row].value);
    if (contest != contests_.end()) {
      contest->second.work.push_back({row});
    }
  }
  const HostEvents& host = trace_.host();
  for (const uint32_t call : Ordered()) {
    Contest& contest = contests_.find(call)->second;
    if (!contest.is_repeated && contest.calls.size() > kMostContested) {
      const int64_t own_ns = host.ts_ns[call];
      std::stable_sort(contest.calls.begin(), contest.calls.end(), [&](HostId a, HostId b) {
        return std::abs(host.ts_ns[a.value] - own_ns) < std::abs(host.ts_ns[b.value] - own_ns);
      });
      contest.calls.resize(kMostContested);
    }
    std::sort(contest.calls.begin(), contest.calls.end(), [&](HostId a, HostId b) {
      return std::pair(host.ts_ns[a.value], a) < std::pair(host.ts_ns[b.value], b);
    });
    if (IsSettled(contest)) {
      contests_.erase(call);
    }
  }
}

// A launch without rivals has what it has, if that is on one stream and of the kernel it names.
bool Contests::IsSettled(const Contest& contest) const {
  const DeviceEvents& device = trace_.device();
  if (contest.work.empty()) {
    return true;
  }
  if (contest.calls.size() > 1) {
    return false;
  }
  const StringId named =
      trace_.runtime_calls().kernel[trace_.host().detail[contest.calls.front().value]];
  return std::all_of(contest.work.begin(), contest.work.end(), [&](DeviceId id) {
    return device.track[id.value] == device.track[contest.work.front().value] &&
           (named == StringId{0} || named == device.name[id.value] ||
            device.kind[id.value] != DeviceKind::kKernel);
  });
}

// Nobody's, where there is too much to compare.
std::vector<HostId> LaunchesOf(const Trace& trace, const CallLinks& calls,
                               const Experience& experience, const Contest& contest) {
  if (contest.calls.size() > kMostContested) {
    return std::vector<HostId>(contest.work.size());
  }
  if (contest.is_one_each) {
    return contest.work.size() > kMostContested ? std::vector<HostId>(contest.work.size())
                                                : Judge(trace, calls, experience, contest).Decide();
  }
  std::vector<HostId> launches;
  for (const DeviceId id : contest.work) {
    const Contest one{contest.calls, {id}, false, true};
    launches.push_back(Judge(trace, calls, experience, one).Decide().front());
  }
  return launches;
}

}  // namespace

bool IsLaunchOfOneKernel(std::string_view name) {
  return name == "cudaLaunch" ||
         (Contains(name, "LaunchKernel") && !Contains(name, "Cooperative") &&
          !Contains(name, "Multi") && !Contains(name, "Graph"));
}

void SettleContestedLaunches(const Trace& trace, const CallLinks& calls, Correlation& result,
                             Diagnostics& diagnostics) {
  const Contests contests(trace, calls, result);
  if (contests.all().empty()) {
    return;
  }
  HashSet<uint32_t> contested;
  const std::vector<uint32_t> keys = contests.Ordered();
  for (const uint32_t call : keys) {
    contested.insert(call);
  }
  const Experience experience(trace, result, contested);
  for (const uint32_t call : keys) {
    CheckStopAt(call);
    const Contest& contest = contests.all().find(call)->second;
    const std::vector<HostId> launches = LaunchesOf(trace, calls, experience, contest);
    if (!contest.is_repeated) {
      diagnostics.Count(Diag::kDuplicateCorrelation, Diagnostics::kNoByte,
                        trace.Name(contest.work.front()));
    }
    for (size_t i = 0; i < launches.size(); ++i) {
      const uint32_t row = contest.work[i].value;
      const HostId op =
          launches[i].valid() ? calls.operators[trace.host().detail[launches[i].value]] : HostId{};
      result.launch_of[row] = launches[i];
      result.op_of[row] = op;
      result.rule[row] = !launches[i].valid() ? LinkRule::kAmbiguous
                         : op.valid()         ? LinkRule::kLaunchNesting
                                              : LinkRule::kLaunchOnly;
    }
  }
}

namespace {

std::vector<char> LaunchNames(const Trace& trace) {
  std::vector<char> is_launch(trace.strings().size(), 0);
  const HostEvents& host = trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kRuntime) {
      is_launch[host.name[row].value] = 2;  // to be checked
    }
  }
  for (uint32_t name = 0; name < is_launch.size(); ++name) {
    if (is_launch[name] == 2) {
      is_launch[name] = IsLaunchName(trace.Text({name})) ? 1 : 0;
    }
  }
  return is_launch;
}

// Whether "External id" names operators: in old files it repeats the correlation everywhere.
bool ExternalIdsNameOps(const DeviceEvents& device) {
  for (const size_t row : EachIndex(device.size())) {
    if (IsDeviceWork(device.kind[row]) && device.external_id[row] != kMissing &&
        device.external_id[row] != device.correlation[row]) {
      return true;
    }
  }
  return false;
}

bool IsExternalId(int64_t id) { return id != kMissing && id != 0; }

// The operators of those ids that `wanted` has, by id; other ids of it have none.
void MapOperators(const Trace& trace, IdMap64& wanted) {
  const HostEvents& host = trace.host();
  const Ops& ops = trace.ops();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kOp && host.detail[row] != kNoDetail) {
      const int64_t id = ops.external_id[host.detail[row]];
      if (IsExternalId(id) && wanted.Get(id) != IdMap64::kNone) {
        wanted[id] = row;
      }
    }
  }
}

void LinkRows(const Trace& trace, const CallLinks& calls, size_t begin, size_t end,
              Correlation& result) {
  const DeviceEvents& device = trace.device();
  for (const size_t row : EachIndex(begin, end)) {
    const int64_t number = device.correlation[row];
    const uint32_t launch = IsCorrelation(number) ? calls.launches.Get(number) : IdMap64::kNone;
    if (launch == IdMap64::kNone) {
      continue;
    }
    result.launch_of[row] = {launch};
    result.op_of[row] = calls.operators[trace.host().detail[launch]];
    result.rule[row] = result.op_of[row].valid() ? LinkRule::kLaunchNesting : LinkRule::kLaunchOnly;
  }
}

// Kernels of graphs, by the captures of these. Whatever is around the launch of the graph launched
// all of its kernels, and is the operator of none that a capture explains.
void LinkCaptured(const Trace& trace, Correlation& result) {
  const HostEvents& host = trace.host();
  const CapturedCalls& captured = trace.captured();
  for (const uint32_t row : EachRow(captured.call_of.size())) {
    HostId op = captured.call_of[row];
    while (op.valid() && host.kind[op.value] != HostKind::kOp) {
      op = captured.parent[op.value - host.size()];
    }
    if (captured.call_of[row].valid()) {
      result.op_of[row] = op;
      result.rule[row] = op.valid() ? LinkRule::kCapture : LinkRule::kLaunchOnly;
    }
  }
  result.captured_call_of = captured.call_of;
}

// The rows that no launch has linked to an operator, but an id may.
ColumnData<uint32_t> RowsForExternalIds(const DeviceEvents& device, const Correlation& result) {
  ColumnData<uint32_t> rows;
  for (const uint32_t row : EachRow(device.size())) {
    // The ids of contested work follow its number, and are as doubtful.
    if (!result.op_of[row].valid() && IsExternalId(device.external_id[row]) &&
        result.rule[row] != LinkRule::kAmbiguous) {
      rows.push_back(row);
    }
  }
  return rows;
}

void LinkExternalIds(const Trace& trace, Correlation& result) {
  const DeviceEvents& device = trace.device();
  const ColumnData<uint32_t> rows = RowsForExternalIds(device, result);
  if (rows.empty() || !ExternalIdsNameOps(device)) {
    return;
  }
  constexpr uint32_t kWanted = kMostNumbers;  // rows have smaller numbers
  IdMap64 operators(rows.size());
  for (const uint32_t row : rows) {
    operators[device.external_id[row]] = kWanted;
  }
  MapOperators(trace, operators);
  for (const uint32_t row : rows) {
    const uint32_t op = operators.Get(device.external_id[row]);
    if (op != kWanted) {
      result.op_of[row] = {op};
      result.rule[row] = LinkRule::kExternalId;
    }
  }
}

}  // namespace

std::string_view LinkRuleName(LinkRule rule) {
  constexpr std::string_view kNames[] = {"launch nesting", "external id", "launch only",
                                         "capture",        "none",        "ambiguous"};
  return kNames[static_cast<size_t>(rule)];
}

bool IsLaunchName(std::string_view name) {
  for (const std::string_view part :
       {"Launch", "Memcpy", "Memset", "runFunction", "AppendMemory", "EnqueueKernel"}) {
    if (name.find(part) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

void MapLaunches(const Trace& trace, CallLinks& links, Diagnostics& diagnostics) {
  const HostEvents& host = trace.host();
  const RuntimeCalls& calls = trace.runtime_calls();
  const std::vector<char> is_launch = LaunchNames(trace);
  links.launches = IdMap64(calls.correlation, IsCorrelation);
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kRuntime || host.detail[row] == kNoDetail) {
      continue;
    }
    const int64_t number = calls.correlation[host.detail[row]];
    if (!IsCorrelation(number)) {
      continue;
    }
    uint32_t& known = links.launches[number];
    if (known == IdMap64::kNone) {
      known = row;
      continue;
    }
    diagnostics.Count(Diag::kDuplicateCorrelation, Diagnostics::kNoByte, trace.Name(HostId{row}));
    // Rows of a thread are sorted outer first, so a later launch is the inner one.
    const bool is_better = is_launch[host.name[row].value] >= is_launch[host.name[known].value];
    links.repeats.push_back({is_better ? std::exchange(known, row) : row});
  }
}

ColumnData<HostId> OperatorsAroundCalls(const Trace& trace, const OperatorRule& rule) {
  const HostEvents& host = trace.host();
  ColumnData<HostId> operators(trace.runtime_calls().size());
  OpenSpans open(host);
  for (const uint32_t row : EachRow(host.size())) {
    if (rule.IsOperator(trace, HostId{row})) {
      open.Open(HostId{row});
    } else if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail) {
      operators[host.detail[row]] = open.Around(HostId{row});
    }
  }
  return operators;
}

Correlation LinkLaunches(const Trace& trace, const CallLinks& calls, int threads) {
  constexpr size_t kRowsAtOnce = size_t{1} << 15;
  const size_t rows = trace.device().size();
  Correlation result;
  result.launch_of.resize(rows);
  result.op_of.resize(rows);
  result.rule.assign(rows, LinkRule::kNone);
  ParallelFor((rows + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](size_t piece) {
    const size_t begin = piece * kRowsAtOnce;
    LinkRows(trace, calls, begin, std::min(begin + kRowsAtOnce, rows), result);
  });
  return result;
}

void LinkOperators(const Trace& trace, Correlation& result) {
  LinkCaptured(trace, result);
  LinkExternalIds(trace, result);
}

void CollectDevices(const Trace& trace, Correlation& result) {
  const HostEvents& host = trace.host();
  result.device_begin.assign(trace.runtime_calls().size() + 1, 0);
  for (const HostId launch : result.launch_of) {
    if (launch.valid()) {
      ++result.device_begin[host.detail[launch.value] + 1];
    }
  }
  for (size_t i = 1; i < result.device_begin.size(); ++i) {
    result.device_begin[i] += result.device_begin[i - 1];
  }
  result.device_rows.resize(result.device_begin.back());
  ColumnData<uint32_t> next(result.device_begin.begin(), result.device_begin.end() - 1);
  for (const uint32_t row : EachRow(result.launch_of.size())) {
    if (result.launch_of[row].valid()) {
      result.device_rows[next[host.detail[result.launch_of[row].value]]++] = {row};
    }
  }
}

void CountLinkFaults(const Trace& trace, const OperatorRule& rule, const Correlation& result,
                     Diagnostics& diagnostics) {
  const DeviceEvents& device = trace.device();
  const InheritedWork inherited = FindInheritedWork(trace, result);
  for (const uint32_t row : EachRow(device.size())) {
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    const HostId launch = result.launch_of[row];
    const std::string_view name = trace.Name(DeviceId{row});
    if (result.rule[row] == LinkRule::kAmbiguous) {
      diagnostics.Count(Diag::kAmbiguousLaunch, Diagnostics::kNoByte, name);
    } else if (!launch.valid()) {
      const LaunchOrigin origin = inherited.OriginOf(DeviceId{row});
      if (origin != LaunchOrigin::kNotNeeded) {
        diagnostics.Count(
            origin == LaunchOrigin::kInherited ? Diag::kInheritedWork : Diag::kUnlinkedDeviceEvent,
            Diagnostics::kNoByte, name);
      }
    } else if (device.ts_ns[row] < trace.host().ts_ns[launch.value]) {
      diagnostics.Count(Diag::kDeviceBeforeLaunch, Diagnostics::kNoByte, name);
    }
    if (result.rule[row] == LinkRule::kLaunchOnly && !rule.has_none()) {
      diagnostics.Count(Diag::kUnlinkedOp, Diagnostics::kNoByte, name);
    }
  }
}

Correlation BuildCorrelation(const Trace& trace, const OperatorRule& rule,
                             Diagnostics& diagnostics) {
  CallLinks calls;
  MapLaunches(trace, calls, diagnostics);
  calls.operators = OperatorsAroundCalls(trace, rule);
  Correlation result = LinkLaunches(trace, calls, 1);
  SettleContestedLaunches(trace, calls, result, diagnostics);
  LinkOperators(trace, result);
  CollectDevices(trace, result);
  CountLinkFaults(trace, rule, result, diagnostics);
  return result;
}

}  // namespace borescope::internal
