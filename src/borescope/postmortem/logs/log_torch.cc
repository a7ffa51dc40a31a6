#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_pattern.h"
#include "borescope/postmortem/logs/log_scan.h"

namespace borescope::internal {
namespace {

const LogPattern kTimeoutLine{
    "(?:\\[PG (?:ID [0-9]+ PG GUID )?([^\\]]*?) Rank ([0-9]+)\\] *|\\[Rank ([0-9]+)\\] *)?"
    "Watchdog caught collective operation timeout: WorkNCCL\\((?:SeqNum=([0-9]+), )?"
    "OpType=(\\w+)(?:, NumelIn=([0-9]+), NumelOut=([0-9]+))?[^)]*?, Timeout\\(ms\\)=([0-9]+)\\) "
    "ran for ([0-9]+) milliseconds"};
const LogPattern kProgressLine{
    "\\[PG (?:ID [0-9]+ PG GUID )?([^\\]]*?) Rank ([0-9]+)\\].*"
    "ast enqueued (?:NCCL )?work: (-?[0-9]+), last completed (?:NCCL )?work: (-?[0-9]+)"};
const LogPattern kNeverJoined{
    "To our best knowledge, ranks \\[([0-9, ]+)\\] are the lagging ranks that caused"};
const LogPattern kNotFinished{
    "^\\s*(?:- )?\\[([0-9, ]+)\\] joined but didn't finish collective #([0-9]+)"};
const LogPattern kNotJoined{
    "^\\s*(?:- )?\\[([0-9, ]+)\\] finished collective #([0-9]+), but didn't join collective #"};
const LogPattern kCall{
    "Rank ([0-9]+) is running collective: CollectiveFingerPrint\\((?:SequenceNumber=([0-9]+),? ?)?"
    "OpType=(\\w+)(?:, TensorShape=\\[([0-9, ]*)\\])?"};
const LogPattern kSignalled{"due to a collective timeout from +rank ([0-9]+) "};
const LogPattern kBlamed{
    "Ranks? ([0-9]+(?:, [0-9]+)*) failed to pass monitoredBarrier in [0-9]+ ms"};
const LogPattern kWatchdogStuck{
    "Rank ([0-9]+)\\].*watchdog got stuck for ([0-9]+) seconds without making progress"};
const LogPattern kServerWatchdog{"Watchdog timeout \\(self\\.watchdog_timeout=([0-9]+)"};
const LogPattern kWatchdogEnded{
    "Rank ([0-9]+)\\].*watchdog thread terminated with exception: (CUDA error: [^\\n]+)"};
const LogPattern kNcclWarningLine{
    "(?:^|[ \\]])([\\w.-]+):([0-9]+):[0-9]+ \\[-?[0-9]+\\] .*NCCL WARN +(.*)"};

}  // namespace

bool IsConsequenceText(std::string_view text) {
  constexpr std::string_view kParts[] = {
      "Watchdog caught collective operation timeout",
      "Some NCCL operations have failed or timed out",
      "Connection closed by peer",
      "Connection reset by peer",
      "Connection was likely closed. Did the remote server shutdown or crash",
      "NCCL communicator was aborted",
      "ncclRemoteError",
      "NCCL remote error",
      "remote process exited or there was a network error",
      "successfully reached monitoredBarrier, but received errors",
      " timed out in monitoredBarrier after ",
      "Got Signal: 15",
      "got signal: 15",
      "failed to recv, got 0 bytes",
      "Detected mismatch between collectives on ranks",
      "ms for recv operation to complete",
      "ms for send operation to complete",
      "seconds waiting for clients.",
      "The client socket has timed out after",
      "DEADLINE_EXCEEDED: Barrier timed out",
      "Engine core initialization failed",
      "ray.exceptions.RayActorError",
      "ray.exceptions.ActorDiedError",
      "ray.exceptions.WorkerCrashedError",
      "Signals.SIGTERM",
      "terminated with signal SIGTERM"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return Contains(text, part); });
}

