#include "borescope/ingest/kineto/kineto_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "borescope/ingest/events/structural_parser.h"

namespace borescope::internal {

namespace {

// Counters of a range whose "args" are `args`, with nothing readable after them: an address
// sanitizer detects every byte too far.
size_t MetricsIn(std::string_view args) {
  const auto copy = std::make_unique<char[]>(args.size());
  std::copy(args.begin(), args.end(), copy.get());
  RawEvent event;
  event.Set(Field::kArgs, {copy.get(), args.size()});
  TracePart part;
  EventValues values(part.data.diagnostics);
  AddProfilerRange(event, values, part);
  return part.data.metrics.size();
}

TEST(KinetoRangesTest, ReadsNothingBehindAKey) {
  EXPECT_EQ(MetricsIn(R"({"a":1})"), 1U);
  EXPECT_EQ(MetricsIn(R"({"":1})"), 1U);
  EXPECT_EQ(MetricsIn(R"({"Seq":1})"), 0U);
  EXPECT_EQ(MetricsIn(R"({"x":1,"a)"), 1U);
  EXPECT_EQ(MetricsIn(R"({"a":)"), 0U);
}

TEST(KinetoRangesTest, LongNamesAreCounters) {
  for (const size_t size : {8U, 55U, 56U, 57U, 64U, 500U}) {
    EXPECT_EQ(MetricsIn("{\"" + std::string(size, 'x') + "\":1}"), 1U) << size;
  }
}

// The result of parsing the events of an array without its brackets.
struct Parsed {
  TracePart part;
  KinetoFacts facts;

  const TraceData& data() const { return part.data; }
  std::string_view Text(StringId id) const { return part.data.strings.Get(id); }
  uint64_t count(Diag diag) const { return part.data.diagnostics.count(diag); }
};

Parsed Parse(std::string text) {
  const size_t size = text.size();
  text.append(kTextPadding, ' ');
  StructuralParser parser;
  KinetoEvents events;
  const ParseOutcome outcome = parser.Parse(std::string_view(text).substr(0, size), 0, events);
  EXPECT_EQ(outcome.stop, ParseStop::kEnd) << text;
  KinetoFacts facts = events.facts();
  return {events.TakePart(), facts};
}

// A complete event of a category; `rest` are further members.
std::string Event(const std::string& category, const std::string& rest) {
  return R"({"ph":"X","cat":")" + category + R"(","name":"n","pid":3,"tid":4,"ts":1.5,"dur":2.25)" +
         (rest.empty() ? "" : "," + rest) + "}";
}

std::string Args(const std::string& members) { return R"("args":{)" + members + "}"; }

// JSON may write any character of any text as an escape.
std::string Escaped(std::string_view json) {
  std::string escaped;
  bool in_text = false;
  for (const char c : json) {
    in_text = in_text != (c == '"');
    if (in_text && c != '"') {
      escaped += "\\u00";
      escaped += "0123456789abcdef"[static_cast<unsigned char>(c) / 16];
      escaped += "0123456789abcdef"[static_cast<unsigned char>(c) % 16];
    } else {
      escaped += c;
    }
  }
  return escaped;
}

TEST(KinetoEventsTest, EscapesSayWhatTheySay) {
  const std::string plain =
      Event("kernel", Args(R"("stream":7,"correlation":3)")) + "," +
      R"({"ph":"M","name":"thread_name","pid":3,"tid":4,"args":{"name":"loader"}},)"
      R"({"ph":"s","cat":"fwdbwd","id":1,"pid":3,"tid":4,"ts":1},)"
      R"({"ph":"f","cat":"fwdbwd","id":1,"pid":3,"tid":4,"ts":9},)"
      R"({"ph":"b","cat":"user_annotation","id":2,"name":"step","pid":3,"tid":4,"ts":1},)"
      R"({"ph":"e","cat":"user_annotation","id":2,"name":"step","pid":3,"tid":4,"ts":5},)"
      R"({"ph":"i","name":"[memory]","pid":3,"tid":4,"ts":2,"args":{"Bytes":8,"Addr":1}},)"
      R"({"ph":"C","cat":"monitor,gpu,2","name":"x","pid":3,"ts":2,"args":{"power":3}},)" +
      Event("cuda_profiler_range", Args(R"("stream":7,"sm__cycles":5)"));
  const Parsed expected = Parse(plain);
  const Parsed parsed = Parse(Escaped(plain));
  for (const Parsed* const each : {&expected, &parsed}) {
    EXPECT_EQ(each->count(Diag::kUnknownPhase), 0U);
    ASSERT_EQ(each->data().device.size(), 2U);
    EXPECT_EQ(each->data().device.correlation[0], 3);
    EXPECT_EQ(each->data().host.size(), 1U);
    EXPECT_EQ(each->data().memory.size(), 1U);
    ASSERT_EQ(each->data().flows.id.size(), 2U);
    EXPECT_EQ(each->data().flows.is_start[0], 1);
    EXPECT_EQ(each->data().flows.is_start[1], 0);
    ASSERT_EQ(each->part.thread_names.size(), 1U);
    EXPECT_EQ(each->Text(each->part.thread_names[0].name), "loader");
    ASSERT_EQ(each->data().samples.size(), 1U);
    EXPECT_EQ(each->data().samples.device[0], 2);
    EXPECT_EQ(each->Text(each->data().samples.name[0]), "power");
    ASSERT_EQ(each->data().metrics.size(), 1U);
    EXPECT_EQ(each->Text(each->data().metrics.name[0]), "sm__cycles");
  }
}

TEST(KinetoEventsTest, WhatIsNoLetterIsCounted) {
  for (const char* const phase : {R"("\u0058\u0058")", R"("\u00e9")", R"("\u0001")", "\"\"", "7"}) {
    const Parsed parsed = Parse(R"({"ph":)" + std::string(phase) + R"(,"ts":1,"name":"n"})");
    EXPECT_EQ(parsed.count(Diag::kUnknownPhase), 1U) << phase;
  }
}

// --- categories: kineto_format.md sections 6 and 7 ---

struct HostCase {
  const char* category;
  HostKind kind;
};

class HostCategoryTest : public testing::TestWithParam<HostCase> {};

TEST_P(HostCategoryTest, IsAHostRow) {
  const Parsed parsed = Parse(Event(GetParam().category, ""));
  const HostEvents& host = parsed.data().host;
  ASSERT_EQ(host.size(), 1U);
  EXPECT_EQ(parsed.data().device.size(), 0U);
  EXPECT_EQ(host.kind[0], GetParam().kind);
  EXPECT_EQ(host.ts_ns[0], 1500);
  EXPECT_EQ(host.dur_ns[0], 2250);
  EXPECT_EQ(parsed.Text(host.name[0]), "n");
  EXPECT_EQ(parsed.data().tracks.kind[0], TrackKind::kHost);
  EXPECT_EQ(parsed.data().tracks.pid[0], 3);
  EXPECT_EQ(parsed.data().tracks.tid[0], 4);
}

INSTANTIATE_TEST_SUITE_P(
    Kineto, HostCategoryTest,
    testing::Values(
        HostCase{"cpu_op", HostKind::kOp}, HostCase{"Operator", HostKind::kOp},
        HostCase{"hpu_op", HostKind::kOp}, HostCase{"user_annotation", HostKind::kAnnotation},
        HostCase{"python_function", HostKind::kPython},
        HostCase{"cuda_runtime", HostKind::kRuntime}, HostCase{"cuda_driver", HostKind::kRuntime},
        HostCase{"Runtime", HostKind::kRuntime}, HostCase{"xpu_runtime", HostKind::kRuntime},
        HostCase{"xpu_driver", HostKind::kRuntime}, HostCase{"mtia_runtime", HostKind::kRuntime},
        HostCase{"glow_runtime", HostKind::kRuntime},
        HostCase{"privateuse1_runtime", HostKind::kRuntime},
        HostCase{"privateuse1_driver", HostKind::kRuntime}, HostCase{"overhead", HostKind::kOther},
        HostCase{"mtia_insight", HostKind::kOther}, HostCase{"something_of_2027", HostKind::kOther},
        HostCase{"", HostKind::kOther}),
    [](const auto& test) {
      const std::string name = test.param.category;
      return name.empty() ? std::string("none") : name;
    });

struct DeviceCase {
  const char* category;
  DeviceKind kind;
};

class DeviceCategoryTest : public testing::TestWithParam<DeviceCase> {};

TEST_P(DeviceCategoryTest, IsADeviceRow) {
  const Parsed parsed =
      Parse(Event(GetParam().category, Args(R"("correlation":77,"External id":-5)")));
  const DeviceEvents& device = parsed.data().device;
  ASSERT_EQ(device.size(), 1U);
  EXPECT_EQ(parsed.data().host.size(), 0U);
  EXPECT_EQ(device.kind[0], GetParam().kind);
  EXPECT_EQ(device.ts_ns[0], 1500);
  EXPECT_EQ(device.dur_ns[0], 2250);
  EXPECT_EQ(device.correlation[0], 77);
  EXPECT_EQ(device.external_id[0], -5);
  EXPECT_EQ(parsed.data().tracks.kind[0], TrackKind::kDevice);
  EXPECT_EQ(parsed.data().tracks.pid[0], 3);
  EXPECT_EQ(parsed.data().tracks.tid[0], 4);
}

INSTANTIATE_TEST_SUITE_P(Kineto, DeviceCategoryTest,
                         testing::Values(DeviceCase{"kernel", DeviceKind::kKernel},
                                         DeviceCase{"Kernel", DeviceKind::kKernel},
                                         DeviceCase{"mtia_ccp_events", DeviceKind::kKernel},
                                         DeviceCase{"gpu_memcpy", DeviceKind::kMemcpy},
                                         DeviceCase{"Memcpy", DeviceKind::kMemcpy},
                                         DeviceCase{"gpu_memset", DeviceKind::kMemset},
                                         DeviceCase{"Memset", DeviceKind::kMemset},
                                         DeviceCase{"cuda_sync", DeviceKind::kSync},
                                         DeviceCase{"xpu_sync", DeviceKind::kSync},
                                         DeviceCase{"gpu_user_annotation", DeviceKind::kAnnotation},
                                         DeviceCase{"cuda_event", DeviceKind::kOther},
                                         DeviceCase{"cuda_profiler_range", DeviceKind::kRange},
                                         DeviceCase{"xpu_scope_profiler", DeviceKind::kOther},
                                         DeviceCase{"graph_event_node", DeviceKind::kOther},
                                         DeviceCase{"graph_host_node", DeviceKind::kOther},
                                         DeviceCase{"collective_comm", DeviceKind::kOther}),
                         [](const auto& test) { return std::string(test.param.category); });

TEST(KinetoEventsTest, OnlyKernelsCopiesAndSetsAreDeviceWork) {
  EXPECT_TRUE(IsDeviceWork(DeviceKind::kKernel));
  EXPECT_TRUE(IsDeviceWork(DeviceKind::kMemcpy));
  EXPECT_TRUE(IsDeviceWork(DeviceKind::kMemset));
  EXPECT_FALSE(IsDeviceWork(DeviceKind::kSync));
  EXPECT_FALSE(IsDeviceWork(DeviceKind::kAnnotation));
  EXPECT_FALSE(IsDeviceWork(DeviceKind::kOther));
}

// XPU's scope profiler writes every kernel a second time; it must not count as work twice.
TEST(KinetoEventsTest, MetricsDuplicatesAreNoKernels) {
  const Parsed parsed =
      Parse(R"({"ph":"X","cat":"kernel","name":"metrics: gemm","pid":0,"tid":0,"ts":0,"dur":5},)"
            R"({"ph":"X","cat":"kernel","name":"gemm metrics: ","pid":0,"tid":0,"ts":0,"dur":5})");
  EXPECT_EQ(parsed.data().device.kind, (std::vector{DeviceKind::kOther, DeviceKind::kKernel}));
  EXPECT_EQ(parsed.data().kernels.size(), 1U);
}

TEST(KinetoEventsTest, TheProfilersOwnSpanIsNoEvent) {
  const Parsed parsed = Parse(
      R"({"ph":"X","cat":"Trace","ts":0,"dur":900.5,"pid":"Spans","tid":"PyTorch Profiler","name":"P"},)"
      R"({"ph":"X","cat":"Trace","ts":0,"dur":20,"pid":"Spans","tid":"other","name":"Q"})");
  EXPECT_EQ(parsed.data().host.size() + parsed.data().device.size(), 0U);
  EXPECT_EQ(parsed.facts.profiled_ns, 900'500);
  EXPECT_EQ(parsed.data().tracks.size(), 0U);
}

TEST(KinetoEventsTest, EveryEventIsCountedByPhaseAndCategory) {
  const Parsed parsed = Parse(Event("kernel", "") + "," + Event("kernel", "") + "," +
                              R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},)"
                              R"({"ph":"C","cat":"x","name":"c","ts":1},)"
                              R"({"ph":"s","cat":"ac2g","id":1,"ts":1},)"
                              R"({"ph":"Q","cat":"x"},{"cat":"x"},{"ph":"XX"},{"ph":7},{})");
  std::string counts;
  for (const EventCount& count : parsed.data().event_counts) {
    counts += std::string(1, count.phase) + ":" + std::string(parsed.Text(count.category)) + "=" +
              std::to_string(count.count) + "/" + std::to_string(count.total_ns) + " ";
  }
  EXPECT_EQ(counts, "X:kernel=2/4500 M:=1/0 C:x=1/0 s:ac2g=1/0 Q:x=1/0 ?:x=1/0 ?:=3/0 ");
  EXPECT_EQ(parsed.count(Diag::kUnknownPhase), 5U);
}

TEST(KinetoEventsTest, AnOperatorKeepsItsIdsAndShapes) {
  const Parsed parsed = Parse(Event(
      "cpu_op", Args(R"("External id":12,"Record function id":0,"Sequence number":345,)"
                     R"("Fwd thread id":1,"Input Dims":[[2,3],[]],"Input type":["float",""],)"
                     R"("Input Strides":[[3,1],[]],"Concrete Inputs":["","1e-05"],"Ev Idx":9)")));
  const Ops& ops = parsed.data().ops;
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(parsed.data().host.detail[0], 0U);
  EXPECT_EQ(ops.external_id[0], 12);
  EXPECT_EQ(ops.record_function_id[0], 0);
  EXPECT_EQ(ops.sequence[0], 345);
  EXPECT_EQ(ops.forward_thread[0], 1);
  EXPECT_EQ(parsed.Text(ops.input_dims[0]), "[[2, 3], []]");
  EXPECT_EQ(parsed.Text(ops.input_types[0]), R"(["float", ""])");
  EXPECT_EQ(parsed.Text(ops.input_strides[0]), "[[3, 1], []]");
  EXPECT_EQ(parsed.Text(ops.concrete_inputs[0]), R"(["", "1e-05"])");
  EXPECT_EQ(ops.collective[0], kNoDetail);
}

TEST(KinetoEventsTest, ATritonLaunchNamesItsFile) {
  const Parsed parsed =
      Parse(Event("cpu_op",
                  Args(R"("External id":1,"kernel_backend":"triton","kernel_file":"/a/b.py")")) +
            "," + Event("cpu_op", Args(R"("External id":2)")));
  const TraceData& data = parsed.data();
  ASSERT_EQ(data.triton.size(), 1U);
  EXPECT_EQ(data.ops.triton, (std::vector<uint32_t>{0, kNoDetail}));
  EXPECT_EQ(parsed.Text(data.triton.backend[0]), "triton");
  EXPECT_EQ(parsed.Text(data.triton.kernel_file[0]), "/a/b.py");
}

TEST(KinetoEventsTest, ATritonLaunchTellsItsWork) {
  const auto launch = [](std::string_view work) {
    return Event("cpu_op",
                 Args(R"("External id":1,"kernel_backend":"triton")" + std::string(work)));
  };
  const Parsed parsed =
      Parse(launch(R"(,"kernel_num_gb":0.025165824,"kernel_flop":2e3)") + "," + launch("") + "," +
            launch(R"(,"kernel_num_gb":0.5,"kernel_flop":-1)") + "," +
            launch(R"(,"kernel_num_gb":1e300,"kernel_flop":null)"));
  const TritonLaunches& triton = parsed.data().triton;
  EXPECT_EQ(triton.bytes, (std::vector<int64_t>{25165824, kMissing, 500000000, kMissing}));
  EXPECT_EQ(triton.flops, (std::vector<int64_t>{2000, kMissing, kMissing, kMissing}));
}

// Spacing depends on the writer; equal shapes must have equal ids.
TEST(KinetoEventsTest, ShapesHaveOneSpacing) {
  const Parsed parsed = Parse(Event("cpu_op", Args(R"("Input Dims":[[2,3],[ ]])")) + "," +
                              Event("cpu_op", Args("\"Input Dims\":[\n [2,\t3 ] ,[]\r\n]")) + "," +
                              Event("cpu_op", Args(R"("Input dims": [[2, 3], []])")) + "," +
                              Event("cpu_op", Args(R"("Input type":["a, b:c" ,"\"x , y\""])")));
  const Ops& ops = parsed.data().ops;
  EXPECT_EQ(ops.input_dims[0], ops.input_dims[1]);
  EXPECT_EQ(ops.input_dims[0], ops.input_dims[2]);
  EXPECT_EQ(parsed.Text(ops.input_types[3]), R"(["a, b:c", "\"x , y\""])");
}

TEST(KinetoEventsTest, AnOperatorWithoutUsefulArgsHasNoDetail) {
  for (const std::string args : {"", R"("args":{})", R"("args":null)", R"("args":[])",
                                 R"("args":"x")", R"("args":{"Ev Idx":3,"finished":true})"}) {
    const Parsed parsed = Parse(Event("cpu_op", args));
    EXPECT_EQ(parsed.data().ops.size(), 0U) << args;
    EXPECT_EQ(parsed.data().host.detail[0], kNoDetail) << args;
    EXPECT_TRUE(parsed.data().diagnostics.empty()) << args;
  }
}

TEST(KinetoEventsTest, AKernelKeepsItsLaunchConfiguration) {
  const Parsed parsed = Parse(Event(
      "kernel",
      Args(R"("grid": [512, 1, 2], "block": [128,4,1], "registers per thread": 32,)"
           R"("shared memory": 49152, "est. achieved occupancy %": 87, "stream": 7,)"
           R"("graph node id": 18446744073709551615, "blocks per SM": Infinity, "device": 3)")));
  const Kernels& kernels = parsed.data().kernels;
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels.grid_x[0], 512);
  EXPECT_EQ(kernels.grid_y[0], 1);
  EXPECT_EQ(kernels.grid_z[0], 2);
  EXPECT_EQ(kernels.block_x[0], 128);
  EXPECT_EQ(kernels.block_y[0], 4);
  EXPECT_EQ(kernels.block_z[0], 1);
  EXPECT_EQ(kernels.registers[0], 32);
  EXPECT_EQ(kernels.shared_bytes[0], 49152);
  EXPECT_EQ(kernels.occupancy_percent[0], 87);
  EXPECT_EQ(kernels.graph_node_id[0], -1);  // all 64 bits
  EXPECT_TRUE(parsed.data().diagnostics.empty());
}

TEST(KinetoEventsTest, WhatAKernelLacksIsMissing) {
  const Parsed parsed = Parse(Event("kernel", Args(R"("grid":[7],"block":[],"correlation":null)")) +
                              "," + Event("kernel", R"("args":{"graph node id":null})"));
  const Kernels& kernels = parsed.data().kernels;
  EXPECT_EQ(kernels.grid_x, (std::vector<int32_t>{7, -1}));
  EXPECT_EQ(kernels.grid_y, (std::vector<int32_t>{-1, -1}));
  EXPECT_EQ(kernels.block_x, (std::vector<int32_t>{-1, -1}));
  EXPECT_EQ(kernels.registers, (std::vector<int32_t>{-1, -1}));
  EXPECT_EQ(kernels.graph_node_id, (std::vector<int64_t>{kMissing, kMissing}));
  EXPECT_EQ(parsed.data().device.correlation, (std::vector<int64_t>{kMissing, kMissing}));
  EXPECT_EQ(parsed.data().device.external_id, (std::vector<int64_t>{kMissing, kMissing}));
}

// AMD writes numbers of copies as strings, grids of any size, and addresses in hex.
TEST(KinetoEventsTest, NumbersMayBeStrings) {
  const Parsed parsed = Parse(
      Event(
          "gpu_memcpy",
          Args(
              R"x("bytes":"1024","memory bandwidth (GB/s)":3.5,"kind":"1","correlation":"12","stream":"9")x")) +
      "," + Event("gpu_memset", Args(R"x("bytes":2048,"memory bandwidth (GB/s)":"N/A")x")) + "," +
      Event("kernel", Args(R"("grid":[99999999999,1,1],"graph node id":"18446744073709551614")")));
  EXPECT_EQ(parsed.data().copies.bytes, (std::vector<int64_t>{1024, 2048}));
  EXPECT_EQ(parsed.data().copies.gbps, (std::vector<double>{3.5, -1.0}));
  EXPECT_EQ(parsed.data().device.correlation[0], 12);
  EXPECT_EQ(parsed.data().tracks.tid[0], 9);
  EXPECT_EQ(parsed.data().kernels.grid_x[0], std::numeric_limits<int32_t>::max());
  EXPECT_EQ(parsed.data().kernels.graph_node_id[0], -2);
  EXPECT_TRUE(parsed.data().diagnostics.empty());
}

TEST(KinetoEventsTest, RuntimeCallsKeepTheirCorrelationAndTellTheVendor) {
  const auto call = [](const std::string& name) {
    return Parse(R"({"ph":"X","cat":"cuda_runtime","name":")" + name +
                 R"(","pid":1,"tid":1,"ts":0,"dur":1,"args":{"correlation":4,"External id":2}})");
  };
  const Parsed cuda = call("cudaLaunchKernel");
  EXPECT_EQ(cuda.data().runtime_calls.correlation[0], 4);
  EXPECT_EQ(cuda.data().runtime_calls.external_id[0], 2);
  EXPECT_TRUE(cuda.facts.saw_cuda && !cuda.facts.saw_hip);
  EXPECT_TRUE(call("hipLaunchKernel").facts.saw_hip);
  EXPECT_FALSE(call("hipLaunchKernel").facts.saw_cuda);
  EXPECT_TRUE(Parse(Event("xpu_runtime", "")).facts.saw_xpu);
  EXPECT_TRUE(Parse(Event("mtia_ccp_events", "")).facts.saw_mtia);
}

