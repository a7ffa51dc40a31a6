#include "borescope/ingest/events/kineto_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace borescope::internal {
namespace {

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

void ExpectOpAndKernel(const Trace& trace) {
  ASSERT_EQ(trace.host().size(), 1U);
  ASSERT_EQ(trace.device().size(), 1U);
  EXPECT_EQ(trace.Name(HostId{0}), "op");
  EXPECT_EQ(trace.Name(DeviceId{0}), "k");
  EXPECT_EQ(trace.device().dur_ns[0], 1500);
}

TEST(KinetoJsonTest, PositionsCountAllEvents) {
  const Trace trace =
      LoadGood("{\"traceEvents\": [{\"ph\":\"M\"}," + kKernel + ",{}," + kOp + "]}");
  EXPECT_EQ(trace.host().position, std::vector<uint32_t>{3});
  EXPECT_EQ(trace.device().position, std::vector<uint32_t>{1});
  EXPECT_EQ(trace.meta().events_begin_byte, 17U);
}

TEST(KinetoJsonTest, MembersInAnyOrder) {
  const std::string events = "\"traceEvents\":[" + kOp + "," + kKernel + "]";
  const std::string members =
      R"("schemaVersion":1,"baseTimeNanoseconds":1712016000000000000,"traceName":"run/a.json",)"
      R"("cuda_runtime_version":12060,)"
      R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":8,"nccl_version":"2.20.5"},)"
      R"("deviceProperties":[{"id":0,"name":"NVIDIA H100","totalGlobalMem":85,"computeMajor":9,)"
      R"("computeMinor":0,"warpSize":32,"numSms":132,"maxThreadsPerMultiprocessor":2048}],)"
      R"("record_shapes":1,"with_stack":0,"profile_memory":true)";
  for (const std::string& text :
       {"{" + members + "," + events + "}", "{" + events + "," + members + "}"}) {
    const Trace trace = LoadGood(text);
    ExpectOpAndKernel(trace);
    const Meta& meta = trace.meta();
    EXPECT_EQ(meta.base_ns, 1'712'016'000'000'000'000);
    EXPECT_EQ(meta.rank, 3);
    EXPECT_EQ(meta.world_size, 8);
    EXPECT_EQ(meta.backend, "nccl");
    EXPECT_EQ(meta.nccl_version, "2.20.5");
    EXPECT_EQ(meta.trace_name, "run/a.json");
    EXPECT_EQ(meta.producer, "PyTorch profiler (Kineto, CUDA 12.6)");
    EXPECT_TRUE(meta.options.record_shapes && meta.options.profile_memory);
    EXPECT_FALSE(meta.options.with_stack || meta.options.with_flops);
    ASSERT_EQ(meta.devices.size(), 1U);
    EXPECT_EQ(meta.devices[0].name, "NVIDIA H100");
    EXPECT_EQ(meta.devices[0].multiprocessors, 132);
    EXPECT_EQ(meta.devices[0].max_threads_per_multiprocessor, 2048);
    EXPECT_TRUE(trace.diagnostics().empty());
  }
}

std::string Async(char phase, const std::string& id, int ts_us) {
  return R"({"ph":")" + std::string(1, phase) + R"(","cat":"user_annotation","name":"r)" + id +
         R"(","id":)" + id + R"(,"pid":1,"tid":2,"ts":)" + std::to_string(ts_us) + "}";
}

std::string ListOf(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& event : events) {
    text += (text.empty() ? "[" : ",") + event;
  }
  return text + "]";
}

TEST(KinetoJsonTest, BeginAndEndOfOneIdAreARangeOfItsOwnTrack) {
  const Trace trace =
      LoadGood(ListOf({kOp, Async('b', "1", 10), Async('e', "2", 30), Async('b', "2", 12),
                       Async('e', "1", 20), Async('b', "1", 12), Async('e', "1", 15)}));
  const HostEvents& host = trace.host();
  ASSERT_EQ(host.size(), 4U);
  EXPECT_EQ(trace.tracks().is_async, (std::vector<char>{0, 1}));
  EXPECT_EQ(host.dur_ns, (std::vector<int64_t>{5000, 10000, 18000, 3000}));
  EXPECT_EQ(trace.Name(HostId{2}), "r2");
  EXPECT_EQ(host.kind[2], HostKind::kAnnotation);
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingDuration), 0U);
}

