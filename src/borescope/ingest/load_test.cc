#include "borescope/ingest/load.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "borescope/base/row_limit.h"

namespace borescope::internal {
namespace {

using namespace std::string_literals;

// `times` copies of a gzip member that inflates to `text`.
std::string Gzip(std::string_view text, int times = 1) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string member(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  member.resize(stream.total_out);
  deflateEnd(&stream);
  std::string bytes;
  for (int i = 0; i < times; ++i) {
    bytes += member;
  }
  return bytes;
}

const std::string kOp = R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":2,"ts":10,"dur":5})";
const std::string kKernel =
    R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":12,"dur":1.5,"args":{"stream":7}})";

Result<Trace> Load(std::string_view bytes) { return LoadBytes(bytes, "a.json", {}); }

// For bytes that must load.
Trace LoadGood(std::string_view bytes) {
  Result<Trace> trace = Load(bytes);
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

std::string ErrorOf(std::string_view bytes) {
  const Result<Trace> trace = Load(bytes);
  EXPECT_FALSE(trace.ok());
  return trace.ok() ? "" : trace.error().Sentence();
}

void ExpectOpAndKernel(const Trace& trace) {
  ASSERT_EQ(trace.host().size(), 1U);
  ASSERT_EQ(trace.device().size(), 1U);
  EXPECT_EQ(trace.Name(HostId{0}), "op");
  EXPECT_EQ(trace.Name(DeviceId{0}), "k");
  EXPECT_EQ(trace.device().dur_ns[0], 1500);
}

// --- files that are something else: named, with place, cause and remedy ---

struct ForeignCase {
  std::string name;
  std::string bytes;
  std::string message;
};

void PrintTo(const ForeignCase& c, std::ostream* out) { *out << c.name; }

class ForeignTest : public testing::TestWithParam<ForeignCase> {};

TEST_P(ForeignTest, IsNamedWithARemedy) {
  const Result<Trace> trace = Load(GetParam().bytes);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupportedFormat);
  EXPECT_EQ(trace.error().Sentence(), "a.json: " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ForeignTest,
    testing::Values(
        ForeignCase{
            "Zip", "PK\x03\x04rest",
            "byte 0: this is a zip archive, not a profile that borescope reads; unpack it and "
            "give the trace inside"},
        ForeignCase{"Pickle", "\x80\x02}q",
                    "byte 0: this is a Python pickle (memory snapshot?), not a profile that "
                    "borescope reads; give the trace written by export_chrome_trace"},
        ForeignCase{
            "Perfetto", "\x0a\x1f\x08 not json",
            "byte 0: this is a Perfetto protobuf trace, not a profile that borescope reads; "
            "record with export_chrome_trace to a .json or .json.gz file"},
        ForeignCase{
            "PerfettoGzip", Gzip("\x0a\x1f\x08 not json"),
            "byte 0: this is a Perfetto protobuf trace, not a profile that borescope reads; "
            "record with export_chrome_trace to a .json or .json.gz file"},
        ForeignCase{"Chakra",
                    "\x83\x02\x12\x1d\x0a\x06schema\xea\x01\x12"
                    "1.0.2-chakra",
                    "byte 0: this is a Chakra execution trace, not a profile that borescope reads; "
                    "give it to borescope chakra dump, draw or check"},
        ForeignCase{"ChakraOfAVersionAlone",
                    "\x07\x0a\x05"
                    "1.0.0A\x08\x80\x05\x12\x0a"
                    "ALL_GATHER",
                    "byte 0: this is a Chakra execution trace, not a profile that borescope reads; "
                    "give it to borescope chakra dump, draw or check"},
        ForeignCase{"ChakraWithoutNodes",
                    "\x0a\x0a\x08"
                    "10.0.0.4",
                    "byte 0: this is a Chakra execution trace, not a profile that borescope reads; "
                    "give it to borescope chakra dump, draw or check"},
        ForeignCase{"Nsys", "NVIDIA Tegra Profiler Report 2026@4@1@191\n\x0b",
                    "byte 0: this is an Nsight Systems report, not a profile that borescope reads; "
                    "turn it into a database with nsys export --type sqlite"},
        ForeignCase{
            "Elf",
            "\x7f"
            "ELF\x02",
            "byte 0: this is a program, not a profile that borescope reads; give a trace file"},
        ForeignCase{
            "Png", "\x89PNG\r\n",
            "byte 0: this is a picture, not a profile that borescope reads; give a trace file"},
        ForeignCase{
            "Text", "hello",
            "byte 0: this is neither JSON nor a database, not a profile that borescope reads; "
            "give a file written by torch.profiler's export_chrome_trace, or one of another format "
            "in `borescope list`"},
        ForeignCase{"MemorySnapshot", "\x80\x04}\x94(\x8c\x08segments\x94]"s,
                    "byte 0: this is a snapshot of PyTorch's memory (a Python pickle of "
                    "_dump_snapshot), not a profile that borescope reads; ask "
                    "`borescope postmortem FOLDER`, which explains how the job ended"},
        ForeignCase{"FlightRecorder", "\x80\x04}\x94(\x8c\x09pg_config\x94}"s,
                    "byte 0: this is a dump of PyTorch's flight recorder (a Python pickle), not a "
                    "profile that borescope reads; ask `borescope "
                    "postmortem FOLDER`, which explains how the job ended"},
        ForeignCase{"FlightRecorderJson",
                    R"({"comm_lib_version": "2.27", "version": "2.10", "entries":
                        [{"record_id": 0, "collective_seq_id": 1, "profiling_name": "x"}]})",
                    "byte 0: this is a dump of PyTorch's flight recorder (JSON), not a profile "
                    "that borescope reads; ask `borescope "
                    "postmortem FOLDER`, which explains how the job ended"},
        ForeignCase{"MemorySnapshotJson",
                    R"({"segments": [{"device": 0, "total_size": 4, "blocks": []}],
                        "device_traces": []})",
                    "byte 0: this is a snapshot of PyTorch's memory (JSON), not a profile that "
                    "borescope reads; ask `borescope "
                    "postmortem FOLDER`, which explains how the job ended"},
        ForeignCase{"Workbook", "PK\x03\x04\x14\x00[Content_Types].xml"s,
                    "byte 0: this is an Excel workbook, not a profile that borescope reads; give "
                    "the recording that it was made from"},
        ForeignCase{"Xplane", "\x0a\x10\x12\x0e/host:metadata\x22\x00"s,
                    "byte 0: this is an XPlane profile of XLA (JAX, TensorFlow), not a profile "
                    "that borescope reads; give the .trace.json.gz that was written beside it"},
        ForeignCase{"RuinedXplane",
                    "\x0a\xef\xbf\xbd\x0b\x08\x01\x12\x0d/device:GPU:0\x1a\xef\xbf\xbd\x02"s,
                    "byte 0: this is an XPlane profile of XLA (JAX, TensorFlow) that passed "
                    "through a text decoder, which replaced its bytes, not a profile that "
                    "borescope reads; give the .trace.json.gz that was written beside it"},
        ForeignCase{"Nvvp", "<?xml version=\"1.0\"?><nvvp version=\"1\"/>",
                    "byte 0: this is a session of NVIDIA's Visual Profiler (.nvvp, XML), not a "
                    "profile that borescope reads; give the database of nvprof (nvprof -o FILE) "
                    "that it names"},
        ForeignCase{"Proton", R"([{"children":[],"frame":{"name":"a"},"metrics":{"count":1}}])",
                    "byte 0: this is a profile of Proton (Triton) in its Hatchet form, not a "
                    "profile that borescope reads; it holds sums without times: run proton with "
                    "data=\"trace\", or record with torch.profiler"},
        ForeignCase{"TritonServer",
                    R"([{"id":1,"model_name":"m","model_version":1},{"id":1,"timestamps":[]}])",
                    "byte 0: this is a trace of the Triton inference server, not a profile that "
                    "borescope reads; profile the model itself with Nsight Systems or its "
                    "framework's profiler"},
        ForeignCase{"TensorFlow1",
                    R"({"traceEvents":[{"name":"process_name","ph":"M","pid":0,)"
                    R"("args":{"name":"Allocators"}}]})",
                    "byte 0: this is a TensorFlow 1 timeline, not a profile that borescope reads; "
                    "record with tf.profiler.experimental.start and give its trace.json.gz"},
        ForeignCase{"Browser",
                    R"({"traceEvents":[{"cat":"__metadata","name":"thread_name","ph":"M"}]})",
                    "byte 0: this is a trace of a web browser or of Node.js, not a profile that "
                    "borescope reads; give the trace of a profiler of the GPU, such as "
                    "torch.profiler's"},
        ForeignCase{"TensorFlow1OfAGpu",
                    R"({"traceEvents":[{"name":"process_name","ph":"M","pid":1,)"
                    R"("args":{"name":"/device:GPU:0/memcpy Compute"}}]})",
                    "byte 0: this is a TensorFlow 1 timeline, not a profile that borescope reads; "
                    "record with tf.profiler.experimental.start and give its trace.json.gz"},
        ForeignCase{"TensorFlow1WithoutNames",
                    R"({"traceEvents":[{"ph":"X","name":"m","cat":"Op","args":{"op":"MatMul"}}]})",
                    "byte 0: this is a TensorFlow 1 timeline, not a profile that borescope reads; "
                    "record with tf.profiler.experimental.start and give its trace.json.gz"},
        ForeignCase{"Rocprof",
                    R"({"traceEvents":[{},{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,)"
                    R"("name":"process_name","sort_index":0}]})",
                    "byte 0: this is a trace of rocprof, the first of ROCm's profilers "
                    "(results.json), not a profile that borescope reads; record with rocprofv3 "
                    "--sys-trace --output-format rocpd, whose database is read"},
        ForeignCase{"RocprofByItsEvents",
                    R"({"traceEvents":[{"ph":"X","name":"gemm","pid":6,"tid":0,"ts":"1010",)"
                    R"("dur":"50","args":{"BeginNs":"1010000","EndNs":"1060000"}}]})",
                    "byte 0: this is a trace of rocprof, the first of ROCm's profilers "
                    "(results.json), not a profile that borescope reads; record with rocprofv3 "
                    "--sys-trace --output-format rocpd, whose database is read"},
        ForeignCase{"Bazel",
                    R"({"otherData":{"bazel_version":"7"},"traceEvents":[{"ph":"X","name":"c",)"
                    R"("cat":"action processing","pid":1,"tid":1,"ts":1,"dur":5}]})",
                    "byte 0: this is a profile of a build with Bazel, not a profile that "
                    "borescope reads; give the trace of a profiler of the GPU, such as "
                    "torch.profiler's"},
        ForeignCase{"Trtexec",
                    R"([ { "startInMs" : 1.0, "endInMs" : 2, "computeMs" : 1, "latencyMs" : 2 } ])",
                    "byte 0: this is a list of the times of trtexec (--exportTimes), not a "
                    "profile that borescope reads; it holds sums of each inference without "
                    "kernels: record trtexec with nsys profile"},
        ForeignCase{"V8",
                    R"({"nodes":[{"id":1,"callFrame":{"functionName":"main"}
}],"startTime":1,)"
                    R"("samples":[1],"timeDeltas":[1]})",
                    "byte 0: this is a CPU profile of V8 (.cpuprofile of Node.js or a web "
                    "browser), not a profile that borescope reads; give the trace of a profiler "
                    "of the GPU, such as torch.profiler's"},
        ForeignCase{"PerfettoJson",
                    R"({"traceEvents":[{"cat":"gpu","name":"x","ph":"X","dur":3,"pid":1,"tid":2,)"
                    R"("ts":1.0}],"systemTraceEvents":"# tracer: nop\n"})",
                    "this is a trace of Perfetto or of a web browser, in JSON, not a profile that "
                    "borescope reads; give the trace of a profiler of the GPU, such as "
                    "torch.profiler's"},
        ForeignCase{"MemoryTimelinePlot", "[[1, 2], [[0, 5]]]",
                    "byte 0: this is a JSON list of lists, but not of [time, action, bytes, "
                    "category] as in a raw memory timeline; export_memory_timeline writes one to "
                    "a file named .raw.json.gz"},
        ForeignCase{"NestedList", "[[[1]]]",
                    "byte 0: this is a JSON list of lists, but not of [time, action, bytes, "
                    "category] as in a raw memory timeline; export_memory_timeline writes one to "
                    "a file named .raw.json.gz"},
        ForeignCase{"Numbers", "[1, 2]",
                    "byte 0: this is a JSON list of something else than events, not a profile "
                    "that borescope reads; give a file written by torch.profiler's "
                    "export_chrome_trace"},
        ForeignCase{"ExecutionTrace", R"({"schema":"1.0.1","pid":7,"nodes":[{"id":1}]})",
                    "byte 0: this is a PyTorch execution trace (nodes without times); give the "
                    "profiler trace recorded beside it, or tie the two together with borescope "
                    "link"},
        ForeignCase{"RocprofilerSdk", R"({"rocprofiler-sdk-tool":[{"metadata":{}}]})",
                    "byte 0: this is a rocprofiler-sdk JSON file, not a PyTorch trace; record "
                    "with rocprofv3 --output-format rocpd, whose database is read"},
        ForeignCase{"OtherJson", R"({"a":1,"b":[{"traceEvents":[]}]})",
                    "no \"traceEvents\" in this JSON; give a file written by torch.profiler's "
                    "export_chrome_trace"}),
    [](const auto& test) { return test.param.name; });

