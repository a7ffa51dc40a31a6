// Converts what the activity tables of Nsight Systems and nvprof have in common to a trace: rows of
// device work and of host calls, with repaired times and unique correlations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/text_table.h"
#include "borescope/trace/tables.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Of which device the contexts and streams of CUDA's processes are, as far as rows with device work
// and tables of contexts show it.

// Rows of waits carry device 0 whatever their device is, but the right context: a context belongs
// to one device. Numbers of contexts and streams count per process. Not thread-safe.
class ContextDevices {
 public:
  // What names the device of a context, the surest first: a surer one overrules others.
  enum class Source : uint8_t { kWork, kCopy, kContextTable };

  struct Place {
    int64_t process = kMissing;
    int64_t context = kMissing;
    int64_t stream = kMissing;
  };

  // Device -1 and kMissing are none.
  void Learn(const Place& place, int64_t device, Source source);
  // The device of a context, else that of a stream of that number, if all its work is of one
  // device; else `recorded`.
  int64_t Find(const Place& place, int64_t recorded) const;

 private:
  struct Known {
    int64_t device = kMissing;
    Source source = Source::kContextTable;
    bool is_disputed = false;  // equally sure rows name several devices
  };
  using Numbers = HashMap<std::pair<int64_t, int64_t>, Known>;  // by process and number

  static void Note(Numbers& numbers, std::pair<int64_t, int64_t> key, int64_t device,
                   Source source);

  Numbers contexts_;
  Numbers streams_;
  std::tuple<int64_t, int64_t, int64_t, int64_t, Source> last_{};  // learnt last
};

// Names of events and unknown tables in the databases of NVIDIA's profilers.

// Names of events: strings of the database as displayed, each translated once.
class EventNames {
 public:
  using Translate = std::string (*)(std::string_view recorded);

  EventNames(TextTable& strings, TracePart& part, Translate translate)
      : strings_(strings), part_(part), translate_(translate) {}

  // Empty, and counted, if the number is missing or no string has it.
  StringId Get(int64_t number);

 private:
  TextTable& strings_;
  TracePart& part_;
  Translate translate_;
  std::vector<StringId> names_;  // by the recorded one
};

// Counts the rows of every table of events (one with times) that is not among `known`, so that
// nothing recorded is dropped silently.
Result<void> CountOtherTables(const DatabaseInput& input, std::span<const std::string_view> known,
                              TracePart& part);

// The first columns of every table of device work.
enum WorkColumn : uint8_t {
  kWorkStart,
  kWorkEnd,
  kWorkDevice,
  kWorkStream,
  kWorkCorrelation,
  kWorkProcess,
  kWorkContext,
  kWorkColumns
};
#define BS_WORK_COLUMNS \
  "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "contextId"

// The columns after them in a table of waits.
enum SyncColumn : uint8_t {
  kSyncType = kWorkColumns,
  kSyncTypeOfNvprof,
  kSyncEvent,
  kSyncEventRecord
};

// The same in a table of kernels.
enum KernelColumn : uint8_t {
  kKernelGridX = kWorkColumns,
  kKernelGridY,
  kKernelGridZ,
  kKernelBlockX,
  kKernelBlockY,
  kKernelBlockZ,
  kKernelRegisters,
  kKernelStaticShared,
  kKernelDynamicShared,
  kKernelLocal,
  kKernelGraphNode,
  kKernelColumns
};
#define BS_KERNEL_COLUMNS                                                                         \
  BS_WORK_COLUMNS, "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", \
      "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "graphNodeId"

// A start and a duration, limited so that no sum of two can overflow.
struct ActivityTime {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
};

class CuptiTrace {
 public:
  explicit CuptiTrace(MemoryKindNumbers memory_kinds) : memory_kinds_(memory_kinds) {}

  TracePart& part() { return part_; }
  Diagnostics& diagnostics() { return part_.data.diagnostics; }

  // Correlations are numbers of a process (default), or of the file, if device rows do not name
  // their process.
  void CorrelateByProcess(bool by_process) { by_process_ = by_process; }
  // The correlation made unique in the file; kMissing for none.
  int64_t Correlation(int64_t recorded, int64_t process);

