#include "borescope/serve.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/engine/access.h"
#include "borescope/output/sink/sink.h"
#include "borescope/serve/file_server.h"
#include "borescope/verbs/open/browser.h"
#include "borescope/verbs/open/input_watch.h"
#include "borescope/verbs/open/live_page.h"
#include "borescope/verbs/open/live_steps.h"
#include "borescope/verbs/open/open_trace.h"
#include "borescope/verbs/open/served_timeline.h"
#include "borescope/verbs/report/report.h"

namespace borescope {

struct TimelineSource {
  std::shared_ptr<const internal::ServedTimeline> timeline;
};

struct FileServer::State {
  explicit State(internal::Listener opened) : listener(std::move(opened)) {}

  internal::Listener listener;
  std::string html;  // of a page, to which `file` refers
  internal::ServedFile file;
  std::string address;
  bool is_reachable = true;
  std::unique_ptr<internal::LivePage> live;     // nullptr: the page stays as it is
  std::mutex mutex;                             // of `drafts` and `finer`
  std::shared_ptr<const TimelineSource> finer;  // nullptr: there is no finer detail
  std::string drafts;  // the folder of a conversion that is running; empty: none

  void RemoveDrafts() {
    const std::scoped_lock lock(mutex);
    internal::TemporaryFolder::RemoveFolder(drafts);
  }
  void SetDrafts(std::string folder) {
    const std::scoped_lock lock(mutex);
    drafts = std::move(folder);
  }
  void SetFiner(std::shared_ptr<const TimelineSource> source) {
    const std::scoped_lock lock(mutex);
    finer.swap(source);  // the last one is freed without the lock
  }
  // Answers for the page that was offered last, also while that is replaced.
  std::optional<internal::MadeAnswer> AnswerOfTimeline(std::string_view asked,
                                                       std::string_view query) {
    std::shared_ptr<const TimelineSource> source;
    {
      const std::scoped_lock lock(mutex);
      source = finer;
    }
    if (source == nullptr || asked != internal::kTimelineAddress) {
      return std::nullopt;
    }
    return source->timeline->Answer(query);
  }
};

FileServer::FileServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileServer::FileServer(FileServer&&) noexcept = default;
FileServer& FileServer::operator=(FileServer&&) noexcept = default;
FileServer::~FileServer() = default;

Result<FileServer> FileServer::Open(uint16_t port) {
  BS_ASSIGN(internal::Listener listener, internal::Listener::Open(port));
  return FileServer(std::make_unique<State>(std::move(listener)));
}

uint16_t FileServer::port() const { return state_->listener.port(); }

// The temporary folder goes as soon as the file in it is open: whatever ends the process then,
// nothing stays behind.
Result<OfferedTrace> FileServer::OfferTrace(const ConvertOptions& options, TraceForm form) {
  BS_ASSIGN(const internal::TemporaryFolder folder, internal::TemporaryFolder::Make());
  state_->SetDrafts(folder.path());
  Result<internal::ReadyTrace> made = internal::PrepareTrace(options, folder.path(), form);
  state_->RemoveDrafts();
  state_->SetDrafts("");
  BS_ASSIGN(internal::ReadyTrace ready, std::move(made));
  state_->file = std::move(ready.file);
  state_->live = nullptr;
  state_->SetFiner(nullptr);
  state_->address = internal::PerfettoAddress(state_->file);
  state_->is_reachable = port() == kPerfettoPort;
  return OfferedTrace{std::move(ready.why), std::move(ready.converted)};
}

Result<void> FileServer::OfferPage(std::string html, std::string_view name) {
  state_->html = std::move(html);
  BS_ASSIGN(state_->file, internal::PreparePage(state_->html, name));
  state_->live = nullptr;
  state_->SetFiner(nullptr);
  state_->address = internal::PageAddress(state_->file, port());
  state_->is_reachable = true;
  return {};
}

Result<void> FileServer::OfferReport(ServedReport report, std::string_view name) {
  BS_TRY(OfferPage(std::move(report.html), name));
  if (report.finer == nullptr) {
    return {};
  }
  state_->SetFiner(std::move(report.finer));
  state_->file.handler = [state = state_.get()](std::string_view asked, std::string_view query) {
    return state->AnswerOfTimeline(asked, query);
  };
  return {};
}

Result<void> FileServer::OfferLivePage(std::string_view name, std::string_view waiting) {
  BS_TRY(OfferPage("", name));
  state_->live = std::make_unique<internal::LivePage>(std::string(name), waiting);
  state_->file.handler = [state = state_.get()](std::string_view asked, std::string_view query) {
    std::optional<internal::MadeAnswer> answer = state->live->Answer(asked);
    return answer.has_value() ? std::move(answer) : state->AnswerOfTimeline(asked, query);
  };
  return {};
}

void FileServer::UpdatePage(std::string html, LiveNews news) {
  state_->live->SetPage(std::move(html), std::move(news));
}

// Finer detail first: a browser asks for it only once it has the page.
void FileServer::UpdateReport(ServedReport report, LiveNews news) {
  state_->SetFiner(std::move(report.finer));
  UpdatePage(std::move(report.html), std::move(news));
}

void FileServer::UpdateNews(LiveNews news) { state_->live->SetNews(std::move(news)); }
void FileServer::UpdateSteps(std::string json) { state_->live->SetSteps(std::move(json)); }

const std::string& FileServer::address() const { return state_->address; }
bool FileServer::is_reachable() const { return state_->is_reachable; }

Result<ServeEnd> FileServer::Serve(std::chrono::milliseconds limit, const std::atomic<bool>& stop) {
  internal::ServeLimits limits;
  limits.whole = limit;
  limits.stays = state_->file.handler != nullptr;
  return internal::ServeFile(state_->listener, state_->file, limits, stop);
}

Result<ServedReport> MakeServedReport(const Run& run, const Question& question,
                                      const Run* against) {
  internal::RunOptions options;
  BS_TRY(SetReportOptions(run, question, against, options));
  BS_ASSIGN(internal::Report report, internal::RunReport(options));
  ServedReport served;
  std::shared_ptr<const internal::ServedTimeline> finer;
  if (HasReportCharts()) {
    finer = internal::TimelineToServe(report, options);
  }
  if (finer != nullptr) {
    served.finer = std::make_shared<const TimelineSource>(std::move(finer));
    report.page.more_of_timeline = internal::kTimelineAddress;
  }
  internal::StringSink sink;
  BS_TRY(internal::WriteHtml(report.page, internal::ReportTemplate(), sink));
  served.html = sink.text();
  if (served.finer != nullptr) {
    served.html = internal::MakeServed(std::move(served.html));
  }
  served.files = std::move(report.files);
  return served;
}

struct InputWatch::State {
  State(std::vector<std::string> inputs, std::chrono::milliseconds quiet)
      : watch(std::move(inputs), quiet) {}

