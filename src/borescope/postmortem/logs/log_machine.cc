#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_pattern.h"
#include "borescope/postmortem/logs/log_scan.h"
#include "borescope/postmortem/logs/xid_catalog.h"

namespace borescope::internal {
namespace {

const LogPattern kXidLine{"NVRM: Xid \\(PCI:([0-9a-fA-F:.]+)\\): ([0-9]+)(?:, pid='?([0-9]+))?"};
const LogPattern kKilledLine{"Killed process ([0-9]+) \\(([^)]*)\\)(?:.*?anon-rss:([0-9]+)kB)?"};
const LogPattern kKilledByRay{
    "([0-9]+) Workers \\(tasks / actors\\) killed due to memory pressure"};
const LogPattern kKilledByRayOld{"System memory low at node .* to avoid running out of memory"};
const LogPattern kKilledInGroup{"oom-kill:constraint=(\\w+).*task=([^,]*),pid=([0-9]+)"};

// "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
const LogPattern kRecovery{"recovery action changed from .* to [^ ]+ \\(([^)]*)\\)"};
const LogPattern kSwitchLine{
    "(nvidia-nvswitch[0-9]+): SXid \\(PCI:([0-9a-fA-F:.]+)\\): ([0-9]+), (Fatal|Non-fatal)"};
const LogPattern kSegfault{
    "(?:^|[\\] ])([^\\[\\] ]+)\\[([0-9]+)\\]: segfault at [0-9a-f]+ ip (?:[^\\[]* in ([^\\[ "
    "]+)\\[)?"};
const LogPattern kProtection{
    "traps: ([^\\[\\] ]+)\\[([0-9]+)\\] general protection fault (?:[^\\[]* in ([^\\[ ]+)\\[)?"};
const LogPattern kMachineCheck{"\\[Hardware Error\\]: CPU [0-9]+: Machine Check Exception"};
const LogPattern kPanic{"Kernel panic - not syncing: (.*)"};
const LogPattern kGpuReset{"amdgpu ([0-9a-f:.]+): (?:amdgpu: )?GPU reset begin!"};
const LogPattern kGpuPage{"amdgpu ([0-9a-f:.]+): (?:amdgpu: )?\\[[a-z0-9]+hub[0-9]*\\] page fault"};

// Whether a process of that name may be one of the job: a kernel log is of the whole machine.
bool IsNameOfJob(std::string_view name) {
  return name.starts_with("python") || name.starts_with("pt_") || name.starts_with("ray::") ||
         name.starts_with("torchrun");
}

}  // namespace

bool LogScanner::TakeKernel(const LogLine& line, int64_t number) {
  std::string device;
  std::string pid;
  std::string kilobytes;
  int xid = 0;
  if (Finds(line.text, kXidLine, &device, &xid, &pid)) {
    LogEvent event = EventAt(LogKind::kXid, line, number);
    event.xid = xid;
    event.pid = ParseNumber<int64_t>(pid);
    event.text = fmt::format("Xid {} ({}) of the GPU at {}", xid, XidMeaning(xid), device);
    event.device = device;
    event.is_consequence = XidClassOf(xid) == XidClass::kConsequence;
    std::string action;
    if (Finds(line.text, kRecovery, &action)) {
      // The driver's own advice, after the error that it is about.
      event.text = fmt::format("Xid {} (recovery: {}) of the GPU at {}", xid,
                               WithoutSecrets(action), device);
      event.is_consequence = action == "None";
    }
    Add(std::move(event));
    return true;
  }
  int64_t count = 0;
  if ((Finds(line.text, kKilledByRay, &count) && count > 0) || Finds(line.text, kKilledByRayOld)) {
    LogEvent event = EventAt(LogKind::kKilled, line, number);
    event.pid.reset();
    event.text = "Ray killed workers for lack of host memory";
    Add(std::move(event));
    return true;
  }
  std::string name;
  const bool is_line = Finds(line.text, kKilledLine, &pid, &name, &kilobytes);
  if (is_line || Finds(line.text, kKilledInGroup, &device, &name, &pid)) {
    LogEvent event = EventAt(LogKind::kKilled, line, number);
    event.pid = ParseNumber<int64_t>(pid);
    event.text = fmt::format("the kernel killed process {} for lack of host memory", pid);
    Add(std::move(event));
    return true;
  }
  return false;
}

// Faults of the machine, and crashes of processes that the kernel reports.
bool LogScanner::TakeMachine(const LogLine& line, int64_t number) {
  std::string first;
  std::string second;
  std::string third;
  int64_t value = 0;
  const auto add = [&](MachineFault fault, std::string text) {
    LogEvent event = EventAt(LogKind::kMachine, line, number);
    event.fault = fault;
    event.text = std::move(text);
    Add(std::move(event));
    return true;
  };
  if (Finds(line.text, kSegfault, &first, &value, &second) ||
      Finds(line.text, kProtection, &first, &value, &second)) {
    if (IsNameOfJob(first)) {
      LogEvent event = EventAt(LogKind::kFatal, line, number);
      event.pid = value;
      event.text = fmt::format("the kernel reports a segmentation fault of process {}{}", value,
                               second.empty() ? "" : " in " + WithoutSecrets(second));
      Add(std::move(event));
    }
    return true;
  }
  if (Finds(line.text, kSwitchLine, &first, &second, &value, &third)) {
    const bool is_fatal = third == "Fatal";
    return add(is_fatal ? MachineFault::kSwitch : MachineFault::kSwitchMinor,
               fmt::format("SXid {} ({}) of {} at {}", value, LowerCase(third), first, second));
  }
  if (Finds(line.text, kGpuReset, &first)) {
    return add(MachineFault::kGpuReset,
               fmt::format("the driver resets the GPU at {}", WithoutSecrets(first)));
  }
  if (Finds(line.text, kGpuPage, &first)) {
    return add(MachineFault::kGpuFault,
               fmt::format("the GPU at {} had a page fault", WithoutSecrets(first)));
  }
  if (Finds(line.text, kMachineCheck)) {
    return add(MachineFault::kMachineCheck, "a machine check exception of a processor");
  }
  if (Finds(line.text, kPanic, &first)) {
    return add(MachineFault::kPanic, "kernel panic: " + WithoutSecrets(first));
  }
  return false;
}

}  // namespace borescope::internal