// Stream Sync is on line stream + 1,000,000 since 2026-04; args have the real stream.
TEST(KinetoEventsTest, TheStreamOfArgsCountsForWorkAndSyncs) {
  const std::string tid = R"({"ph":"X","cat":"%","name":"n","pid":0,"tid":1000007,"ts":0,"dur":1,)"
                          R"("args":{"stream":7,"wait_on_stream":3,)"
                          R"("wait_on_cuda_event_record_corr_id":-1}})";
  const auto stream_of = [&](const std::string& category) {
    std::string text = tid;
    return Parse(text.replace(text.find('%'), 1, category)).data().tracks.tid[0];
  };
  EXPECT_EQ(stream_of("cuda_sync"), 7);
  EXPECT_EQ(stream_of("kernel"), 7);
  EXPECT_EQ(stream_of("gpu_user_annotation"), 1'000'007);
}

TEST(KinetoEventsTest, ASyncKeepsWhatItWaitsFor) {
  const Parsed parsed =
      Parse(Event("cuda_sync", Args(R"("stream":20,"wait_on_stream":7,)"
                                    R"("wait_on_cuda_event_record_corr_id":-1)")) +
            "," + Event("cuda_sync", Args(R"("stream":-1)")));
  const Syncs& syncs = parsed.data().syncs;
  EXPECT_EQ(syncs.stream, (std::vector<int64_t>{20, -1}));
  EXPECT_EQ(syncs.wait_on_stream, (std::vector<int64_t>{7, kMissing}));
  EXPECT_EQ(syncs.wait_on_record_correlation, (std::vector<int64_t>{-1, kMissing}));
  EXPECT_EQ(parsed.data().tracks.tid, (std::vector<int64_t>{20, 4}));
}

