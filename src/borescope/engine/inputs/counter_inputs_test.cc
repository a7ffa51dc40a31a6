#include "borescope/engine/inputs/counter_inputs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/ingest/ncu/report_test_writer.h"
#include "borescope/ingest/ncu/report_trace.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

class CounterInputs : public testing::Test {
 protected:
  CounterInputs() {
    std::string name = (fs::temp_directory_path() / "borescope_counters_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CounterInputs() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  // Relative to the folder.
  std::vector<std::string> Relative(const std::vector<std::string>& paths) const {
    std::vector<std::string> names;
    names.reserve(paths.size());
    for (const std::string& path : paths) {
      names.push_back(fs::path(path).lexically_relative(folder_).string());
    }
    return names;
  }

  fs::path folder_;
};

std::string Report(const std::string& kernel, uint64_t pid = 1) {
  return ncu_test::File(ncu_test::Block({ncu_test::Kernel(kernel, pid).text()}));
}

std::string Pass(const std::string& counter, int process) {
  return "\"Dispatch_Id\",\"Agent_Id\",\"Process_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_"
         "Value\"\n1,4," +
         std::to_string(process) + ",\"gemm\",\"" + counter + "\",2\n";
}

TEST_F(CounterInputs, FoldersAreSearchedForWhatIsAReport) {
  Write("run/r10.ncu-rep", Report("b"));
  Write("run/r2.ncu-rep", Report("a"));
  Write("run/notes.txt", "ID");
  Write("run/.hidden.ncu-rep", Report("c"));
  Write("run/trace.json", "{\"traceEvents\": []}");
  Write("run/deeper/r.ncu-rep", Report("d"));
  const std::vector<std::string> inputs = {Path("run"), Path("run/r2.ncu-rep")};
  const Result<std::vector<std::string>> files = FindCounterFiles(inputs);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(Relative(*files), (std::vector<std::string>{"run/deeper/r.ncu-rep", "run/r2.ncu-rep",
                                                        "run/r10.ncu-rep"}));
  Write("empty/notes.txt", "none");
  const std::vector<std::string> none = {Path("empty")};
  ASSERT_FALSE(FindCounterFiles(none).ok());
  EXPECT_EQ(FindCounterFiles(none).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(CounterInputs, PassesOfOneRunAreOneReport) {
  Write("out/pass_1/host/11_counter_collection.csv", Pass("SQ_WAVES", 11));
  Write("out/pass_2/host/12_counter_collection.csv", Pass("FETCH_SIZE", 12));
  Write("r.ncu-rep", Report("a"));
  Diagnostics diagnostics;
  const std::vector<std::string> inputs = {Path("r.ncu-rep"), Path("out")};
  const Result<std::vector<CounterReport>> reports = ReadCounters(inputs, diagnostics);
  ASSERT_TRUE(reports.ok());
  ASSERT_EQ(reports->size(), 2U);
  EXPECT_FALSE((*reports)[0].amd);
  ASSERT_EQ((*reports)[1].kernels.size(), 1U);
  EXPECT_EQ((*reports)[1].kernels[0].values.size(), 2U);
  EXPECT_EQ((*reports)[1].kernels[0].pid, 11);
}

TEST_F(CounterInputs, AProcessOfAReportIsARank) {
  Write("two.ncu-rep", ncu_test::File(ncu_test::Block(
                           {ncu_test::Kernel("a", 8).text(), ncu_test::Kernel("b", 7).text()})));
  const std::vector<InputFile> ranks = SplitRanks({{.path = Path("two.ncu-rep")}});
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].rank_in_file->processes, (std::vector<int64_t>{8, 7}));
  EXPECT_EQ(ranks[1].rank_in_file->rank, 1);
}

// What rocprofv3 wrote of a run is one input, and each process of that a rank.
TEST_F(CounterInputs, PassesAndProcessesOfOneRunAreItsRanks) {
  const std::vector<std::string> names = {
      "pass_1/11_counter_collection.csv", "pass_1/12_counter_collection.csv",
      "pass_2/21_counter_collection.csv", "pass_2/22_counter_collection.csv"};
  const int processes[] = {11, 12, 21, 22};
  std::vector<InputFile> files;
  std::vector<std::string> paths;
  for (size_t i = 0; i < names.size(); ++i) {
    Write(names[i], Pass(i < 2 ? "SQ_WAVES" : "FETCH_SIZE", processes[i]));
    paths.push_back(Path(names[i]));
    files.push_back({.path = paths.back(), .bytes = 10});
  }
  const std::vector<InputFile> ranks = SplitRanks(files);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].passes, paths);
  EXPECT_EQ(ranks[0].rank_in_file->processes, (std::vector<int64_t>{11, 12}));
  EXPECT_EQ(ranks[1].rank_in_file->rank, 1);
  const Result<Trace> trace = LoadCounterPasses(ranks[0].passes, {1, {}});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->kernels().size(), 2U);
  EXPECT_EQ(trace->metrics().size(), 4U);  // of both passes
  // Of one process it is one input, without a rank of its own.
  const std::vector<InputFile> one = SplitRanks({files[0], files[2]});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_FALSE(one[0].rank_in_file.has_value());
  EXPECT_EQ(one[0].passes, (std::vector<std::string>{paths[0], paths[2]}));
}

TEST_F(CounterInputs, BesideTracesAReportIsNoRank) {
  Write("rank.json", "{\"traceEvents\": []}");
  Write("r.ncu-rep", Report("a"));
  const InputFile trace{.path = Path("rank.json")};
  const std::vector<InputFile> named = SplitRanks({trace, {.path = Path("r.ncu-rep")}});
  ASSERT_EQ(named.size(), 2U);
  EXPECT_FALSE(named[0].rank_in_file.has_value());
  EXPECT_TRUE(named[1].rank_in_file->refusal.has_value());
  const std::vector<InputFile> found =
      SplitRanks({trace, {.path = Path("r.ncu-rep"), .from_directory = true}});
  EXPECT_EQ(found.size(), 1U);
}

}  // namespace
}  // namespace borescope::internal
