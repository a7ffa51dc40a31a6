// The ranges of PyProf and PyTorch's emit_nvtx() around launches, in both kinds of database: the
// enclosing ranges of a launch equal the result of PyProf's parse stage, row by row of its test
// vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "borescope/ingest/cupti/cupti_test_database.h"

namespace borescope::internal {
namespace {

struct Span {
  std::string text;
  int64_t start;
  int64_t end;
};

// One thread (process 77, thread -5 in nvprof's columns) with ranges and launches of kernels.
struct Recording {
  std::vector<Span> ranges;
  std::vector<int64_t> launches;  // starts of calls of 2 ns
};

std::string Quoted(const std::string& text) {
  std::string sql = "'";
  for (const char c : text) {
    sql += c == '\'' ? std::string("''") : std::string(1, c);
  }
  return sql + "'";
}

std::string Values(const std::vector<std::string>& values) {
  std::string sql = " VALUES(";
  for (const std::string& value : values) {
    sql += (sql.ends_with('(') ? "" : ",") + value;
  }
  return sql + ");";
}

std::string Number(int64_t value) { return std::to_string(value); }

// The start row refers to the text by its number in StringTable; texts are unique.
std::string NvprofSql(const Recording& recording) {
  std::string sql =
      "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);"
      "INSERT INTO StringTable VALUES(1,'_Z4gemmPfi');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT,"
      "id INT, objectKind INT, objectId BLOB, name INT, domain INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid INT, start INT,"
      "end INT, processId INT, threadId INT, correlationId INT, returnValue INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT,"
      "end INT, deviceId INT, streamId INT, correlationId INT, name INT);";
  const std::string thread = "X'4D000000FBFFFFFFFFFFFFFF'";
  int64_t id = 1;
  for (const Span& range : recording.ranges) {
    sql += "INSERT OR IGNORE INTO StringTable(value)" + Values({Quoted(range.text)});
    const std::string name =
        "(SELECT _id_ FROM StringTable WHERE value=" + Quoted(range.text) + ")";
    const std::string start =
        "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER(flags,timestamp,id,"
        "objectKind,objectId,name,domain)";
    sql += start + Values({"2", Number(range.start), Number(id), "2", thread, name, "0"});
    sql += start + Values({"4", Number(range.end), Number(id), "2", thread, "0", "0"});
    ++id;
  }
  for (const int64_t launch : recording.launches) {
    sql +=
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(cbid,start,end,processId,threadId,"
        "correlationId,returnValue)" +
        Values({"211", Number(launch), Number(launch + 2), "77", "-5", Number(launch), "0"});
    sql +=
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start,end,deviceId,streamId,"
        "correlationId,name)" +
        Values({Number(launch + 1000), Number(launch + 1001), "0", "7", Number(launch), "1"});
  }
  return sql;
}

// Every second text is a registered string, referred to by number.
std::string NsysSql(const Recording& recording) {
  std::string sql =
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES(1,'gemm(float*, int)'),(2,'cudaLaunchKernel_v7000');"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT,"
      "textId INT, domainId INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT,"
      "correlationId INT, nameId INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT,"
      "correlationId INT, globalPid INT, demangledName INT);";
  const std::string process = Number(int64_t{77} << 24);
  const std::string thread = Number(int64_t{77} << 24 | 5);
  int64_t id = 3;
  for (const Span& range : recording.ranges) {
    const bool is_registered = id % 2 == 0;
    sql += "INSERT INTO StringIds" + Values({Number(id), Quoted(range.text)});
    sql += "INSERT INTO NVTX_EVENTS" + Values({Number(range.start), Number(range.end), "59",
                                               is_registered ? "NULL" : Quoted(range.text), thread,
                                               is_registered ? Number(id) : "NULL", "0"});
    ++id;
  }
  for (const int64_t launch : recording.launches) {
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME" +
           Values({Number(launch), Number(launch + 2), thread, Number(launch), "2"});
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL" +
           Values({Number(launch + 1000), Number(launch + 1001), "0", "7", Number(launch), process,
                   "1"});
  }
  return sql;
}

// "layer:a > conv2d #5" per kernel and line: the ranges around its launch, outermost first.
// Operators have a number.
std::string Enclosing(const Trace& trace) {
  std::string lines;
  const HostEvents& host = trace.host();
  for (const int64_t correlation : trace.device().correlation) {
    const auto& calls = trace.runtime_calls().correlation;
    const auto call = std::find(calls.begin(), calls.end(), correlation) - calls.begin();
    uint32_t launch = 0;
    while (host.kind[launch] != HostKind::kRuntime || host.detail[launch] != call) {
      ++launch;
    }
    std::string line;
    for (uint32_t row = 0; row < launch; ++row) {
      const bool is_around = host.ts_ns[row] <= host.ts_ns[launch] &&
                             host.end_ns({row}) >= host.end_ns({launch}) &&
                             host.track[row] == host.track[launch];
      if (!is_around || host.kind[row] == HostKind::kRuntime) {
        continue;
      }
      line += (line.empty() ? "" : " > ") + std::string(trace.Name(HostId{row}));
      if (host.kind[row] == HostKind::kOp) {
        line += " #" + std::to_string(trace.ops().sequence[host.detail[row]]);
      }
    }
    lines += line + "\n";
  }
  return lines;
}

void Expect(const Recording& recording, const std::string& enclosing) {
  const Trace nvprof = LoadSql(NvprofSql(recording));
  const Trace nsys = LoadSql(NsysSql(recording));
  EXPECT_EQ(nvprof.meta().format, TraceFormat::kNvprof);
  EXPECT_EQ(nsys.meta().format, TraceFormat::kNsys);
  EXPECT_EQ(Enclosing(nvprof), enclosing);
  EXPECT_EQ(Enclosing(nsys), enclosing);
  EXPECT_TRUE(nvprof.diagnostics().empty());
  EXPECT_TRUE(nsys.diagnostics().empty());
  for (const Trace* trace : {&nvprof, &nsys}) {
    ASSERT_EQ(trace->device().size(), recording.launches.size());
    EXPECT_EQ(trace->Name(DeviceId{0}), "gemm(float*, int)");
  }
}

const std::string kTrace = "{'traceMarker': ['main.py:5', '/torch/nn/modules/conv.py:9']}";
const std::string kArguments =
    "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'int'}]}";

TEST(EmitNvtxTest, TwoKernelsOfAConvolution) {
  const std::string chain = "layer:conv2_x > layer:Bottleneck_1 > " + kTrace + " > " + kArguments +
                            " > conv2d #5 > _convolution #5 > cudnn_convolution #5\n";
  Expect({{{"layer:conv2_x", 10, 100},
           {"layer:Bottleneck_1", 11, 99},
           {kTrace, 12, 98},
           {kArguments, 13, 97},
           {"conv2d, seq = 5", 14, 96},
           {"_convolution, seq = 5", 15, 95},
           {"cudnn_convolution, seq = 5", 16, 94}},
          {20, 30}},
         chain + chain);
}

TEST(EmitNvtxTest, BackwardOfAConvolution) {
  const std::string chain = "CudnnConvolutionBackward #5 > cudnn_convolution_backward #0\n";
  Expect({{{"CudnnConvolutionBackward, seq = 5", 10, 100},
           {"cudnn_convolution_backward, seq = 0", 11, 99}},
          {20, 30}},
         chain + chain);
}

TEST(EmitNvtxTest, BackwardOfARelu) {
  Expect({{{"ReluBackward0, seq = 6", 10, 100}, {"threshold_backward, seq = 0", 11, 99}}, {20}},
         "ReluBackward0 #6 > threshold_backward #0\n");
}

TEST(EmitNvtxTest, NoRanges) { Expect({{}, {20}}, "\n"); }

// PyProf took the whole text for an operator; here it is a range of that name.
TEST(EmitNvtxTest, AMarkerWithoutArguments) {
  const std::string text = "{'mod': 'torch', 'op': 'sync', 'args': []}";
  Expect({{{text, 10, 100}}, {20}}, text + "\n");
}

// Ranges of checkpointing are kept: analyses that leave them out recognise them by name.
TEST(EmitNvtxTest, LayersModulesAndCheckpoints) {
  Expect({{{"layer:a:b", 10, 100},
           {"pre layer:c", 11, 99},
           {"{'strRepr': 'Linear(in_features=2)'}", 12, 98},
           {"CheckpointFunctionBackward", 13, 97},
           {"plain", 14, 96}},
          {20}},
         "layer:a:b > pre layer:c > {'strRepr': 'Linear(in_features=2)'} > "
         "CheckpointFunctionBackward > plain\n");
}

// All numbers around each launch, in the order of the ranges; PyProf lost some of them.
TEST(EmitNvtxTest, SequenceNumbersOfManyRanges) {
  Recording recording;
  std::string expected;
  int64_t at = 10;
  const auto add = [&](const std::vector<std::pair<std::string, int64_t>>& around) {
    int64_t depth = 0;
    std::string line;
    for (const auto& [name, sequence] : around) {
      recording.ranges.push_back(
          {name + ", seq = " + std::to_string(sequence), at + depth, at + 90 - depth});
      line += (line.empty() ? "" : " > ") + name + " #" + std::to_string(sequence);
      ++depth;
    }
    recording.launches.push_back(at + 40);
    expected += line + "\n";
    at += 100;
  };
  add({{"a", 1}, {"b", 2}, {"c", 3}});
  add({{"a", 3}, {"b", 4}, {"c", 5}});
  add({{"a", 2}});
  add({{"a", 9}, {"b", 10}});
  add({{"ABackward", 4}, {"b", 0}});
  add({{"ABackward", 3}, {"BBackward1", 7}});
  Expect(recording, expected);
}

// As PyTorch writes them since 1.12, which PyProf cannot read.
TEST(EmitNvtxTest, NumbersOfCalls) {
  Expect({{{"aten::conv2d, seq = 5, op_id = 9", 10, 100},
           {"aten::_convolution, seq = 5, op_id = 10, sizes = [[1, 3], []]", 11, 99},
           {"torch::autograd::AccumulateGrad, op_id = 11", 12, 98}},
          {20}},
         "aten::conv2d #5 > aten::_convolution #5 > torch::autograd::AccumulateGrad #" +
             std::to_string(kMissing) + "\n");
}

}  // namespace
}  // namespace borescope::internal