TEST(KinetoEventsTest, CollectivesHangOffOperatorsAndKernels) {
  const std::string args =
      Args(R"("Collective name":"allreduce","dtype":"BFloat16","In msg nelems":5,)"
           R"("Out msg nelems":6,"Group size":8,"Process Group Name":"0",)"
           R"("Process Group Description":"default_pg","Process Group Ranks":"[0, 1]","Seq":3)");
  const Parsed parsed = Parse(Event("cpu_op", args) + "," + Event("kernel", args) + "," +
                              Event("cpu_op", Args(R"("Collective name":"wait")")));
  const Collectives& rows = parsed.data().collectives;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(parsed.data().ops.collective, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(parsed.data().kernels.collective[0], 1U);
  EXPECT_EQ(parsed.Text(rows.collective[1]), "allreduce");
  EXPECT_EQ(parsed.Text(rows.dtype[1]), "BFloat16");
  EXPECT_EQ(parsed.Text(rows.group[1]), "0");
  EXPECT_EQ(parsed.Text(rows.group_desc[1]), "default_pg");
  EXPECT_EQ(parsed.Text(rows.ranks[1]), "[0, 1]");
  EXPECT_EQ(rows.in_elems[1], 5);
  EXPECT_EQ(rows.out_elems[1], 6);
  EXPECT_EQ(rows.group_size[1], 8);
  EXPECT_EQ(rows.sequence[1], 3);
  EXPECT_EQ(rows.sequence[2], kMissing);
}

TEST(KinetoEventsTest, MemoryInstants) {
  const Parsed parsed = Parse(
      R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":2,"ts":10.001,)"
      R"("args":{"Total Reserved":200,"Total Allocated":100,"Bytes":-64,"Addr":18446744073709551000,)"
      R"("Device Id":0,"Device Type":6,"Ev Idx":1}},)"
      R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":2,"ts":11,)"
      R"("args":{"Bytes":8,"Device Id":-1,"Device Type":0}},)"
      R"({"name":"Record Window End","ph":"i","s":"g","pid":"","tid":"","ts":12})");
  const MemoryEvents& memory = parsed.data().memory;
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory.ts_ns[0], 10'001);
  EXPECT_EQ(memory.device_type, (std::vector<int32_t>{6, 0}));
  EXPECT_EQ(memory.device, (std::vector<int32_t>{0, -1}));
  EXPECT_EQ(memory.address[0], 18'446'744'073'709'551'000ULL);
  EXPECT_EQ(memory.bytes, (std::vector<int64_t>{-64, 8}));
  EXPECT_EQ(memory.total_allocated, (std::vector<int64_t>{100, kMissing}));
  EXPECT_EQ(memory.total_reserved, (std::vector<int64_t>{200, kMissing}));
  EXPECT_EQ(parsed.data().host.size(), 0U);
}

TEST(KinetoEventsTest, OnlyForwardBackwardFlowsAreKept) {
  const auto flow = [](const std::string& phase, const std::string& category) {
    return R"({"ph":")" + phase + R"(","id":5,"pid":1,"tid":2,"ts":3,"cat":")" + category +
           R"(","name":"x","bp":"e"})";
  };
  const Parsed parsed = Parse(flow("s", "fwdbwd") + "," + flow("f", "fwdbwd") + "," +
                              flow("s", "ac2g") + "," + flow("f", "async_cpu_to_gpu"));
  const Flows& flows = parsed.data().flows;
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows.id, (std::vector<int64_t>{5, 5}));
  EXPECT_EQ(flows.ts_ns, (std::vector<int64_t>{3000, 3000}));
  EXPECT_EQ(flows.is_start, (std::vector<char>{1, 0}));
}

