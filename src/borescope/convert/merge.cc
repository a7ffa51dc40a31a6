#include "borescope/convert/merge.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {
namespace {

constexpr int64_t kIdsOfOne = int64_t{1} << 32;
// Larger ids and times are damaged: such ids are dropped, such times stay unchanged.
constexpr int64_t kLargest = int64_t{1} << 61;
constexpr int64_t kMostNodes = 100'000;

// ---- Ids ----

// Columns of ids that link rows, and the least valid id of each. PyTorch numbers sequences from 0.
template <class Fn>
void ForEachIdColumn(TraceData& data, const Fn& fn) {
  fn(data.ops.external_id, 1);
  fn(data.ops.sequence, 0);
  fn(data.runtime_calls.correlation, 1);
  fn(data.runtime_calls.external_id, 1);
  fn(data.device.correlation, 1);
  fn(data.device.external_id, 1);
  fn(data.syncs.wait_on_record_correlation, 1);
  fn(data.flows.id, 0);
}

// Drops ids that cannot be moved, as they would link traces. Returns the largest of the others.
int64_t DropLargeIds(TraceData& data) {
  int64_t largest = 0;
  uint64_t dropped = 0;
  ForEachIdColumn(data, [&](auto& ids, int64_t) {
    for (auto& id : ids) {
      if (id >= kLargest) {
        ++dropped;
        id = kMissing;
      }
      largest = std::max<int64_t>(largest, id);
    }
  });
  data.diagnostics.CountMany(Diag::kBadFieldType, dropped, Diagnostics::kNoByte,
                             "an id of 2^61 or more");
  return largest;
}

void MoveIds(TraceData& data, int64_t first_id) {
  ForEachIdColumn(data, [&](auto& ids, int64_t least) {
    for (auto& id : ids) {
      if (id >= least) {
        id = id + first_id;
      }
    }
  });
}

// ---- Numbers of processes and GPUs ----

constexpr int32_t kCpu = 0;  // of MemoryEvents::device_type

// A number of a process or GPU, and its stride from node to node.
using StridedNumber = std::pair<int64_t, int64_t>;

// All numbers of a trace. GPUs may appear only in records of an allocator or a monitor.
std::set<StridedNumber> NumbersOf(const TraceData& data) {
  std::set<StridedNumber> numbers;
  for (size_t i = 0; i < data.tracks.size(); ++i) {
    const bool is_host = data.tracks.kind[i] == TrackKind::kHost;
    numbers.emplace(data.tracks.pid[i], is_host ? kPidStride : kGpuStride);
  }
  for (const size_t row : EachIndex(data.memory.size())) {
    if (data.memory.device[row] >= 0 && data.memory.device_type[row] != kCpu) {
      numbers.emplace(data.memory.device[row], kGpuStride);
    }
  }
  for (const int64_t device : data.samples.device) {
    if (device >= 0) {
      numbers.emplace(device, kGpuStride);
    }
  }
  return numbers;
}

void Add(int64_t& number, int64_t shift) {
  int64_t sum = 0;
  if (number != kMissing && !__builtin_add_overflow(number, shift, &sum)) {
    number = sum;
  }
}

void MoveToNode(TraceData& data, int64_t node) {
  const int64_t pid_shift = node * kPidStride;
  const int64_t gpu_shift = node * kGpuStride;
  Tracks& tracks = data.tracks;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const bool is_host = tracks.kind[i] == TrackKind::kHost;
    Add(tracks.pid[i], is_host ? pid_shift : gpu_shift);
    Add(tracks.tid[i], is_host ? pid_shift : 0);
    Add(tracks.process[i], pid_shift);
  }
  for (ColumnData<int64_t>* devices :
       {&data.samples.device, &data.copy_calls.source_device, &data.copy_calls.target_device}) {
    for (int64_t& device : *devices) {
      Add(device, gpu_shift);
    }
  }
  for (DeviceInfo& device : data.meta.devices) {
    Add(device.id, gpu_shift);
  }
  for (int32_t& device : data.memory.device) {
    const int64_t moved = device + gpu_shift;
    device = device < 0 || moved > std::numeric_limits<int32_t>::max()
                 ? device
                 : static_cast<int32_t>(moved);
  }
}

