// The columns of a trace: what was recorded, one struct of equal-length vectors per table, plain
// data. Two spines have every timed event: host_events (activity of threads) and device_events
// (activity of streams). A spine row refers to its details by `detail`, a row number in the table
// chosen by the row's kind, or kNoDetail. After TraceBuilder::Finish all of this is immutable.
//
// Times are integer nanoseconds on the file's own clock ("ts" x 1000); Meta::base_ns converts them
// to Unix time if the producer recorded it. Missing numbers are kMissing unless a column says
// otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/base/id.h"
#include "borescope/base/seldom.h"

namespace borescope::internal {

// What a recording may lack, and what to do so that the next one has it, as the reader of its
// format says.

enum class MissingData : uint8_t {
  kNone,  // nothing that an option would record
  kHost,  // calls on the host
  kDeviceWork,
  kLaunches,  // calls that device work is tied to
  kOperators,
  kSteps,
  kShapes,
  kMemory,
  kAnnotations,
  kCollectives,
  kGraphs,
  kCopies,
  kCounters,
  kCount
};

// In the words of the profiler that wrote the file: a phrase without a full stop. Empty for kNone.
using Remedy = std::string_view (*)(MissingData lack);

// The formats of traces. A new one needs a value and its name here, and a reader.

enum class TraceFormat : uint8_t {
  kKineto,          // PyTorch profiler
  kMemoryTimeline,  // PyTorch's allocator events only
  kNsys,
  kNvprof,
  kRpd,
  kRocpd,
  kRecording,  // of borescope record
  // Chrome JSON of other profilers.
  kXla,          // JAX and TensorFlow
  kAscend,       // Ascend PyTorch Profiler and msprof
  kOnnxRuntime,  // ONNX Runtime
  kAutograd,     // PyTorch's profiler before Kineto
  // Reports of counters, whose kernels have no place in time.
  kNcuReport,     // Nsight Compute
  kNcuCsv,        // the text of ncu --csv
  kRocprofV3Csv,  // rocprofv3 --pmc
  kCount
};

// Names in `borescope list` and in columns named `format`, in the order of the enum.
inline constexpr auto kFormatNames = std::to_array<std::string_view>(
    {"kineto-json", "pytorch-memory-timeline", "nsys", "nvprof", "rpd", "rocpd", "recording",
     "xla-json", "ascend-json", "onnxruntime-json", "autograd-json", "ncu-report", "ncu-csv",
     "rocprofv3-csv"});
static_assert(kFormatNames.size() == static_cast<size_t>(TraceFormat::kCount));

// Whether PyTorch's own profiler wrote it.
constexpr bool IsOfPyTorchProfiler(TraceFormat format) {
  return format < TraceFormat::kNsys || format == TraceFormat::kAutograd;
}

constexpr std::string_view FormatName(TraceFormat format) {
  return kFormatNames[static_cast<size_t>(format)];
}

// Whether it is a report of counters: kernels, each with what was counted in it, and no timeline.
constexpr bool IsCounterReport(TraceFormat format) {
  return format >= TraceFormat::kNcuReport && format < TraceFormat::kCount;
}

// Nothing if no format has this name.
constexpr std::optional<TraceFormat> FindFormatNamed(std::string_view name) {
  const auto* const found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  return found == kFormatNames.end()
             ? std::nullopt
             : std::optional(static_cast<TraceFormat>(found - kFormatNames.begin()));
}

inline constexpr uint32_t kNoDetail = std::numeric_limits<uint32_t>::max();
// The position of an event is its number among all events of the file's list, of whatever phase,
// counted from 0; this value is for those too far back to be numbered.
inline constexpr uint32_t kNoPosition = std::numeric_limits<uint32_t>::max();
// A number the producer did not record. (The smallest int64: ids may be negative.)
inline constexpr int64_t kMissing = std::numeric_limits<int64_t>::min();

// In columns that most recordings have nothing in.
using SeldomNumber = Seldom<int64_t, kMissing>;
using SeldomDetail = Seldom<uint32_t, kNoDetail>;

// Outer to inner: of two events with equal times the smaller kind is the parent.
enum class HostKind : uint8_t {
  kPython,      // python_function, or a frame recorded with a call; no detail
  kAnnotation,  // user_annotation (record_function, ProfilerStep#N); detail: ops
  kOp,          // framework operator call; detail: ops
  kRuntime,     // driver or runtime API call; detail: runtime_calls
  kOther,       // overhead and unknown categories; detail: runtime_calls, with neither id, or none
};

enum class DeviceKind : uint8_t {
  kKernel,      // device function; detail: kernels
  kMemcpy,      // detail: copies
  kMemset,      // detail: copies
  kSync,        // cuda_sync record: a wait, never device work; detail: syncs
  kAnnotation,  // gpu_user_annotation: covers idle gaps, never device work; no detail
  kRange,       // cuda_profiler_range: hardware counters of a kernel or of a whole range, never
                // device work (kernels are replayed); detail: ranges
  kOther,       // cuda_event and others; never device work; no detail
};

// True for the kinds that occupy the device: busy time is their union.
inline bool IsDeviceWork(DeviceKind kind) { return kind <= DeviceKind::kMemset; }

enum class TrackKind : uint8_t { kHost, kDevice };

// The events of a host thread or a device stream.
struct Tracks {
  ColumnData<TrackKind> kind;
  ColumnData<int64_t> pid;  // host: process id; device: device number as recorded
  ColumnData<int64_t> tid;  // host: thread id; device: stream number
  // Device streams: the process whose stream it is, in files with several processes, which may use
  // the same stream numbers; else kMissing, as for host threads, which have a pid.
  ColumnData<int64_t> process;
  // Host: ranges of a thread that may start and end anywhere, even on another thread, separate from
  // its other events: they have neither parents nor children.
  ColumnData<char> is_async;
  ColumnData<StringId> name;       // from thread_name metadata; may be empty
  ColumnData<uint32_t> first_row;  // the track's slice [first_row, end_row) of its spine
  ColumnData<uint32_t> end_row;

