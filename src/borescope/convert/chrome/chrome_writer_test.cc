#include "borescope/convert/chrome/chrome_writer.h"

#include <gtest/gtest.h>

#include <memory>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

struct Written {
  std::string text;
  ConvertCounts counts;

  bool Has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

Written Write(const Trace& trace, TimeWindow window = {}) {
  const TraceIndex index = BuildIndex(trace, 1);
  StringSink sink;
  const Result<ConvertCounts> counts = WriteChrome({trace, index, window, {}}, sink);
  EXPECT_TRUE(counts.ok());
  return {sink.text(), counts.ok() ? *counts : ConvertCounts()};
}

TEST(ChromeWriter, WritesAnEmptyTrace) {
  EXPECT_EQ(Write(TraceMaker().Finish()).text,
            "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n]}\n");
}

TEST(ChromeWriter, TiesWorkToItsLaunch) {
  TraceMaker maker;
  maker.Call("cuLaunchKernel", 1, {1'000'001, 500}, 9);
  maker.Kernel("k", 7, {1'002'000, 3}, {9, 4});
  const Written written = Write(maker.Finish());
  EXPECT_EQ(written.counts.written, 2U);
  EXPECT_TRUE(written.Has(
      R"({"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":100,"tid":1,"ts":1000.001,"dur":0.500,"args":{"correlation":9}})"))
      << written.text;
  EXPECT_TRUE(written.Has(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1002.000,"dur":0.003,"args":{"External id":4,"correlation":9,"device":0,"stream":7}})"))
      << written.text;
  EXPECT_TRUE(written.Has(
      R"({"ph":"s","cat":"ac2g","name":"ac2g","id":0,"pid":100,"tid":1,"ts":1000.001})"));
  EXPECT_TRUE(written.Has(
      R"({"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":0,"pid":0,"tid":7,"ts":1002.000})"));
  EXPECT_TRUE(written.Has(
      R"({"ph":"C","name":"QueueDepth stream 7","pid":0,"tid":0,"ts":1000.001,"args":{"depth":1}})"));
  EXPECT_TRUE(written.Has(
      R"({"ph":"C","name":"GPU busy","pid":0,"tid":0,"ts":1002.003,"args":{"busy":0}})"));
}

TEST(ChromeWriter, EscapesNames) {
  TraceMaker maker;
  maker.Host(HostKind::kOp, "say \"hi\" \\ \n\x01\xFF", 1, {-5, 5});
  const Written written = Write(maker.Finish());
  EXPECT_TRUE(
      written.Has("\"name\":\"say \\\"hi\\\" \\\\ "
                  "\\n\\u0001\xEF\xBF\xBD\",\"pid\":100,\"tid\":1,\"ts\":-0.005"))
      << written.text;
}

TEST(ChromeWriter, WritesShapesAsJsonOnlyIfTheyAre) {
  TraceMaker maker;
  maker.Op("good", 1, {0, 1});
  maker.Op("bad", 1, {5, 1});
  maker.part().data.ops.input_dims = {maker.part().Intern("[[2, 3]]"),
                                      maker.part().Intern("[[2, \"3]]")};
  const Written written = Write(maker.Finish());
  EXPECT_TRUE(written.Has("\"Input Dims\":[[2, 3]]}")) << written.text;
  EXPECT_TRUE(written.Has("\"Input Dims\":\"[[2, \\\"3]]\"}")) << written.text;
}

TEST(ChromeWriter, WritesStridesAndValuesOfInputs) {
  TraceMaker maker;
  maker.Op("op", 1, {0, 1});
  maker.part().data.ops.input_strides = {maker.part().Intern("[[3, 1], []]")};
  maker.part().data.ops.concrete_inputs = {maker.part().Intern(R"(["", "1e-05"])")};
  const Written written = Write(maker.Finish());
  EXPECT_TRUE(written.Has(R"("Input Strides":[[3, 1], []],"Concrete Inputs":["", "1e-05"]})"))
      << written.text;
}

TEST(ChromeWriter, GivesStreamsOfSeveralProcessesLinesOfTheirOwn) {
  TraceMaker maker;
  DeviceEvents& device = maker.part().data.device;
  maker.Kernel("a", 7, {0, 10});
  maker.Kernel("b", 7, {0, 10});
  maker.part().data.device.track[1] = maker.part().Track(TrackKind::kDevice, 0, 7, 4242);
  ASSERT_EQ(device.size(), 2U);
  const Written written = Write(maker.Finish());
  EXPECT_TRUE(written.Has(R"("name":"b","pid":0,"tid":1000000000)")) << written.text;
  EXPECT_TRUE(written.Has(
      R"({"ph":"M","name":"thread_name","pid":0,"tid":1000000000,"args":{"name":"stream 7 of process 4242"}})"));
}

TEST(ChromeWriter, DrawsWhatMonitorsRead) {
  TraceMaker maker;
  Samples& samples = maker.part().data.samples;
  for (const int64_t ts_ns : {1000, 2000}) {
    const uint32_t row = AddMissingRow(samples);
    samples.ts_ns[row] = ts_ns;
    samples.end_ns[row] = ts_ns + 1000;
    samples.device[row] = 2;
    samples.name[row] = maker.part().Intern("sclk");
    samples.value[row] = static_cast<double>(ts_ns) / 16;
  }
  const Written written = Write(maker.Finish(), {0, 2000});
  EXPECT_EQ(written.counts.written, 2U);
  EXPECT_TRUE(written.Has(
      R"({"ph":"C","cat":"monitor,,2","name":"sclk","pid":2,"tid":0,"ts":1.000,"dur":1.000,"args":{"sclk":62.5}})"));
  EXPECT_TRUE(
      written.Has(R"({"ph":"C","name":"sclk","pid":2,"tid":0,"ts":3.000,"args":{"sclk":125}})"));
}

TEST(ChromeWriter, WritesRangesThatMayOverlapAsTheirBeginAndEnd) {
  TraceMaker maker;
  TracePart& part = maker.part();
  maker.Host(HostKind::kOp, "op", 1, {0, 10});
  for (const int64_t ts_ns : {1, 5}) {
    maker.Host(HostKind::kAnnotation, "range", 1, {ts_ns, 20});
    part.data.host.track.back() = part.AsyncTrack(100, 1);
  }
  part.thread_names.push_back({100, 1, part.Intern("main")});
  const Written written = Write(maker.Finish());
  EXPECT_EQ(written.counts.written, 3U);
  EXPECT_TRUE(written.Has(
      R"({"ph":"b","cat":"user_annotation","name":"range","id":1,"pid":100,"tid":1,"ts":0.001},)"
      "\n"
      R"({"ph":"e","cat":"user_annotation","name":"range","id":1,"pid":100,"tid":1,"ts":0.021},)"))
      << written.text;
  EXPECT_TRUE(written.Has(R"("id":2,"pid":100,"tid":1,"ts":0.025})"));
  EXPECT_EQ(written.text.find("thread_name"), written.text.rfind("thread_name"));
}

TEST(ChromeWriter, DrawsMonitorsOfWhatIsNoGpuApart) {
  TraceMaker maker;
  Samples& samples = maker.part().data.samples;
  for (const int64_t device : {int64_t{0}, kMissing}) {
    const uint32_t row = AddMissingRow(samples);
    samples.ts_ns[row] = 1000;
    samples.end_ns[row] = 1000;
    samples.device[row] = device;
    samples.device_type[row] = maker.part().Intern(device == 0 ? "cpu" : "gpu");
    samples.name[row] = maker.part().Intern("power");
    samples.value[row] = 5;
  }
  const Written written = Write(maker.Finish());
  EXPECT_TRUE(written.Has(R"("name":"cpu 0 power","pid":-1,"tid":0)")) << written.text;
  EXPECT_TRUE(written.Has(R"("name":"gpu power","pid":-1,"tid":0)")) << written.text;
}

TEST(ChromeWriter, NamesTheGpusOfSeveralTracesOnce) {
  StringSink sink;
  const std::unique_ptr<ConvertWriter> writer = OpenChrome(sink);
  for (uint32_t number = 0; number < 2; ++number) {
    Meta meta;
    meta.devices.push_back({0, "H100", 80, 132, 9, 0, 32, 2048});
    TraceBuilder builder;
    const Trace trace = builder.Finish(meta, 0, 1);
    const TraceIndex index = BuildIndex(trace, 1);
    MergeSource source;
    source.number = number;
    source.name = "rank";
    ASSERT_TRUE(writer->Add({trace, index, {}, source}).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(sink.text().find("H100"), sink.text().rfind("H100"));
}

TEST(ChromeWriter, KeepsWhatTheProfilerSaidOfTheRun) {
  TraceMaker maker;
  Meta meta;
  meta.rank = 3;
  meta.world_size = 8;
  meta.backend = "nccl";
  meta.base_ns = 1'712'195'495'000'000'000;
  meta.trace_name = "x";
  meta.options.with_stack = true;
  meta.devices.push_back({0, "H100", 80, 132, 9, 0, 32, 2048});
  TraceBuilder builder;
  builder.Append(maker.TakePart());
  EXPECT_EQ(
      Write(builder.Finish(meta, 0, 1)).text,
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"H100","totalGlobalMem":80,"computeMajor":9,"computeMinor":0,"maxThreadsPerMultiprocessor":2048,"warpSize":32,"numSms":132}],"distributedInfo":{"backend":"nccl","rank":3,"world_size":8},"with_stack":1,"displayTimeUnit":"ms","baseTimeNanoseconds":1712195495000000000,"traceName":"x",)"
      "\n\"traceEvents\":[\n]}\n");
}

TEST(ChromeWriter, LeavesOutWhatStartsOutsideTheWindow) {
  TraceMaker maker;
  maker.Call("cudaLaunchKernel", 1, {10, 2}, 1);
  maker.Kernel("inside", 7, {20, 5}, {1});
  maker.Kernel("outside", 7, {30, 5}, {1});
  const Written written = Write(maker.Finish(), {15, 25});
  EXPECT_EQ(written.counts.written, 1U);
  EXPECT_EQ(written.counts.outside, 2U);
  EXPECT_TRUE(written.Has("inside"));
  EXPECT_FALSE(written.Has("outside"));
  EXPECT_FALSE(written.Has("ac2g"));
}

}  // namespace
}  // namespace borescope::internal
