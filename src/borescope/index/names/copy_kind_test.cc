#include "borescope/index/names/copy_kind.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

std::string_view KindOf(std::string_view name) {
  return CopyKindName(ClassifyCopy(DeviceKind::kMemcpy, name));
}

TEST(CopyKindTest, NamesOfAllVendors) {
  EXPECT_EQ(KindOf("Memcpy HtoD (Pageable -> Device)"), "HtoD");
  EXPECT_EQ(KindOf("Memcpy DtoH (Device -> Pinned)"), "DtoH");
  EXPECT_EQ(KindOf("Memcpy DtoD (Device -> Device)"), "DtoD");
  EXPECT_EQ(KindOf("Memcpy PtoP (Device -> Device)"), "PtoP");
  EXPECT_EQ(KindOf("Memcpy HtoH (Pinned -> Pageable)"), "HtoH");
  EXPECT_EQ(KindOf("Memcpy HtoA (Pinned -> Array)"), "HtoD");
  EXPECT_EQ(KindOf("CopyHostToDevice"), "HtoD");
  EXPECT_EQ(KindOf("CopyDeviceToHost"), "DtoH");
  EXPECT_EQ(KindOf("CopyDeviceToDevice"), "DtoD");
  EXPECT_EQ(KindOf("MEMORY_COPY_HOST_TO_DEVICE"), "HtoD");
  EXPECT_EQ(KindOf("MEMORY_COPY_DEVICE_TO_DEVICE"), "DtoD");
  EXPECT_EQ(KindOf("FillBuffer"), "memset");
  EXPECT_EQ(KindOf("Memcpy M2D"), "HtoD");
  EXPECT_EQ(KindOf("Memcpy D2H"), "DtoH");
  EXPECT_EQ(KindOf("Memcpy (Unknown)"), "other");
  EXPECT_EQ(KindOf(""), "other");
}

TEST(CopyKindTest, AMemsetIsOneWhateverItsName) {
  EXPECT_EQ(CopyKindName(ClassifyCopy(DeviceKind::kMemset, "Memset (Device)")), "memset");
  EXPECT_EQ(CopyKindName(ClassifyCopy(DeviceKind::kMemset, "HtoD")), "memset");
}

}  // namespace
}  // namespace borescope::internal
