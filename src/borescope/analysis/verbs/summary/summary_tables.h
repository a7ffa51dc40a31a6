// What `borescope summary` works with: the tables of the other analyses for all ranks, and the
// findings read from them. Every number of a finding is in one of these tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/saturating.h"
#include "borescope/table/display/column_hints.h"
#include "borescope/table/table.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Kernels shorter than this cost about as much to launch as to run.
inline constexpr int64_t kShortKernelNs = 10'000;

// A rank. What is carried only the verdict reads.
struct OverviewRow {
  int64_t rank = 0;
  std::string_view file = {};
  std::optional<std::string_view> devices = {};
  std::optional<int64_t> world_size = {};
  int64_t steps = 0;
  int64_t span_ns = 0;
  int64_t host_events = 0;
  int64_t device_events = 0;
  int64_t kernels = 0;
  int64_t kernel_time_ns = 0;
  int64_t short_kernels = 0;
  int64_t short_kernel_time_ns = 0;
  int64_t is_pytorch = 0;
  int64_t is_whole_process = 0;
  int64_t launched_work = 0;
  int64_t graph_work = 0;
  int64_t recording_begin_ns = 0;

  static constexpr TableNames kTable{"overview", "Overview"};
  static constexpr ColumnOf<OverviewRow> kColumns[] = {
      {"rank", &OverviewRow::rank, Role::kKey, kRankDoc},
      {"file", &OverviewRow::file, Role::kDerived, "File as named on the command line."},
      {"devices", &OverviewRow::devices, Role::kDerived,
       "Devices that worked; all visible ones if none did."},
      {"world_size", &OverviewRow::world_size, Role::kDerived, "Number of ranks of the job."},
      {"steps", &OverviewRow::steps, Unit::kCount, Role::kDerived,
       "Selected ProfilerStep windows."},
      {"span_ns", &OverviewRow::span_ns, Unit::kNanoseconds, Role::kDerived,
       "Selected time, of steps from completion to completion; all of it: from the first start to "
       "the last end of all events."},
      {"host_events", &OverviewRow::host_events, Unit::kCount, Role::kSum,
       "Complete events of the host that start in the selected time."},
      {"device_events", &OverviewRow::device_events, Unit::kCount, Role::kSum,
       "Kernels, memcpys and memsets launched in the selected time, whenever they ran."},
      {"kernels", &OverviewRow::kernels, Unit::kCount, Role::kSum,
       "Kernels launched in the selected time."},
      {"kernel_time_ns", &OverviewRow::kernel_time_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."},
      {"short_kernels", &OverviewRow::short_kernels, Unit::kCount, Role::kSum,
       "Kernels shorter than 10 us."},
      {"short_kernel_time_ns", &OverviewRow::short_kernel_time_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."},
      Carried<OverviewRow>(
          {"is_pytorch", &OverviewRow::is_pytorch, Role::kDerived, "Whether PyTorch ran."}),
      Carried<OverviewRow>({"is_whole_process", &OverviewRow::is_whole_process, Role::kDerived,
                            "Whether a process was recorded."}),
      Carried<OverviewRow>({"launched_work", &OverviewRow::launched_work, Unit::kCount, Role::kSum,
                            "Device work whose launch is known."}),
      Carried<OverviewRow>({"graph_work", &OverviewRow::graph_work, Unit::kCount, Role::kSum,
                            "Of that, what ran in graphs."}),
      Carried<OverviewRow>({"recording_begin_ns", &OverviewRow::recording_begin_ns,
                            Unit::kNanoseconds, Role::kDerived, "When the recording begins."})};
};

// How the steps of a rank differ; where several of its processes have steps, those of each.
struct StepSpreadRow {
  int64_t rank = 0;
  std::optional<int64_t> process = {};
  int64_t steps = 0;
  int64_t min_ns = 0;
  int64_t median_ns = 0;
  int64_t max_ns = 0;
  int64_t slowest_step = 0;
  int64_t above_median_ns = 0;

  static constexpr TableNames kTable{"step_spread", "Steps"};
  static constexpr ColumnOf<StepSpreadRow> kColumns[] = {
      {"rank", &StepSpreadRow::rank, Role::kKey, kRankDoc},
      {"process", &StepSpreadRow::process, Role::kKey,
       "The process whose steps they are; missing unless several of the rank have steps."},
      {"steps", &StepSpreadRow::steps, Unit::kCount, Role::kDerived, "Number of steps."},
      {"min_ns", &StepSpreadRow::min_ns, Unit::kNanoseconds, Role::kDerived,
       "Shortest step, from completion to completion as in `steps`."},
      {"median_ns", &StepSpreadRow::median_ns, Unit::kNanoseconds, Role::kDerived,
       "Median step; of an even number the mean of the two in the middle."},
      {"max_ns", &StepSpreadRow::max_ns, Unit::kNanoseconds, Role::kDerived, "Longest step."},
      {"slowest_step", &StepSpreadRow::slowest_step, Role::kDerived, "Number of the longest step."},
      {"above_median_ns", &StepSpreadRow::above_median_ns, Unit::kNanoseconds, Role::kDerived,
       "Time the steps longer than the median take beyond it."}};
};

// Where the longest stretch of work of a kind is.
struct WorkPlaceRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  std::string_view what = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  static constexpr TableNames kTable{"work_places", "Where work is longest"};
  static constexpr ColumnOf<WorkPlaceRow> kColumns[] = {
      {"rank", &WorkPlaceRow::rank, Role::kKey, kRankDoc},
      {"gpu", &WorkPlaceRow::gpu, Role::kKey, kGpuDoc},
      {"what", &WorkPlaceRow::what, Role::kKey, "exposed_comm or exposed_copy."},
      {"begin_ns", &WorkPlaceRow::begin_ns, Unit::kNanoseconds, Role::kKey, "When it begins."},
      {"end_ns", &WorkPlaceRow::end_ns, Unit::kNanoseconds, Role::kKey, "When it ends."}};
};

// The events of a sum on a device, and the largest of them.
struct FewEventsRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  std::string what = {};
  std::optional<std::string_view> name = {};
  int64_t events = 0;
  int64_t all_ns = 0;
  int64_t few = 0;
  int64_t few_ns = 0;
  int64_t largest_ns = 0;
  std::optional<std::string_view> largest = {};
  std::optional<int64_t> stream = {};
  std::optional<int64_t> step = {};
  int64_t is_first = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  static constexpr TableNames kTable{"few_events", "The largest events of sums"};
  static constexpr ColumnOf<FewEventsRow> kColumns[] = {
      {"rank", &FewEventsRow::rank, Role::kKey, kRankDoc},
      {"gpu", &FewEventsRow::gpu, Role::kKey, kGpuDoc},
      {"what", &FewEventsRow::what, Role::kKey,
       "exposed_comm, exposed_copy, kernel, or a cause of idling."},
      {"name", &FewEventsRow::name, Role::kKey, "Of a kernel."},
      {"events", &FewEventsRow::events, Unit::kCount, Role::kDerived, "Events of the sum."},
      {"all_ns", &FewEventsRow::all_ns, Unit::kNanoseconds, Role::kDerived, "The sum."},
      {"few", &FewEventsRow::few, Unit::kCount, Role::kDerived,
       "Of these one to three that make up most of it; 0: there are none."},
      {"few_ns", &FewEventsRow::few_ns, Unit::kNanoseconds, Role::kDerived, "What these make up."},
      {"largest_ns", &FewEventsRow::largest_ns, Unit::kNanoseconds, Role::kDerived,
       "The largest event."},
      {"largest", &FewEventsRow::largest, Role::kDerived, "Its name, if it has one."},
      {"stream", &FewEventsRow::stream, Role::kDerived, "Its stream."},
      {"step", &FewEventsRow::step, Role::kDerived, "Its step."},
      {"is_first", &FewEventsRow::is_first, Role::kDerived, "1: it is the first of the events."},
      {"begin_ns", &FewEventsRow::begin_ns, Unit::kNanoseconds, Role::kDerived, "When it begins."},
      {"end_ns", &FewEventsRow::end_ns, Unit::kNanoseconds, Role::kDerived, "When it ends."}};
};