namespace {

// "2, 5".
std::vector<int32_t> ListedRanks(std::string_view rest) {
  std::vector<int32_t> ranks;
  while (!rest.empty()) {
    const std::string_view number = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(number.size() + 2, rest.size()));
    if (const auto rank = ParseNumber<int32_t>(number)) ranks.push_back(*rank);
  }
  return ranks;
}

}  // namespace

std::vector<int32_t> BlamedRanks(std::string_view text) {
  std::string list;
  return Finds(text, kBlamed, &list) ? ListedRanks(list) : std::vector<int32_t>();
}

std::vector<CallText> CallsOf(std::string_view text) {
  constexpr size_t kMost = 8;
  std::vector<CallText> calls;
  if (!Contains(text, "Detected mismatch between collectives")) {
    return calls;
  }
  re2::StringPiece rest(text.data(), text.size());
  CallText call;
  std::string seq;
  while (calls.size() < kMost &&
         RE2::FindAndConsume(&rest, *kCall, &call.rank, &seq, &call.operation, &call.shape)) {
    call.seq = ParseNumber<int64_t>(seq);
    calls.push_back(call);
  }
  return calls;
}

// The report of TORCH_NCCL_DESYNC_DEBUG=1, which every watchdog writes.
bool LogScanner::TakeDesync(const LogLine& line, int64_t number) {
  std::string list;
  int64_t seq = 0;
  LogEvent event = EventAt(LogKind::kProgress, line, number);
  if (Finds(line.text, kNeverJoined, &list)) {
    event.desync = DesyncKind::kNeverJoined;
    event.text = fmt::format("rank {} never joined any collective", list);
  } else if (Finds(line.text, kNotFinished, &list, &seq)) {
    event.desync = DesyncKind::kNotFinished;
    event.text = fmt::format("rank {} joined collective {} and did not finish it", list, seq);
  } else if (Finds(line.text, kNotJoined, &list, &seq)) {
    event.desync = DesyncKind::kNotJoined;
    event.text = fmt::format("rank {} finished collective {} and did not join the next", list, seq);
  } else {
    return false;
  }
  event.blamed = ListedRanks(list);
  if (event.blamed.size() != 1) event.text.replace(0, 4, "ranks");
  event.text = WithoutSecrets(event.text);
  Add(std::move(event));
  return true;
}

bool IsDeviceOutOfMemory(std::string_view text) {
  constexpr std::string_view kParts[] = {"CUDA error: out of memory",
                                         "HIP error: out of memory",
                                         "CUBLAS_STATUS_ALLOC_FAILED",
                                         "CUDNN_STATUS_ALLOC_FAILED",
                                         "Cuda failure 2 'out of memory'",
                                         "Cuda failure 'out of memory'",
                                         "RESOURCE_EXHAUSTED: Out of memory",
                                         "RESOURCE_EXHAUSTED: Error allocating device buffer",
                                         "RESOURCE_EXHAUSTED: Attempting to allocate",
                                         "Ran out of memory in memory space hbm"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return Contains(text, part); });
}

