#include "borescope/index/syncs/sync_calls.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(SyncCallsTest, WhatACallWaitsFor) {
  EXPECT_EQ(ClassifyBlockingCall("cudaEventSynchronize"), BlockingCall::kEvent);
  EXPECT_EQ(ClassifyBlockingCall("hipStreamSynchronize"), BlockingCall::kStream);
  EXPECT_EQ(ClassifyBlockingCall("zeCommandQueueSynchronize"), BlockingCall::kStream);
  EXPECT_EQ(ClassifyBlockingCall("cuCtxSynchronize"), BlockingCall::kDevice);
  EXPECT_EQ(ClassifyBlockingCall("cudaMemcpy"), BlockingCall::kCopy);
  EXPECT_EQ(ClassifyBlockingCall("cudaMemcpyAsync"), BlockingCall::kAsyncCopy);
  EXPECT_EQ(ClassifyBlockingCall("cudaLaunchKernel"), BlockingCall::kNone);
}

// Runtimes without rules of their own: every name with "synchronize" waits.
TEST(SyncCallsTest, OtherRuntimesWaitByWhatTheirNamesSay) {
  EXPECT_EQ(ClassifyBlockingCall("aclrtSynchronizeEvent"), BlockingCall::kEvent);
  EXPECT_EQ(ClassifyBlockingCall("aclrtSynchronizeStream"), BlockingCall::kStream);
  EXPECT_EQ(ClassifyBlockingCall("aclrtSynchronizeDevice"), BlockingCall::kDevice);
  EXPECT_EQ(ClassifyBlockingCall("zeFenceHostSynchronize"), BlockingCall::kDevice);
}

TEST(SyncCallsTest, AnAsynchronousCopyBlocksOnlySometimes) {
  EXPECT_TRUE(AlwaysBlocks(BlockingCall::kCopy));
  EXPECT_TRUE(AlwaysBlocks(BlockingCall::kDevice));
  EXPECT_FALSE(AlwaysBlocks(BlockingCall::kAsyncCopy));
  EXPECT_FALSE(AlwaysBlocks(BlockingCall::kNone));
}

}  // namespace
}  // namespace borescope::internal
