// Steps whose critical path is known because nothing that could be critical happens at once: the
// host loads data and asks for work that takes longer than the asking; the device does one thing
// after another; the host waits for the last of it, and is then alone. Whatever else runs, runs
// aside and is over early.
#include "tests/support/model/scenario_model.h"

namespace borescope::scenario {
namespace {

// Asking for all work of a step takes less.
constexpr int64_t kLongNs = 300'000;
constexpr int64_t kSmallBytes = 65'536;
constexpr int64_t kLargeBytes = 4'194'304;
constexpr int64_t kElements = 1'048'576;

}  // namespace

void RankModel::MarkPath(PathBound bound, PathMark::Of of, size_t index, bool is_end) {
  batch_->path.push_back({bound, of, static_cast<int32_t>(index), is_end});
}

// The newest work is on the path, with the time before it.
void RankModel::MarkLastWork(PathBound delay, PathBound work) {
  const size_t last = batch_->device.size() - 1;
  MarkPath(delay, PathMark::Of::kDevice, last, false);
  MarkPath(work, PathMark::Of::kDevice, last, true);
}

void RankModel::BeginKnownPath() {
  const size_t loading = batch_->host[0].size();
  LoadData();
  MarkPath(PathBound::kCpu, PathMark::Of::kMainThread, loading, false);
  MarkPath(PathBound::kDataLoad, PathMark::Of::kMainThread, loading, true);
  {
    Scope linear(r_, HostName::kLinear);
    recorder_.Idle(20'000 + recorder_.random().Below(80'000));
    recorder_.LaunchFor(kLongNs + recorder_.random().Below(200'000), Kernel::kGemmForward);
    MarkPath(PathBound::kCpu, PathMark::Of::kCalls, batch_->calls.size() - 1, false);
    MarkLastWork(PathBound::kLaunch, PathBound::kGpuCompute);
  }
  {
    Scope aside(r_, HostName::kCopy);
    recorder_.Copy(Kernel::kMemcpyHtoD, Stream::kCopy, kSmallBytes);
  }
  {
    Scope linear(r_, HostName::kLinear);
    recorder_.LaunchFor(kLongNs + recorder_.random().Below(200'000), Kernel::kGemmWide);
    MarkLastWork(PathBound::kKernelKernelDelay, PathBound::kGpuCompute);
  }
  if (config_.HasCollectives()) {
    AllReduce(kElements);
    MarkLastWork(PathBound::kKernelKernelDelay, PathBound::kGpuCommunication);
  }
}

void RankModel::EndKnownPath() {
  {
    Scope item(r_, HostName::kItem);
    recorder_.Copy(Kernel::kMemcpyDtoH, Stream::kCompute, kLargeBytes);
    MarkLastWork(PathBound::kKernelKernelDelay, PathBound::kGpuMemoryCopy);
    recorder_.SynchronizeStream(Stream::kCompute);
    MarkPath(PathBound::kCpu, PathMark::Of::kCalls, batch_->calls.size() - 1, true);
  }
  for (int i = 0; i < 3; ++i) {  // nobody waits for what these launch
    Scope alone(r_, HostName::kDiv);
    recorder_.Launch(Kernel::kDiv);
    recorder_.Idle(30'000 + recorder_.random().Below(40'000));
  }
  MarkPath(PathBound::kCpu, PathMark::Of::kMainThread, static_cast<size_t>(batch_->step_event),
           true);
}

}  // namespace borescope::scenario
