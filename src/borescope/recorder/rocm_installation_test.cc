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

TEST_F(RocmInstallationTest, OneWithRocprofilerIsAllRight) {
  fs::create_directories(folder_ / "lib");
  std::ofstream(folder_ / "lib" / "librocprofiler-sdk.so.0") << "";
  EXPECT_EQ(WhyNoRocm(), "");
}

TEST_F(RocmInstallationTest, OlderOnesAreNamedWithTheirVersion) {
  fs::create_directories(folder_ / ".info");
  fs::create_directories(folder_ / "lib");
  std::ofstream(folder_ / "lib" / "libroctracer64.so.4") << "";
  std::ofstream(folder_ / ".info" / "version") << "6.1.2-115\n";
  const std::string why = WhyNoRocm();
  EXPECT_NE(why.find("ROCm 6.1.2 in " + folder_.string()), std::string::npos) << why;
  EXPECT_NE(why.find("runTracer.sh"), std::string::npos);
}

TEST_F(RocmInstallationTest, NoneIsSaid) {
  fs::remove_all(folder_);
  EXPECT_NE(WhyNoRocm().find("there is no ROCm in " + folder_.string()), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