TEST(KinetoJsonTest, AsynchronousEventsWithoutTheirOtherHalfAreCounted) {
  const Trace trace = LoadGood(ListOf({kOp, Async('b', "1", 10), Async('e', "2", 30),
                                       R"({"ph":"b","cat":"c","name":"n","ts":1})"}));
  ASSERT_EQ(trace.host().size(), 2U);
  EXPECT_EQ(trace.host().dur_ns[1], 0);
  EXPECT_EQ(trace.diagnostics().count(Diag::kMissingDuration), 1U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kDanglingReference), 1U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kUnknownPhase), 1U);
}

TEST(KinetoJsonTest, CountersOfMonitorsAreSamples) {
  const std::string head = R"({"ph":"C","cat":"monitor)";
  const Trace trace = LoadGood(
      ListOf({kOp, head + R"(,gpu,2","name":"sclk","pid":2,"ts":1,"dur":3,"args":{"sclk":62.5}})",
              head + R"(,,","name":"gpu power","pid":-1,"ts":2,"dur":0,"args":{"power":7}})",
              head + R"(,a,b,-1","name":"x","pid":-1,"ts":2,"dur":0,"args":{"x":1}})",
              R"({"ph":"C","name":"sclk","pid":2,"ts":4,"args":{"sclk":62.5}})"}));
  const Samples& samples = trace.samples();
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples.ts_ns[0], 1000);
  EXPECT_EQ(samples.end_ns[0], 4000);
  EXPECT_EQ(samples.device, (std::vector<int64_t>{2, kMissing, -1}));
  EXPECT_EQ(trace.Text(samples.device_type[0]), "gpu");
  EXPECT_EQ(trace.Text(samples.device_type[2]), "a,b");
  EXPECT_EQ(trace.Text(samples.name[1]), "power");
  EXPECT_EQ(samples.value[0], 62.5);
}

TEST(KinetoJsonTest, MembersOfTheWrongTypeAreNotRecorded) {
  const Trace trace =
      LoadGood(R"({"distributedInfo":{"rank":"three","world_size":0},"baseTimeNanoseconds":"x",)"
               R"("deviceProperties":{},"traceName":7,"record_shapes":"yes","traceEvents":[)" +
               kOp + "]}");
  EXPECT_FALSE(trace.meta().rank.has_value());
  EXPECT_FALSE(trace.meta().world_size.has_value());
  EXPECT_FALSE(trace.meta().base_ns.has_value());
  EXPECT_EQ(trace.meta().trace_name, "");
  EXPECT_FALSE(trace.meta().options.record_shapes);
  EXPECT_EQ(trace.host().size(), 1U);
}

// A rank that other writers put down otherwise is a rank, too: where it is not read, the order of
// files decides.
TEST(KinetoJsonTest, RanksMayBeTextOrHaveAFraction) {
  for (const char* const info :
       {R"({"rank":"3","world_size":"8"})", R"({"rank":3.0,"world_size":8.0})"}) {
    const Trace trace =
        LoadGood(R"({"distributedInfo":)" + std::string(info) + R"(,"traceEvents":[)" + kOp + "]}");
    EXPECT_EQ(trace.meta().rank, 3) << info;
    EXPECT_EQ(trace.meta().world_size, 8) << info;
  }
  for (const char* const rank : {"3.5", "1e300", "\"3x\"", "\"\"", "-2", "[3]", "null"}) {
    const Trace trace = LoadGood(R"({"distributedInfo":{"rank":)" + std::string(rank) +
                                 R"(},"traceEvents":[)" + kOp + "]}");
    EXPECT_FALSE(trace.meta().rank.has_value()) << rank;
  }
}

