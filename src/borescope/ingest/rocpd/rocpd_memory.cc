// Allocations and frees of a rocpd database. A free has an address, but no size and mostly no
// device: both are those of the allocation at its address.
#include <algorithm>
#include <map>
#include <tuple>

#include "borescope/base/sort_runs.h"
#include "borescope/ingest/rocpd/rocpd_tables.h"

namespace borescope::internal {
namespace {

enum Column : uint8_t { kProcess, kThread, kAgent, kType, kLevel, kStart, kEnd, kAddress, kBytes };
constexpr std::string_view kColumns[] = {"pid",   "tid", "agent_id", "type", "level",
                                         "start", "end", "address",  "size"};

// Numbers of PyTorch's device types.
constexpr int32_t kCpuType = 0;
constexpr int32_t kHipType = 6;
// More than any machine has, and small enough to add up.
constexpr int64_t kMostBytes = int64_t{1} << 61;

enum class Operation : uint8_t { kAllocate, kFree, kReallocate };

std::optional<Operation> OperationOf(std::string_view type) {
  if (type == "ALLOC") {
    return Operation::kAllocate;
  }
  if (type == "REALLOC") {
    return Operation::kReallocate;
  }
  const bool is_free = type == "FREE" || type == "RECLAIM" || type == "ASYNC_RECLAIM";
  return is_free ? std::optional(Operation::kFree) : std::nullopt;
}

// Process, address, and the agent of scratch memory, whose address is not recorded (0).
using Place = std::tuple<int64_t, int64_t, int64_t>;

struct Row {
  int64_t ts_ns;
  Place place;
  int64_t bytes;  // kMissing: not recorded
  Operation operation;
  TrackId track;
  int32_t device_type;
  int32_t device;

  int64_t address() const { return std::get<1>(place); }
};

struct Allocation {
  int64_t bytes;
  int32_t device_type;
  int32_t device;
};

class MemoryReader {
 public:
  explicit MemoryReader(RocpdTables& tables) : tables_(tables), table_("memory_allocate") {}

  void Add(const TableRows& rows);
  // Sorted by time.
  void Finish();

 private:
  void SetDevice(int64_t agent, Row& row);
  void Allocate(const Row& row);
  void Free(Row row);
  void Push(const Row& row, int64_t bytes);

  RocpdTables& tables_;
  std::string_view table_;
  std::vector<Row> rows_;
  std::map<Place, Allocation> live_;
};

void MemoryReader::SetDevice(int64_t agent, Row& row) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const uint32_t at = tables_.AgentOf(agent);
  const bool is_gpu = at != RowIds::kNone && tables_.agents.is_gpu[at] != 0;
  row.device_type = at == RowIds::kNone ? -1 : is_gpu ? kHipType : kCpuType;
  const int64_t device = is_gpu ? tables_.agents.device[at] : -1;
  row.device = device < 0 || device > kMost ? -1 : static_cast<int32_t>(device);
}

// Addresses that were only reserved are not memory.
void MemoryReader::Add(const TableRows& rows) {
  if (rows.Text(kLevel) == "VIRTUAL") {
    tables_.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte, "reserved addresses");
    return;
  }
  const std::optional<Operation> operation = OperationOf(rows.Text(kType));
  const RowTime time = rows.Time(kStart, kEnd, table_);
  tables_.part.CountEvent('X', tables_.part.Intern("MEMORY_ALLOCATION"), time.dur_ns);
  const int64_t bytes = rows.Integer(kBytes);
  const bool is_sized = bytes != kMissing && bytes >= 0 && bytes <= kMostBytes;
  if (!operation.has_value() || (*operation != Operation::kFree && !is_sized)) {
    tables_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte, tables_.Name(table_));
    return;
  }
  if (time.has_start) {
    const int64_t process = rows.Integer(kProcess);
    const int64_t agent = rows.Integer(kAgent);
    const bool is_scratch = rows.Text(kLevel) == "SCRATCH";
    Row row{time.ts_ns,
            {process, rows.Integer(kAddress), is_scratch ? agent : kMissing},
            is_sized && bytes > 0 ? bytes : kMissing,
            *operation,
            {},
            -1,
            -1};
    row.track = tables_.ThreadOf(process, rows.Integer(kThread));
    SetDevice(agent, row);
    rows_.push_back(row);
  }
}

void MemoryReader::Push(const Row& row, int64_t bytes) {
  MemoryEvents& memory = tables_.part.data.memory;
  memory.ts_ns.push_back(row.ts_ns);
  memory.track.push_back(row.track);
  memory.device_type.push_back(row.device_type);
  memory.device.push_back(row.device);
  memory.address.push_back(static_cast<uint64_t>(row.address()));
  memory.bytes.push_back(bytes);
  memory.category.push_back(MemoryCategory::kNone);
  memory.total_allocated.push_back(kMissing);
  memory.total_reserved.push_back(kMissing);
}

void MemoryReader::Allocate(const Row& row) {
  const int64_t bytes = row.bytes == kMissing ? 0 : row.bytes;
  live_[row.place] = {bytes, row.device_type, row.device};
  Push(row, bytes);
}

void MemoryReader::Free(Row row) {
  const auto live = live_.find(row.place);
  if (live != live_.end()) {
    row.bytes = live->second.bytes;
    row.device_type = live->second.device_type;
    row.device = live->second.device;
    live_.erase(live);
  }
  if (row.bytes == kMissing) {
    tables_.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                                "a free of memory whose allocation was not recorded");
    return;
  }
  Push(row, -row.bytes);
}

void MemoryReader::Finish() {
  SortRuns(std::span(rows_), [](const Row& a, const Row& b) { return a.ts_ns < b.ts_ns; });
  for (const Row& row : rows_) {
    const bool is_taken = row.operation != Operation::kFree && live_.contains(row.place);
    if (is_taken && row.operation == Operation::kAllocate) {
      tables_.diagnostics().Count(Diag::kDuplicateKey, Diagnostics::kNoByte,
                                  "an allocation where memory is still allocated");
    }
    if (row.operation == Operation::kFree || is_taken) {
      Free(row);
    }
    if (row.operation != Operation::kFree) {
      Allocate(row);
    }
  }
}

}  // namespace

Result<void> ReadRocpdMemory(RocpdTables& tables) {
  MemoryReader reader(tables);
  BS_TRY(tables.ForEach("memory_allocate", kColumns,
                        [&](const TableRows& rows) { reader.Add(rows); }));
  reader.Finish();
  return {};
}

}  // namespace borescope::internal