TEST(KinetoEventsTest, ThreadNames) {
  const Parsed parsed = Parse(
      R"({"name":"thread_name","ph":"M","ts":0,"pid":0,"tid":7,"args":{"name":"stream 7 "}},)"
      R"({"name":"process_name","ph":"M","ts":0,"pid":0,"tid":0,"args":{"name":"python"}},)"
      R"({"name":"thread_sort_index","ph":"M","ts":0,"pid":0,"tid":7,"args":{"sort_index":7}},)"
      R"({"ph":"M","name":"thread_name","pid":12,"tid":13,"args":{}})");
  ASSERT_EQ(parsed.part.thread_names.size(), 1U);
  EXPECT_EQ(parsed.part.thread_names[0].pid, 0);
  EXPECT_EQ(parsed.part.thread_names[0].tid, 7);
  EXPECT_EQ(parsed.Text(parsed.part.thread_names[0].name), "stream 7 ");
}

// The metrics of the i-th range as text.
std::string MetricsOf(const Parsed& parsed, uint32_t range) {
  std::string text;
  const Metrics& metrics = parsed.data().metrics;
  for (uint32_t i = parsed.data().ranges.first_metric[range];
       i < parsed.data().ranges.end_metric[range]; ++i) {
    text +=
        std::string(parsed.Text(metrics.name[i])) + "=" + std::to_string(metrics.value[i]) + ";";
  }
  return text;
}