TEST(KinetoJsonTest, OfMembersThatComeTwiceTheLastCounts) {
  const Trace trace =
      LoadGood(R"({"distributedInfo":{"rank":0},"traceName":"first","traceEvents":[)" + kOp +
               R"(],"distributedInfo":{"rank":5},"traceName":"last"})");
  EXPECT_EQ(trace.meta().rank, 5);
  EXPECT_EQ(trace.meta().trace_name, "last");
}

// Nothing may get lost silently: the events of both lists are read.
TEST(KinetoJsonTest, TraceEventsTwice) {
  const Trace trace =
      LoadGood("{\"traceEvents\":[" + kOp + "],\"x\":1,\"traceEvents\":[" + kKernel + "]}");
  ExpectOpAndKernel(trace);
}

TEST(KinetoJsonTest, TheKeyMayBeWrittenWithEscapes) {
  ExpectOpAndKernel(
      LoadGood(R"({"trace\u0045vents":[)" + kOp + "," + kKernel + "],\"a\\\"b\":\"]\\\"}\"}"));
}

// Only the member of the document counts, not a key of that name inside another one.
TEST(KinetoJsonTest, TheNameTraceEventsInsideAnotherMember) {
  const Trace trace = LoadGood(R"({"note":"\"traceEvents\":[","m":{"traceEvents":[1,2]},)"
                               R"("traceEvents":[)" +
                               kOp + "," + kKernel + "]}");
  ExpectOpAndKernel(trace);
  EXPECT_TRUE(trace.diagnostics().empty());
}

// Log lines and user metadata are written unchecked; the events after them are still found.
TEST(KinetoJsonTest, MembersThatAreNotJson) {
  for (const char* members : {R"("INFO":["he said "no" to it", "x"],)", R"("meta":{"a":[1,2},)",
                              R"("x" 5,)", R"(bare,)"}) {
    const Trace trace =
        LoadGood(std::string("{") + members + "\n\"traceEvents\":[" + kOp + "," + kKernel + "]}");
    ExpectOpAndKernel(trace);
  }
  const Trace trace =
      LoadGood("{\"distributedInfo\":{\"rank\":nope},\"traceEvents\":[" + kOp + "]}");
  EXPECT_EQ(trace.diagnostics().Get(Diag::kBadSyntax).first,
            "the member \"distributedInfo\" is not JSON");
}

TEST(KinetoJsonTest, MembersBehindTheEventsThatAreNotJson) {
  const Trace trace =
      LoadGood("{\"traceEvents\":[" + kOp + "," + kKernel + "],\"WARNING\":[\"a \" c\"]}");
  ExpectOpAndKernel(trace);
  EXPECT_EQ(trace.diagnostics().count(Diag::kDroppedText), 1U);
}

TEST(KinetoJsonTest, ATrailingCommaIsRepaired) {
  for (const std::string& text :
       {"[" + kOp + "," + kKernel + ",]", "{\"traceEvents\":[" + kOp + "," + kKernel + " ,\n]}"}) {
    const Trace trace = LoadGood(text);
    ExpectOpAndKernel(trace);
    EXPECT_EQ(trace.diagnostics().count(Diag::kBadSyntax), 1U) << text;
    EXPECT_EQ(trace.diagnostics().count(Diag::kTruncatedFile), 0U) << text;
  }
}

TEST(KinetoJsonTest, AMissingCommaIsRepaired) {
  const Trace trace = LoadGood("[" + kOp + "\n" + kKernel + "]");
  ExpectOpAndKernel(trace);
  EXPECT_EQ(trace.diagnostics().count(Diag::kBadSyntax), 1U);
}

// One stray bracket must not lose all events after it.
TEST(KinetoJsonTest, ABracketBetweenEventsDoesNotEndThem) {
  for (const char* between : {"],", "]", ",],", " ] ,\n "}) {
    for (const bool is_list : {true, false}) {
      const std::string list = "[" + kOp + between + kKernel + "]";
      const Trace trace = LoadGood(is_list ? list : "{\"traceEvents\":" + list + "}");
      ExpectOpAndKernel(trace);
      EXPECT_GE(trace.diagnostics().count(Diag::kBadSyntax), 1U) << between;
    }
  }
}

