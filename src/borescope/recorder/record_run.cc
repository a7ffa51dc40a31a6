#include "borescope/recorder/record_run.h"

#include <filesystem>
#include <set>
#include <utility>

#include "borescope/recorder/control_page.h"
#include "borescope/recorder/recorder_library.h"
#include "borescope/recorder/run_folder.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {
namespace {

// For the library, which knows these names.
std::string LibraryOptions(const RecordRunOptions& options) {
  std::string text;
  const auto add = [&](bool is_set, const std::string& option) {
    if (is_set) text += (text.empty() ? "" : ";") + option;
  };
  add(!options.with_nvtx, "no-nvtx");
  add(!options.with_roctx, "no-roctx");
  add(!options.with_cuda, "no-cuda");
  add(!options.with_children, "children=none");
  add(options.with_memory, "memory");
  add(options.with_sync, "sync");
  add(options.with_graph_nodes, "graphs=node");
  add(options.flush.count() != 0,
      "flush-ms=" +
          std::to_string(
              std::chrono::duration_cast<std::chrono::milliseconds>(options.flush).count()));
  add(options.max_bytes != 0, "max-bytes=" + std::to_string(options.max_bytes));
  return text;
}

// An empty run is nothing to keep.
void RemoveEmptyRun(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(folder) / recording::kControlName, ignored);
  std::filesystem::remove(folder, ignored);
}

Result<Environment> EnvironmentFor(const std::string& library, const std::string& folder,
                                   const RecordRunOptions& options) {
  std::error_code ignored;
  Environment environment = OwnEnvironment();
  BS_TRY(AddInjection({.library = library,
                       .folder = std::filesystem::absolute(folder, ignored).string(),
                       .options = LibraryOptions(options),
                       .with_nvtx = options.with_nvtx,
                       .with_cuda = options.with_cuda,
                       .replaces_others = options.replaces_others},
                      environment));
  return environment;
}

}  // namespace

Result<RecordRun> RecordRun::Start(const std::vector<std::string>& words,
                                   const RecordRunOptions& options) {
  BS_ASSIGN(RunTarget target, TargetOfRun(options.output));
  BS_ASSIGN(const std::string library, FindRecorderLibrary());
  BS_ASSIGN(const Environment environment, EnvironmentFor(library, target.folder, options));
  BS_TRY(MakeRunFolder(target.folder, options.replaces_folder));
  const Result<ControlPage> page = ControlPage::Make(target.folder, !options.starts_paused);
  const Result<pid_t> program =
      page.ok() ? StartProgram(words, environment) : Result<pid_t>(page.error());
  if (!program.ok()) {
    RemoveEmptyRun(target.folder);
    return program.error();
  }
  return RecordRun(std::move(target), *program, options);
}

RecordRun::RecordRun(RunTarget target, pid_t program, const RecordRunOptions& options)
    : target_(std::move(target)), program_(program), begin_(Clock::now()) {
  if (options.sample.count() > 0) {
    sampling_ = std::make_unique<Sampling>(target_.folder, program_, options.sample);
  }
}

Result<RecordRun::Report> RecordRun::Wait() {
  Report report{.target = target_, .end = WaitForProgram(program_)};
  report.duration = Clock::now() - begin_;
  sampling_.reset();
  BS_ASSIGN(const std::vector<LogFile> logs, ListLogs(target_.folder));
  SealEnded(target_.folder, logs);
  // A process that executes other programs has a log for each.
  std::set<std::pair<uint32_t, uint64_t>> processes;
  for (const LogFile& log : logs) {
    report.bytes += log.bytes;
    report.has_launchers_log |= log.is_launchers();
    if (log.is_launchers()) continue;
    processes.emplace(log.header.pid, log.header.start_time);
    report.running += log.is_alive ? 1 : 0;
  }
  report.processes = processes.size();
  return report;
}

}  // namespace borescope::internal