// The copies of one size on a device.
struct RoundTripRow {
  int64_t rank = 0;
  int64_t bytes = 0;
  int64_t rounds = 0;
  int64_t copies = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"round_trips", "Copies to the device and back"};
  static constexpr ColumnOf<RoundTripRow> kColumns[] = {
      {"rank", &RoundTripRow::rank, Role::kKey, kRankDoc},
      {"bytes", &RoundTripRow::bytes, Unit::kBytes, Role::kKey, "Size of each copy."},
      {"rounds", &RoundTripRow::rounds, Unit::kCount, Role::kSum,
       "To the device, a kernel, and back."},
      {"copies", &RoundTripRow::copies, Unit::kCount, Role::kSum, "Copies of this size."},
      {"total_ns", &RoundTripRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."}};
};

// The calls of one kind and size that communicate (call_times.h).
struct CallTimeRow {
  int64_t rank = 0;
  std::string_view collective = {};
  std::string_view group = {};
  std::optional<int64_t> group_size = {};
  std::string_view kernel = {};
  std::optional<int64_t> bytes = {};
  int64_t is_point_to_point = 0;
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t fastest_ns = 0;
  int64_t slowest_ns = 0;

  static constexpr TableNames kTable{"call_times", "Calls that communicate, by size"};
  static constexpr ColumnOf<CallTimeRow> kColumns[] = {
      {"rank", &CallTimeRow::rank, Role::kKey, kRankDoc},
      {"collective", &CallTimeRow::collective, Role::kKey, "What was asked for."},
      {"group", &CallTimeRow::group, Role::kKey, "Name of the process group."},
      {"group_size", &CallTimeRow::group_size, Unit::kCount, Role::kKey, "Ranks of the group."},
      {"kernel", &CallTimeRow::kernel, Role::kKey, "Name of the first kernel."},
      {"bytes", &CallTimeRow::bytes, Unit::kBytes, Role::kKey, "Size of the message."},
      {"is_point_to_point", &CallTimeRow::is_point_to_point, Role::kDerived,
       "Whether it is a send or a receive."},
      {"calls", &CallTimeRow::calls, Unit::kCount, Role::kSum, "Calls with kernels."},
      {"total_ns", &CallTimeRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."},
      {"fastest_ns", &CallTimeRow::fastest_ns, Unit::kNanoseconds, Role::kDerived,
       "The shortest of them."},
      {"slowest_ns", &CallTimeRow::slowest_ns, Unit::kNanoseconds, Role::kDerived,
       "The longest of them."}};
};

// From when on the same kernels take longer on a device (measures/time/slower_kernels.h).
struct SlowerRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  int64_t from_ns = 0;
  int64_t end_ns = 0;
  double ratio = 0;
  int64_t launches = 0;
  int64_t compared_ns = 0;
  int64_t all_ns = 0;
  int64_t lost_ns = 0;

  static constexpr TableNames kTable{"slower", "Kernels that become slower"};
  static constexpr ColumnOf<SlowerRow> kColumns[] = {
      {"rank", &SlowerRow::rank, Role::kKey, kRankDoc},
      {"gpu", &SlowerRow::gpu, Role::kKey, kGpuDoc},
      {"from_ns", &SlowerRow::from_ns, Unit::kNanoseconds, Role::kDerived, "From when on."},
      {"end_ns", &SlowerRow::end_ns, Unit::kNanoseconds, Role::kDerived, "End of the last kernel."},
      {"ratio", &SlowerRow::ratio, Role::kDerived, "How many times as long."},
      {"launches", &SlowerRow::launches, Unit::kCount, Role::kSum, "That were compared."},
      {"compared_ns", &SlowerRow::compared_ns, Unit::kNanoseconds, Role::kSum, "Their time."},
      {"all_ns", &SlowerRow::all_ns, Unit::kNanoseconds, Role::kSum, "Of all that compute."},
      {"lost_ns", &SlowerRow::lost_ns, Unit::kNanoseconds, Role::kSum,
       "What they take longer than before."}};
};

// What the main thread of a rank without device work did (host_use.cc).
struct HostUseRow {
  int64_t rank = 0;
  int64_t span_ns = 0;
  int64_t data_ns = 0;
  int64_t operators_ns = 0;
  int64_t calls_ns = 0;
  int64_t others_ns = 0;
  int64_t nothing_ns = 0;

  static constexpr TableNames kTable{"host_use", "What the host did without device work"};
  static constexpr ColumnOf<HostUseRow> kColumns[] = {
      {"rank", &HostUseRow::rank, Role::kKey, kRankDoc},
      {"span_ns", &HostUseRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Selected time; the sum of the others."},
      {"data_ns", &HostUseRow::data_ns, Unit::kNanoseconds, Role::kSum,
       "The main thread was loading data, as in idle_causes.", InTone(Tone::kData)},
      {"operators_ns", &HostUseRow::operators_ns, Unit::kNanoseconds, Role::kSum,
       "Else it was in an operator.", InTone(Tone::kCompute)},
      {"calls_ns", &HostUseRow::calls_ns, Unit::kNanoseconds, Role::kSum,
       "Else in a call of CUDA, HIP, a library or the operating system.", InTone(Tone::kHost)},
      {"others_ns", &HostUseRow::others_ns, Unit::kNanoseconds, Role::kSum,
       "Else in a range or a frame of Python, with steps.", InTone(Tone::kFlameOther)},
      {"nothing_ns", &HostUseRow::nothing_ns, Unit::kNanoseconds, Role::kSum,
       "Nothing of it was recorded.", InTone(Tone::kUnknown)}};
};

// What time of a device says nothing about how it is used; a row for each of idle_causes.
struct LeftOutRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  int64_t before_first_launch_ns = 0;
  int64_t after_last_work_ns = 0;
  int64_t before_recording_ns = 0;
  int64_t hardly_used_ns = 0;

  int64_t all_ns() const {
    return AddSaturating(AddSaturating(before_first_launch_ns, after_last_work_ns),
                         AddSaturating(before_recording_ns, hardly_used_ns));
  }

  static constexpr TableNames kTable{
      "left_out", "Left out of shares, as it says nothing about the use of devices"};
  static constexpr ColumnOf<LeftOutRow> kColumns[] = {
      {"rank", &LeftOutRow::rank, Role::kKey, kRankDoc},
      {"gpu", &LeftOutRow::gpu, Role::kKey, kGpuDoc},
      {"before_first_launch_ns", &LeftOutRow::before_first_launch_ns, Unit::kNanoseconds,
       Role::kSum, "Until the first launch of a whole process, or of a clock that jumped.",
       InTone(Tone::kFaint)},
      {"after_last_work_ns", &LeftOutRow::after_last_work_ns, Unit::kNanoseconds, Role::kSum,
       "After the last work of a whole process, of a clock that jumped or a cut file.",
       InTone(Tone::kFaint)},
      {"before_recording_ns", &LeftOutRow::before_recording_ns, Unit::kNanoseconds, Role::kSum,
       "While work ran that was launched before the recording began.", InTone(Tone::kFaint)},
      {"hardly_used_ns", &LeftOutRow::hardly_used_ns, Unit::kNanoseconds, Role::kSum,
       "All idle time of a device that is hardly used, beside others of the rank (device_use).",
       InTone(Tone::kFaint)}};
};

// How a device of a rank with several is used (measures/idle/device_use.h). What is carried only
// the verdict reads.
struct DeviceUseRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> process = {};
  int64_t busy_ns = 0;
  int64_t any_busy_ns = 0;
  int64_t together_ns = 0;
  int64_t held_ns = 0;
  int64_t is_hardly_used = 0;
  int64_t span_ns = 0;
  int64_t works = 0;
  int64_t held_sync_ns = 0;
  int64_t held_host_ns = 0;
  int64_t held_device_ns = 0;
  int64_t held_unrecorded_ns = 0;  // without what is at the begin
  int64_t held_at_begin_ns = 0;
  int64_t held_tail_ns = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  static constexpr TableNames kTable{"device_use", "Devices that one process drives"};
  static constexpr ColumnOf<DeviceUseRow> kColumns[] = {
      {"rank", &DeviceUseRow::rank, Role::kKey, kRankDoc},
      {"gpu", &DeviceUseRow::gpu, Role::kKey, kGpuDoc},
      {"process", &DeviceUseRow::process, Role::kDerived,
       "The process that launched most of its work; missing if that is not known, or the device is "
       "hardly used."},
      {"busy_ns", &DeviceUseRow::busy_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which any kernel, memcpy or memset runs, as in the breakdown."},
      {"any_busy_ns", &DeviceUseRow::any_busy_ns, Unit::kNanoseconds, Role::kDerived,
       "Time in which one or more devices of the process work, without those that are hardly used; "
       "0 where it drives only one."},
      {"together_ns", &DeviceUseRow::together_ns, Unit::kNanoseconds, Role::kDerived,
       "Of this, in which two or more work."},
      {"held_ns", &DeviceUseRow::held_ns, Unit::kNanoseconds, Role::kSum,
       "Idle time because another device of the process works: launched work begins when work of "
       "the other ends, the host waits for the other, is in a launch call for it of 100 us or "
       "more, or has no more work for this one.",
       InTone(Tone::kComm)},
      {"is_hardly_used", &DeviceUseRow::is_hardly_used, Role::kDerived,
       "1: it works for less than a hundredth of the time that the busiest device of the rank "
       "does, and is left out of shares."},
      Carried<DeviceUseRow>({"span_ns", &DeviceUseRow::span_ns, Unit::kNanoseconds, Role::kSum,
                             "Selected time of the device."}),
      Carried<DeviceUseRow>(
          {"works", &DeviceUseRow::works, Unit::kCount, Role::kSum, "Its kernels and copies."}),
      Carried<DeviceUseRow>({"held_sync_ns", &DeviceUseRow::held_sync_ns, Unit::kNanoseconds,
                             Role::kSum, "Of held, by cause."}),
      Carried<DeviceUseRow>({"held_host_ns", &DeviceUseRow::held_host_ns, Unit::kNanoseconds,
                             Role::kSum, "Of held, by cause."}),
      Carried<DeviceUseRow>({"held_device_ns", &DeviceUseRow::held_device_ns, Unit::kNanoseconds,
                             Role::kSum, "Of held, by cause."}),
      Carried<DeviceUseRow>({"held_unrecorded_ns", &DeviceUseRow::held_unrecorded_ns,
                             Unit::kNanoseconds, Role::kSum, "Of held, by cause."}),
      Carried<DeviceUseRow>({"held_at_begin_ns", &DeviceUseRow::held_at_begin_ns,
                             Unit::kNanoseconds, Role::kSum, "Of held, by cause."}),
      Carried<DeviceUseRow>({"held_tail_ns", &DeviceUseRow::held_tail_ns, Unit::kNanoseconds,
                             Role::kSum, "Of held, by cause."}),
      Carried<DeviceUseRow>({"begin_ns", &DeviceUseRow::begin_ns, Unit::kNanoseconds,
                             Role::kDerived, "When the longest of held begins."}),
      Carried<DeviceUseRow>({"end_ns", &DeviceUseRow::end_ns, Unit::kNanoseconds, Role::kDerived,
                             "When that ends; 0 of neither."})};
};

// A change that the help of a finding advises.
struct PriceRow {
  int64_t rank = 0;
  std::string_view change = {};
  std::optional<std::string> kernel = {};
  std::optional<int64_t> step_ns = {};
  std::optional<int64_t> new_ns = {};
  std::optional<int64_t> low_ns = {};
  std::optional<int64_t> high_ns = {};
  std::optional<double> saved_share = {};
  std::string_view verdict = {};
  std::optional<std::string> note = {};
  int64_t is_of_collectives = 0;
  std::optional<int64_t> without_comm_ns = {};

  static constexpr TableNames kTable{"prices", "What the advice would bring, by replay"};
  static constexpr ColumnOf<PriceRow> kColumns[] = {
      {"rank", &PriceRow::rank, Role::kKey, kRankDoc},
      {"change", &PriceRow::change, Role::kKey, "What is changed, in words of the findings."},
      {"kernel", &PriceRow::kernel, Role::kKey,
       "The kernel that is changed; missing where others are."},
      {"step_ns", &PriceRow::step_ns, Unit::kNanoseconds, Role::kDerived,
       "A step as measured, on average; without steps, the recording."},
      {"new_ns", &PriceRow::new_ns, Unit::kNanoseconds, Role::kDerived,
       "The same with the change; missing where the replay does not represent the recording, "
       "of collectives that wait for other ranks, and of products on tensor cores, of which only "
       "bounds are known."},
      {"low_ns", &PriceRow::low_ns, Unit::kNanoseconds, Role::kDerived,
       "The interval of new_ns, as in whatif. Of products on tensor cores it ends with the step as "
       "it is, and begins where all of them are as fast as the device: none of it is likelier."},
      {"high_ns", &PriceRow::high_ns, Unit::kNanoseconds, Role::kDerived, "Its upper end."},
      {"saved_share", &PriceRow::saved_share, Unit::kShare, Role::kDerived, "(step - new) / step."},
      {"verdict", &PriceRow::verdict, Role::kDerived,
       "Of the replay: good, rough, untested or refused, as in whatif."},
      {"note", &PriceRow::note, Role::kDerived, "What limits the answer; missing for nothing."},
      Carried<PriceRow>({"is_of_collectives", &PriceRow::is_of_collectives, Role::kDerived,
                         "Whether collectives are changed."}),
      Carried<PriceRow>({"without_comm_ns", &PriceRow::without_comm_ns, Unit::kNanoseconds,
                         Role::kDerived, "new_ns if communication took no time."})};
};

// What is read of `steps`.
struct StepRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> step = {};
  std::optional<int64_t> process = {};  // where several have steps
  std::string_view name = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t span_ns = 0;
  std::optional<int64_t> length_ns = {};
  int64_t kernels = 0;
  int64_t copies = 0;

  static constexpr ColumnOf<StepRow> kColumns[] = {
      {"rank", &StepRow::rank},         {"gpu", &StepRow::gpu},
      {"step", &StepRow::step},         {"name", &StepRow::name},
      {"begin_ns", &StepRow::begin_ns}, {"end_ns", &StepRow::end_ns},
      {"span_ns", &StepRow::span_ns},   {"length_ns", &StepRow::length_ns},
      {"kernels", &StepRow::kernels},   {"copies", &StepRow::copies},
      {"process", &StepRow::process}};
};

