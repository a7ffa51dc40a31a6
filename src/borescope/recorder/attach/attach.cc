#include "borescope/recorder/attach/attach.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "borescope/base/io/paths.h"
#include "borescope/recorder/attach/profiler_messages.h"
#include "borescope/recorder/attach/profiler_socket.h"
#include "borescope/recorder/process_facts.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTurn{100};
// Clients ask every five seconds: all have asked twice, or once more after the first that did.
constexpr seconds kMostWait{12};
constexpr seconds kWaitForOthers{6};
// To collect, to write and to compress what was profiled.
constexpr seconds kMostWriting{120};
// Of steps that are never made.
constexpr seconds kMostSteps{600};

Result<std::string> FirstFreeName() {
  std::string name = "attached";
  for (int i = 2;; ++i) {
    BS_ASSIGN(const FileKind kind, KindOf(name));
    if (kind == FileKind::kNothing) return name;
    name = "attached-" + std::to_string(i);
  }
}

// What a process is to do, in the words of its own configuration.
std::string ConfigurationFor(const AttachRequest& request, const std::string& file) {
  std::string text = "ACTIVITIES_LOG_FILE=" + file + "\nPROFILE_REPORT_INPUT_SHAPES=true\n";
  if (request.iterations != 0) {
    text += "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=1\nACTIVITIES_ITERATIONS=" +
            std::to_string(request.iterations) + "\n";
  } else {
    text += "PROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS=" +
            std::to_string(request.duration.count()) + "\n";
  }
  return text;
}

// Whether a file is JSON from its beginning to its end, by those alone.
bool LooksWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::streamoff>(file.tellg());
  if (!file || size <= 0) return false;
  constexpr std::streamoff kTail = 64;
  std::string tail(static_cast<size_t>(std::min(size, kTail)), '\0');
  file.seekg(size - static_cast<std::streamoff>(tail.size()));
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  if (!file) return false;
  const size_t last = tail.find_last_not_of(" \n\r\t");
  return last != std::string::npos && tail[last] == '}';
}

class Attaching {
 public:
  Attaching(const AttachRequest& request, std::string folder, ProfilerSocket socket)
      : request_(request), folder_(std::move(folder)), socket_(std::move(socket)) {}

  AttachOutcome Run() {
    const auto begin = Clock::now();
    while (MayAsk(begin)) Serve(true);
    const auto asked = Clock::now();
    while (!AreDone(asked)) Serve(false);
    return Outcome();
  }

 private:
  struct Asked {
    std::string file;
    uint64_t start_time = 0;
    uintmax_t bytes = 0;  // when it was last looked at
    bool is_done = false;
  };

  bool MayAsk(Clock::time_point begin) const {
    const bool has_all = std::all_of(request_.pids.begin(), request_.pids.end(),
                                     [&](int32_t pid) { return asked_.contains(pid); });
    const auto now = Clock::now();
    return !has_all && now - begin < kMostWait &&
           (!first_.has_value() || now - *first_ < kWaitForOthers);
  }

  // Answers one message, if one comes: all that ask have an answer, at any time.
  void Serve(bool may_ask) {
    const std::optional<ProfilerSocket::Datagram> datagram = socket_.Receive(kTurn);
    if (!datagram.has_value()) return;
    const std::optional<ProfilerMessage> message = ParseProfilerMessage(datagram->bytes);
    if (!message.has_value()) return;
    if (message->kind == ProfilerMessage::Kind::kContext) {
      socket_.Answer(*datagram, MakeContextAnswer());
      return;
    }
    const std::string text = may_ask && IsWanted(*message) ? Ask(message->pids.front()) : "";
    socket_.Answer(*datagram, MakeProfilerAnswer(ProfilerMessage::Kind::kRequest, text));
  }

