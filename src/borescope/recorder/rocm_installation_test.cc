#include "borescope/recorder/rocm_installation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

class RocmInstallationTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "borescope-rocm-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    setenv("ROCM_PATH", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ROCM_PATH");
    fs::remove_all(folder_);
  }

  fs::path folder_;
};

TEST_F(RocmInstallationTest, OneWithEitherLibraryIsAllRight) {
  fs::create_directories(folder_ / "lib");
  for (const char* const name : {"librocprofiler-sdk.so.0", "libroctracer64.so.4"}) {
    std::ofstream(folder_ / "lib" / name) << "";
    EXPECT_EQ(WhyNoRocm(), "");
    fs::remove(folder_ / "lib" / name);
  }
}

TEST_F(RocmInstallationTest, OneWithoutThemIsNamedWithItsVersion) {
  fs::create_directories(folder_ / ".info");
  fs::create_directories(folder_ / "lib");
  std::ofstream(folder_ / "lib" / "libamdhip64.so.6") << "";
  std::ofstream(folder_ / ".info" / "version") << "6.1.2-115\n";
  const std::string why = WhyNoRocm();
  EXPECT_NE(why.find("ROCm 6.1.2 in " + folder_.string()), std::string::npos) << why;
  EXPECT_NE(why.find("neither rocprofiler-sdk"), std::string::npos);
}

// Two processors and two GPUs, of which the tenth comes after the second, and folders of others.
TEST_F(RocmInstallationTest, GpusAreListedInOrderWithoutProcessors) {
  const auto add = [&](const char* name, const char* properties) {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "properties") << properties;
  };
  EXPECT_EQ(RocmGpus(folder_), "");
  add("0", "cpu_cores_count 64\nsimd_count 0\n");
  add("1", "cpu_cores_count 64\n");
  EXPECT_EQ(RocmGpus(folder_), "");
  add("10", "simd_count 416\nsimd_per_cu 4\nwave_front_size 64\ngfx_target_version 90010\n");
  add("2", "simd_count 1216\nsimd_per_cu 4\nwave_front_size 64\ngfx_target_version 90402\nx y\n");
  add("3", "");
  add("generation_id", "simd_count 9\n");
  EXPECT_EQ(RocmGpus(folder_), "2:90402:304:64,10:90010:104:64");
  EXPECT_EQ(RocmGpus(folder_ / "nowhere"), "");
}

TEST_F(RocmInstallationTest, NoneIsSaid) {
  fs::remove_all(folder_);
  EXPECT_NE(WhyNoRocm().find("there is no ROCm in " + folder_.string()), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
