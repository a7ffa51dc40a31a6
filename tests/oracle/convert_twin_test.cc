// What convert writes as Chrome JSON, read back, is what was read before.

#include <gtest/gtest.h>

#include <string>

#include "borescope/convert/chrome/chrome_writer.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/columns.h"
#include "tests/oracle/random_events.h"
#include "tests/oracle/random_run.h"
#include "tests/oracle/trace_text.h"

namespace borescope::internal {
namespace {

using testkit::EventsOptions;
using testkit::FirstDifference;
using testkit::Layout;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomEvents;

std::string ToChrome(const Trace& trace) {
  const TraceIndex index = BuildIndex(trace, 1);
  StringSink sink;
  const Result<ConvertCounts> counts = WriteChrome({trace, index, {}, {}}, sink);
  EXPECT_TRUE(counts.ok());
  EXPECT_EQ(counts->written, trace.host().size() + trace.device().size() + trace.memory().size());
  return sink.text();
}

Trace Load(const std::string& text) {
  Result<Trace> trace = LoadBytes(text, "t.json", {});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return std::move(trace).value();
}

// Rows with everything that hangs off them, whatever the numbers of the details.
class RowText {
 public:
  explicit RowText(const Trace& trace) : trace_(trace) {}

  std::string Text() {
    for (uint32_t row = 0; row < trace_.host().size(); ++row) {
      AddHost(row);
    }
    for (uint32_t row = 0; row < trace_.device().size(); ++row) {
      AddDevice(row);
    }
    AddAll(trace_.memory());
    AddAll(trace_.flows());
    return std::move(text_);
  }

 private:
  void Add(StringId id) { text_ += " '" + std::string(trace_.Text(id)) + "'"; }
  void Add(TrackId track) {
    const Tracks& tracks = trace_.tracks();
    Add(tracks.pid[track.value]);
    Add(tracks.tid[track.value]);
    Add(tracks.process[track.value]);
  }
  void Add(char value) { Add(int64_t{value}); }
  void Add(SeldomNumber value) { Add(int64_t{value}); }
  template <class T>
  void Add(T value) {
    text_ += " ";
    if constexpr (std::is_enum_v<T>) {
      text_ += std::to_string(static_cast<int>(value));
    } else {
      text_ += std::to_string(value);
    }
  }

  // The row of a detail table; a row that says nothing counts as none.
  template <class Table>
  void AddRow(const Table& table, uint32_t row) {
    std::string before = text_;
    bool says_something = false;
    if (row != kNoDetail) {
      ForEachColumn(
          [&](const auto& column) {
            using Value = std::remove_cvref_t<decltype(column[row])>;
            if constexpr (std::is_same_v<Value, uint32_t> || std::is_same_v<Value, SeldomDetail>) {
              return;  // numbers of other rows
            } else {
              Add(column[row]);
              if constexpr (!std::is_same_v<Value, StringId>) {
                says_something |= column[row] != MissingValue<Value>();
              } else {
                says_something |= !trace_.Text(column[row]).empty();
              }
            }
          },
          table);
    }
    if (!says_something) {
      text_ = std::move(before);
    }
  }
  template <class Table>
  void AddAll(const Table& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      ForEachColumn([&](const auto& column) { Add(column[row]); }, table);
      text_ += '\n';
    }
  }

  void AddHost(uint32_t row) {
    const HostEvents& host = trace_.host();
    const uint32_t detail = host.detail[row];
    Add(host.ts_ns[row]), Add(host.dur_ns[row]), Add(host.name[row]), Add(host.track[row]);
    Add(host.kind[row]);
    if (host.kind[row] == HostKind::kRuntime) {
      AddRow(trace_.runtime_calls(), detail);
    } else if (host.kind[row] != HostKind::kOther) {
      AddRow(trace_.ops(), detail);
      AddRow(trace_.collectives(),
             detail == kNoDetail ? detail : uint32_t{trace_.ops().collective[detail]});
    }
    text_ += '\n';
  }

