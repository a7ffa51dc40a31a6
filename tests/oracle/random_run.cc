#include "tests/oracle/random_run.h"

#include <algorithm>
#include <tuple>

#include "borescope/testing/trace_maker.h"
#include "borescope/trace/columns.h"

namespace borescope::internal::testkit {
namespace {

constexpr int64_t kWindowThread = 9;

Time RandomTime(Random& random, int64_t from, int64_t to) {
  const int64_t begin = random.Between(from, to);
  return {begin, random.Chance(0.15) ? begin : random.Between(begin, std::min(to, begin + 14))};
}

// Frames and calls that nest, siblings that touch, and events without length; these never where
// another one begins or ends, which the twins of the call tree look into.
void FillThread(Random& random, RandomRun& run, int64_t thread, Time inside, int depth) {
  static constexpr const char* kOps[] = {"aten::mm", "aten::add", "aten::copy_", "Backward0",
                                         "aten::linear"};
  static constexpr const char* kNotes[] = {"forward", "backward", "optimizer"};
  static constexpr const char* kCalls[] = {"cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync",
                                           "hipLaunchKernel", "cudaStreamSynchronize"};
  int64_t now = inside.begin;
  while (now < inside.end && random.Chance(depth == 0 ? 0.9 : 0.7)) {
    const int64_t earliest = std::min(inside.end, now + random.Between(0, 3));
    Time time = RandomTime(random, earliest, inside.end);
    if (time.length() == 0 && (time.begin == now || time.begin == inside.end)) {
      time = {time.begin - 1, time.begin};
    }
    if (time.begin < now) {
      return;
    }
    now = time.end;
    const uint64_t kind = depth > 3 ? 5 : random.Below(9);
    if (kind >= 5) {
      run.calls.push_back(
          {random.Pick(kCalls), thread, time, static_cast<int64_t>(run.calls.size()) + 1});
      continue;
    }
    if (kind == 0) {
      run.frames.push_back({HostKind::kAnnotation, random.Pick(kNotes), thread, time});
    } else if (kind == 1) {
      run.frames.push_back({HostKind::kPython, "train.py(7): step", thread, time});
    } else {
      run.frames.push_back({HostKind::kOp, random.Pick(kOps), thread, time});
    }
    FillThread(random, run, thread, time, depth + 1);
  }
}

// Windows are on a thread of their own, where they may cross each other.
void AddWindows(Random& random, RandomRun& run) {
  for (int64_t number = 1; number <= 3; ++number) {
    const int64_t begin = (number - 1) * 24 + random.Between(0, 4);
    run.frames.push_back({HostKind::kAnnotation,
                          "ProfilerStep#" + std::to_string(number),
                          kWindowThread,
                          {begin, begin + random.Between(1, 24)}});
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t begin = random.Between(0, 60);
    run.frames.push_back({HostKind::kAnnotation,
                          kWindowName,
                          kWindowThread,
                          {begin, begin + random.Between(1, 20)}});
  }
}

void AddWork(Random& random, RandomRun& run, int call) {
  struct Kind {
    DeviceKind kind;
    const char* name;
  };
  static constexpr Kind kKinds[] = {
      {DeviceKind::kKernel, "ampere_sgemm_128x64_nn"},
      {DeviceKind::kKernel, "elementwise_kernel"},
      {DeviceKind::kKernel, "elementwise_kernel"},
      {DeviceKind::kKernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {DeviceKind::kMemcpy, "Memcpy HtoD (Pinned -> Device)"},
      {DeviceKind::kMemcpy, "Memcpy DtoH (Device -> Pinned)"},
      {DeviceKind::kMemcpy, "Memcpy DtoD (Device -> Device)"},
      {DeviceKind::kMemcpy, "Memcpy PtoP (Device -> Device)"},
      {DeviceKind::kMemcpy, "CopyHostToDevice"},
      {DeviceKind::kMemset, "Memset (Device)"}};
  const Kind& kind = random.Pick(kKinds);
  // Mostly after its launch, as it should be.
  const int64_t launch = call == kNoCall ? 0 : run.calls[static_cast<size_t>(call)].time.begin;
  const int64_t from = random.Chance(0.85) ? std::min(launch, kRunEnd - 1) : 0;
  RunWork work{kind.kind,
               kind.name,
               random.Between(0, 1),
               random.Between(7, 8),
               RandomTime(random, from, kRunEnd),
               call,
               kMissing};
  if (kind.kind != DeviceKind::kKernel && random.Chance(0.9)) {
    work.bytes = random.Between(0, 5) * 100;
  }
  run.work.push_back(work);
}

// The work of a graph, mostly on one stream.
void AddGraph(Random& random, RandomRun& run, int call) {
  const size_t first = run.work.size();
  for (int64_t kernels = random.Between(1, 4); kernels > 0; --kernels) {
    AddWork(random, run, call);
    if (random.Chance(0.8)) {
      run.work.back().gpu = run.work[first].gpu;
      run.work.back().stream = run.work[first].stream;
    }
  }
}

void AddDeviceSide(Random& random, RandomRun& run) {
  for (size_t i = 0; i < run.calls.size(); ++i) {
    const std::string& name = run.calls[i].name;
    if (name == "cudaStreamSynchronize" || random.Chance(0.15)) {
      continue;
    }
    name == "cudaGraphLaunch" ? AddGraph(random, run, static_cast<int>(i))
                              : AddWork(random, run, static_cast<int>(i));
  }
  for (int64_t i = random.Between(0, 2); i > 0; --i) {
    AddWork(random, run, kNoCall);
  }
  for (int64_t i = random.Between(0, 3); i > 0; --i) {
    static constexpr const char* kNotes[] = {"forward", "backward", "ProfilerStep#1"};
    run.notes.push_back({random.Pick(kNotes), random.Between(0, 1), random.Between(7, 8),
                         RandomTime(random, 0, kRunEnd)});
  }
}

void PlantWork(TraceMaker& maker, const RandomRun& run) {
  for (const RunWork& work : run.work) {
    // Numbers above those of all calls name nobody.
    const int64_t nobody = static_cast<int64_t>(run.calls.size()) + 1;
    const int64_t correlation = work.call != kNoCall
                                    ? run.calls[static_cast<size_t>(work.call)].correlation
                                : work.has_number ? nobody
                                                  : kMissing;
    maker.Device(work.kind, work.name, work.gpu, work.stream, {work.time.begin, work.time.length()},
                 {.correlation = correlation});
    if (work.kind != DeviceKind::kKernel) {
      TraceData& data = maker.part().data;
      data.device.detail.back() = AddMissingRow(data.copies);
      data.copies.bytes.back() = work.bytes;
    }
  }
}

}  // namespace

Time RandomRun::all() const {
  Time span{kRunEnd, 0};
  const auto cover = [&](const auto& events) {
    for (const auto& event : events) {
      span = {std::min(span.begin, event.time.begin), std::max(span.end, event.time.end)};
    }
  };
  cover(frames);
  cover(calls);
  cover(work);
  cover(notes);
  return span;
}

RandomRun MakeRandomRun(Random& random) {
  RandomRun run;
  AddWindows(random, run);
  for (int64_t thread = 1; thread <= random.Between(1, 3); ++thread) {
    FillThread(random, run, thread, {random.Between(0, 10), random.Between(20, kRunEnd)}, 0);
  }
  AddDeviceSide(random, run);
  return run;
}

Trace TraceOf(const RandomRun& run) {
  TraceMaker maker;
  for (const RunFrame& frame : run.frames) {
    const Span span{frame.time.begin, frame.time.length()};
    if (frame.kind == HostKind::kOp) {
      maker.Op(frame.name, frame.thread, span);
    } else {
      maker.Host(frame.kind, frame.name, frame.thread, span);
    }
  }
  for (const RunCall& call : run.calls) {
    maker.Call(call.name, call.thread, {call.time.begin, call.time.length()}, call.correlation);
  }
  PlantWork(maker, run);
  for (const RunNote& note : run.notes) {
    maker.Device(DeviceKind::kAnnotation, note.name, note.gpu, note.stream,
                 {note.time.begin, note.time.length()});
  }
  return maker.Finish();
}

int64_t RequestTime(const RandomRun& run, const RunWork& work) {
  return work.call == kNoCall ? work.time.begin
                              : run.calls[static_cast<size_t>(work.call)].time.begin;
}

std::map<int, std::vector<size_t>> WorkOfCalls(const RandomRun& run) {
  std::map<int, std::vector<size_t>> calls;
  for (size_t i = 0; i < run.work.size(); ++i) {
    if (run.work[i].call != kNoCall) {
      calls[run.work[i].call].push_back(i);
    }
  }
  const auto key = [&](size_t i) {
    const RunWork& work = run.work[i];
    return std::tuple(work.time.begin, work.gpu, work.stream, -work.time.length(), work.kind, i);
  };
  for (auto& [call, works] : calls) {
    std::sort(works.begin(), works.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  }
  return calls;
}

const RunFrame* Innermost(const RandomRun& run, const RunCall& call,
                          const std::function<bool(const RunFrame&)>& fits) {
  const RunFrame* found = nullptr;
  for (const RunFrame& frame : run.frames) {
    if (frame.thread != call.thread || !frame.time.Covers(call.time) || !fits(frame)) {
      continue;
    }
    const auto depth = [](const RunFrame& one) {
      return std::tuple(one.time.begin, -one.time.end, one.kind);
    };
    if (found == nullptr || depth(*found) <= depth(frame)) {
      found = &frame;
    }
  }
  return found;
}

bool IsCommunication(const RunWork& work) { return work.name.starts_with("nccl"); }

bool IsCompute(const RunWork& work) {
  return work.kind == DeviceKind::kKernel && !IsCommunication(work);
}

}  // namespace borescope::internal::testkit
