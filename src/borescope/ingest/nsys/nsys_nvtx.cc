#include "borescope/ingest/nsys/nsys_nvtx.h"

#include "borescope/trace/columns.h"

namespace borescope::internal {
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