  void AddDevice(uint32_t row) {
    const DeviceEvents& device = trace_.device();
    const uint32_t detail = device.detail[row];
    Add(device.ts_ns[row]), Add(device.dur_ns[row]), Add(device.name[row]), Add(device.track[row]);
    Add(device.kind[row]), Add(device.correlation[row]), Add(device.external_id[row]);
    switch (device.kind[row]) {
      case DeviceKind::kKernel:
        AddRow(trace_.kernels(), detail);
        AddRow(trace_.collectives(),
               detail == kNoDetail ? detail : uint32_t{trace_.kernels().collective[detail]});
        break;
      case DeviceKind::kMemcpy:
      case DeviceKind::kMemset:
        AddRow(trace_.copies(), detail);
        AddRow(trace_.copy_calls(), detail == kNoDetail ? detail : trace_.copies().call[detail]);
        break;
      case DeviceKind::kSync:
        AddRow(trace_.syncs(), detail);
        break;
      case DeviceKind::kRange:
        AddMetrics(detail);
        break;
      case DeviceKind::kAnnotation:
      case DeviceKind::kOther:
        break;
    }
    text_ += '\n';
  }

  void AddMetrics(uint32_t range) {
    const ProfilerRanges& ranges = trace_.ranges();
    for (uint32_t i = ranges.first_metric[range]; i < ranges.end_metric[range]; ++i) {
      AddRow(trace_.metrics(), i);
    }
  }

  const Trace& trace_;
  std::string text_;
};

void ExpectReadsBack(const Trace& trace) {
  const std::string text = ToChrome(trace);
  const Trace again = Load(text);
  const std::string difference = FirstDifference(RowText(trace).Text(), RowText(again).Text());
  ASSERT_EQ(difference, "");
  EXPECT_EQ(again.diagnostics().count(Diag::kBadSyntax), 0U);
  EXPECT_EQ(again.diagnostics().count(Diag::kBadFieldType), 0U);
  EXPECT_EQ(again.diagnostics().count(Diag::kDuplicateKey), 0U);
  EXPECT_EQ(again.begin_ns(), trace.begin_ns());
  EXPECT_EQ(again.end_ns(), trace.end_ns());
  ASSERT_EQ(FirstDifference(text, ToChrome(again)), "");
}

// What profiler databases say and PyTorch's profiler does not.
TEST(ConvertTwin, DetailsOfDatabasesReadBack) {
  const Trace trace = Load(R"({"traceEvents":[
    {"ph":"X","cat":"cuda_runtime","name":"hipMemcpyAsync","pid":10,"tid":11,"ts":1,"dur":2,
     "args":{"correlation":1,"domain":"hip","arguments":"dst=0x1 | \"src\"=0x2"}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":4,"dur":2,
     "args":{"stream":1,"process":10,"stream handle":"0x7f3e","private memory per thread":64}},
    {"ph":"X","cat":"gpu_memcpy","name":"CopyHostToDevice","pid":0,"tid":2,"ts":7,"dur":2,
     "args":{"correlation":1,"stream":1,"process":20,"bytes":8,"memcpy kind":1,"stream handle":"0x0",
             "source":"0x2","target":"0x1","source device":3,"target device":4,"width":5,
             "height":6,"is sync":1,"is pinned":0}}]})");
  ExpectReadsBack(trace);
  EXPECT_EQ(trace.Text(trace.runtime_calls().domain[0]), "hip");
  EXPECT_EQ(trace.Text(trace.runtime_calls().args[0]), "dst=0x1 | \"src\"=0x2");
  EXPECT_EQ(trace.Text(trace.kernels().stream_handle[0]), "0x7f3e");
  EXPECT_EQ(trace.kernels().private_bytes[0], 64);
  ASSERT_EQ(trace.copy_calls().size(), 1U);
  EXPECT_EQ(trace.Text(trace.copy_calls().target[0]), "0x1");
  EXPECT_EQ(trace.copy_calls().height[0], 6);
  EXPECT_EQ(trace.copy_calls().is_pinned[0], 0);
  EXPECT_EQ(trace.tracks().process, (std::vector<int64_t>{kMissing, 10, 20}));
}

TEST(ConvertTwin, RandomRunsReadBack) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ExpectReadsBack(TraceOf(MakeRandomRun(random)));
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(ConvertTwin, RandomEventsReadBack) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::string events = RandomEvents(random, 40, {Layout::kMixed, true, 0});
    // Else some of these would be taken for traces of other profilers.
    ExpectReadsBack(Load("{\"schemaVersion\":1,\"traceEvents\":[" + events + "]}"));
    if (HasFatalFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace borescope::internal
