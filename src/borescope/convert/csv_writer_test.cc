#include "borescope/convert/csv_writer.h"

#include <gtest/gtest.h>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::TraceMaker;

constexpr const char* kHeader =
    "side,kind,name,ts_ns,dur_ns,pid,tid,device,stream,correlation,external_id,bytes,value\n";

std::string Write(const Trace& trace) {
  const TraceIndex index = BuildIndex(trace, 1);
  StringSink sink;
  EXPECT_TRUE(WriteEventsCsv({trace, index, {}, {}}, sink).ok());
  return sink.text();
}

TEST(EventsCsv, OfAnEmptyTraceIsTheHeader) { EXPECT_EQ(Write(TraceMaker().Finish()), kHeader); }

TEST(EventsCsv, WritesALineAnEvent) {
  TraceMaker maker;
  maker.Op("a, \"b\"", 1, {10, 50}, {3});
  maker.Call("cudaLaunchKernel", 1, {20, 5}, 9);
  maker.Kernel("k", 7, {30, 4}, {9});
  const uint32_t row = AddMissingRow(maker.part().data.samples);
  Samples& samples = maker.part().data.samples;
  samples.ts_ns[row] = 5;
  samples.end_ns[row] = 7;
  samples.device[row] = 0;
  samples.device_type[row] = maker.part().Intern("gpu");
  samples.name[row] = maker.part().Intern("sclk");
  samples.value[row] = 800;
  EXPECT_EQ(Write(maker.Finish()), std::string(kHeader) +
                                       "host,op,\"a, \"\"b\"\"\",10,50,100,1,,,,3,,\n"
                                       "host,runtime,cudaLaunchKernel,20,5,100,1,,,9,,,\n"
                                       "device,kernel,k,30,4,,,0,7,9,,,\n"
                                       "monitor,gpu,sclk,5,2,,,0,,,,,800\n");
}

}  // namespace
}  // namespace borescope::internal