  size_t size() const { return kind.size(); }
};

// Spine. Sorted by (track, ts, -dur, kind, source order): a track is one contiguous slice and a
// properly nested track is in preorder.
struct HostEvents {
  ColumnData<int64_t> ts_ns;
  ColumnData<int64_t> dur_ns;  // >= 0
  ColumnData<StringId> name;
  ColumnData<TrackId> track;
  ColumnData<HostKind> kind;
  ColumnData<uint32_t> detail;
  ColumnData<uint32_t> position;  // as for kNoPosition; empty if events have none
  size_t captured = 0;            // rows after those of the recording: see CapturedCalls

  // The rows of the recording; loops over what happened end here.
  size_t size() const { return ts_ns.size() - captured; }
  // With the captured rows: for columns that are looked up by any HostId.
  size_t all_size() const { return ts_ns.size(); }
  bool IsCaptured(HostId id) const { return id.value >= size(); }
  int64_t end_ns(HostId id) const { return ts_ns[id.value] + dur_ns[id.value]; }
};

// Spine. Sorted like HostEvents.
struct DeviceEvents {
  ColumnData<int64_t> ts_ns;
  ColumnData<int64_t> dur_ns;  // >= 0
  ColumnData<StringId> name;
  ColumnData<TrackId> track;
  ColumnData<DeviceKind> kind;
  ColumnData<int64_t> correlation;  // joins with RuntimeCalls::correlation
  ColumnData<int64_t> external_id;  // id of the op in new files, copy of correlation in old ones
  ColumnData<uint32_t> detail;
  ColumnData<uint32_t> position;  // as for kNoPosition; empty if events have none

  size_t size() const { return ts_ns.size(); }
  int64_t end_ns(DeviceId id) const { return ts_ns[id.value] + dur_ns[id.value]; }
};

// Detail of an op or annotation that has args.
struct Ops {
  ColumnData<int64_t> external_id;
  ColumnData<SeldomNumber> record_function_id;  // equals rf_id of a PyTorch execution trace
  ColumnData<SeldomNumber> sequence;            // autograd sequence number
  ColumnData<SeldomNumber> forward_thread;      // > 0 on backward ops; the profiler's own numbering
  ColumnData<StringId> input_dims;              // JSON text as recorded, e.g. "[[2, 3], []]"
  ColumnData<StringId> input_types;             // JSON text as recorded
  ColumnData<StringId> input_strides;           // JSON text as recorded, like input_dims
  ColumnData<StringId> concrete_inputs;         // JSON text as recorded, e.g. "[\"\", \"1e-05\"]"
  ColumnData<SeldomDetail> collective;          // row of Collectives or kNoDetail
  ColumnData<SeldomDetail> triton;              // row of TritonLaunches or kNoDetail

