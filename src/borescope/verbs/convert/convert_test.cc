#include "borescope/convert.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "borescope/base/io/temporary_folder.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kTrace = R"({"schemaVersion":1,"other":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":5,"dur":5,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":12,"dur":5,"args":{"device":0,"stream":7,"bytes":4096,"correlation":2}}]})";

class DrawOverlaysTest : public testing::Test {
 protected:
  // The text of the copy, or the error.
  std::string Draw(std::vector<std::string> verbs, const std::string& output = "out.json",
                   const std::string& begin = "") const {
    const std::string path = folder_.path() + "/in.json";
    std::ofstream(path) << kTrace;
    ConvertOptions options;
    options.inputs = {path};
    options.output = folder_.path() + "/" + output;
    options.overlays = std::move(verbs);
    options.begin = begin;
    options.threads = 1;
    const Result<ConvertReport> report = Convert(options);
    if (!report.ok()) {
      return report.error().Sentence();
    }
    std::ifstream file(options.output);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryFolder folder_ = TemporaryFolder::Make().value();
};

TEST_F(DrawOverlaysTest, AllAreInOneCopyAndNoEventIsLost) {
  const std::string text = Draw({"queue", "bandwidth", "critical-path"});
  const size_t begin = kTrace.find("\"traceEvents\"");
  EXPECT_TRUE(text.starts_with(kTrace.substr(0, begin))) << text;
  for (const char* part : {"\"other\":1", "aten::mm", "gemm", "Queue length", "GB/s",
                           "critical_path", "\"critical\": 1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }
}

TEST_F(DrawOverlaysTest, OneIsWhatItsVerbDraws) {
  const std::string text = Draw({"queue"});
  EXPECT_NE(text.find("Queue length"), std::string::npos) << text;
  EXPECT_EQ(text.find("GB/s"), std::string::npos);
}

TEST_F(DrawOverlaysTest, WhatCannotBeDrawnIsAnError) {
  EXPECT_EQ(Draw({"kernels"}),
            "`overlay`: 'kernels' draws nothing on traces; verbs that do are queue, bandwidth, "
            "sequences, critical-path");
  EXPECT_NE(Draw({"queue"}, "out.rpd").find("writes JSON"), std::string::npos);
  EXPECT_NE(Draw({"queue"}, "out.json", "10%").find("leave out"), std::string::npos);
  EXPECT_NE(Draw({"queue"}, "in.json").find("in.json"), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