// Not a version, a version with another message, or a truncated one.
TEST(LoadTest, WhatOnlyLooksLikeAChakraTrace) {
  for (const std::string& bytes :
       {"\x07\x0a\x05"s + "1.a.0", "\x07\x0a\x05"s + "1..00", "\x07\x0a\x05"s + "10000",
        "\x07\x0a\x05"s + ".1.00", "\x08\x0a\x05"s + "1.0.0A", "\x07\x0b\x05"s + "1.0.0",
        "\x07\x0a\x05"s + "1.0", "\x07\x0a\x05"s, "\x02\x0a\x00"s + "1.0.0", "1\x0a/1.0.0"s}) {
    EXPECT_EQ(ErrorOf(bytes).find("Chakra"), std::string::npos) << bytes;
  }
}

TEST(LoadTest, AnEmptyFile) {
  for (const std::string& bytes : {""s, " \n\t\r\n"s, Gzip("")}) {
    const Result<Trace> trace = Load(bytes);
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(trace.error().Sentence(),
              "a.json: byte 0: the file is empty; profile again or check that the copy finished");
  }
}

TEST(LoadTest, AGzipFileOfWhichNothingIsLeft) {
  const Result<Trace> trace = Load(Gzip(kOp).substr(0, 10));
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(trace.error().Sentence(),
            "a.json: the gzip stream ends early at stored byte 10 and nothing could be inflated; "
            "copy the file again");
}

