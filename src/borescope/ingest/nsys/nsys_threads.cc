#include "borescope/ingest/nsys/nsys_threads.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

namespace {

enum LinkColumn : uint8_t { kChain, kSymbol, kModule, kUnresolved, kDepth };
constexpr std::string_view kLinkColumns[] = {"id", "symbol", "module", "unresolved", "stackDepth"};

// "libcuda.so.525" of "/usr/lib/libcuda.so.525".
std::string_view LastPart(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<FrameOfChain> NsysStacks::Read(const DatabaseInput& input, std::string_view table) {
  BS_ASSIGN(TableRows rows, TableRows::Open(input, table, kLinkColumns, part_.data.diagnostics));
  std::vector<Link> links;
  BS_TRY(rows.ForEach(
      [&] { links.push_back({rows.Integer(kChain), rows.Integer(kDepth, 0), FrameName(rows)}); }));
  return AddFrames(links);
}

// Addresses differ from call to call: what has no symbol is named by its module.
StringId NsysStacks::FrameName(TableRows& row) {
  const StringId symbol = strings_.Find(row.Integer(kSymbol));
  const std::string_view text = symbol.valid() ? part_.data.strings.Get(symbol) : "";
  if (!text.empty() && !text.starts_with("0x") && row.Integer(kUnresolved, 0) == 0) {
    return symbol;
  }
  const StringId module = strings_.Find(row.Integer(kModule));
  const auto [place, is_new] =
      unresolved_.try_emplace(module.valid() ? module.value : kNoDetail, StringId());
  if (is_new) {
    const std::string name(module.valid() ? LastPart(part_.data.strings.Get(module)) : "unknown");
    place->second = part_.Intern(name.starts_with("[") ? name : "[" + name + "]");
  }
  return place->second;
}

uint32_t NsysStacks::FrameBelow(uint32_t parent, StringId name) {
  StackFrames& frames = part_.data.stack_frames;
  const uint64_t key = uint64_t{parent} << 32 | name.value;
  const auto [place, is_new] = frames_.try_emplace(key, static_cast<uint32_t>(frames.size()));
  if (is_new) {
    frames.name.push_back(name);
    frames.parent.push_back(parent);
  }
  return place->second;
}

FrameOfChain NsysStacks::AddFrames(std::vector<Link>& links) {
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tuple(a.chain, b.depth) < std::tuple(b.chain, a.depth);  // outermost first
  });
  FrameOfChain innermost;
  for (const size_t i : EachIndex(links.size())) {
    const bool is_outermost = i == 0 || links[i].chain != links[i - 1].chain;
    uint32_t& frame = innermost[links[i].chain];
    frame = FrameBelow(is_outermost ? kNoDetail : frame, links[i].name);
  }
  return innermost;
}

namespace {

// So many calls show how chains are counted.
constexpr size_t kCallsLookedAt = 10'000;

constexpr std::string_view kCudaTable = "CUDA_CALLCHAINS";
constexpr std::string_view kSystemTable = "OSRT_CALLCHAINS";

}  // namespace

void NsysCallStacks::AddOfCuda(uint32_t call, StringId name, int64_t chain) {
  if (chain != kMissing) {
    cuda_.push_back({call, name, chain});
  }
}

void NsysCallStacks::AddOfSystem(uint32_t call, StringId name, int64_t chain) {
  if (chain != kMissing) {
    system_.push_back({call, name, chain});
  }
}

Result<void> NsysCallStacks::Read(const DatabaseInput& input, NsysStacks& stacks) {
  BS_ASSIGN(const FrameOfChain of_cuda, stacks.Read(input, kCudaTable));
  AddStacks(cuda_, of_cuda);
  BS_ASSIGN(const FrameOfChain of_system, stacks.Read(input, kSystemTable));
  AddStacks(system_, of_system);
  return {};
}

void NsysCallStacks::AddStacks(std::vector<CallChain>& calls, const FrameOfChain& frames) {
  const int64_t offset = OffsetOf(calls, frames);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallChain& a, const CallChain& b) { return a.call < b.call; });
  CallStacks& stacks = part_.data.call_stacks;
  for (const size_t i : EachIndex(calls.size())) {
    const auto frame = frames.find(AddSaturating(calls[i].chain, offset));
    const bool is_new = stacks.size() == 0 || stacks.call.back() != calls[i].call;
    if (frame != frames.end() && is_new) {
      stacks.call.push_back(calls[i].call);
      stacks.frame.push_back(frame->second);
    }
  }
}

bool NsysCallStacks::IsNamedIn(uint32_t frame, StringId name) const {
  const StackFrames& rows = part_.data.stack_frames;
  for (; frame != kNoDetail; frame = rows.parent[frame]) {
    if (Contains(part_.data.strings.Get(rows.name[frame]), part_.data.strings.Get(name))) {
      return true;
    }
  }
  return false;
}

