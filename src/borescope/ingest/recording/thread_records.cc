#include "borescope/ingest/recording/thread_records.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "borescope/ingest/recording/recording_trace.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

using recording::RecordType;

constexpr std::string_view kBefore = "a range that began before the recording";

}  // namespace

ThreadRecords::ThreadRecords(RecordingTrace& trace, const LogProcess& process, LogNames& names)
    : trace_(trace),
      torch_(trace),
      process_(process),
      names_(names),
      range_(trace.Category("range")),
      mark_(trace.Category("mark")),
      async_(trace.Category("async range")),
      python_(trace.Category("python")),
      operator_(trace.Category("operator")),
      call_(trace.Category("call")) {}

void ThreadRecords::BeginChunk(uint32_t tid) {
  thread_ = &threads_[tid];
  thread_->tid = tid;
}

// Made when the thread has an event: chunks of vendors' libraries have writers that have none.
TrackId ThreadRecords::Track() {
  if (!thread_->track.valid()) {
    thread_->track = trace_.Thread(process_, thread_->tid);
  }
  return thread_->track;
}

bool ThreadRecords::Add(const LogRecord& record) {
  switch (record.type()) {
    case RecordType::kPush:
      return Push(record), true;
    case RecordType::kPop:
      return Pop(record), true;
    case RecordType::kMark:
      return Mark(record), true;
    case RecordType::kRangeStart:
      return StartRange(record), true;
    case RecordType::kRangeEnd:
      return EndRange(record), true;
    case RecordType::kPythonCall:
      return EnterFrame(record), true;
    case RecordType::kPythonReturn:
      return LeaveFrame(record), true;
    case RecordType::kOperator:
      return AddOperator(record), true;
    case RecordType::kCall:
      return AddCall(record), true;
    default:
      return false;
  }
}

uint32_t ThreadRecords::AddHost(RecordTime time, StringId name, HostKind kind, TrackId track,
                                uint32_t detail) {
  return AddHostRow(trace_.data().host, {time.ts_ns, time.dur_ns, name, track, kind, detail});
}

// "NCCL:ncclAllReduce", as nsys stats writes it.
StringId ThreadRecords::InDomain(StringId name, uint32_t domain) {
  const StringId in = names_.DomainOf(domain);
  if (in == StringId{0}) {
    return name;
  }
  const StringPool& strings = trace_.data().strings;
  std::string text(strings.Get(in));
  const StringId full = trace_.part().Intern(text.append(":").append(strings.Get(name)));
  trace_.AddDomainOf(full, in);
  return full;
}

// The innermost range that is open in a domain of this thread.
TorchOperators::Around ThreadRecords::Around(uint32_t domain) const {
  const auto open = thread_->open.find(domain);
  if (open == thread_->open.end() || open->second.empty()) {
    return {};
  }
  const HostEvents& host = trace_.data().host;
  const uint32_t row = open->second.back();
  const bool is_op = host.kind[row] == HostKind::kOp;
  return {trace_.data().strings.Get(host.name[row]), is_op ? host.detail[row] : kNoDetail};
}

uint32_t ThreadRecords::AddTorchRange(const OperatorText& op, const LogRecord& record,
                                      TrackId track) {
  const RecordTime time{trace_.Time(record.body[0]), 0};
  const TorchOperators::Around around = Around(record.head.a);
  if (!TorchOperators::IsOperator(op, around.name)) {
    return AddHost(time, InDomain(trace_.Intern(op.name), record.head.a), HostKind::kAnnotation,
                   track, kNoDetail);
  }
  if (op.sizes.empty() && (record.head.flags & recording::kIsCut) != 0) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                               "the shapes of an operator with many inputs");
  }
  Ops& ops = trace_.data().ops;
  const uint32_t detail = AddMissingRow(ops);
  ops.sequence[detail] = op.sequence;
  torch_.Add(op, detail, time.ts_ns, thread_->tid, around);
  ops.input_dims[detail] = trace_.Intern(op.sizes);
  return AddHost(time, trace_.Intern(op.name), HostKind::kOp, track, detail);
}

// An operation, and around it the scope in which the program asked for it, which ends with it.
uint32_t ThreadRecords::AddXlaRange(const XlaText& xla, const LogRecord& record, TrackId track) {
  const RecordTime time{trace_.Time(record.body[0]), 0};
  if (xla.operation.empty()) {
    return AddHost(time, trace_.Intern(xla.annotation), HostKind::kAnnotation, track, kNoDetail);
  }
  const bool has_scope = !xla.scope.empty();
  const uint32_t scope =
      has_scope ? AddHost(time, trace_.Intern(xla.scope), HostKind::kAnnotation, track, kNoDetail)
                : 0;
  const uint32_t operation = AddHost(time, trace_.Intern(xla.operation), HostKind::kOp, track,
                                     AddMissingRow(trace_.data().ops));
  if (has_scope) {
    scopes_[operation] = scope;
  }
  return operation;
}