// When the idle time of a cause was longest on a device (measures/idle).
struct IdlePlaceRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  std::string_view cause = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  static constexpr ColumnOf<IdlePlaceRow> kColumns[] = {{"rank", &IdlePlaceRow::rank},
                                                        {"gpu", &IdlePlaceRow::gpu},
                                                        {"cause", &IdlePlaceRow::cause},
                                                        {"begin_ns", &IdlePlaceRow::begin_ns},
                                                        {"end_ns", &IdlePlaceRow::end_ns}};
};

// What is read of `longest_waits`: the longest wait for each rank.
struct LongestWaitRow {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t few = 0;
  int64_t few_ns = 0;
  int64_t collectives = 0;

  static constexpr ColumnOf<LongestWaitRow> kColumns[] = {
      {"rank", &LongestWaitRow::rank},
      {"step", &LongestWaitRow::step},
      {"begin_ns", &LongestWaitRow::begin_ns},
      {"end_ns", &LongestWaitRow::end_ns},
      {"few", &LongestWaitRow::few},
      {"few_ns", &LongestWaitRow::few_ns},
      {"collectives", &LongestWaitRow::collectives}};
};

// What is read of `stragglers`: the ranks by the waiting they cause.
struct StragglerRow {
  int64_t rank = 0;
  double score = 0;
  int64_t waited_ns = 0;
  int64_t caused_wait_ns = 0;
  int64_t waiting_ranks = 0;
  std::string_view evidence = {};