TEST(KinetoJsonTest, AMissingEndIsSaidOnce) {
  const std::string whole = "{\"traceEvents\":[" + kOp + "," + kKernel;
  for (const std::string& text :
       {whole, whole + ",", whole + "]", whole + "],\"a\":1", whole + "],\"a\":", whole + "],\"a",
        whole + ",{\"ph\":\"X\",\"na", "[" + kOp + "," + kKernel}) {
    const Trace trace = LoadGood(text);
    ExpectOpAndKernel(trace);
    EXPECT_EQ(trace.diagnostics().count(Diag::kTruncatedFile) +
                  trace.diagnostics().count(Diag::kDroppedText),
              1U)
        << text;
  }
}

TEST(KinetoJsonTest, TextBehindTheDocumentIsIgnoredAndSaid) {
  const Trace trace = LoadGood("[" + kOp + "," + kKernel + "]\nwhatever {} this is");
  ExpectOpAndKernel(trace);
  EXPECT_EQ(trace.diagnostics().count(Diag::kTrailingData), 1U);
}

TEST(KinetoJsonTest, EventsBehindTheDocumentAreReadAndSaid) {
  const Trace trace = LoadGood("[" + kOp + "," + kKernel + "]\n[" + kOp + "]");
  EXPECT_EQ(trace.host().size(), 2U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kDroppedText), 1U);
  EXPECT_EQ(trace.diagnostics().count(Diag::kTrailingData), 0U);
}

TEST(KinetoJsonTest, ABracketTooManyLosesNoEvent) {
  for (const std::string broken :
       {R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":5}],"z":1})",
        R"({"ph":"X","cat":"kernel","name":"k","ts":1,"args":{"x":[{"name":1}],"y":]}})"}) {
    const Trace trace =
        LoadGood("{\"traceEvents\":[" + kOp + "," + broken + "," + kOp + "," + kOp + "]}");
    EXPECT_EQ(trace.host().size(), 3U) << broken;
    EXPECT_GE(trace.diagnostics().count(Diag::kDroppedText), 1U) << broken;
  }
}

// --- the place where more events can be written ---

// The events end at the mark `|` in `marked`, which is not part of the text.
Meta MetaWithEventsEndingAt(const std::string& marked) {
  const size_t stroke = marked.find('|');
  const Trace trace = LoadGood(marked.substr(0, stroke) + marked.substr(stroke + 1));
  EXPECT_EQ(trace.meta().events_end_byte, stroke) << marked;
  return trace.meta();
}

TEST(KinetoJsonTest, EventsEndBehindTheLastEvent) {
  for (const std::string& marked : {
           "{\"traceEvents\":[" + kOp + "," + kKernel + "|]}",
           "{\"traceEvents\":[" + kOp + "|],\"traceName\":\"x\",\"a\":[1]}",
           "{\n  \"traceEvents\": [\n    " + kOp + ",\n    " + kKernel + "|\n  ]\n}\n",
           "\xef\xbb\xbf{\"a\":1,\"traceEvents\":[" + kOp + "|]}",
           "{\"traceEvents\":[" + kOp + "],\"traceEvents\":[" + kKernel + "|]}",
           "{\"traceEvents\":[" + kOp + ",{\"name\":\"no phase\"}|]}",
           "{\"traceEvents\":[5," + kOp + "|, 5]}",
           "{\"traceEvents\":[" + kOp + "|,]}",
           "{\"traceEvents\":[" + kOp + "]," + kKernel + "|]}",
       }) {
    const Meta meta = MetaWithEventsEndingAt(marked);
    EXPECT_TRUE(meta.has_events_before_end && meta.text_is_object) << marked;
    EXPECT_FALSE(meta.text_is_cut) << marked;
  }
  const Meta list = MetaWithEventsEndingAt("[\n" + kOp + "| ]\n");
  EXPECT_FALSE(list.text_is_cut || list.text_is_object);
}