  size_t size() const { return external_id.size(); }
};

// For an operator that launches a Triton kernel of the same name.
struct TritonLaunches {
  ColumnData<StringId> backend;      // "triton"
  ColumnData<StringId> kernel_file;  // Python file the kernel was compiled from; may be empty
  // Estimates of TorchInductor for one launch; kMissing if not recorded.
  ColumnData<int64_t> bytes;  // least bytes read and written ("kernel_num_gb")
  ColumnData<int64_t> flops;  // of its matrix products ("kernel_flop")

  size_t size() const { return backend.size(); }
};

struct RuntimeCalls {
  // Unique in the file: if several processes use the same numbers, the reader adds a number of the
  // process in the upper bits.
  ColumnData<int64_t> correlation;
  ColumnData<SeldomNumber> external_id;
  ColumnData<StringId> domain;  // "hip", "cuda", "HIP_RUNTIME_API"; empty: not recorded
  ColumnData<StringId> args;    // arguments as recorded, any text; empty: not recorded
  ColumnData<StringId> kernel;  // name of the kernel that it launches; empty: not recorded

  size_t size() const { return correlation.size(); }
};

struct Kernels {
  ColumnData<int32_t> grid_x, grid_y, grid_z;     // blocks (AMD dispatches: work-items); -1 missing
  ColumnData<int32_t> block_x, block_y, block_z;  // threads; -1 missing
  ColumnData<int32_t> registers;                  // per thread; -1 missing
  ColumnData<int32_t> shared_bytes;               // static + dynamic; -1 missing
  ColumnData<int32_t> occupancy_percent;          // the producer's estimate; -1 missing
  ColumnData<int32_t> private_bytes;              // scratch or local memory per thread; -1 missing
  ColumnData<SeldomNumber> graph_node_id;         // CUDA graph node
  ColumnData<StringId> stream_handle;             // "0x7f3e…" as the launch named it; may be empty
  ColumnData<char> has_stream;          // 0: not recorded; the line of the event is used instead
  ColumnData<SeldomDetail> collective;  // row of Collectives or kNoDetail

  size_t size() const { return registers.size(); }
};

struct Copies {
  ColumnData<int64_t> bytes;
  ColumnData<double> gbps;    // the producer's, from a finer clock than the file's; -1 missing
  ColumnData<uint32_t> call;  // row of CopyCalls or kNoDetail

  size_t size() const { return bytes.size(); }
};

// Parameters of the call that requested a copy, if recorded (profiler databases).
struct CopyCalls {
  ColumnData<int64_t> kind;  // hipMemcpyKind or CUPTI's copy kind, as recorded
  ColumnData<StringId> stream_handle;
  ColumnData<StringId> source, target;  // addresses as text; may be empty
  ColumnData<int64_t> source_device, target_device;
  ColumnData<int64_t> width, height;  // of a two-dimensional copy
  ColumnData<int64_t> is_sync, is_pinned;

  size_t size() const { return kind.size(); }
};

// Time in which threads had no processor, by thread and time; of a thread disjoint.
struct Pauses {
  ColumnData<int64_t> ts_ns;
  ColumnData<int64_t> end_ns;  // > ts_ns
  ColumnData<TrackId> track;

  size_t size() const { return ts_ns.size(); }
};

// Where threads were when they were sampled, by thread and time.
struct StackSamples {
  ColumnData<int64_t> ts_ns;
  ColumnData<TrackId> track;
  ColumnData<uint32_t> frame;  // the innermost: row of StackFrames, or kNoDetail

  size_t size() const { return ts_ns.size(); }
};

// From where calls were made, of those whose stack was recorded with them. By call.
struct CallStacks {
  ColumnData<uint32_t> call;   // row of RuntimeCalls
  ColumnData<uint32_t> frame;  // the innermost: row of StackFrames