TEST(KinetoEventsTest, NumbersOfProfilerRangesAreMetrics) {
  const Parsed parsed =
      Parse(Event("cuda_profiler_range",
                  Args(R"("smsp__inst.sum":86114304,"correlation":7,"dram__bytes.sum":1.5e3,)"
                       R"("\u0062":-0.25,"c":"12","d":null)")) +
            "," + Event("cuda_profiler_range", "") + "," +
            Event("cuda_profiler_range", Args(R"("smsp__inst.sum":1)")));
  EXPECT_EQ(parsed.data().device.kind, (std::vector<DeviceKind>(3, DeviceKind::kRange)));
  EXPECT_EQ(parsed.data().device.detail, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(parsed.data().device.correlation[0], 7);
  EXPECT_EQ(MetricsOf(parsed, 0),
            "smsp__inst.sum=86114304.000000;dram__bytes.sum=1500.000000;b=-0.250000;c=12.000000;");
  EXPECT_EQ(MetricsOf(parsed, 1), "");
  EXPECT_EQ(MetricsOf(parsed, 2), "smsp__inst.sum=1.000000;");
  EXPECT_TRUE(parsed.data().diagnostics.empty());
}

// An event's own fields are not counters, even under a name that might be one.
TEST(KinetoEventsTest, KnownFieldsOfProfilerRangesAreNoMetrics) {
  const Parsed parsed = Parse(Event("cuda_profiler_range", Args(R"("bytes":1,"stream":7,"x":2)")));
  EXPECT_EQ(MetricsOf(parsed, 0), "x=2.000000;");
  EXPECT_TRUE(parsed.data().diagnostics.empty());
}

TEST(KinetoEventsTest, MetricsThatAreNoNumbersAreCounted) {
  const Parsed parsed = Parse(Event(
      "cuda_profiler_range", Args(R"("a":NaN,"b":1e999,"c":"many","d":[1],"e":true,"f":2,"f":3)")));
  EXPECT_EQ(MetricsOf(parsed, 0), "f=3.000000;");
  EXPECT_EQ(parsed.count(Diag::kNonFiniteNumber), 2U);
  EXPECT_EQ(parsed.count(Diag::kBadFieldType), 3U);
  EXPECT_EQ(parsed.count(Diag::kDuplicateKey), 1U);
}

TEST(KinetoFactsTest, MergeIsTheUnion) {
  KinetoFacts a = Parse(Event("xpu_runtime", "")).facts;
  const KinetoFacts b =
      Parse(R"({"ph":"X","cat":"Trace","name":"P","ts":1712165512464313,"dur":7})").facts;
  a.Merge(b);
  EXPECT_TRUE(a.saw_xpu && !a.saw_mtia);
  EXPECT_EQ(a.profiled_ns, 7000);
  EXPECT_TRUE(a.timestamps.absolute);
  EXPECT_EQ(a.timestamps.decimals, (std::array<uint64_t, 4>{1, 1, 0, 0}));
}

}  // namespace

}  // namespace borescope::internal
