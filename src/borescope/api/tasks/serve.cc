#include "borescope/serve.h"

#include <mutex>
#include <utility>

#include "borescope/api/access.h"
#include "borescope/api/tasks/convert_report.h"
#include "borescope/base/io/temporary_folder.h"
#include "borescope/serve/file_server.h"
#include "borescope/verbs/open/browser.h"
#include "borescope/verbs/open/open_trace.h"

namespace borescope {

static_assert(kPerfettoPort == internal::kPerfettoPort);

struct FileServer::State {
  explicit State(internal::Listener opened) : listener(std::move(opened)) {}

  internal::Listener listener;
  std::string html;  // of a page, to which `file` refers
  internal::ServedFile file;
  std::string address;
  bool is_reachable = true;
  std::mutex mutex;    // of `drafts`
  std::string drafts;  // the folder of a conversion that is running; empty: none

  void RemoveDrafts() {
    const std::scoped_lock lock(mutex);
    internal::TemporaryFolder::RemoveFolder(drafts);
  }
  void SetDrafts(std::string folder) {
    const std::scoped_lock lock(mutex);
    drafts = std::move(folder);
  }
};

FileServer::FileServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileServer::FileServer(FileServer&&) noexcept = default;
FileServer& FileServer::operator=(FileServer&&) noexcept = default;
FileServer::~FileServer() = default;

Result<FileServer> FileServer::Open(uint16_t port) {
  return Public(internal::Listener::Open(port), [](internal::Listener listener) {
    return FileServer(std::make_unique<State>(std::move(listener)));
  });
}

uint16_t FileServer::port() const { return state_->listener.port(); }

// The temporary folder goes as soon as the file in it is open: whatever ends the process then,
// nothing stays behind.
Result<OfferedTrace> FileServer::OfferTrace(std::span<const std::string> inputs,
                                            const ConvertOptions& options, TraceForm form) {
  const internal::Result<internal::TemporaryFolder> folder = internal::TemporaryFolder::Make();
  if (!folder.ok()) {
    return PublicError(folder.error());
  }
  state_->SetDrafts(folder->path());
  internal::Result<internal::ReadyTrace> ready =
      internal::PrepareTrace(InsideConvert(inputs, options), folder->path(),
                             form == TraceForm::kJson ? internal::TraceForm::kJson
                                                      : internal::TraceForm::kPerfetto);
  state_->RemoveDrafts();
  state_->SetDrafts("");
  if (!ready.ok()) {
    return PublicError(ready.error(), inputs);
  }
  state_->file = std::move(ready->file);
  state_->address = internal::PerfettoAddress(state_->file);
  state_->is_reachable = port() == kPerfettoPort;
  OfferedTrace offered{std::move(ready->why), {}};
  if (ready->converted.has_value()) {
    offered.converted = PublicReport(*ready->converted);
  }
  return offered;
}

Result<void> FileServer::OfferPage(std::string html, std::string_view name) {
  state_->html = std::move(html);
  internal::Result<internal::ServedFile> file = internal::PreparePage(state_->html, name);
  if (!file.ok()) {
    return PublicError(file.error());
  }
  state_->file = std::move(*file);
  state_->address = internal::PageAddress(state_->file, port());
  state_->is_reachable = true;
  return {};
}

const std::string& FileServer::address() const { return state_->address; }
bool FileServer::is_reachable() const { return state_->is_reachable; }

Result<ServeEnd> FileServer::Serve(std::chrono::milliseconds limit, const std::atomic<bool>& stop) {
  internal::ServeLimits limits;
  limits.whole = limit;
  return Public(internal::ServeFile(state_->listener, state_->file, limits, stop),
                [](internal::ServeEnd end) {
                  switch (end) {
                    case internal::ServeEnd::kFetched:
                      return ServeEnd::kFetched;
                    case internal::ServeEnd::kTimeLimit:
                      return ServeEnd::kTimeLimit;
                    case internal::ServeEnd::kStopped:
                      break;
                  }
                  return ServeEnd::kStopped;
                });
}

void FileServer::RemoveDrafts() { state_->RemoveDrafts(); }

bool OpenBrowser(const std::string& address) { return internal::OpenBrowser(address); }

}  // namespace borescope