// Whether 0 is a chain is the question, so that calls with it have no say.
size_t NsysCallStacks::CallsInTheirChain(const std::vector<CallChain>& calls,
                                         const FrameOfChain& frames, int64_t offset) const {
  const auto end = calls.begin() + static_cast<ptrdiff_t>(std::min(calls.size(), kCallsLookedAt));
  return static_cast<size_t>(std::count_if(calls.begin(), end, [&](const CallChain& call) {
    const auto frame = frames.find(AddSaturating(call.chain, offset));
    return call.chain != 0 && frame != frames.end() && IsNamedIn(frame->second, call.name);
  }));
}

// Releases of 2022 count chains from 0 where calls refer to them, and from 1 in their own table;
// others from 1 in both, and 0 means none. The frames of a chain name the call. Where no names are
// known, the largest numbers decide.
int64_t NsysCallStacks::OffsetOf(const std::vector<CallChain>& calls,
                                 const FrameOfChain& frames) const {
  const bool has_zero = std::any_of(calls.begin(), calls.end(),
                                    [](const CallChain& call) { return call.chain == 0; });
  if (!has_zero || frames.contains(0)) {
    return 0;
  }
  const size_t as_recorded = CallsInTheirChain(calls, frames, 0);
  const size_t moved = CallsInTheirChain(calls, frames, 1);
  if (as_recorded != moved) {
    return moved > as_recorded ? 1 : 0;
  }
  int64_t last_used = 0;
  int64_t last = 0;
  for (const CallChain& call : calls) {
    last_used = std::max(last_used, call.chain);
  }
  for (const auto& [chain, frame] : frames.InAnyOrder()) {
    last = std::max(last, chain);
  }
  return last_used < last ? 1 : 0;
}

namespace {

constexpr int64_t kLatest = int64_t{1} << 61;

int64_t Clamped(int64_t ns) { return std::clamp(ns, -kLatest, kLatest); }

}  // namespace

NsysThreads::NsysThreads(NsysStacks& stacks, CuptiTrace& trace) : stacks_(stacks), trace_(trace) {
  const Tracks& tracks = trace.part().data.tracks;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost) {
      processes_.insert(tracks.pid[track]);
    }
  }
}

Result<void> NsysThreads::Read(const DatabaseInput& input) {
  BS_TRY(ReadSchedule(input));
  BS_ASSIGN(const FrameOfChain frames, stacks_.Read(input, kChainTable));
  return ReadSamples(input, frames);
}

Result<void> NsysThreads::ReadSchedule(const DatabaseInput& input) {
  constexpr std::string_view kColumns[] = {"start", "isSchedIn", "globalTid"};
  TracePart& part = trace_.part();
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kScheduleTable, kColumns, trace_.diagnostics()));
  const StringId category = part.Intern(kScheduleTable);
  std::vector<Switch> switches;
  BS_TRY(rows.ForEach([&] {
    part.CountEvent('i', category, 0);
    const int64_t start = rows.Integer(0);
    const int64_t thread = rows.Integer(2);
    if (start == kMissing) {
      trace_.diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, kScheduleTable);
      return;
    }
    const TrackId track = thread == kMissing
                              ? TrackId()
                              : part.FindTrack(TrackKind::kHost, CuptiTrace::ProcessOf(thread),
                                               CuptiTrace::ThreadOf(thread), kMissing, false);
    if (track.valid()) {
      switches.push_back({track, Clamped(start), rows.Integer(1, 0) != 0});
    }
  }));
  AddPauses(switches);
  return {};
}

// From where a thread loses its processor to where it gets one. Before the first and after the last
// switch nothing is known: the thread may not have begun yet, or have ended.
void NsysThreads::AddPauses(std::vector<Switch>& switches) {
  std::stable_sort(switches.begin(), switches.end(), [](const Switch& a, const Switch& b) {
    return std::tuple(a.track.value, a.ts_ns) < std::tuple(b.track.value, b.ts_ns);
  });
  Pauses& pauses = trace_.part().data.pauses;
  const Switch* off = nullptr;
  for (const size_t i : EachIndex(switches.size())) {
    const Switch& one = switches[i];
    if (off != nullptr && (off->track != one.track || one.is_on)) {
      if (off->track == one.track && one.ts_ns > off->ts_ns) {
        pauses.ts_ns.push_back(off->ts_ns);
        pauses.end_ns.push_back(one.ts_ns);
        pauses.track.push_back(one.track);
      }
      off = nullptr;
    }
    if (!one.is_on && off == nullptr) {
      off = &one;
    }
  }
}

Result<void> NsysThreads::ReadSamples(const DatabaseInput& input, const FrameOfChain& frames) {
  constexpr std::string_view kColumns[] = {"id", "start", "globalTid"};
  TracePart& part = trace_.part();
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kSampleTable, kColumns, trace_.diagnostics()));
  const StringId category = part.Intern(kSampleTable);
  return rows.ForEach([&] {
    part.CountEvent('i', category, 0);
    const int64_t start = rows.Integer(1);
    const int64_t thread = rows.Integer(2);
    if (start == kMissing) {
      trace_.diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, kSampleTable);
    } else if (IsWatched(thread)) {
      const auto frame = frames.find(rows.Integer(0));
      part.data.stack_samples.ts_ns.push_back(Clamped(start));
      part.data.stack_samples.track.push_back(trace_.Thread(thread));
      part.data.stack_samples.frame.push_back(frame == frames.end() ? kNoDetail : frame->second);
    }
  });
}