TEST(LoadTest, AMissingFile) {
  const Result<Trace> trace = LoadFile("no/such.json", {});
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().Sentence(),
            "no/such.json: No such file or directory; check the name and its permissions");
}

// --- containers ---

TEST(LoadTest, ObjectListGzipAndZeroPaddedGzip) {
  const std::string list = "[" + kOp + "," + kKernel + "]";
  const std::string object = "{\"traceEvents\":" + list + "}";
  const std::string crlf =
      "{\r\n  \"traceEvents\": [\r\n" + kOp + ",\r\n" + kKernel + "\r\n]\r\n}\r\n";
  for (const std::string& bytes :
       {list, object, "\n\n " + object + "\n", "\xef\xbb\xbf" + object, crlf, Gzip(object),
        Gzip(object.substr(0, 30)) + Gzip(object.substr(30)),
        Gzip(object) + std::string(64, '\0')}) {
    const Trace trace = LoadGood(bytes);
    ExpectOpAndKernel(trace);
    EXPECT_TRUE(trace.diagnostics().empty()) << bytes;
  }
}

// Who wrote a file is not known where nothing in it is of PyTorch's profiler.
TEST(LoadTest, TheProducerOfAnyChromeTraceIsUnknown) {
  constexpr std::string_view kUnknown = "unknown: no event in it is of PyTorch's profiler";
  const std::string stranger = R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":1})";
  const std::string end = R"({"ph":"E","name":"a","pid":1,"tid":1,"ts":3})";
  const auto producer = [](const std::string& text) { return LoadGood(text).meta().producer; };
  EXPECT_EQ(producer("[" + stranger + "," + end + "]"), kUnknown);
  EXPECT_EQ(producer("[]"), kUnknown);
  EXPECT_EQ(producer("[" + stranger + "," + end + "," + kOp + "]"), "PyTorch profiler");
  EXPECT_EQ(producer(R"({"schemaVersion":1,"traceEvents":[]})"), "PyTorch profiler (Kineto)");
  // What passed through Perfetto keeps its events.
  EXPECT_EQ(producer("{\"traceEvents\":[" + kOp + "],\"systemTraceEvents\":\"\"}"),
            "PyTorch profiler");
}

