#include "borescope/convert/csv_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/output/csv.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {
namespace {

// One line; kMissing and empty values stay empty.
struct EventLine {
  std::string_view side, kind;
  StringId name;
  int64_t ts_ns = kMissing, dur_ns = kMissing;
  int64_t pid = kMissing, tid = kMissing;
  int64_t device = kMissing, stream = kMissing;
  int64_t correlation = kMissing, external_id = kMissing;
  int64_t bytes = kMissing;
  double value = NAN;
};

class LineWriter {
 public:
  LineWriter(const ConvertInput& input, Sink& sink) : input_(input), out_(sink) {
    fields_.resize(input.trace.strings().size());
    if (input.source.number == 0) {
      PutHeader();
    }
  }

  // Writes the line if the event is inside the window.
  void Add(const EventLine& line) {
    if (!counts_.Keep(input_.window.Holds(line.ts_ns))) {
      return;
    }
    Put(line.side);
    Put(",");
    Put(CsvField(line.kind));
    Put(",");
    PutName(line.name);
    for (const int64_t number : {line.ts_ns, line.dur_ns, line.pid, line.tid, line.device,
                                 line.stream, line.correlation, line.external_id, line.bytes}) {
      Put(",");
      PutInt(number);
    }
    Put(",");
    if (std::isfinite(line.value)) {
      fmt::format_to(std::back_inserter(out_.text()), "{}", line.value);
    }
    Put("\n");
    out_.EndRecord();
  }

  Result<ConvertCounts> Finish() {
    BS_TRY(out_.Finish());
    return counts_;
  }

 private:
  void PutHeader() {
    Put("side,kind,name,ts_ns,dur_ns,pid,tid,device,stream,correlation,external_id,bytes,value\n");
  }
  void Put(std::string_view text) { out_.text() += text; }
  void PutInt(int64_t number) {
    if (number != kMissing) {
      const fmt::format_int text(number);
      Put({text.data(), text.size()});
    }
  }
  // Writes a name, which is quoted only once.
  void PutName(StringId name) {
    const std::string_view text = input_.trace.Text(name);
    if (text.empty()) {
      return;
    }
    std::string& field = fields_[name.value];
    if (field.empty()) {
      field = CsvField(text);
    }
    Put(field);
  }

  const ConvertInput& input_;
  BufferedSink out_;
  std::vector<std::string> fields_;  // by StringId
  ConvertCounts counts_;
};

void AddHost(const Trace& trace, LineWriter& lines) {
  const HostEvents& host = trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t track = host.track[row].value;
    const uint32_t detail = host.detail[row];
    EventLine line{"host", HostKindName(host.kind[row]), host.name[row], host.ts_ns[row],
                   host.dur_ns[row]};
    line.pid = trace.tracks().pid[track];
    line.tid = trace.tracks().tid[track];
    const bool is_op = host.kind[row] == HostKind::kOp || host.kind[row] == HostKind::kAnnotation;
    if (detail != kNoDetail && is_op) {
      line.external_id = trace.ops().external_id[detail];
    } else if (detail != kNoDetail) {
      line.correlation = trace.runtime_calls().correlation[detail];
      line.external_id = trace.runtime_calls().external_id[detail];
    }
    lines.Add(line);
  }
}

void AddDevice(const Trace& trace, LineWriter& lines) {
  const DeviceEvents& device = trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceKind kind = device.kind[row];
    EventLine line{"device", DeviceKindName(kind), device.name[row], device.ts_ns[row],
                   device.dur_ns[row]};
    line.pid = trace.tracks().process[device.track[row].value];
    line.device = trace.DeviceOf(DeviceId{row});
    line.stream = trace.StreamOf(DeviceId{row});
    line.correlation = device.correlation[row];
    line.external_id = device.external_id[row];
    const bool is_copy = kind == DeviceKind::kMemcpy || kind == DeviceKind::kMemset;
    if (is_copy && device.detail[row] != kNoDetail) {
      line.bytes = trace.copies().bytes[device.detail[row]];
    }
    lines.Add(line);
  }
}

void AddMemory(const Trace& trace, LineWriter& lines) {
  const MemoryEvents& memory = trace.memory();
  for (const size_t row : EachIndex(memory.size())) {
    const uint32_t track = memory.track[row].value;
    EventLine line{"memory", memory.bytes[row] < 0 ? "free" : "allocate", {}};
    line.ts_ns = memory.ts_ns[row] == kMissing ? trace.begin_ns() : memory.ts_ns[row];
    line.pid = trace.tracks().pid[track];
    line.tid = trace.tracks().tid[track];
    line.device = memory.device[row] < 0 ? kMissing : memory.device[row];
    line.bytes = memory.bytes[row];
    lines.Add(line);
  }
}

void AddSamples(const Trace& trace, LineWriter& lines) {
  const Samples& samples = trace.samples();
  for (const size_t row : EachIndex(samples.size())) {
    EventLine line{"monitor", trace.Text(samples.device_type[row]), samples.name[row],
                   samples.ts_ns[row], samples.end_ns[row] - samples.ts_ns[row]};
    line.device = samples.device[row];
    line.value = samples.value[row];
    lines.Add(line);
  }
}

class CsvWriter : public ConvertWriter {
 public:
  explicit CsvWriter(Sink& sink) : sink_(sink) {}

  Result<ConvertCounts> Add(const ConvertInput& input) override {
    LineWriter lines(input, sink_);
    AddHost(input.trace, lines);
    AddDevice(input.trace, lines);
    AddMemory(input.trace, lines);
    AddSamples(input.trace, lines);
    return lines.Finish();
  }
  Result<void> Finish() override { return {}; }

 private:
  Sink& sink_;
};

}  // namespace

std::unique_ptr<ConvertWriter> OpenEventsCsv(Sink& sink) {
  return std::make_unique<CsvWriter>(sink);
}

Result<ConvertCounts> WriteEventsCsv(const ConvertInput& input, Sink& sink) {
  CsvWriter writer(sink);
  return WriteAlone(writer, input);
}

}  // namespace borescope::internal
