#include "borescope/ingest/nvprof/nvprof_markers.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "borescope/ingest/cupti/nvtx_text.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MARKER";

enum Column : uint8_t { kFlags, kTimestamp, kId, kObjectKind, kObject, kName, kDomain };
constexpr std::string_view kColumns[] = {"flags",    "timestamp", "id",    "objectKind",
                                         "objectId", "name",      "domain"};

// CUpti_ActivityFlag.
constexpr int64_t kInstant = 1;
constexpr int64_t kStartFlag = 2;
constexpr int64_t kEndFlag = 4;

// The process as 4 bytes, then the thread as 8, of which the upper half repeats the sign.
constexpr size_t kObjectBytes = 12;
// CUpti_ActivityObjectKind: what `objectId` names.
constexpr int64_t kProcessObject = 1;

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

Result<void> NvprofMarkers::Read(const DatabaseInput& input) {
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kTable, kColumns, trace_.diagnostics()));
  trace_.BeginTable(kTable);
  BS_TRY(rows.ForEach([&] { Add(rows); }));
  AddOpenRanges();
  return {};
}

void NvprofMarkers::Add(TableRows& row) {
  const int64_t flags = row.Integer(kFlags);
  if (flags == kMissing || (flags & (kStartFlag | kEndFlag)) == 0) {
    trace_.part().CountEvent((flags & kInstant) != 0 && flags != kMissing ? 'i' : '?',
                             trace_.part().Intern(kTable), 0);
    return;
  }
  const int64_t time_ns = row.Integer(kTimestamp);
  Range& range = open_[row.Integer(kId)];
  if ((flags & kStartFlag) != 0) {
    if (range.start.ts_ns != kMissing) {
      AddRange({range.start});  // its number is used again: it never ended
    }
    range.start = {time_ns, row.Integer(kName), row.Integer(kDomain), OwnerOf(row)};
  } else {
    range.end_ns = time_ns;
    range.end_owner = OwnerOf(row);
  }
  if (range.start.ts_ns != kMissing && range.end_ns != kMissing) {
    AddRange(range);
    open_.erase(row.Integer(kId));
  }
}

NvprofMarkers::Owner NvprofMarkers::OwnerOf(TableRows& row) {
  const std::string_view object = row.Blob(kObject);
  if (object.size() < kObjectBytes) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte, "MARKER.objectId");
    return {};
  }
  const auto process = static_cast<int64_t>(LittleEndian(object.substr(0, 4)));
  const auto thread = static_cast<int64_t>(LittleEndian(object.substr(4, 4)));
  const bool is_process = row.Integer(kObjectKind) == kProcessObject;
  return {process, is_process ? kMissing : thread, is_process};
}

// A range that belongs to a process, or ends on another thread than it began, is not push/pop.
TrackId NvprofMarkers::TrackOf(const Range& range) {
  const Owner& owner = range.start.owner;
  const bool is_async = owner.is_process || (range.end_ns != kMissing && owner != range.end_owner);
  return is_async ? trace_.AsyncThread(owner.process, owner.thread)
                  : trace_.Thread(owner.process, owner.thread);
}

void NvprofMarkers::AddRange(const Range& range) {
  const Start& start = range.start;
  ActivityTime time;
  if (!trace_.Time(start.ts_ns, range.end_ns, time)) {
    return;
  }
  TracePart& part = trace_.part();
  const StringId name = strings_.Find(start.name);
  if (!name.valid()) {
    trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "a marker");
  }
  std::string text(part.data.strings.Get(name));
  const TrackId track = TrackOf(range);
  if (const std::optional<OperatorText> op = ParseOperatorText(text)) {
    trace_.AddHost(time, HostKind::kOp, part.Intern(op->name), track, AddOperator(part, *op));
    return;
  }
  const StringId domain = start.domain == 0 ? StringId{} : strings_.Find(start.domain);
  const bool has_domain = !part.data.strings.Get(domain).empty();
  if (has_domain) {
    text.insert(0, std::string(part.data.strings.Get(domain)) + ":");
  }
  const StringId full_name = part.Intern(text);
  if (has_domain) {
    trace_.AddDomainOf(full_name, domain);
  }
  trace_.AddHost(time, HostKind::kAnnotation, full_name, track);
}

// Ranges cut by the recording: without an end, or without a start.
void NvprofMarkers::AddOpenRanges() {
  std::vector<Range> open;
  open.reserve(open_.size());
  for (const auto& [number, range] : open_.InAnyOrder()) {  // put in order below
    open.push_back(range);
  }
  std::sort(open.begin(), open.end(), [](const Range& a, const Range& b) {
    return std::tie(a.start.ts_ns, a.start.name, a.start.domain, a.start.owner, a.end_ns,
                    a.end_owner) < std::tie(b.start.ts_ns, b.start.name, b.start.domain,
                                            b.start.owner, b.end_ns, b.end_owner);
  });
  for (const Range& range : open) {
    AddRange(range);
  }
}

}  // namespace borescope::internal