TEST(LoadTest, NoEvents) {
  for (const char* bytes : {"[]", "{\"traceEvents\":[]}", "{ \"traceEvents\" : [ ] }"}) {
    const Trace trace = LoadGood(bytes);
    EXPECT_EQ(trace.host().size(), 0U);
    EXPECT_TRUE(trace.diagnostics().empty());
  }
}

TEST(LoadTest, SizesAndNameAreKnown) {
  const std::string text = "[" + kOp + "]";
  const std::string bytes = Gzip(text);
  const Trace trace = LoadGood(bytes);
  EXPECT_EQ(trace.meta().file, "a.json");
  EXPECT_EQ(trace.meta().format, TraceFormat::kKineto);
  EXPECT_EQ(trace.meta().text_bytes, text.size());
  EXPECT_EQ(trace.meta().file_bytes, bytes.size());
}

TEST(LoadTest, FromAFile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                     ("load_test." + std::to_string(getpid()) + ".json");
  std::ofstream(path) << "[" << kOp << "," << kKernel << "]";
  const Result<Trace> trace = LoadFile(path.string(), {});
  std::filesystem::remove(path);
  ASSERT_TRUE(trace.ok()) << trace.error().Sentence();
  ExpectOpAndKernel(*trace);
}

// Zero threads are never intended, but the file must not appear empty then.
TEST(LoadTest, AnyNumberOfThreadsLoads) {
  const std::string bytes = "[" + kOp + "," + kKernel + "]";
  for (const int threads : {-3, 0, 1, 2}) {
    const Result<Trace> trace = LoadBytes(bytes, "a.json", {.threads = threads, .progress = {}});
    ASSERT_TRUE(trace.ok());
    ExpectOpAndKernel(*trace);
  }
}

