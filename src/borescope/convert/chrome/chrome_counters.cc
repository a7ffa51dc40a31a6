// What changes over time: depths of queues, whether GPUs work, and what monitors read.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/convert/chrome/chrome_events.h"
#include "borescope/convert/counters.h"
#include "borescope/output/json_writer.h"

namespace borescope::internal {
namespace {

// The events of one counter up to the time, and from there to the value.
struct CounterText {
  std::string head;
  std::string args;
};

CounterText MakeCounter(int64_t pid, std::string_view name, std::string_view series) {
  CounterText counter{R"({"ph":"C","name":)", R"(,"args":{)"};
  AppendJsonString(counter.head, name);
  counter.head += fmt::format(R"(,"pid":{},"tid":0,"ts":)", pid);
  AppendJsonString(counter.args, series);
  counter.args += ':';
  return counter;
}

void WritePoint(const CounterText& counter, int64_t ts_ns, double value, ChromeText& text) {
  text.StartEvent();
  text.Put(counter.head);
  text.PutTime(ts_ns);
  text.Put(counter.args);
  text.PutNumber(value);
  text.Put("}}");
}

void WritePoints(const CounterText& counter, const std::vector<CounterPoint>& points,
                 ChromeText& text) {
  for (const CounterPoint& point : points) {
    WritePoint(counter, point.ts_ns, static_cast<double>(point.value), text);
  }
}

std::string QueueName(const Tracks& tracks, uint32_t track) {
  const std::string name = fmt::format("QueueDepth stream {}", tracks.tid[track]);
  return tracks.process[track] == kMissing
             ? name
             : fmt::format("{} of process {}", name, tracks.process[track]);
}

// ---- Monitors ----

// How one series of a monitor is written.
struct Series {
  CounterText sample;  // read back as one
  CounterText end;     // drawn only
  size_t last = 0;     // its last sample
};

// Only GPUs are processes of their own: what else has a monitor stands in -1, with its name.
CounterText CounterOf(const Trace& trace, size_t sample) {
  constexpr int64_t kNoProcess = -1;
  const Samples& samples = trace.samples();
  const std::string_view type = trace.Text(samples.device_type[sample]);
  const std::string_view series = trace.Text(samples.name[sample]);
  const bool is_gpu = type.empty() || type == "gpu";
  if (is_gpu && samples.device[sample] != kMissing) {
    return MakeCounter(samples.device[sample], series, series);
  }
  return MakeCounter(kNoProcess, MonitorName(trace, sample), series);
}

// "monitor,gpu,2": what was monitored, as the reader of these files expects it.
std::string CategoryOf(const Trace& trace, size_t sample) {
  const Samples& samples = trace.samples();
  std::string category = fmt::format("monitor,{},", trace.Text(samples.device_type[sample]));
  if (samples.device[sample] != kMissing) {
    category += std::to_string(samples.device[sample]);
  }
  return category;
}

Series MakeSeries(const Trace& trace, size_t sample) {
  constexpr std::string_view kStart = R"({"ph":"C")";
  const CounterText counter = CounterOf(trace, sample);
  Series series{counter, counter, sample};
  std::string category = ",\"cat\":";
  AppendJsonString(category, CategoryOf(trace, sample));
  series.sample.head.insert(kStart.size(), category);
  return series;
}

class MonitorWriter {
 public:
  MonitorWriter(const Trace& trace, ChromeText& text) : trace_(trace), text_(text) {}

  void Write(size_t row) {
    const Samples& samples = trace_.samples();
    const std::tuple key(samples.device[row], samples.device_type[row].value,
                         samples.name[row].value);
    auto place = series_.find(key);
    if (place == series_.end()) {
      place = series_.emplace(key, MakeSeries(trace_, row)).first;
    }
    Series& series = place->second;
    series.last = samples.ts_ns[row] >= samples.ts_ns[series.last] ? row : series.last;
    text_.StartEvent();
    text_.Put(series.sample.head);
    text_.PutTime(samples.ts_ns[row]);
    text_.Put(",\"dur\":");
    text_.PutTime(samples.end_ns[row] - samples.ts_ns[row]);
    text_.Put(series.sample.args);
    text_.PutNumber(samples.value[row]);
    text_.Put("}}");
  }

  // A counter stays where it is: each is drawn once more where its last value ends.
  void WriteEnds() {
    const Samples& samples = trace_.samples();
    std::vector<const Series*> series;
    series.reserve(series_.size());
    for (const auto& [key, one] : series_) {
      series.push_back(&one);
    }
    std::sort(series.begin(), series.end(),
              [](const Series* a, const Series* b) { return a->last < b->last; });
    for (const Series* one : series) {
      if (samples.end_ns[one->last] > samples.ts_ns[one->last]) {
        WritePoint(one->end, samples.end_ns[one->last], samples.value[one->last], text_);
      }
    }
  }

 private:
  const Trace& trace_;
  ChromeText& text_;
  std::map<std::tuple<int64_t, uint32_t, uint32_t>, Series> series_;  // by device, type, name
};

}  // namespace

void WriteCounters(const ConvertInput& input, ChromeText& text) {
  for (const DeviceTracks& device : DevicesOf(input.trace)) {
    WritePoints(MakeCounter(device.device, "GPU busy", "busy"), BusySteps(input, device), text);
    for (uint32_t track = device.first_track; track < device.end_track; ++track) {
      const std::string name = QueueName(input.trace.tracks(), track);
      WritePoints(MakeCounter(device.device, name, "depth"), QueueDepth(input, {track}), text);
    }
  }
}

void WriteSamples(const ConvertInput& input, ChromeText& text, ConvertCounts& counts) {
  const Samples& samples = input.trace.samples();
  MonitorWriter writer(input.trace, text);
  for (size_t row = 0; row < samples.size(); ++row) {
    CheckStopAt(row);
    if (counts.Keep(input.window.Holds(samples.ts_ns[row]))) {
      writer.Write(row);
    }
  }
  writer.WriteEnds();
}

}  // namespace borescope::internal
