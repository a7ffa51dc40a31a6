#include "tests/support/model/scenario_ranks.h"

#include <fmt/format.h>

namespace borescope::scenario {
namespace {

constexpr int kNamedDevices = 16;

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

void AddProcess(int64_t pid, std::string_view label, int64_t sort_index,
                std::vector<MetadataRow>* rows) {
  const std::string pid_text = fmt::to_string(pid);
  rows->push_back({"process_name", pid_text, 0, "name", Quoted("python3")});
  rows->push_back({"process_labels", pid_text, 0, "labels", Quoted(label)});
  rows->push_back({"process_sort_index", pid_text, 0, "sort_index", fmt::to_string(sort_index)});
}

void AddThread(int64_t pid, int64_t tid, std::string_view name, std::vector<MetadataRow>* rows) {
  const std::string pid_text = fmt::to_string(pid);
  rows->push_back({"thread_name", pid_text, tid, "name", Quoted(name)});
  rows->push_back({"thread_sort_index", pid_text, tid, "sort_index", fmt::to_string(tid)});
}

}  // namespace

RankInfo MakeRankInfo(const ScenarioConfig& config, int rank, int64_t begin_ns) {
  RankInfo info;
  info.rank = rank;
  info.begin_ns = begin_ns;
  info.pid = 41'003 + rank * 137;
  info.tids = {info.pid, info.pid + 611};
  // ROCm numbers CPU sockets and GPUs together, and the machine has two sockets.
  info.gpu = rank % 8 + (config.vendor == Vendor::kAmd ? 2 : 0);
  info.streams = config.vendor == Vendor::kAmd ? std::array<int64_t, kStreams>{0, 4, 2}
                                               : std::array<int64_t, kStreams>{7, 24, 16};
  info.file = fmt::format("rank-{}{}", rank, config.file_suffix);
  return info;
}

std::vector<MetadataRow> MetadataRows(const ScenarioConfig& config, const RankInfo& info) {
  std::vector<MetadataRow> rows;
  AddProcess(info.pid, "CPU", info.pid, &rows);
  const int64_t first_gpu = config.era == Era::kIntUs ? 0x1000000 : 5'000'000;
  for (int device = 0; device < kNamedDevices; ++device) {
    AddProcess(device, fmt::format("GPU {}", device), first_gpu + device, &rows);
  }
  for (const int64_t stream : info.streams) {
    AddThread(info.gpu, stream, fmt::format("stream {} ", stream), &rows);
  }
  AddThread(info.pid, info.tids[0], fmt::format("thread {} (python3)", info.tids[0]), &rows);
  AddThread(info.pid, info.tids[1], fmt::format("thread {} (pt_autograd_0)", info.tids[1]), &rows);
  rows.push_back({"process_sort_index", Quoted("Spans"), 0, "sort_index", "536870912"});
  return rows;
}

}  // namespace borescope::scenario