// Several chunks long, with a repair in the middle.
TEST(LoadTest, EventsEndAtOnePlaceForAnyNumberOfThreads) {
  std::string text = "{\"traceEvents\":[" + kOp;
  for (int i = 0; i < 40'000; ++i) {
    text += (i == 20'000 ? "\n" : ",\n") + kOp;
  }
  for (const bool is_cut : {false, true}) {
    const std::string tail = is_cut ? "," + kKernel.substr(0, 20) : "\n],\"traceName\":\"x\"}";
    for (const int threads : {1, 2, 3, 8}) {
      const Result<Trace> trace =
          LoadBytes(Gzip(text + tail), "a.json", {.threads = threads, .progress = {}});
      ASSERT_TRUE(trace.ok());
      EXPECT_EQ(trace->meta().events_end_byte, text.size());
      EXPECT_EQ(trace->meta().text_is_cut, is_cut);
    }
  }
}

TEST(LoadTest, ADamagedGzipStreamGivesWhatCameBefore) {
  std::string events;
  for (int i = 0; i < 2000; ++i) {
    events += (i == 0 ? "" : ",") + kOp;
  }
  const std::string bytes = Gzip("{\"traceEvents\":[" + events + "]}");
  const Trace trace = LoadGood(bytes.substr(0, bytes.size() - 9));
  EXPECT_GT(trace.host().size(), 1000U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kTruncatedGzip), 1U);
}