// Of zero length so far. Texts of PyTorch's NVTX observer and of XLA are operators, but only on a
// thread's stack.
uint32_t ThreadRecords::AddRange(const LogRecord& record, size_t text_word, TrackId track) {
  StringId registered{0};
  if ((record.head.flags & recording::kHasAttributes) != 0) {
    registered = names_.Text(record.As<recording::Attributes>(text_word).registered);
    text_word += sizeof(recording::Attributes) / sizeof(uint64_t);
  }
  const bool is_registered = registered != StringId{0};
  const std::string_view text =
      is_registered ? trace_.data().strings.Get(registered) : record.Text(text_word);
  const RecordTime time{trace_.Time(record.body[0]), 0};
  const std::optional<OperatorText> op =
      record.type() == RecordType::kPush ? ParseOperatorText(text) : std::nullopt;
  if (op.has_value()) {
    return AddTorchRange(*op, record, track);
  }
  const std::optional<XlaText> xla =
      record.type() == RecordType::kPush ? ParseXlaText(text) : std::nullopt;
  if (xla.has_value()) {
    return AddXlaRange(*xla, record, track);
  }
  if (text.empty()) {
    trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "a range");
  }
  const StringId name = is_registered ? registered : trace_.Intern(text);
  return AddHost(time, InDomain(name, record.head.a), HostKind::kAnnotation, track, kNoDetail);
}

void ThreadRecords::Push(const LogRecord& record) {
  thread_->open[record.head.a].push_back(AddRange(record, 1, Track()));
}

void ThreadRecords::End(uint32_t row, int64_t end_ns, StringId category) {
  HostEvents& host = trace_.data().host;
  if (end_ns < host.ts_ns[row]) {
    trace_.diagnostics().Count(Diag::kNegativeDuration, Diagnostics::kNoByte, "a range");
    end_ns = host.ts_ns[row];
  }
  host.dur_ns[row] = end_ns - host.ts_ns[row];
  if (!scopes_.empty()) {
    if (const auto scope = scopes_.find(row); scope != scopes_.end()) {
      host.dur_ns[scope->second] = host.dur_ns[row];
      scopes_.erase(scope);
    }
  }
  trace_.part().CountEvent('X', category, host.dur_ns[row]);
}

// Whether the thread is that of the parent which forked: of all threads, a child has this one.
bool ThreadRecords::IsCopied() const { return process_.is_fork && thread_->tid == process_.pid; }

void ThreadRecords::EndsUnknown(StringId category, bool in_parent) {
  trace_.Count('E', category);
  if (!in_parent) {
    trace_.diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, kBefore);
  }
}

void ThreadRecords::Pop(const LogRecord& record) {
  std::vector<uint32_t>& open = thread_->open[record.head.a];
  if (open.empty()) {
    EndsUnknown(range_, IsCopied());
    return;
  }
  End(open.back(), trace_.Time(record.body[0]), range_);
  open.pop_back();
}

void ThreadRecords::Mark(const LogRecord& record) {
  AddRange(record, 1, Track());
  trace_.Count('i', mark_);
}

void ThreadRecords::StartRange(const LogRecord& record) {
  const TrackId track = trace_.part().AsyncTrack(process_.pid, thread_->tid);
  const uint32_t row = AddRange(record, 2, track);
  const auto [place, is_new] = ranges_.try_emplace(record.body[1], row);
  if (!is_new) {
    trace_.diagnostics().Count(Diag::kDuplicateKey, Diagnostics::kNoByte, "the id of a range");
    EndOpen(std::exchange(place->second, row), async_);
  }
}

// The range may have begun on a thread whose chunk is read later: all ends wait for Finish.
void ThreadRecords::EndRange(const LogRecord& record) {
  ends_.push_back({record.body[1], trace_.Time(record.body[0])});
}

void ThreadRecords::EnterFrame(const LogRecord& record) {
  const uint32_t row = AddHost({trace_.Time(record.body[0]), 0}, names_.Frame(record.head.a),
                               HostKind::kPython, Track(), kNoDetail);
  thread_->frames.emplace_back(record.head.a, row);
}