  internal::FileWatch watch;
  std::map<std::string, internal::FileLook> before;
};

InputWatch::InputWatch(std::vector<std::string> inputs, std::chrono::milliseconds quiet)
    : state_(std::make_unique<State>(std::move(inputs), quiet)) {}
InputWatch::InputWatch(InputWatch&&) noexcept = default;
InputWatch& InputWatch::operator=(InputWatch&&) noexcept = default;
InputWatch::~InputWatch() = default;

InputWatch::Settled InputWatch::Look() {
  internal::SettledFiles seen = state_->watch.Look(internal::FileWatch::Clock::now());
  Settled settled;
  settled.growing = seen.growing;
  settled.has_changed = seen.files != state_->before;
  settled.failure = std::move(seen.failure);
  for (const auto& [path, look] : seen.files) {
    settled.paths.push_back(path);
  }
  state_->before = std::move(seen.files);
  return settled;
}

struct StepFollower::State {
  explicit State(std::vector<std::string> inputs) : watch(std::move(inputs)) {}

  internal::StepWatch watch;
};

StepFollower::StepFollower(std::vector<std::string> inputs)
    : state_(std::make_unique<State>(std::move(inputs))) {}
StepFollower::StepFollower(StepFollower&&) noexcept = default;
StepFollower& StepFollower::operator=(StepFollower&&) noexcept = default;
StepFollower::~StepFollower() = default;

bool StepFollower::Look() { return state_->watch.Look(); }
std::string StepFollower::json() const { return internal::JsonOfSteps(state_->watch.ranks()); }

bool AreBeingWritten(const std::vector<std::string>& inputs) {
  if (internal::IsAnyRecording(inputs)) {
    return true;
  }
  InputWatch watch(inputs, std::chrono::seconds(1));
  const InputWatch::Settled settled = watch.Look();
  return settled.paths.empty() && settled.growing != 0;
}

void FileServer::RemoveDrafts() { state_->RemoveDrafts(); }

bool OpenBrowser(const std::string& address) { return internal::OpenBrowser(address); }

}  // namespace borescope