// --- hostile sizes ---

TEST(LoadTest, DeepNestingAnywhere) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  ExpectOpAndKernel(LoadGood("{\"a\":" + deep + ",\"traceEvents\":[" + kOp + "," + kKernel + "]}"));
  ExpectOpAndKernel(
      LoadGood("{\"distributedInfo\":" + deep + ",\"traceEvents\":[" + kOp + "," + kKernel + "]}"));
  const Trace trace = LoadGood(R"([{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":2,"ts":10,)"
                               R"("dur":5,"args":{"a":)" +
                               deep + "}}," + kKernel + "]");
  ExpectOpAndKernel(trace);
  EXPECT_NE(ErrorOf("{\"a\":" + std::string(100'000, '{')), "");
  EXPECT_NE(ErrorOf(std::string(100'000, '[')), "");
  LoadGood("{\"traceEvents\":[" + std::string(100'000, '{'));
}

TEST(LoadTest, ProgressEndsWithTheWholeFile) {
  uint64_t last = 0;
  const std::string bytes = Gzip("[" + kOp + "]");
  const auto progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, bytes.size());
    EXPECT_GE(done, last);
    last = done;
  };
  ASSERT_TRUE(LoadBytes(bytes, "a.json", {.threads = 1, .progress = progress}).ok());
  EXPECT_EQ(last, bytes.size());
}

TEST(LoadTest, EveryFormatIsListed) {
  std::vector<std::string_view> names;
  for (const FormatRow& row : Formats()) {
    names.push_back(row.name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{
                       "kineto-json", "pytorch-memory-timeline", "xla-json", "onnxruntime-json",
                       "autograd-json", "ascend-json", "ncu-report", "ncu-csv", "rocprofv3-csv",
                       "rocpd", "rpd", "nsys", "nvprof", "recording"}));
}

// Nothing is cut off, and nobody forgot to record devices.
TEST(LoadTest, AnEventThatIsTooLongIsReportedAsThat) {
  const std::string kernel =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5})";
  const std::string name(size_t{65} << 20, 'x');
  const std::string text = R"({"traceEvents":[)" + kernel +
                           R"(,{"ph":"X","cat":"kernel","name":")" + name +
                           R"(","pid":0,"tid":7,"ts":20,"dur":5},)" + kernel + "]}";
  const Result<Trace> trace = LoadBytes(text, "a.json", {1, {}});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->device().size(), 2U);
  EXPECT_EQ(trace->diagnostics().count(Diag::kTooLongEvent), 1U);
  EXPECT_EQ(trace->diagnostics().count(Diag::kTruncatedFile), 0U);
}

// --- more than rows can be numbered ---

TEST(LoadTest, TooManyRowsAreAnErrorThatNamesFileAndCause) {
  const RowLimitForTest limit(3);
  std::string events;
  for (int i = 0; i < 4; ++i) {
    events += (i == 0 ? "" : ",") + kOp;
  }
  EXPECT_EQ(ErrorOf(R"({"traceEvents":[)" + events + "]}"),
            "a.json: more than 3 events of the host, as many as can be numbered; record or select "
            "less time, or fewer processes");
}

TEST(LoadTest, AsManyRowsAsCanBeNumberedAreLoaded) {
  const RowLimitForTest limit(3);
  EXPECT_EQ(LoadGood(R"({"traceEvents":[)" + kOp + "," + kOp + "," + kOp + "]}").host().size(), 3U);
}

TEST(LoadTest, TooManyTextsAreAnErrorOfAnyThread) {
  const RowLimitForTest limit(5);
  std::string events;
  for (int i = 0; i < 5; ++i) {
    events += (i == 0 ? "" : ",") + R"({"ph":"X","cat":"cpu_op","name":"n)"s + std::to_string(i) +
              R"(","pid":1,"tid":1,"ts":1,"dur":1})";
  }
  const Result<Trace> trace =
      LoadBytes(R"({"traceEvents":[)" + events + "]}", "a.json", {.threads = 4, .progress = {}});
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupportedFormat);
}

}  // namespace
}  // namespace borescope::internal