  bool IsWanted(const ProfilerMessage& message) {
    if ((message.type & kAsksForActivities) == 0 || asked_.contains(message.pids.front())) {
      return false;
    }
    bool is_wanted = false;
    for (const int32_t pid : message.pids) {
      const bool is_given =
          std::find(request_.pids.begin(), request_.pids.end(), pid) != request_.pids.end();
      if (is_given) answered_.insert(pid);
      is_wanted = is_wanted || is_given;
    }
    return is_wanted;
  }

  std::string Ask(int32_t pid) {
    first_ = first_.value_or(Clock::now());
    // The process puts its own number before the suffix.
    const std::string base = folder_ + "/trace";
    asked_[pid] = {base + "_" + std::to_string(pid) + ".json", StartTimeOf(pid).value_or(0), 0,
                   false};
    return ConfigurationFor(request_, base + ".json");
  }

  bool AreDone(Clock::time_point asked) {
    const auto profiled = request_.iterations == 0 ? request_.duration : milliseconds(kMostSteps);
    if (Clock::now() - asked > profiled + kMostWriting) return true;
    bool are_done = true;
    for (auto& [pid, process] : asked_) {
      process.is_done = process.is_done || IsDone(pid, process);
      are_done = are_done && process.is_done;
    }
    return are_done;
  }

  // A file that is whole and no longer grows, or a process that cannot write it any more.
  static bool IsDone(int32_t pid, Asked& process) {
    const Result<uint64_t> size = SizeOfFile(process.file);  // asked again, if it is not known
    const uint64_t bytes = size.ok() ? *size : 0;
    const bool is_whole = bytes != 0 && bytes == process.bytes && LooksWhole(process.file);
    process.bytes = bytes;
    return is_whole || StartTimeOf(pid) != process.start_time;
  }

  AttachOutcome Outcome() const {
    AttachOutcome outcome{.folder = folder_, .processes = {}, .silent = {}};
    for (const auto& [pid, process] : asked_) {
      std::string trouble;
      if (!LooksWhole(process.file)) {
        trouble = StartTimeOf(pid) != process.start_time
                      ? "the process ended before it had written its profile"
                      : "the process has not written its profile in time";
      }
      outcome.processes.push_back({pid, process.file, trouble});
    }
    std::copy_if(request_.pids.begin(), request_.pids.end(), std::back_inserter(outcome.silent),
                 [&](int32_t pid) { return !answered_.contains(pid); });
    return outcome;
  }

  const AttachRequest& request_;
  std::string folder_;
  ProfilerSocket socket_;
  std::map<int32_t, Asked> asked_;
  std::set<int32_t> answered_;  // given processes that asked, or of which a descendant did
  std::optional<Clock::time_point> first_;
};

Result<void> CheckProcesses(const std::vector<int32_t>& pids) {
  for (const int32_t pid : pids) {
    if (!StartTimeOf(pid).has_value()) {
      return UsageError("process " + std::to_string(pid) + " does not exist here",
                        "name one that runs PyTorch");
    }
  }
  return {};
}

}  // namespace

Result<AttachOutcome> AttachTo(const AttachRequest& request) {
  BS_TRY(CheckProcesses(request.pids));
  BS_ASSIGN(ProfilerSocket socket, ProfilerSocket::Bind());
  BS_ASSIGN(const std::string name,
            request.folder.empty() ? FirstFreeName() : Result<std::string>(request.folder));
  std::error_code ignored;
  const std::string folder = fs::absolute(name, ignored).string();
  if (folder.find('\n') != std::string::npos) {
    return Error{
        ErrorCode::kInvalidArgument, "a name with a line break cannot be asked for", {}, folder};
  }
  if (mkdir(folder.c_str(), 0700) != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("cannot be made: ") + std::strerror(errno),
                 "name another folder with -o", folder};
  }
  if (request.waits) request.waits();
  AttachOutcome outcome = Attaching(request, folder, std::move(socket)).Run();
  if (outcome.processes.empty()) fs::remove(folder, ignored);
  return outcome;
}

}  // namespace borescope::internal