  size_t size() const { return call.size(); }
};

// The frames of sampled stacks and of those of calls as a tree: each row is a path.
struct StackFrames {
  ColumnData<StringId> name;    // of a function; "[libcuda.so]" where its name is not known
  ColumnData<uint32_t> parent;  // the frame around it, an earlier row; kNoDetail: outermost

  size_t size() const { return name.size(); }
};

// The names of ranges that belong to a domain (NVTX), each once: "NCCL:ncclAllReduce", "NCCL".
struct RangeDomains {
  ColumnData<StringId> name;
  ColumnData<StringId> domain;

  size_t size() const { return name.size(); }
};

// Samples of a device monitor (clock, power, use, ...), each value from begin to end.
struct Samples {
  ColumnData<int64_t> ts_ns;
  ColumnData<int64_t> end_ns;        // == ts_ns: until the next
  ColumnData<StringId> device_type;  // "gpu"
  ColumnData<int64_t> device;  // the monitor's own numbering, which need not be that of tracks
  ColumnData<StringId> name;   // "sclk"
  ColumnData<double> value;

  size_t size() const { return ts_ns.size(); }
};

struct Syncs {
  ColumnData<int64_t> stream;  // the stream that waits
  ColumnData<int64_t> wait_on_stream;
  ColumnData<int64_t> wait_on_record_correlation;  // correlation of the cudaEventRecord; -1 unknown

  size_t size() const { return stream.size(); }
};

// For a record_param_comms op or a collective kernel.
struct Collectives {
  ColumnData<StringId> collective;  // "allreduce"
  ColumnData<StringId> dtype;       // "BFloat16"
  ColumnData<StringId> group;       // process group name
  ColumnData<StringId> group_desc;
  ColumnData<StringId> ranks;  // as recorded: "[0, 1]"
  ColumnData<int64_t> in_elems;
  ColumnData<int64_t> out_elems;
  ColumnData<int64_t> group_size;
  ColumnData<int64_t> sequence;

  size_t size() const { return collective.size(); }
};

// The content of memory, in the numbering of PyTorch's memory timeline (Category of
// _memory_profiler).
enum class MemoryCategory : uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
  kNone,  // not recorded: allocator events have no category
};

// Allocator events ("[memory]" instants of a trace, or the raw file of a memory timeline), in time
// order; equal times in source order.
struct MemoryEvents {
  ColumnData<int64_t> ts_ns;  // kMissing: allocated before the recording began; these come first
  ColumnData<TrackId> track;
  ColumnData<int32_t> device_type;  // 0 CPU, 1 CUDA, 6 HIP, ...; -1 not recorded
  ColumnData<int32_t> device;       // -1 not recorded
  ColumnData<uint64_t> address;
  ColumnData<int64_t> bytes;  // negative: freed
  ColumnData<MemoryCategory> category;
  ColumnData<int64_t> total_allocated;
  ColumnData<int64_t> total_reserved;

  size_t size() const { return ts_ns.size(); }
};

// Detail of a profiler range: the hardware counters measured in it.
struct ProfilerRanges {
  ColumnData<uint32_t> first_metric;  // its slice [first_metric, end_metric) of Metrics
  ColumnData<uint32_t> end_metric;

  size_t size() const { return first_metric.size(); }
};

// Values of hardware counters, in the order they were recorded.
struct Metrics {
  ColumnData<StringId> name;  // as recorded: "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
  ColumnData<double> value;

  size_t size() const { return name.size(); }
};

// Producer flows between forward and backward operators ("fwdbwd").
struct Flows {
  ColumnData<int64_t> ts_ns;
  ColumnData<TrackId> track;
  ColumnData<int64_t> id;
  ColumnData<char> is_start;

  size_t size() const { return ts_ns.size(); }
};

// How the kernels of a graph launch were found in the capture of the graph.
enum class CaptureFit : uint8_t {
  kNone,     // no capture fits
  kExact,    // as many kernels, with the same names in the same order
  kAligned,  // some kernels are missing on one side; the others have the same names and order
};

// One launch of a graph for which captures were searched.
struct CaptureMatch {
  HostId launch;
  CaptureFit fit = CaptureFit::kNone;
  bool has_arguments = false;  // shapes and types are known: captures that fit agree on them
  StringId file;               // of the capture; empty without one
  uint32_t capture = 0;        // its number in that file, from 0
  uint32_t kernels = 0;        // of the launch
  uint32_t tied = 0;           // those with a call in the capture
};