  // The process in a number of Nsight Systems (bits 24 to 47), or kMissing.
  static int64_t ProcessOf(int64_t global_id);
  // The thread (bits 0 to 23), or kMissing.
  static int64_t ThreadOf(int64_t global_id) {
    return global_id == kMissing ? kMissing : global_id & 0xffffff;
  }

  // Starts counting the events of one table.
  void BeginTable(std::string_view table) { category_ = part_.Intern(table); }

  // Counts an event of the table and gives its time; false if it has no start.
  bool Time(int64_t start, int64_t end, ActivityTime& time);

  // Each adds and counts the current row of its table.
  void AddKernel(TableRows& row, StringId name);
  void AddCopy(TableRows& row);
  void AddMemset(TableRows& row);
  // A wait, on the device of its context: the recorded one is 0 for all. Call after all work and
  // tables of contexts have been read.
  void AddSync(TableRows& row);
  // The same for the wait of an event whose record is known: its stream, and the correlation of the
  // call as Correlation() gives it.
  void AddSync(TableRows& row, int64_t event_stream, int64_t event_correlation);
  // A whole launch of a graph: work, unless its nodes have rows of their own. Call after these.
  void AddGraphLaunch(TableRows& row);

  // Of which devices the contexts are, by the work so far and what else was noted.
  ContextDevices& contexts() { return contexts_; }

  // The track of a thread; -1 is a missing number.
  TrackId Thread(int64_t process, int64_t thread);
  // The same by the machine-wide thread number of Nsight Systems.
  TrackId Thread(int64_t global_id) { return Thread(ProcessOf(global_id), ThreadOf(global_id)); }

  // The track of the ranges of a thread that may overlap.
  TrackId AsyncThread(int64_t process, int64_t thread);

  // A row of a host thread whose time is known; returns its number.
  uint32_t AddHost(ActivityTime time, HostKind kind, StringId name, TrackId track,
                   uint32_t detail = kNoDetail);
  // A call of the CUDA API. `correlation` as Correlation() gives it.
  void AddCall(ActivityTime time, StringId name, TrackId track, int64_t correlation);
  // A call of another library, or of the operating system ("osrt").
  void AddLibraryCall(ActivityTime time, StringId name, TrackId track, StringId domain);

  // Notes that ranges of this name belong to a domain.
  void AddDomainOf(StringId range, StringId domain);

  // Streams have a process only if there are several. Call after everything has been read.
  void ForgetLoneProcess();

  static constexpr std::string_view kCopyColumns[] = {BS_WORK_COLUMNS, "copyKind",   "srcKind",
                                                      "dstKind",       "bytes",      "srcDeviceId",
                                                      "dstDeviceId",   "graphNodeId"};
  static constexpr std::string_view kMemsetColumns[] = {BS_WORK_COLUMNS, "memKind", "memoryKind",
                                                        "bytes", "graphNodeId"};
  static constexpr std::string_view kSyncColumns[] = {BS_WORK_COLUMNS, "syncType", "type",
                                                      "eventId", "eventSyncId"};
  static constexpr std::string_view kGraphColumns[] = {BS_WORK_COLUMNS, "graphId"};

 private:
  struct WorkRow {
    int64_t device = kMissing;
    DeviceKind kind = DeviceKind::kKernel;
    StringId name;
    uint32_t detail = kNoDetail;
  };
  bool AddWork(TableRows& row, DeviceKind kind, StringId name, uint32_t detail);
  bool AddRow(TableRows& row, const WorkRow& work);
  ContextDevices::Place PlaceOf(TableRows& row) const;
  void RememberGraph(int64_t graph_node);
  std::string_view Table() const { return part_.data.strings.Get(category_); }
  int32_t Small(int64_t value);
  int64_t Clamped(int64_t ns);

  TracePart part_;
  MemoryKindNumbers memory_kinds_;
  bool by_process_ = true;
  StringId category_{0};
  HashMap<int64_t, int64_t> processes_;  // number in the file, by process id
  int64_t last_process_ = kMissing;
  int64_t last_process_number_ = 0;
  HashSet<uint32_t> names_in_domains_;
  HashSet<int64_t> graph_launches_;  // correlations of graph nodes
  int64_t last_graph_launch_ = kMissing;
  ContextDevices contexts_;
};

}  // namespace borescope::internal
