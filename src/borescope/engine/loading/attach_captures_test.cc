#include "borescope/engine/loading/attach_captures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace borescope::internal {

namespace {

namespace fs = std::filesystem;

// A capture of a graph with one kernel; `info` may name its rank.
std::string CaptureText(const std::string& info = "") {
  return "{" + info + R"("traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamBeginCapture","pid":1,"tid":1,"ts":1,"dur":1},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":6,"dur":18},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":3},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamEndCapture","pid":1,"tid":1,"ts":60,"dur":2}]})";
}

class CaptureStoreTest : public testing::Test {
 protected:
  CaptureStoreTest() {
    std::string name = (fs::temp_directory_path() / "borescope_captures_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CaptureStoreTest() override { fs::remove_all(folder_); }

  std::string Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  CaptureStore store_;

 private:
  fs::path folder_;
};

TEST_F(CaptureStoreTest, OneForAllRanksIsLoadedOnce) {
  const std::string path = Put("capture.json", CaptureText());
  const CaptureRecording first = store_.Get(path, true, 0, {1, {}});
  ASSERT_NE(first.trace, nullptr);
  EXPECT_TRUE(first.is_capture);
  EXPECT_FALSE(first.rank.has_value());
  EXPECT_EQ(store_.Get(path, true, 1, {1, {}}).trace, first.trace);
  store_.Clear();
  EXPECT_EQ(first.trace.use_count(), 1);
  EXPECT_NE(store_.Get(path, true, 1, {1, {}}).trace, nullptr);
}

// What is of one rank is not kept for others, and they need not load it.
TEST_F(CaptureStoreTest, OneOfARankIsForThatRank) {
  const std::string path = Put("graphs.json", CaptureText(R"("distributedInfo":{"rank":1},)"));
  const CaptureRecording other = store_.Get(path, true, 0, {1, {}});
  EXPECT_TRUE(other.is_capture);
  EXPECT_EQ(other.rank, 1);
  EXPECT_EQ(other.trace, nullptr);
  const CaptureRecording own = store_.Get(path, true, 1, {1, {}});
  ASSERT_NE(own.trace, nullptr);
  EXPECT_EQ(own.trace.use_count(), 1);
  fs::remove(path);
  EXPECT_EQ(store_.Get(path, true, 2, {1, {}}).rank, 1);
}

TEST_F(CaptureStoreTest, WhatIsNoCaptureIsKnownOnce) {
  const std::string path = Put("other.json", R"({"traceEvents":[]})");
  EXPECT_FALSE(store_.Get(path, false, 0, {1, {}}).is_capture);
  fs::remove(path);
  EXPECT_FALSE(store_.Get(path, false, 1, {1, {}}).error.has_value());
  const CaptureRecording missing = store_.Get(path + ".missing", true, 0, {1, {}});
  ASSERT_TRUE(missing.error.has_value());
  EXPECT_NE(missing.error->Sentence().find("other.json.missing"), std::string::npos);
}

}  // namespace

}  // namespace borescope::internal