// What the watchdog of NCCL in PyTorch says about operations, and about the work of its rank.
bool LogScanner::TakeWatchdog(const LogLine& line, int64_t number) {
  std::string group;
  std::string of_group;
  std::string alone;
  std::string seq;
  std::string input;
  std::string output;
  int32_t rank = 0;
  // The rank of a prefix is that of the job, the watchdog's that of its group.
  const auto of_rank = [&](LogEvent event, std::optional<int32_t> said) {
    if (said.has_value() && line.basis != LogRankBasis::kRank) {
      event.rank = said;
      event.basis = LogRankBasis::kRank;
    }
    return event;
  };
  TimeoutText timeout;
  if (Finds(line.text, kTimeoutLine, &group, &of_group, &alone, &seq, &timeout.operation, &input,
            &output, &timeout.timeout_ms, &timeout.waited_ms)) {
    LogEvent event = of_rank(EventAt(LogKind::kTimeout, line, number),
                             ParseNumber<int32_t>(of_group.empty() ? alone : of_group));
    timeout.group = WithoutSecrets(group);
    timeout.seq = ParseNumber<int64_t>(seq);
    timeout.input_elements = ParseNumber<int64_t>(input);
    timeout.output_elements = ParseNumber<int64_t>(output);
    event.text = fmt::format("{}{} did not end within {} s", timeout.operation,
                             timeout.seq.has_value() ? fmt::format(" {}", *timeout.seq) : "",
                             static_cast<double>(timeout.timeout_ms) / 1000);
    event.timeout = std::move(timeout);
    Add(std::move(event));
    return true;
  }
  if (std::vector<CallText> calls = CallsOf(line.text); !calls.empty()) {
    LogEvent event = EventAt(LogKind::kException, line, number);
    event.text = WithoutSecrets(line.text);
    event.calls = std::move(calls);
    event.is_consequence = true;
    Add(std::move(event));
    return true;
  }
  if (TakeDesync(line, number)) {
    return true;
  }
  int64_t enqueued = 0;
  int64_t completed = 0;
  if (!Finds(line.text, kProgressLine, &group, &rank, &enqueued, &completed)) {
    return false;
  }
  LogEvent event = of_rank(EventAt(LogKind::kProgress, line, number), rank);
  timeout.group = WithoutSecrets(group);
  timeout.last_enqueued = enqueued;
  timeout.last_completed = completed;
  event.text =
      fmt::format("of {} it issued {} and completed {}", timeout.group, enqueued, completed);
  event.timeout = std::move(timeout);
  const std::optional<int32_t> teller = event.rank;
  Add(std::move(event));
  if (Finds(line.text, kSignalled, &rank)) {
    LogEvent other = EventAt(LogKind::kTimeout, line, number);
    other.rank = rank;
    other.pid.reset();
    other.basis = LogRankBasis::kRank;
    other.text = "a collective operation did not end in time";
    if (teller.has_value()) other.text += fmt::format(", as rank {} reports", *teller);
    Add(std::move(other));
  }
  return true;
}

bool LogScanner::TakeTorch(const LogLine& line, int64_t number) {
  std::string first;
  std::string second;
  int32_t rank = 0;
  int64_t value = 0;
  const auto of_rank = [&](LogEvent event) {
    event.rank = rank;
    event.basis = LogRankBasis::kRank;
    return event;
  };
  if (Finds(line.text, kServerWatchdog, &value)) {
    LogEvent event = EventAt(LogKind::kTimeout, line, number);
    event.text = fmt::format("a batch did not end within {} s", value);
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kWatchdogStuck, &rank, &value)) {
    LogEvent event = of_rank(EventAt(LogKind::kTimeout, line, number));
    event.text = fmt::format("it made no progress for {} s", value);
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kWatchdogEnded, &rank, &first)) {
    LogEvent event = of_rank(EventAt(LogKind::kException, line, number));
    event.text = WithoutSecrets(first);
    Add(std::move(event));
    return true;
  }
  if (const auto message = postmortem::ParseOomMessage(line.text)) {
    LogEvent event = EventAt(LogKind::kOutOfMemory, line, number);
    event.text = WithoutSecrets(line.text.substr(line.text.find("out of memory")));
    event.out_of_memory = message;
    AddException(LogStreamOf(line), std::move(event));
    return true;
  }
  if (Finds(line.text, kNcclWarningLine, &first, &value, &second)) {
    LogEvent event = EventAt(LogKind::kNcclWarning, line, number);
    event.host = first;
    event.pid = value;
    event.text = WithoutSecrets(second);
    Add(std::move(event));
    return true;
  }
  return false;
}

}  // namespace borescope::internal
