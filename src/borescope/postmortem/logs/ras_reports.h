// Reports of NCCL's RAS service (ncclras, since NCCL 2.24): how many collectives the ranks of each
// communicator launched, and which processes do not answer. As text, and since 2.28.7 as JSON;
// docs.nvidia.com/deeplearning/nccl, "RAS", has both forms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/logs/log_scan.h"

namespace borescope::internal {

// What a report says about one communicator.
struct RasCommunicator {
  struct Rank {
    int32_t place = 0;  // in the communicator
    int64_t pid = 0;    // 0: not known
    std::string host = {};
    std::string gpu = {};
  };
  // Ranks that launched as many collectives of one kind.
  struct Launched {
    int64_t count = 0;
    int64_t ranks = 0;
    std::vector<Rank> named;  // of these; a text names only the few that differ
  };
  std::string hash = {};
  int64_t line = 0;     // of a text
  int32_t size = 0;     // 0: not known
  bool is_only = true;  // no other communicator is of its size, and it may have all of the job
  std::map<std::string, std::vector<Launched>> launched;  // by kind: "AllReduce", or "collective"
  std::vector<Rank> missing;
  bool is_dead = false;  // RAS gave up on some of those that are missing
};

// Takes lines of a text, of any number of reports.
class RasReader {
 public:
  // Whether the line is of a report.
  bool Take(std::string_view text, int64_t number);
  // One event for each communicator of which ranks differ or do not answer. Nothing may be taken
  // afterwards.
  std::vector<LogEvent> Finish();

 private:
  bool TakeCounts(std::string_view text);
  void EndReport();

  std::map<int32_t, std::pair<int32_t, int32_t>> groups_;  // sizes, and how many of that
  int32_t gpus_ = 0;                                       // of the job; 0: not known
  std::vector<RasCommunicator> communicators_;             // of this report
  std::vector<LogEvent> events_;
  std::map<std::string, size_t> known_;  // places in events_ by their texts
  std::string kind_;
  bool is_inside_ = false;
};

// The events of a report in JSON; nothing where `text` is none.
std::optional<std::vector<LogEvent>> ReadRasJson(std::string_view text);

}  // namespace borescope::internal