  static constexpr ColumnOf<StragglerRow> kColumns[] = {
      {"rank", &StragglerRow::rank},
      {"score", &StragglerRow::score},
      {"waited_ns", &StragglerRow::waited_ns},
      {"caused_wait_ns", &StragglerRow::caused_wait_ns},
      {"waiting_ranks", &StragglerRow::waiting_ranks},
      {"evidence", &StragglerRow::evidence}};
};

// What is read of the checks of `doctor`.
struct QualityRow {
  std::string_view check = {};
  std::optional<int64_t> rank = {};
  std::string_view severity = {};
  int64_t count = 0;
  double share = 0;
  std::string_view help = {};

  static constexpr ColumnOf<QualityRow> kColumns[] = {
      {"check", &QualityRow::check},       {"rank", &QualityRow::rank},
      {"severity", &QualityRow::severity}, {"count", &QualityRow::count},
      {"share", &QualityRow::share},       {"help", &QualityRow::help}};
};

// What is read of `inference_phases`.
struct InferencePhaseRow {
  int64_t rank = 0;
  std::string_view phase = {};
  std::optional<std::string_view> known_by = {};
  int64_t steps = 0;
  std::optional<double> requests = {};
  std::optional<double> token_ns = {};
  std::optional<double> tokens_per_second = {};
  std::optional<double> busy = {};

