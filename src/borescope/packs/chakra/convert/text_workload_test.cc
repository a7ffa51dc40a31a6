#include "borescope/packs/chakra/convert/text_workload.h"

#include <gtest/gtest.h>

#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kData =
    "DATA\n3\n"
    "layer0 -1 100 ALLREDUCE 1024 110 ALLTOALL 2048 120 ALLREDUCE 4096 10\n"
    "layer1 -1 200 ALLGATHER 1025 210 ALLREDUCE 2049 220 REDUCESCATTER 4097 11\n"
    "layer2 -1 300 ALLTOALL 1026 310 NONE 2050 320 NONE 4098 12\n";

std::string ErrorOf(std::string text) {
  const Result<TextWorkload> workload = ParseTextWorkload(std::move(text), "f");
  return workload.ok() ? "" : workload.error().Sentence();
}

TEST(TextWorkload, PassesFollowEachOther) {
  const Result<TextWorkload> workload = ParseTextWorkload(std::string(kData), "f");
  ASSERT_TRUE(workload.ok());
  uint64_t next_id = 0;
  StringSink sink;
  ASSERT_EQ(*WriteTextWorkload(*workload, 2, next_id, sink), 22U);
  EXPECT_EQ(next_id, 22U);
  const Result<EtFile> et = ReadEt(sink.text());
  ASSERT_TRUE(et.ok());
  EXPECT_EQ(et->nodes[12].name, "COMP_NODE_layer1_FWD");
  EXPECT_EQ(et->nodes[12].data_deps, (std::vector<uint64_t>{11, 7}));
}

TEST(TextWorkload, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("FOO\n"),
            "f:1: unknown parallelism: 'FOO'; MICRO, DATA, MODEL, HYBRID_DATA_MODEL, "
            "HYBRID_MODEL_DATA and HYBRID_DLRM are known");
  EXPECT_EQ(ErrorOf("DATA\nx\n"), "f:2: the number of layers is missing: 'x'");
  EXPECT_EQ(ErrorOf("DATA\n1\n\n"), "f:3: a layer has 12 columns: ''");
  EXPECT_EQ(ErrorOf("DATA\n1\nl -1 1 ALLREDUCE x 1 NONE 1 1 NONE 1 1\n"),
            "f:3: a time or size is not a number: 'l -1 1 ALLREDUCE x 1 NONE 1 1 NONE 1 1'");
}

}  // namespace
}  // namespace borescope::internal
