#include "borescope/recorder/attach/attach.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/paths.h"
#include "borescope/recorder/process_facts.h"

namespace borescope::internal {

namespace {

constexpr size_t kTypeBytes = 32;
constexpr std::string_view kContextType = "ctxt";
constexpr std::string_view kRequestType = "req";
constexpr uint32_t kMostPids = 1024;

struct MessageHeader {
  uint64_t size;  // of what follows
  std::array<char, kTypeBytes> type;
};

// Before as many numbers of processes.
struct RequestHeader {
  uint32_t type;
  uint32_t pids;
  int64_t job;
};

template <class T>
bool Take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  bytes.copy(reinterpret_cast<char*>(&value), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

std::string_view TypeOf(const MessageHeader& header) {
  const std::string_view all(header.type.data(), header.type.size());
  return all.substr(0, all.find('\0'));
}

std::optional<ProfilerMessage> ParseRequest(std::string_view bytes) {
  RequestHeader header{};
  if (!Take(bytes, header) || header.pids == 0 || header.pids > kMostPids) return std::nullopt;
  ProfilerMessage message;
  message.kind = ProfilerMessage::Kind::kRequest;
  message.type = header.type;
  for (uint32_t i = 0; i < header.pids; ++i) {
    int32_t pid = 0;
    if (!Take(bytes, pid)) return std::nullopt;
    message.pids.push_back(pid);
  }
  return message;
}

}  // namespace

std::optional<ProfilerMessage> ParseProfilerMessage(std::string_view datagram) {
  MessageHeader header{};
  if (!Take(datagram, header) || header.size != datagram.size()) return std::nullopt;
  if (TypeOf(header) == kContextType) return ProfilerMessage{};
  return TypeOf(header) == kRequestType ? ParseRequest(datagram) : std::nullopt;
}

std::string MakeProfilerAnswer(ProfilerMessage::Kind kind, std::string_view payload) {
  const std::string_view type =
      kind == ProfilerMessage::Kind::kContext ? kContextType : kRequestType;
  MessageHeader header{.size = payload.size(), .type = {}};
  std::memcpy(header.type.data(), type.data(), type.size());
  std::string answer(sizeof(header), '\0');
  std::memcpy(answer.data(), &header, sizeof(header));
  return answer.append(payload);
}

std::string MakeContextAnswer() {
  constexpr int32_t kProcesses = 1;
  const auto* const bytes = reinterpret_cast<const char*>(&kProcesses);
  return MakeProfilerAnswer(ProfilerMessage::Kind::kContext, {bytes, sizeof(kProcesses)});
}

namespace {

constexpr std::string_view kName = "dynolog";
constexpr const char* kFolderVariable = "KINETO_IPC_SOCKET_DIR";
constexpr size_t kMostBytes = 64 * 1024;

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;
};

// An abstract name, with a zero byte before and one after it, as its clients have it.
Address AbstractAddress() {
  Address address;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path + 1, kName.data(), kName.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kName.size() + 2);
  return address;
}

Result<Address> AddressIn(const std::string& path) {
  Address address;
  if (path.size() >= sizeof(address.name.sun_path)) {
    return Error{ErrorCode::kInvalidArgument, "too long for a socket",
                 std::string("name a shorter folder in ") + kFolderVariable, path};
  }
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, path.data(), path.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

bool BindTo(int socket, const Address& address) {
  return bind(socket, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) == 0;
}

// A file that a launcher left which was killed: nobody listens on it.
bool IsStale(const Address& address) {
  const int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool is_refused =
      connect(probe, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  return is_refused;
}

}  // namespace

Result<ProfilerSocket> ProfilerSocket::Bind() {
  const char* const folder = std::getenv(kFolderVariable);
  const bool has_folder = folder != nullptr && *folder != '\0';
  const std::string path = has_folder ? std::string(folder) + "/" + std::string(kName) : "";
  BS_ASSIGN(const Address address, has_folder ? AddressIn(path) : AbstractAddress());
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) {
    return Error{ErrorCode::kIo, std::string("no socket can be made: ") + std::strerror(errno)};
  }
  if (BindTo(file, address)) return ProfilerSocket(file, path);
  if (errno == EADDRINUSE && has_folder && IsStale(address)) {
    unlink(path.c_str());
    if (BindTo(file, address)) return ProfilerSocket(file, path);
  }
  const int error = errno;
  close(file);
  const std::string where = has_folder ? path : "the socket '" + std::string(kName) + "'";
  if (error != EADDRINUSE) {
    return Error{ErrorCode::kIo, std::string("cannot be made: ") + std::strerror(error), {}, where};
  }
  return Error{ErrorCode::kIo,
               where + " is taken by another borescope record `attach` or by dynolog",
               "wait for its end, or stop it"};
}

ProfilerSocket::ProfilerSocket(ProfilerSocket&& other) noexcept
    : socket_(other.socket_), path_(std::move(other.path_)) {
  other.socket_ = -1;
}

ProfilerSocket::~ProfilerSocket() {
  if (socket_ < 0) return;
  close(socket_);
  if (!path_.empty()) unlink(path_.c_str());
}

std::optional<ProfilerSocket::Datagram> ProfilerSocket::Receive(
    std::chrono::milliseconds patience) {
  pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
  Datagram datagram{
      .bytes = std::string(kMostBytes, '\0'), .sender = {}, .sender_bytes = sizeof(sockaddr_un)};
  const ssize_t bytes =
      recvfrom(socket_, datagram.bytes.data(), datagram.bytes.size(), MSG_TRUNC,
               reinterpret_cast<sockaddr*>(&datagram.sender), &datagram.sender_bytes);
  if (bytes < 0) return std::nullopt;
  // One that is longer than any of theirs is none of theirs.
  const bool is_whole = static_cast<size_t>(bytes) <= datagram.bytes.size();
  datagram.bytes.resize(is_whole ? static_cast<size_t>(bytes) : 0);
  return datagram;
}

void ProfilerSocket::Answer(const Datagram& to, std::string_view bytes) {
  const bool has_name = to.sender_bytes > offsetof(sockaddr_un, sun_path);
  if (!has_name) return;
  sendto(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
         reinterpret_cast<const sockaddr*>(&to.sender), to.sender_bytes);
}

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
    uint64_t start_time = 0;  // 0: not known
    uintmax_t bytes = 0;      // when it was last looked at
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
    return is_whole || !StillRuns(pid, process.start_time);
  }

  AttachOutcome Outcome() const {
    AttachOutcome outcome{.folder = folder_, .processes = {}, .silent = {}};
    for (const auto& [pid, process] : asked_) {
      std::string trouble;
      if (!LooksWhole(process.file)) {
        trouble = StillRuns(pid, process.start_time)
                      ? "the process has not written its profile in time"
                      : "the process ended before it had written its profile";
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
    if (!StillRuns(pid, 0)) {
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
  BS_TRY(CheckNoForeignLink(folder));
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