  static constexpr ColumnOf<InferencePhaseRow> kColumns[] = {
      {"rank", &InferencePhaseRow::rank},
      {"phase", &InferencePhaseRow::phase},
      {"known_by", &InferencePhaseRow::known_by},
      {"steps", &InferencePhaseRow::steps},
      {"requests", &InferencePhaseRow::requests},
      {"token_ns", &InferencePhaseRow::token_ns},
      {"tokens_per_second", &InferencePhaseRow::tokens_per_second},
      {"busy", &InferencePhaseRow::busy}};
};

// What counter_ops (verbs/counters/counter_tables.h) has about an operator.
struct CountedOpRow {
  int64_t rank = 0;
  std::string_view op = {};
  int64_t total_ns = 0;
  std::optional<double> flops_ratio = {};
  std::optional<double> read_ratio = {};
  std::optional<std::string_view> flops_verdict = {};
  std::optional<std::string_view> bytes_verdict = {};

  static constexpr TableNames kTable{"counter_ops", ""};
  static constexpr ColumnOf<CountedOpRow> kColumns[] = {
      {"rank", &CountedOpRow::rank},
      {"op", &CountedOpRow::op},
      {"total_ns", &CountedOpRow::total_ns},
      {"flops_ratio", &CountedOpRow::flops_ratio},
      {"read_ratio", &CountedOpRow::read_ratio},
      {"flops_verdict", &CountedOpRow::flops_verdict},
      {"bytes_verdict", &CountedOpRow::bytes_verdict}};
};

