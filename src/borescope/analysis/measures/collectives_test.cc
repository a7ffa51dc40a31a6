#include "borescope/analysis/measures/collectives.h"

#include <gtest/gtest.h>

#include <limits>

#include "borescope/trace/tables.h"

namespace borescope::internal {

namespace {

using enum CollectiveKind;

TEST(CollectiveKindsTest, SpellingsOfPyTorch) {
  for (const auto& [name, kind] : {std::pair{"allreduce", kAllReduce},
                                   {"allreduce_coalesced", kAllReduce},
                                   {"all_reduce_barrier", kBarrier},
                                   {"_allgather_base", kAllGather},
                                   {"all_gather_into_tensor_coalesced", kAllGather},
                                   {"_reduce_scatter_base", kReduceScatter},
                                   {"reduce_scatter_tensor_coalesced", kReduceScatter},
                                   {"all_to_all", kAllToAll},
                                   {"all_to_allv", kAllToAll},
                                   {"_broadcast_oop", kBroadcast},
                                   {"_reduce_oop", kReduce},
                                   {"gather", kGather},
                                   {"scatter", kScatter},
                                   {"send", kSend},
                                   {"recv", kRecv},
                                   {"barrier", kBarrier},
                                   {"coalesced", kUnknown}}) {
    EXPECT_EQ(KindOfRecordedName(name), kind) << name;
  }
  EXPECT_FALSE(IsCommunication("wait"));
  EXPECT_TRUE(IsCommunication("barrier"));
}

TEST(CollectiveKindsTest, OperatorsOfTheCommunicationLayer) {
  EXPECT_EQ(KindOfOperatorName("c10d::alltoall_base_"), kAllToAll);
  EXPECT_EQ(KindOfOperatorName("nccl:_all_gather_base"), kAllGather);
  EXPECT_EQ(KindOfOperatorName("_c10d_functional::all_reduce"), kAllReduce);
  EXPECT_EQ(KindOfOperatorName("record_param_comms"), kUnknown);
  EXPECT_TRUE(IsCommunicationOperator("record_param_comms"));
  EXPECT_TRUE(IsHostCollective("gloo:all_reduce"));
  EXPECT_TRUE(IsHostCollective("mpi:broadcast"));
  EXPECT_FALSE(IsHostCollective("nccl:all_reduce"));
  EXPECT_FALSE(IsHostCollective("gloo:connect"));
  EXPECT_EQ(KindOfOperatorName("gloo:all_to_all"), kAllToAll);
  EXPECT_EQ(KindOfOperatorName("## all_to_all of the embeddings ##"), kUnknown);
}

TEST(CollectiveKindsTest, KernelNames) {
  for (const auto& [name, kind] :
       {std::pair{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                  kAllReduce},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long)", kSendRecv},
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", kReduceScatter},
        {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)", kBroadcast},
        {"ncclDevKernel_Reduce_Sum_f32_RING_LL", kReduce},
        {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", kUnknown},
        {"mscclKernel_Sum_half_Simple_true", kUnknown},
        {"void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(vllm::RankData*)", kAllReduce},
        {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 8>(int)",
         kAllReduce},
        {"void deep_ep::internode::dispatch<false, 8>(int4*)", kUnknown},
        {"oneRankReduce", kUnknown}}) {
    EXPECT_EQ(KindOfKernelName(name), kind) << name;
  }
}

TEST(CollectiveKindsTest, MessagesAreThoseOfNcclTests) {
  EXPECT_EQ(MessageBytes(kAllReduce, 10, 10, "Float"), 40);
  EXPECT_EQ(MessageBytes(kAllGather, 10, 80, "BFloat16"), 160);
  EXPECT_EQ(MessageBytes(kReduceScatter, 80, 10, "Half"), 160);
  EXPECT_EQ(MessageBytes(kAllToAll, 30, 50, "Long"), 240);
  EXPECT_EQ(MessageBytes(kRecv, 0, 50, "ComplexFloat"), 400);
  EXPECT_EQ(MessageBytes(kBroadcast, 50, 50, "Bool"), 50);
  EXPECT_EQ(MessageBytes(kBarrier, 0, 0, "Byte"), std::nullopt);
}

TEST(CollectiveKindsTest, NoSizeIsGuessed) {
  EXPECT_EQ(MessageBytes(kAllReduce, 10, 10, "Float7"), std::nullopt);
  EXPECT_EQ(MessageBytes(kAllReduce, 10, 10, ""), std::nullopt);
  EXPECT_EQ(MessageBytes(kAllReduce, kMissing, 10, "Float"), std::nullopt);
  EXPECT_EQ(MessageBytes(kAllReduce, -1, 10, "Float"), std::nullopt);
  EXPECT_EQ(MessageBytes(kAllReduce, std::numeric_limits<int64_t>::max(), 1, "Float"),
            std::nullopt);
}

// The other side of an uneven all-gather or reduce-scatter differs from rank to rank.
TEST(CollectiveKindsTest, TheSideThatIsEqualOnAllRanks) {
  EXPECT_EQ(CommonElems(kAllReduce, 10, 10), 10);
  EXPECT_EQ(CommonElems(kAllGather, 10, 80), 80);
  EXPECT_EQ(CommonElems(kReduceScatter, 80, 10), 80);
  EXPECT_EQ(CommonElems(kAllToAll, 30, 50), kMissing);
  EXPECT_EQ(CommonElems(kUnknown, 30, 50), kMissing);
}

TEST(CollectiveKindsTest, ElementSizes) {
  for (const auto& [dtype, bytes] : {std::pair{"Float8_e4m3fn", 1},
                                     {"Float8_e4m3fnuz", 1},
                                     {"Float8_e5m2", 1},
                                     {"Float8_e5m2fnuz", 1},
                                     {"Bool", 1},
                                     {"Byte", 1},
                                     {"Char", 1},
                                     {"Short", 2},
                                     {"Int", 4},
                                     {"UInt16", 2},
                                     {"Double", 8},
                                     {"ComplexHalf", 4},
                                     {"Bits8", 1},
                                     {"Bits16", 2},
                                     {"Float4_e2m1fn_x2", 1},
                                     {"ComplexDouble", 16}}) {
    EXPECT_EQ(ElementBytes(dtype), bytes) << dtype;
  }
  EXPECT_EQ(ElementBytes("QUInt4x2"), std::nullopt);  // half a byte
}

TEST(CollectiveKindsTest, BusFactors) {
  EXPECT_EQ(BusFactor(kAllReduce, 8), 1.75);
  EXPECT_EQ(BusFactor(kAllGather, 8), 0.875);
  EXPECT_EQ(BusFactor(kAllToAll, 2), 0.5);
  EXPECT_EQ(BusFactor(kGather, 4), 0.75);
  EXPECT_EQ(BusFactor(kScatter, 4), 0.75);
  EXPECT_EQ(BusFactor(kBroadcast, 4), 1.0);
  EXPECT_EQ(BusFactor(kGather, kMissing), std::nullopt);
  EXPECT_EQ(BusFactor(kAllReduce, 1), 0.0);
  EXPECT_EQ(BusFactor(kSend, kMissing), 1.0);
  EXPECT_EQ(BusFactor(kAllReduce, kMissing), std::nullopt);
  EXPECT_EQ(BusFactor(kAllReduce, 0), std::nullopt);
  EXPECT_EQ(BusFactor(kBarrier, 8), std::nullopt);
  EXPECT_EQ(BusFactor(kUnknown, 8), std::nullopt);
}

}  // namespace

}  // namespace borescope::internal