// ---- Clock ----

bool IsTime(int64_t ts_ns) { return ts_ns > -kLargest && ts_ns < kLargest; }

void MoveTimes(TraceData& data, int64_t shift_ns) {
  for (ColumnData<int64_t>* times :
       {&data.host.ts_ns, &data.device.ts_ns, &data.memory.ts_ns, &data.flows.ts_ns,
        &data.samples.ts_ns, &data.samples.end_ns, &data.pauses.ts_ns, &data.pauses.end_ns,
        &data.stack_samples.ts_ns}) {
    for (int64_t& ts_ns : *times) {
      Add(ts_ns, shift_ns);
    }
  }
  if (std::optional<RecordedCut>& cut = data.meta.cut) {
    for (int64_t* ts_ns :
         {&cut->begin_ns, &cut->end_ns, &cut->recording_begin_ns, &cut->recording_end_ns}) {
      Add(*ts_ns, shift_ns);
    }
  }
  data.begin_ns += shift_ns;
  data.end_ns += shift_ns;
}

// The Unix time of ts = 0. Times after 2001 are Unix times, as no other clock runs that long.
std::optional<int64_t> BaseOf(const TraceData& data) {
  constexpr int64_t kUnixTimes = 1'000'000'000'000'000'000;
  return !data.meta.base_ns.has_value() && data.begin_ns > kUnixTimes ? std::optional<int64_t>(0)
                                                                      : data.meta.base_ns;
}

std::string NameOf(const Meta& meta) {
  if (meta.rank.has_value()) {
    return "rank " + std::to_string(*meta.rank);
  }
  return std::filesystem::path(meta.file).filename().string();
}

}  // namespace

int64_t Merger::FreeNode(const TraceData& data) const {
  const std::set<StridedNumber> numbers = NumbersOf(data);
  for (int64_t node = 0; node < kMostNodes; ++node) {
    const auto is_taken = [&](const StridedNumber& strided) {
      int64_t number = strided.first;
      Add(number, node * strided.second);
      return taken_.contains(number);
    };
    if (std::none_of(numbers.begin(), numbers.end(), is_taken)) {
      return node;
    }
  }
  return kMostNodes;
}

std::optional<int64_t> Merger::ShiftTo(const TraceData& data) const {
  const std::optional<int64_t> base_ns = BaseOf(data);
  int64_t shift_ns = 0;
  if (!base_ns_.has_value() || !base_ns.has_value() ||
      __builtin_sub_overflow(*base_ns, *base_ns_, &shift_ns)) {
    return std::nullopt;
  }
  const bool is_sane = IsTime(shift_ns) && IsTime(data.begin_ns) && IsTime(data.end_ns);
  return is_sane ? std::optional(shift_ns) : std::nullopt;
}

Result<MergeSource> Merger::Place(TraceData& data, std::optional<int64_t> given_ns) {
  MergeSource source;
  const int64_t room = (DropLargeIds(data) / kIdsOfOne + 1) * kIdsOfOne;
  source.first_id = next_id_;
  if (__builtin_add_overflow(next_id_, room, &source.end_id)) {
    return Error{ErrorCode::kInvalidArgument,
                 "its ids are too large to come after those of the files before it",
                 "name it first or convert it alone", data.meta.file};
  }
  next_id_ = source.end_id;
  source.number = placed_++;
  source.name = NameOf(data.meta);
  if (source.number == 0) {
    base_ns_ = BaseOf(data);
  } else {
    const bool is_sane =
        given_ns.has_value() && IsTime(*given_ns) && IsTime(data.begin_ns) && IsTime(data.end_ns);
    const std::optional<int64_t> shift_ns = is_sane ? given_ns : ShiftTo(data);
    source.has_common_clock = shift_ns.has_value();
    source.shift_ns = shift_ns.value_or(0);
    MoveTimes(data, source.shift_ns);
    source.node = FreeNode(data);
    MoveToNode(data, source.node);
  }
  MoveIds(data, source.first_id);
  for (const auto& [number, stride] : NumbersOf(data)) {
    taken_.insert(number);
  }
  return source;
}

}  // namespace borescope::internal
