#include "borescope/convert/merge.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <vector>

namespace borescope {
namespace {

constexpr int64_t kIdsOfOne = int64_t{1} << 32;
// Larger ids and times are damage, and stay as they are.
constexpr int64_t kLargest = int64_t{1} << 61;
constexpr int64_t kMostNodes = 100'000;

// ---- Ids ----

// Ids that tie rows together; numbers below 1 are none.
template <class Fn>
void ForEachIdColumn(TraceData& data, const Fn& fn) {
  fn(data.ops.external_id);
  fn(data.ops.sequence);
  fn(data.runtime_calls.correlation);
  fn(data.runtime_calls.external_id);
  fn(data.device.correlation);
  fn(data.device.external_id);
  fn(data.syncs.wait_on_record_correlation);
  fn(data.flows.id);
}

bool IsId(int64_t id) { return id > 0 && id < kLargest; }

int64_t LargestId(TraceData& data) {
  int64_t largest = 0;
  ForEachIdColumn(data, [&](const std::vector<int64_t>& ids) {
    for (const int64_t id : ids) {
      largest = IsId(id) ? std::max(largest, id) : largest;
    }
  });
  return largest;
}

void MoveIds(TraceData& data, int64_t first_id) {
  ForEachIdColumn(data, [&](std::vector<int64_t>& ids) {
    for (int64_t& id : ids) {
      id += IsId(id) ? first_id : 0;
    }
  });
}

// ---- Numbers of processes and GPUs ----

int64_t StrideOf(TrackKind kind) { return kind == TrackKind::kHost ? kPidStride : kGpuStride; }

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
  for (int64_t& device : data.samples.device) {
    Add(device, gpu_shift);
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
  for (std::vector<int64_t>* times :
       {&data.host.ts_ns, &data.device.ts_ns, &data.memory.ts_ns, &data.flows.ts_ns,
        &data.samples.ts_ns, &data.samples.end_ns}) {
    for (int64_t& ts_ns : *times) {
      Add(ts_ns, shift_ns);
    }
  }
  data.begin_ns += shift_ns;
  data.end_ns += shift_ns;
}

// The Unix time of ts = 0. Times beyond 2001 are those of Unix: no other clock runs that long.
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

int64_t Merger::FreeNode(const Tracks& tracks) const {
  for (int64_t node = 0; node < kMostNodes; ++node) {
    bool is_free = true;
    for (size_t i = 0; i < tracks.size() && is_free; ++i) {
      int64_t number = tracks.pid[i];
      Add(number, node * StrideOf(tracks.kind[i]));
      is_free = !taken_.contains(number);
    }
    if (is_free) {
      return node;
    }
  }
  return kMostNodes;
}

std::optional<int64_t> Merger::ShiftTo(const TraceData& data) {
  const std::optional<int64_t> base_ns = BaseOf(data);
  int64_t shift_ns = 0;
  if (!base_ns_.has_value() || !base_ns.has_value() ||
      __builtin_sub_overflow(*base_ns, *base_ns_, &shift_ns)) {
    return std::nullopt;
  }
  const bool is_sane = IsTime(shift_ns) && IsTime(data.begin_ns) && IsTime(data.end_ns);
  return is_sane ? std::optional(shift_ns) : std::nullopt;
}

MergeSource Merger::Place(TraceData& data) {
  MergeSource source;
  source.number = placed_++;
  source.name = NameOf(data.meta);
  if (source.number == 0) {
    base_ns_ = BaseOf(data);
  } else {
    const std::optional<int64_t> shift_ns = ShiftTo(data);
    source.has_common_clock = shift_ns.has_value();
    source.shift_ns = shift_ns.value_or(0);
    MoveTimes(data, source.shift_ns);
    source.node = FreeNode(data.tracks);
    MoveToNode(data, source.node);
    source.first_id = next_id_;
  }
  next_id_ += (LargestId(data) / kIdsOfOne + 1) * kIdsOfOne;
  source.end_id = next_id_;
  MoveIds(data, source.first_id);
  taken_.insert(data.tracks.pid.begin(), data.tracks.pid.end());
  return source;
}

}  // namespace borescope
