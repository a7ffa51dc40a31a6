#include "borescope/ingest/cupti/cupti_names.h"

#include <gtest/gtest.h>

#include "borescope/ingest/cupti/demangle.h"
#include "borescope/ingest/cupti/nvtx_text.h"

namespace borescope::internal {
namespace {

TEST(CuptiNamesTest, FunctionsLoseTheirRelease) {
  EXPECT_EQ(ApiName("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(ApiName("cudaLaunchKernelExC_v11060"), "cudaLaunchKernelExC");
  EXPECT_EQ(ApiName("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync_ptsz");
  for (const char* name : {"cuMemAlloc_v2", "cuLaunchKernel", "", "_v7000", "v7000", "7000"}) {
    EXPECT_EQ(ApiName(name), name);
  }
}

TEST(CuptiNamesTest, Callbacks) {
  EXPECT_EQ(RuntimeApiName(41), "cudaMemcpyAsync");
  EXPECT_EQ(RuntimeApiName(131), "cudaStreamSynchronize");
  EXPECT_EQ(RuntimeApiName(311), "cudaGraphLaunch");
  EXPECT_EQ(RuntimeApiName(0), "cudaApi_0");
  EXPECT_EQ(RuntimeApiName(-1), "cudaApi_-1");
  EXPECT_EQ(RuntimeApiName(433), "cudaOccupancyMaxActiveClusters");
  EXPECT_EQ(RuntimeApiName(440), "cudaGetDeviceProperties");
  EXPECT_EQ(DriverApiName(17), "cuCtxSynchronize");
  EXPECT_EQ(DriverApiName(652), "cuLaunchKernelEx");
  EXPECT_EQ(DriverApiName(int64_t{1} << 40), "cuApi_1099511627776");
}

TEST(CuptiNamesTest, KindsBeyondTheTables) {
  EXPECT_EQ(CopyName(kMissing, kMissing, kMissing, MemoryKindNumbers::kCupti), "Memcpy Unknown");
  EXPECT_EQ(CopyName(8, 7, 3, MemoryKindNumbers::kCupti), "Memcpy DtoD (Managed Static -> Device)");
  EXPECT_EQ(CopyName(8, 7, 6, MemoryKindNumbers::kNsightSystems),
            "Memcpy DtoD (Unknown -> Managed Static)");
  EXPECT_EQ(MemsetName(kMissing, MemoryKindNumbers::kCupti), "Memset");
  EXPECT_EQ(SyncName(-4), "Unknown Sync");
}

TEST(CuptiNamesTest, WhatCallsWaitFor) {
  EXPECT_EQ(SyncNameOfCall("cudaDeviceSynchronize"), "Context Sync");
  EXPECT_EQ(SyncNameOfCall("cuCtxSynchronize_v2"), "Context Sync");
  EXPECT_EQ(SyncNameOfCall("cudaStreamSynchronize_ptsz"), "Stream Sync");
  EXPECT_EQ(SyncNameOfCall("cuStreamWaitEvent"), "Stream Wait Event");
  EXPECT_EQ(SyncNameOfCall("cudaEventSynchronize"), "Event Sync");
  EXPECT_EQ(SyncNameOfCall("cudaEventQuery"), "");
}

TEST(NvtxTextTest, WhatIsNoOperator) {
  for (const char* text : {"", "forward", ", seq = 5", "a, seq = x", "loss, sizes = [[1]]"}) {
    EXPECT_FALSE(ParseOperatorText(text).has_value()) << text;
  }
  EXPECT_EQ(ParseOperatorText("a, seq = 5, sizes = [[1], [2")->sizes, "");
  EXPECT_EQ(ParseOperatorText("a, op_id = 7, seq = 9")->name, "a");
}

TEST(NvtxTextTest, RangesOfXla) {
  EXPECT_EQ(ParseXlaText("XlaModule:#hlo_module=jit_step,program_id=5304#")->annotation,
            "jit_step");
  EXPECT_EQ(ParseXlaText("XlaModule:#prefix=jit(f)/a,b,hlo_module=jit_f,program_id=1#")->annotation,
            "jit_f");
  EXPECT_EQ(ParseXlaText("XlaPass:#name=dce,module=jit_f,program_id=1#")->annotation,
            "XlaPass:dce");
  EXPECT_EQ(ParseXlaText("XlaCompile:#module=jit_step#")->annotation, "XlaCompile:jit_step");
  const std::optional<XlaText> whole = ParseXlaText(
      "Thunk:#name=jit(f)[a=1,b=2]/dot,hlo_op=custom-call.8,unique_hlo_op_id=8589934662#");
  EXPECT_EQ(whole->operation, "custom-call.8");
  EXPECT_EQ(whole->scope, "jit(f)[a=1,b=2]/dot");
  EXPECT_EQ(whole->annotation, "");
  const std::optional<XlaText> bare = ParseXlaText("Thunk:#hlo_op=command_buffer_1#");
  EXPECT_EQ(bare->operation, "command_buffer_1");
  EXPECT_EQ(bare->scope, "");
  for (const char* text :
       {"", "#", "Thunk", "Thunk:#", "Thunk:##", "Thunk:#hlo_op=#", "XlaModule:#",
        "Thunk:#hlo_op=a", "XlaModule:#program_id=5#", "Thunk:#my_hlo_op=a#",
        "XlaPass:#program_id=5#", "Thunk:#name=hlo_op#", "Xla:#", "Xla#", "my:#name=a#"}) {
    EXPECT_FALSE(ParseXlaText(text).has_value()) << text;
  }
}

// std::pair of the previous one, twice: the text doubles with every 10 characters.
std::string Doubling(int times) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < times; ++i) {
    const char last[] = {'S', kDigits[static_cast<size_t>(i)], '_', 0};
    name.append("S_I").append(last).append(last).append("E");
  }
  return name;
}

TEST(DemanglerTest, NamesOfFunctions) {
  Demangler demangle;
  EXPECT_EQ(demangle("_Z4addsPfi"), "adds(float*, int)");
  EXPECT_EQ(demangle("_ZN2at6native18elementwise_kernelILi512ELi1EZNS0_15gpu_kernel_implIZNS0_"
                     "21threshold_kernel_implIfEEvRNS_14TensorIteratorET_S5_EUlffE_EEvS4_RKT_"
                     "EUliE_EEviT1_")
                .substr(0, 53),
            "void at::native::elementwise_kernel<512, 1, at::nativ");
  for (const char* name : {"", "adds", "_Z", "_Z99x", "_ZN", "volta_sgemm_128x64_nn"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

TEST(DemanglerTest, NamesThatGrowStayAsTheyAre) {
  Demangler demangle;
  EXPECT_EQ(demangle(Doubling(2)).substr(0, 12), "f(std::pair<");
  for (const int times : {20, 30, 35}) {
    EXPECT_EQ(demangle(Doubling(times)), Doubling(times));
  }
}

}  // namespace
}  // namespace borescope::internal