// What the captures of graphs, which other files hold, say about the graphs that were launched here
// (docs/use/captures.md).
// Their host events are rows after those of the recording (HostEvents::captured): with names, kinds
// and details like all others, and with 0 in place of times. They did not happen here, so that no
// loop over the recording reaches them; kernels of graphs refer to them.
struct CapturedCalls {
  ColumnData<HostId> parent;         // per captured row; invalid at the begin of the capture
  ColumnData<HostId> call_of;        // per device row: its call; empty without captures
  ColumnData<CaptureMatch> matches;  // by launch

  bool empty() const { return call_of.empty(); }
};

// How many events of each (phase, category) the input held, everything counted.
struct EventCount {
  char phase = '?';
  StringId category;  // empty when the event had none
  uint64_t count = 0;
  int64_t total_ns = 0;  // sum of durations as recorded; 0 for phases without one
};

struct DeviceInfo {
  int64_t id = kMissing;
  std::string name;  // may be empty: some AMD drivers report none
  int64_t total_bytes = kMissing;
  int64_t multiprocessors = kMissing;  // SMs or compute units
  int64_t compute_major = kMissing;
  int64_t compute_minor = kMissing;
  int64_t warp_size = kMissing;
  int64_t max_threads_per_multiprocessor = kMissing;
};

enum class Vendor : uint8_t { kUnknown, kNvidia, kAmd, kIntel, kMeta };

// Which profiler options were enabled, as far as the file shows.
struct RecordedOptions {
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool with_modules = false;
  bool with_flops = false;
};

// What a file holds beyond the recording, of one kind; never the values.
struct SensitiveCount {
  std::string what;  // "environment"
  uint64_t count = 0;
};

// What part of a recording a file holds that `borescope convert` cut out of it. Verbs that take a
// selection answer as if it was given to them with the whole recording, so that the file keeps a
// little of what is around it: what reaches into it, and what its events refer to.
struct RecordedCut {
  int64_t begin_ns = kMissing;  // of the window, both ends included; kMissing: open
  int64_t end_ns = kMissing;
  std::string steps;               // numbers and ranges of steps, "3..4"; empty: all
  int64_t recording_begin_ns = 0;  // of the whole recording
  int64_t recording_end_ns = 0;

  friend bool operator==(const RecordedCut&, const RecordedCut&) = default;
};

struct Meta {
  std::string file;  // as the user named it
  TraceFormat format = TraceFormat::kKineto;
  Remedy remedy = nullptr;         // of another profiler than PyTorch's
  std::string producer;            // "PyTorch profiler (Kineto)", ...
  std::optional<RecordedCut> cut;  // the file is a part of a recording
  std::optional<int64_t> rank;     // recorded in the file
  std::optional<int64_t> world_size;
  std::optional<int64_t> base_ns;  // Unix time of ts = 0
  std::string backend;             // "nccl"
  std::string nccl_version;
  std::string trace_name;
  Vendor vendor = Vendor::kUnknown;
  std::vector<DeviceInfo> devices;  // all visible devices of the process, not the used ones
  RecordedOptions options;
  std::vector<SensitiveCount> sensitive;  // of what is not read
  uint64_t text_bytes = 0;                // inflated size
  uint64_t file_bytes = 0;                // as stored
  // Where the list of events begins: just after its opening bracket, as an offset into the inflated
  // text. 0: unknown.
  uint64_t events_begin_byte = 0;
  // Where more events can be written into a copy of the text: just after the last complete event
  // (after the opening bracket if there is none), as an offset into the inflated text. With a comma
  // if needed, the copy is valid JSON if the text is. 0: unknown.
  uint64_t events_end_byte = 0;
  bool has_events_before_end = false;  // an event precedes that place, so a comma is needed
  // The brackets around the events are never closed, or not in a known place: a valid copy has to
  // end after the events, with `]` or `]}`.
  bool text_is_cut = false;
  bool text_is_object = true;  // {"traceEvents": [...]}, not a bare list
};

}  // namespace borescope::internal
