// Everything of an event's text that does not change from event to event, ready to be copied.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/support/model/scenario_ranks.h"
#include "tests/support/writing/scenario_layout.h"

namespace borescope::scenario {

struct TextPieces {
  TextPieces(const ScenarioConfig& config, const KernelCatalog& catalog, const RankInfo& info);

  // Row of a thread, a stream or the whole device.
  struct Row {
    std::string after_name;     // ..., "pid": 1, "tid": 2, "ts":
    std::string after_flow_id;  // the same in a flow event
    std::string pid;
    std::string tid;
  };
  // What follows a device event's "External id", up to the value of "correlation".
  struct DeviceArgs {
    std::string after_id;
    std::string without_id;
  };

  TextLayout layout;
  std::array<Row, kThreads> threads;
  std::array<Row, kStreams> streams;
  Row device;
  std::string dur, args, args_end, event_end;

  // Up to the value of "name", by category.
  std::string cpu_op, user_annotation, python_function, kernel, gpu_memcpy, gpu_memset, cuda_sync,
      gpu_user_annotation;
  std::vector<std::string> apis;  // by Api, including the name

  // Arguments: key with what precedes it.
  std::string external_id, record_id, sequence, forward_thread, event_index;
  std::string python_id, python_parent, python_module;
  std::string bytes, bandwidth;
  std::vector<std::string> api_numbers;             // by Api: cbid ... "correlation":
  std::vector<std::string> api_numbers_without_id;  // the same where no id precedes it
  std::array<DeviceArgs, kStreams> kernel_args, copy_args;
  std::vector<std::string> shapes;             // by HostName, empty when shapes are not recorded
  std::vector<std::string> device_args;        // by Kernel
  std::vector<std::string> host_args;          // by Kernel
  std::array<std::string, 2> collective_args;  // before and after the number of elements
  std::string out_elements;                    // between its two mentions

  // Flows: up to the id, and behind the time.
  std::string flow_start, flow_end, launch_start_tail, launch_end_tail, forward_start_tail,
      forward_end_tail;

  std::string memory_head;
  std::array<std::string, 6> memory_args;

 private:
  void MakeRows(const RankInfo& info);
  void MakeHeads(const ScenarioConfig& config);
  void MakeHostArgs(const ScenarioConfig& config);
  void MakeDeviceArgs(const ScenarioConfig& config, const KernelCatalog& catalog,
                      const RankInfo& info);
  void MakeApis(const ScenarioConfig& config);
  void MakeCollectiveArgs(const ScenarioConfig& config);
  void MakeFlows();
  void MakeMemory();
  std::string Joined(const std::vector<StaticArg>& members) const;
};

// "[0, 1, 2]", shortened like PyTorch does it: 29 numbers, dots, the last.
std::string RankList(int world_size);

}  // namespace borescope::scenario