TEST(KinetoJsonTest, EventsOfAnEmptyArrayEndBehindItsBracket) {
  for (const char* marked :
       {"{\"traceEvents\": [|]}", "{\"traceEvents\": [|\n ],\"a\":1}", "[|]"}) {
    const Meta meta = MetaWithEventsEndingAt(marked);
    EXPECT_FALSE(meta.has_events_before_end || meta.text_is_cut) << marked;
  }
  EXPECT_EQ(LoadGood("{\"traceEvents\":[5]}").meta().events_end_byte, 0U);
}

TEST(KinetoJsonTest, EventsOfACutTextEndBehindTheLastCompleteOne) {
  for (const std::string& marked : {
           "{\"traceEvents\":[" + kOp + "|",
           "{\"traceEvents\":[" + kOp + "|, ",
           "{\"traceEvents\":[" + kOp + "|," + kKernel.substr(0, 30),
           "{\"traceEvents\":[" + kOp + "|]",
           "{\"traceEvents\":[" + kOp + "|],\"traceName\":\"x",
           "{\"traceEvents\":[" + kOp + "|],\"INFO\":[\"a \" c\"]}",
           "[" + kOp + "|," + kKernel.substr(0, 30),
       }) {
    const Meta meta = MetaWithEventsEndingAt(marked);
    EXPECT_TRUE(meta.has_events_before_end && meta.text_is_cut) << marked;
  }
  const Meta meta = MetaWithEventsEndingAt("{\"traceEvents\":[|" + kOp.substr(0, 30));
  EXPECT_TRUE(meta.text_is_cut && !meta.has_events_before_end);
}

Vendor VendorOf(const std::string& members, const std::string& event) {
  return LoadGood("{" + members + "\"traceEvents\":[" + event + "]}").meta().vendor;
}

std::string RuntimeCall(const std::string& category, const std::string& name) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name +
         R"(","pid":1,"tid":1,"ts":1,"dur":1})";
}

TEST(KinetoJsonTest, TheVendorIsToldByCallsThenByDevices) {
  EXPECT_EQ(VendorOf("", RuntimeCall("cuda_runtime", "cudaLaunchKernel")), Vendor::kNvidia);
  EXPECT_EQ(VendorOf("", RuntimeCall("cuda_runtime", "hipLaunchKernel")), Vendor::kAmd);
  EXPECT_EQ(VendorOf("", RuntimeCall("xpu_runtime", "zeCommandListAppend")), Vendor::kIntel);
  EXPECT_EQ(VendorOf("", RuntimeCall("mtia_runtime", "run")), Vendor::kMeta);
  EXPECT_EQ(VendorOf(R"("distributedInfo":{"backend":"mtia:hccl,cpu:gloo"},)", ""), Vendor::kMeta);
  EXPECT_EQ(VendorOf(R"("deviceProperties":[{"id":0,"name":"","warpSize":64}],)", ""),
            Vendor::kAmd);
  EXPECT_EQ(VendorOf(R"("deviceProperties":[{"id":0,"name":"T4","warpSize":32}],)", ""),
            Vendor::kNvidia);
  EXPECT_EQ(VendorOf("", kOp), Vendor::kUnknown);
}

TEST(KinetoJsonTest, FractionsThatMayLackTheirZerosAreASuspicion) {
  const auto load = [](const std::string& unit, const char* a, const char* b) {
    const auto event = [](const char* ts) {
      return std::string(R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":2,"dur":5,"ts":)") +
             ts + "}";
    };
    return LoadGood("{\"displayTimeUnit\":\"" + unit + "\",\"traceEvents\":[" + event(a) + "," +
                    event(b) + "]}")
        .diagnostics()
        .count(Diag::kUnpaddedFraction);
  };
  EXPECT_EQ(load("ns", "1712165512464313.123", "1712165512464313.5"), 1U);
  EXPECT_EQ(load("ms", "1712165512464313.123", "1712165512464313.5"), 0U);
  EXPECT_EQ(load("ns", "1712165512464313.123", "1712165512464313.500"), 0U);
  EXPECT_EQ(load("ns", "4313.123", "4313.5"), 0U);
}

}  // namespace
}  // namespace borescope::internal
