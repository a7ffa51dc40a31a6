#include "borescope/postmortem/ending_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "borescope/base/text/text.h"
#include "borescope/output/units/units.h"
#include "borescope/postmortem/logs/xid_catalog.h"
#include "borescope/postmortem/memory/oom.h"

namespace borescope::internal {
namespace {

// The middle of a range.
std::string Amount(const std::optional<postmortem::ByteRange>& range) {
  return range.has_value() ? FormatBytes(range->low + (range->high - range->low) / 2)
                           : "an amount that is not known";
}

struct TextHelp {
  std::string_view part;
  std::string_view help;
};

constexpr std::string_view kMemoryHelp =
    "Fewer workers of data loaders, less prefetching and pinned memory, or checkpoints written one "
    "rank at a time; else ask the scheduler for more memory.";

constexpr std::string_view kArchitectureHelp =
    "The library has no code for this architecture of GPU: install one that was built for it "
    "(`torch.cuda.get_arch_list()` and `torch.cuda.get_device_capability()` show both), or build "
    "the extension for it.";

// By parts of the text or of its cause; the first that is there counts.
constexpr TextHelp kByText[] = {
    {"out of shared memory",
     "Workers of data loaders hand batches over in /dev/shm, which is full: give the container "
     "more (`--shm-size`, `--ipc=host`, or an emptyDir of medium Memory at /dev/shm), or use fewer "
     "workers."},
    {"shared memory limit",
     "/dev/shm is full: give the container more (`--shm-size`, `--ipc=host`, or an emptyDir of "
     "medium Memory at /dev/shm), or use fewer workers of data loaders."},
    {"No space left on device",
     "A disk is full (`df -h` and `df -i` of where it writes, and of /dev/shm and /tmp): remove "
     "old checkpoints, or write elsewhere."},
    {"Disk quota exceeded",
     "The quota of the disk is used up: remove old checkpoints, or write elsewhere."},
    {". unexpected pos ",
     "A checkpoint could not be written, most often because the disk or a quota is full: look at "
     "`df -h` of where it goes."},
    {"EADDRINUSE",
     "Another process listens on this port, perhaps one left from the last attempt: end it, or "
     "choose another port (`--master-port`, or `--rdzv-endpoint` with port 0)."},
    {"ddress already in use",
     "Another process listens on this port, perhaps one left from the last attempt: end it, or "
     "choose another port (`--master-port`, or `--rdzv-endpoint` with port 0)."},
    {"Duplicate GPU detected",
     "Two ranks use one GPU: torch.cuda.set_device(local_rank) before the first collective, and as "
     "many processes for each node as it has GPUs (`nvidia-smi -L`, CUDA_VISIBLE_DEVICES)."},
    {"device-side assert",
     "A kernel found a value out of its range, most often an index: print the smallest and the "
     "largest one before this line; CUDA_LAUNCH_BLOCKING=1 shows the right line."},
    {"undefined symbol",
     "A compiled extension was built for another version of PyTorch, CUDA or Python: install the "
     "one for this version, or build it here again."},
    {"out of resource: shared memory",
     "A Triton kernel needs more shared memory than this GPU has: smaller block sizes or "
     "`num_stages`, a version of the library that knows this GPU, or another implementation."},
    {"driver on your system is too old",
     "The driver is older than this CUDA needs (`nvidia-smi` shows its version): update it, or "
     "install a PyTorch for an older CUDA."},
    {"driver version is insufficient",
     "The driver is older than this CUDA needs (`nvidia-smi` shows its version): update it, or "
     "install a PyTorch for an older CUDA."},
    {"no kernel image is available", kArchitectureHelp},
    {"invalid device function", kArchitectureHelp},
    {"ibv_",
     "The network device of that host could not reach the other one: look at the link and its "
     "errors (`ibstat`, `show_gids`, `rdma link`), and test it (ib_write_bw, nccl-tests) between "
     "the hosts of these ranks."},
    {"No available memory for the cache blocks",
     "The weights leave no room for the cache: raise `gpu_memory_utilization`, or spread the model "
     "over more GPUs, or use fewer bits for weights; end what else uses this GPU."},
    {"mem-fraction-static",
     "The weights and this share leave no room: change --mem-fraction-static as the text says, or "
     "spread the model over more GPUs."},
    {"HIP error",
     "HIP reports errors late: AMD_SERIALIZE_KERNEL=3 shows the line of the kernel, "
     "AMD_LOG_LEVEL=3 its name."},
    {"KeyboardInterrupt",
     "Somebody or something interrupted it (SIGINT): it did not fail by itself."},
    {"Too many open files",
     "Raise the limit (`ulimit -n`), or "
     "torch.multiprocessing.set_sharing_strategy('file_system')."},
    {"std::bad_alloc", kMemoryHelp},
    {"DefaultCPUAllocator", kMemoryHelp},
    {"MemoryError", kMemoryHelp},
    {"Cannot allocate memory", kMemoryHelp},
    {"glibc found damaged memory",
     "Native code wrote where it should not: an extension or a library, long before this, perhaps. "
     "Leave out extensions one by one, or build the suspect with -fsanitize=address."},
    {"Memory access fault by GPU",
     "A kernel accessed memory that is not there: AMD_SERIALIZE_KERNEL=3 with "
     "AMD_LOG_LEVEL=3 shows which one."},
};

// CUDA's and NCCL's words for faults of the hardware.
constexpr std::string_view kHardware[] = {
    "uncorrectable ECC error",      "uncorrectable NVLink error", "GPU is lost",
    "unspecified hardware failure", "hardware stack error",       "has fallen off the bus"};

}  // namespace

EndingTexts TextsOf(Ending ending) {
  switch (ending) {
    case Ending::kOutOfMemory:
      return {
          "Out of memory on the device",
          "A smaller batch or shorter sequences, checkpointing of activations, or states spread "
          "over more ranks; torch.cuda.memory._record_memory_history() and a snapshot in an "
          "observer of out of memory show what fills the device."};
    case Ending::kHostMemory:
      return {"Ranks were killed for lack of host memory",
              "Fewer workers of data loaders, less prefetching and pinned memory, or checkpoints "
              "written one rank at a time; else ask the scheduler for more memory."};
    case Ending::kException:
      return {"Ranks ended with an exception",
              "Start at this line, with what these ranks alone had: their data, their part of the "
              "model, their node."};
    case Ending::kNotStarted:
      return {"The program did not start",
              "Look at the command, at the folder that it runs in, and at the environment that the "
              "script activates before it (modules, conda, PATH)."};
    case Ending::kSignal:
      return {"Ranks were ended by a signal",
              "Look at the kernel log of their host at that time; PYTHONFAULTHANDLER=1 shows the "
              "line of a crash in native code."};
    case Ending::kExit:
      break;
  }
  return {"Ranks ended with an exit code",
          "The code does not say why: read the log of these ranks, and put @record of "
          "torch.distributed.elastic.multiprocessing.errors on the main function, which keeps the "
          "exception."};
}

bool IsHardwareText(std::string_view text) {
  return std::any_of(std::begin(kHardware), std::end(kHardware),
                     [&](std::string_view part) { return Contains(text, part); });
}

MachineTexts TextsOf(MachineFault fault) {
  switch (fault) {
    case MachineFault::kSwitch:
      return {"The kernel reports errors of an NVSwitch",
              "Look the number up in NVIDIA's guide of the Fabric Manager (SXid errors); drain the "
              "node, and reset its GPUs and switches or reboot.",
              true};
    case MachineFault::kSwitchMinor:
      return {"The kernel reports errors of an NVSwitch",
              "The switch calls it non-fatal: look the number up in NVIDIA's guide of the Fabric "
              "Manager (SXid errors), and watch whether it becomes frequent."};
    case MachineFault::kGpuReset:
      return {"The kernel reports that a GPU was reset",
              "All work on that GPU was lost. The lines of amdgpu before it say why (a ring that "
              "timed out, a page fault); if it comes back, update driver and firmware, or drain "
              "the node.",
              true};
    case MachineFault::kGpuFault:
      return {"The kernel reports errors of a GPU",
              "A kernel accessed memory that is not there, most likely by a fault of the program: "
              "AMD_SERIALIZE_KERNEL=3 with AMD_LOG_LEVEL=3 shows which one.",
              true};
    case MachineFault::kMachineCheck:
    case MachineFault::kPanic:
      break;
  }
  return {"The machine itself failed",
          "Drain the node, and read its hardware log (`ipmitool sel list`, `rasdaemon`): a "
          "processor, its memory or a device is at fault, or a driver.",
          true};
}

bool IsOwnLimit(const JobEvent& event) {
  if (!event.out_of_memory.has_value()) {
    return false;
  }
  const postmortem::OomMessage& said = *event.out_of_memory;
  return said.allowed.has_value() && said.requested.has_value() && said.device_free.has_value() &&
         said.device_free->low >= said.requested->high;
}

std::string AmountsOf(const postmortem::OomMessage& said) {
  std::string text = fmt::format("{} requested", Amount(said.requested));
  if (said.device_free.has_value() && said.total.has_value()) {
    text +=
        fmt::format("; {} of {} free on the device", Amount(said.device_free), Amount(said.total));
  }
  if (said.allowed.has_value()) {
    text += fmt::format("; {} allowed to the process", Amount(said.allowed));
  }
  if (said.allocated.has_value()) {
    text += fmt::format("; {} allocated", Amount(said.allocated));
  }
  if (said.private_pools.has_value()) {
    text += fmt::format("; {} of that in private pools of CUDA graphs", Amount(said.private_pools));
  }
  if (said.unallocated.has_value()) {
    text += fmt::format("; {} reserved and free", Amount(said.unallocated));
  }
  if (const uint64_t others = said.other_processes_bytes; others > 0) {
    text += fmt::format("; {} of other processes", Amount(postmortem::ByteRange{others, others}));
  }
  return text;
}

std::string HelpOf(const Death& death) {
  const JobEvent& event = *death.event;
  const EndingTexts texts = TextsOf(death.ending);
  if (IsHardwareText(event.text) || IsHardwareText(event.cause)) {
    return std::string(XidHelp(XidClass::kHardware));
  }
  if (death.ending == Ending::kException || death.ending == Ending::kSignal) {
    for (const TextHelp& special : kByText) {
      if (Contains(event.cause, special.part) || Contains(event.text, special.part)) {
        return std::string(special.help);
      }
    }
  }
  if (event.text.ends_with("got signal: 1")) {
    return "SIGHUP: the terminal or the connection that started it ended. Start it with `nohup`, "
           "in `tmux`, or by the scheduler.";
  }
  if (death.ending == Ending::kException && Contains(event.text, "CUDA error")) {
    return "CUDA reports errors late: CUDA_LAUNCH_BLOCKING=1 shows the line of the kernel, "
           "compute-sanitizer the access.";
  }
  if (event.out_of_memory.has_value() && event.out_of_memory->requested.has_value()) {
    const postmortem::OomMessage& said = *event.out_of_memory;
    const uint64_t requested = said.requested->high;
    const auto least = [](const std::optional<postmortem::ByteRange>& range) {
      return range.has_value() ? range->low : 0;
    };
    if (IsOwnLimit(event)) {
      return "The process's own limit forbade it: raise "
             "torch.cuda.set_per_process_memory_fraction.";
    }
    if (least(said.private_pools) * 2 > least(said.allocated)) {
      return "Most of it is in the private pools of CUDA graphs: capture fewer graphs or fewer "
             "sizes, let them share one pool (torch.cuda.graph_pool_handle), or do without.";
    }
    if (least(said.unallocated) >= requested) {
      return "Enough is reserved and free, but in pieces: try "
             "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
    }
    // A small part of the device is no help for long.
    constexpr uint64_t kPart = 20;
    if (said.other_processes_bytes >= requested &&
        said.other_processes_bytes >= least(said.total) / kPart) {
      return "Other processes hold enough of this device: look at `nvidia-smi`, and give the "
             "job devices of its own.";
    }
  }
  return std::string(texts.help);
}

std::string HelpForAll(const Death& death) {
  std::string help = HelpOf(death);
  if (help == TextsOf(Ending::kException).help) {
    return "Start at this line, with what all ranks have in common: the program, its settings, the "
           "state that they share (the model, what a collective returned), or the step.";
  }
  return help;
}

}  // namespace borescope::internal