namespace {

constexpr std::string_view kTable = "NVTX_EVENTS";

enum Column : uint8_t { kStart, kEnd, kType, kText, kTextId, kThread, kDomain };
constexpr std::string_view kColumns[] = {"start",  "end",       "eventType", "text",
                                         "textId", "globalTid", "domainId"};

// ENUM_NSYS_EVENT_TYPE; the ranges from 70 were imported from NVTXT files.
enum Type : int64_t {
  kMark = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kImportedPushPop = 70,
  kImportedStartEnd = 71,
  kDomainCreate = 75,
};

bool IsPushPop(int64_t type) { return type == kPushPop || type == kImportedPushPop; }
// May overlap others and end on another thread.
bool IsStartEnd(int64_t type) { return type == kStartEnd || type == kImportedStartEnd; }

}  // namespace

Result<void> NsysRanges::Read(const DatabaseInput& input) {
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kTable, kColumns, trace_.diagnostics()));
  trace_.BeginTable(kTable);
  BS_TRY(rows.ForEach([&] { Add(rows); }));
  NameDomains();
  return {};
}

// Registered texts are recorded once and referred to by number.
std::string_view NsysRanges::TextOf(TableRows& row) {
  const std::string_view text = row.Text(kText);
  if (!text.empty()) {
    return text;
  }
  return trace_.part().data.strings.Get(strings_.Find(row.Integer(kTextId)));
}

void NsysRanges::Add(TableRows& row) {
  // The first exporters had no types: a row with an end was a range.
  int64_t type = row.Integer(kType);
  if (type == kMissing) {
    type = row.Integer(kEnd) == kMissing ? kMark : kPushPop;
  }
  TracePart& part = trace_.part();
  const std::string_view text = TextOf(row);
  if (IsPushPop(type) || IsStartEnd(type)) {
    AddRange(row, text, IsStartEnd(type));
    return;
  }
  const int64_t thread = row.Integer(kThread);
  const int64_t process = CuptiTrace::ProcessOf(thread);
  if (type == kDomainCreate) {
    domains_[{process, row.Integer(kDomain)}] = part.Intern(text);
  } else if (type == kThreadName && thread != kMissing) {
    part.thread_names.push_back({process, CuptiTrace::ThreadOf(thread), part.Intern(text)});
  }
  part.CountEvent(type == kMark ? 'i' : 'M', part.Intern(kTable), 0);
}

void NsysRanges::AddRange(TableRows& row, std::string_view text, bool is_async) {
  ActivityTime time;
  if (!trace_.Time(row.Integer(kStart), row.Integer(kEnd), time)) {
    return;
  }
  if (text.empty()) {
    trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "an NVTX range");
  }
  TracePart& part = trace_.part();
  const int64_t thread = row.Integer(kThread);
  const int64_t process = CuptiTrace::ProcessOf(thread);
  const TrackId track =
      is_async ? trace_.AsyncThread(process, CuptiTrace::ThreadOf(thread)) : trace_.Thread(thread);
  const std::optional<OperatorText> op = is_async ? std::nullopt : ParseOperatorText(text);
  if (op.has_value()) {
    trace_.AddHost(time, HostKind::kOp, part.Intern(op->name), track, AddOperator(part, *op));
    return;
  }
  if (const auto xla = is_async ? std::nullopt : ParseXlaText(text)) {
    AddXla(time, *xla, track);
    return;
  }
  const uint32_t host = trace_.AddHost(time, HostKind::kAnnotation, part.Intern(text), track);
  const int64_t domain = row.Integer(kDomain);
  if (domain != kMissing && domain != 0) {
    in_domain_.emplace_back(host, DomainKey{process, domain});
  }
}

// A scope is around its operation.
void NsysRanges::AddXla(ActivityTime time, const XlaText& xla, TrackId track) {
  TracePart& part = trace_.part();
  for (const std::string_view range : {std::string_view(xla.annotation), xla.scope}) {
    if (!range.empty()) {
      trace_.AddHost(time, HostKind::kAnnotation, part.Intern(range), track);
    }
  }
  if (!xla.operation.empty()) {
    trace_.AddHost(time, HostKind::kOp, part.Intern(xla.operation), track, AddOperator(part, {}));
  }
}

// "NCCL:ncclAllReduce", as nsys stats writes it.
void NsysRanges::NameDomains() {
  TracePart& part = trace_.part();
  for (const auto& [host, key] : in_domain_) {
    const auto domain = domains_.find(key);
    if (domain == domains_.end() || part.data.strings.Get(domain->second).empty()) {
      continue;
    }
    StringId& name = part.data.host.name[host];
    std::string text(part.data.strings.Get(domain->second));
    text.append(":").append(part.data.strings.Get(name));
    name = part.Intern(text);
    trace_.AddDomainOf(name, domain->second);
  }
}

}  // namespace borescope::internal