// Frames above the one that returns have lost their return.
void ThreadRecords::LeaveFrame(const LogRecord& record) {
  constexpr size_t kMostLost = 64;
  auto& frames = thread_->frames;
  const auto end = frames.rbegin() + static_cast<ptrdiff_t>(std::min(frames.size(), kMostLost));
  const auto found = std::find_if(frames.rbegin(), end,
                                  [&](const auto& frame) { return frame.first == record.head.a; });
  if (found == end) {
    EndsUnknown(python_, IsCopied());
    return;
  }
  const size_t keep = static_cast<size_t>(frames.rend() - found) - 1;
  for (size_t frame = keep; frame < frames.size(); ++frame) {
    End(frames[frame].second, trace_.Time(record.body[0]), python_);
  }
  frames.resize(keep);
}

void ThreadRecords::AddOperator(const LogRecord& record) {
  RecordTime time;
  if (!trace_.Span(operator_, record.body[0], record.body[1], time)) {
    return;
  }
  const bool has_thread = (record.head.flags & recording::kHasThread) != 0;
  const bool is_range = (record.head.flags & recording::kIsRange) != 0;
  AddHost(time, names_.Text(record.head.a), is_range ? HostKind::kAnnotation : HostKind::kOp,
          has_thread ? trace_.Thread(process_, LowHalf(record.body[5])) : Track(),
          is_range ? kNoDetail : AddOperatorDetail(record, has_thread ? 6 : 5));
}

// `inputs` is the word at which they begin.
uint32_t ThreadRecords::AddOperatorDetail(const LogRecord& record, size_t inputs) {
  constexpr int64_t kNone = -1;
  Ops& ops = trace_.data().ops;
  const uint32_t detail = AddMissingRow(ops);
  const auto sequence = static_cast<int64_t>(record.body[2]);
  ops.sequence[detail] = sequence == kNone ? kMissing : sequence;
  ops.forward_thread[detail] =
      record.body[3] == 0 ? kMissing : static_cast<int64_t>(record.body[3]);
  ops.record_function_id[detail] =
      record.body[4] == 0 ? kMissing : static_cast<int64_t>(record.body[4]);
  AddOperatorInputs(trace_, record.Text(inputs), detail);
  return detail;
}

void ThreadRecords::AddCall(const LogRecord& record) {
  RecordTime time;
  if (!trace_.Span(call_, record.body[0], record.body[1], time)) {
    return;
  }
  const auto domain = static_cast<recording::ApiDomain>(HighHalf(record.body[2]));
  const uint32_t thread = record.body.size() > 4 ? names_.ThreadOf(record.body[4]) : 0;
  RuntimeCalls& calls = trace_.data().runtime_calls;
  const uint32_t detail = AddMissingRow(calls);
  calls.correlation[detail] = process_.Correlation(record.head.a);
  calls.external_id[detail] = names_.ExternalOf(record.head.a);
  calls.domain[detail] = trace_.DomainName(domain);
  calls.args[detail] = names_.ArgumentsOf(record.head.a);
  trace_.SawVendor(domain <= recording::ApiDomain::kDriver ? Vendor::kNvidia : Vendor::kAmd);
  AddHost(time, trace_.CallName(domain, LowHalf(record.body[2])), HostKind::kRuntime,
          thread == 0 ? Track() : trace_.Thread(process_, thread), detail);
}

void ThreadRecords::EndOpen(uint32_t row, StringId category) {
  trace_.diagnostics().Count(Diag::kOpenRange, Diagnostics::kNoByte,
                             trace_.data().strings.Get(trace_.data().host.name[row]));
  trace_.NoteOpen(trace_.data().host.ts_ns[row]);
  End(row, std::max(names_.last_ns(), trace_.data().host.ts_ns[row]), category);
}

void ThreadRecords::EndRanges() {
  for (const RangeEnd& end : ends_) {
    const auto found = ranges_.find(end.id);
    if (found == ranges_.end()) {
      EndsUnknown(async_, process_.is_fork);
      continue;
    }
    End(found->second, end.ns, async_);
    ranges_.erase(found);
  }
}

void ThreadRecords::Finish() {
  EndRanges();
  torch_.Finish();
  std::vector<std::pair<uint32_t, StringId>> open;
  // In any order: they are put in that of their rows.
  for (const auto& [id, row] : ranges_.InAnyOrder()) {
    open.emplace_back(row, async_);
  }
  for (const auto& [tid, thread] : threads_.InAnyOrder()) {
    for (const auto& [domain, rows] : thread.open.InAnyOrder()) {
      std::transform(rows.begin(), rows.end(), std::back_inserter(open),
                     [&](uint32_t row) { return std::pair(row, range_); });
    }
    for (const auto& [code, row] : thread.frames) {
      open.emplace_back(row, python_);
    }
  }
  std::sort(open.begin(), open.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [row, category] : open) {
    EndOpen(row, category);
  }
}

}  // namespace borescope::internal