struct SummaryTables {
  std::vector<OverviewRow> overview = {};
  Table breakdown = {};
  Table spread = {};  // of the breakdown over the ranks; empty for one rank
  std::vector<StragglerRow> stragglers =
      {};  // empty where no collective of several ranks was found
  Table idle_causes = {};
  Table kernels = {};  // all kernels by time
  Table copies = {};   // memcpys and memsets by time
  Table ops = {};      // all operators by device time
  Table memory_bound = {};
  std::vector<CountedOpRow> counted_ops = {};  // empty without reports of counters
  std::vector<StepRow> steps = {};
  std::vector<StepSpreadRow> step_spread = {};
  std::vector<QualityRow> quality = {};  // of whole recordings, whatever was selected
  Table named_causes = {};               // see named_causes.h
  Table true_time = {};                  // of ranks where recording costs time (measures/true_time)
  Table cost_of_gaps = {};               // see CostOfGapsTable (measures/true_time)
  std::vector<PriceRow> prices = {};     // of --price, else empty
  std::vector<IdlePlaceRow> idle_places = {};
  std::vector<WorkPlaceRow> work_places = {};
  std::vector<FewEventsRow> few_events = {};
  std::vector<RoundTripRow> round_trips = {};
  std::vector<CallTimeRow> call_times = {};
  std::vector<SlowerRow> slower = {};
  std::vector<HostUseRow> host_use = {};  // of ranks without device work
  std::vector<InferencePhaseRow> phases =
      {};  // inference_phases; empty where no inference was found
  std::vector<LongestWaitRow> longest_waits = {};  // empty without stragglers
  std::vector<RunFault> run_faults = {};
  bool selects = false;     // a part was asked for
  bool is_pytorch = false;  // PyTorch ran on some rank; else its options are no advice
  // Ranks whose whole processes were recorded, ascending: see IsOfWholeProcess.
  std::vector<int64_t> process_ranks = {};
  std::vector<LeftOutRow> left_out = {};      // see evidence.h; a row for each of idle_causes
  std::vector<DeviceUseRow> device_use = {};  // of ranks with several devices
  std::vector<LeftOutRow> hardly_used = {};   // of devices that are, which idle_causes is without
};

// How much of the time devices work at the speed of their memory, as a share of the observed span.
// Missing where too little of the kernel time is modelled (covered_time.h), or it is hardly any.
std::optional<double> MemoryBoundShare(const SummaryTables& tables);

// Table verdict: finding, severity, evidence, value, unit, help, and where its strongest evidence
// is seen (evidence.h); most important first.
Table Verdict(const SummaryTables& tables);

// kMissing for a cell that is. REQUIRES: the column exists and holds integers.
inline int64_t CellOrMissing(const Table& table, std::string_view column, size_t row) {
  return table.Find(column)->IsMissing(row) ? kMissing : Ints(table, column)[row];
}

}  // namespace borescope::internal
