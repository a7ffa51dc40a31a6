// Real clients on real sockets.
#include "borescope/serve/file_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace borescope::internal {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kPath = "/secret/trace.json";

// A client that sends what a test wants and reads what comes.
class Client {
 public:
  explicit Client(const Listener& listener) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};
    const int room = 64 * 1024;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket_); }

  int descriptor() const { return socket_; }

  void Say(std::string_view text) const { send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

  void Ask(std::string_view method, std::string_view path, std::string_view more = {}) const {
    Say(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
        std::string(more) + "\r\n");
  }

  // Until the server closes, or `most` bytes.
  std::string Hear(size_t most = std::string::npos) const {
    std::string heard;
    char bytes[65536];
    while (heard.size() < most) {
      const ssize_t count = recv(socket_, bytes, std::min(sizeof(bytes), most - heard.size()), 0);
      if (count <= 0) break;
      heard.append(bytes, static_cast<size_t>(count));
    }
    return heard;
  }

 private:
  int socket_;
};

std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

// A server of more than what sockets hold in a thread of its own.
class FileServerThreads : public testing::Test {
 protected:
  FileServerThreads() : listener_(Listener::Open(0).value()) {
    for (uint32_t i = 0; content_.size() < (size_t{8} << 20); ++i) {
      content_ += std::to_string(i * 2654435761U);
    }
    path_ = testing::TempDir() + "file_server_test_" + std::to_string(getpid());
    std::ofstream(path_, std::ios::binary) << content_;
    file_.bytes = StoredBytes::OfFile(path_).value();
    file_.path = kPath;
    file_.content_type = "application/json";
    file_.reader = "https://ui.perfetto.dev";
  }
  ~FileServerThreads() override {
    stop_ = true;
    std::filesystem::remove(path_);
  }

  void Start() {
    end_ = std::async(std::launch::async,
                      [this] { return ServeFile(listener_, file_, limits_, stop_).value(); });
  }
  std::vector<std::unique_ptr<Client>> Connect(size_t count) const {
    std::vector<std::unique_ptr<Client>> clients(count);
    for (auto& client : clients) {
      client = std::make_unique<Client>(listener_);
    }
    return clients;
  }
  bool IsServing() const { return end_.wait_for(milliseconds(300)) == std::future_status::timeout; }

  std::string content_;
  std::string path_;
  Listener listener_;
  ServedFile file_;
  ServeLimits limits_;
  std::atomic<bool> stop_ = false;
  std::future<ServeEnd> end_;
};

TEST_F(FileServerThreads, GivesTheBytesOfTheFileAndEnds) {
  Start();
  const Client client(listener_);
  client.Ask("GET", kPath, "Origin: https://ui.perfetto.dev\r\n");
  const std::string answer = client.Hear();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(answer.find("\r\nAccess-Control-Allow-Origin: https://ui.perfetto.dev\r\n"),
            std::string::npos);
  EXPECT_EQ(BodyOf(answer), content_);
  EXPECT_EQ(end_.get(), ServeEnd::kFetched);
}

TEST_F(FileServerThreads, AFileThatWasRemovedIsServed) {
  std::filesystem::remove(path_);
  Start();
  const Client client(listener_);
  client.Ask("GET", kPath);
  EXPECT_EQ(BodyOf(client.Hear()), content_);
}

TEST_F(FileServerThreads, RefusalsEndNothing) {
  Start();
  struct Case {
    std::string_view method, path, more, status;
  };
  for (const Case& one : {Case{"GET", "/", "", "404"},
                          {"GET", "/secret/", "", "404"},
                          {"HEAD", kPath, "", "200"},
                          {"POST", kPath, "Content-Length: 3\r\n", "405"},
                          {"OPTIONS", kPath, "Origin: https://ui.perfetto.dev\r\n", "405"},
                          {"GET", kPath, "Origin: https://evil.example\r\n", "403"},
                          {"GET", kPath, "Host: evil.example\r\n", "400"}}) {
    const Client client(listener_);
    client.Ask(one.method, one.path, one.more);
    const std::string answer = client.Hear();
    EXPECT_EQ(answer.substr(9, 3), one.status) << one.method << " " << one.path << " " << one.more;
    EXPECT_EQ(answer.find(content_.substr(0, 100)), std::string::npos);
  }
  const Client other(listener_);
  other.Say("GET " + std::string(kPath) + " HTTP/1.1\r\nHost: evil.example:9001\r\n\r\n");
  EXPECT_TRUE(other.Hear().starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(IsServing());
}

// What a client still sends when it has its answer must not take the answer away.
TEST_F(FileServerThreads, ABodyIsPassedOver) {
  Start();
  const Client client(listener_);
  client.Ask("POST", "/status", "Content-Length: 100000\r\n");
  client.Say(std::string(100'000, 'x'));
  EXPECT_TRUE(client.Hear().starts_with("HTTP/1.1 405 "));
}

TEST_F(FileServerThreads, ARequestInPieces) {
  Start();
  const Client client(listener_);
  const std::string request = "GET " + std::string(kPath) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const char c : request) {
    client.Say({&c, 1});
  }
  EXPECT_EQ(BodyOf(client.Hear()), content_);
}

TEST_F(FileServerThreads, ALongHeadIsRefused) {
  Start();
  const Client client(listener_);
  client.Ask("GET", kPath, "Cookie: " + std::string(100'000, 'x') + "\r\n");
  EXPECT_TRUE(client.Hear().starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(IsServing());
}

TEST_F(FileServerThreads, HalfARequestIsNotWaitedForForEver) {
  limits_.client.request = milliseconds(300);
  Start();
  const Client client(listener_);
  client.Say("GET /secr");
  EXPECT_EQ(client.Hear(), "");  // closed, long before our own patience ends
  EXPECT_TRUE(IsServing());
}

// Nor do its bytes, one by one, buy more time.
TEST_F(FileServerThreads, ASlowRequestIsNotWaitedFor) {
  limits_.client.request = milliseconds(300);
  Start();
  const Client client(listener_);
  const auto begin = ServeClock::now();
  bool is_closed = false;
  while (!is_closed && ServeClock::now() - begin < std::chrono::seconds(20)) {
    client.Say("G");
    std::this_thread::sleep_for(milliseconds(20));
    char byte = 0;
    is_closed = recv(client.descriptor(), &byte, 1, MSG_DONTWAIT) == 0;
  }
  EXPECT_TRUE(is_closed);
}

TEST_F(FileServerThreads, SilentClientsKeepNobodyAway) {
  limits_.connections = 4;
  limits_.client.request = std::chrono::hours(1);
  Start();
  const std::vector<std::unique_ptr<Client>> silent = Connect(100);
  const Client client(listener_);
  client.Ask("GET", kPath);
  const std::vector<std::unique_ptr<Client>> more = Connect(100);
  EXPECT_EQ(BodyOf(client.Hear()), content_);
}

// Of those who have said nothing, or too little; the others stay.
TEST_F(FileServerThreads, WhoWasSilentForLongestGoes) {
  limits_.connections = 2;
  limits_.client.request = std::chrono::hours(1);
  Start();
  const Client answered(listener_);
  answered.Ask("GET", kPath);
  std::string body = answered.Hear(1000);  // and more is on its way
  const Client first(listener_);
  first.Say("GET /secr");
  EXPECT_TRUE(IsServing());
  const Client second(listener_);
  EXPECT_EQ(first.Hear(), "");  // closed, long before our own patience ends
  second.Ask("GET", "/");
  EXPECT_TRUE(second.Hear().starts_with("HTTP/1.1 404 "));
  body += answered.Hear();
  EXPECT_EQ(BodyOf(body), content_);
}

// They wait until one of those who are being answered has all.
TEST_F(FileServerThreads, NobodyWhoIsAnsweredGoes) {
  limits_.connections = 2;
  Start();
  const Client slow[] = {Client(listener_), Client(listener_)};
  std::string bodies[2];
  for (size_t i = 0; i < 2; ++i) {
    slow[i].Ask("GET", kPath);
    bodies[i] = slow[i].Hear(1000);
  }
  const std::vector<std::unique_ptr<Client>> silent = Connect(10);
  EXPECT_TRUE(IsServing());
  for (size_t i = 0; i < 2; ++i) {
    bodies[i] += slow[i].Hear();
    EXPECT_EQ(BodyOf(bodies[i]), content_);
  }
}

TEST_F(FileServerThreads, TwoClientsAtOnce) {
  Start();
  const Client slow(listener_);
  slow.Ask("GET", kPath);
  std::string first = slow.Hear(1000);  // and more is on its way
  const Client quick(listener_);
  quick.Ask("GET", kPath);
  EXPECT_EQ(BodyOf(quick.Hear()), content_);
  first += slow.Hear();
  EXPECT_EQ(BodyOf(first), content_);
  EXPECT_EQ(end_.get(), ServeEnd::kFetched);
}

TEST_F(FileServerThreads, AClientThatGoesHasNotFetched) {
  Start();
  {
    const Client client(listener_);
    client.Ask("GET", kPath);
    client.Hear(1000);
  }
  EXPECT_TRUE(IsServing());
  const Client client(listener_);
  client.Ask("GET", kPath);
  EXPECT_EQ(BodyOf(client.Hear()), content_);
  EXPECT_EQ(end_.get(), ServeEnd::kFetched);
}

TEST_F(FileServerThreads, AClientThatStallsIsLeft) {
  limits_.whole = milliseconds(100);
  limits_.client.stall = milliseconds(300);
  Start();
  const Client client(listener_);
  client.Ask("GET", kPath);
  EXPECT_EQ(end_.get(), ServeEnd::kTimeLimit);
}

// The length that was announced and the missing end tell the client.
TEST_F(FileServerThreads, AFileThatShrinksIsNotFetched) {
  Start();
  std::filesystem::resize_file(path_, 1000);
  const Client client(listener_);
  client.Ask("GET", kPath);
  EXPECT_LT(BodyOf(client.Hear()).size(), content_.size());
  EXPECT_TRUE(IsServing());
}

TEST_F(FileServerThreads, TheTimeLimit) {
  limits_.whole = milliseconds(100);
  Start();
  EXPECT_EQ(end_.get(), ServeEnd::kTimeLimit);
}

TEST_F(FileServerThreads, IsStopped) {
  Start();
  EXPECT_TRUE(IsServing());
  stop_ = true;
  EXPECT_EQ(end_.get(), ServeEnd::kStopped);
}

TEST_F(FileServerThreads, APortThatIsTaken) {
  const Result<Listener> other = Listener::Open(listener_.port());
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().Sentence(),
            "127.0.0.1:" + std::to_string(listener_.port()) +
                ": another program listens there; end it, or name another "
                "port with `port`");
}

// Not from the network: the address is that of this machine alone.
TEST_F(FileServerThreads, ListensOnLoopbackOnly) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(listener_.descriptor(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

TEST_F(FileServerThreads, APortCanBeServedAgain) {
  Start();
  const uint16_t port = listener_.port();
  {
    const Client client(listener_);
    client.Ask("GET", kPath);
    client.Hear();
  }
  EXPECT_EQ(end_.get(), ServeEnd::kFetched);
  {
    const Listener gone(std::move(listener_));
  }
  EXPECT_TRUE(Listener::Open(port).ok());
}

TEST_F(FileServerThreads, GivesWhatIsMadeInPieces) {
  file_.handler = [this](std::string_view name, std::string_view) -> std::optional<MadeAnswer> {
    return name == "made" ? std::optional(MadeAnswer{"text/plain",
                                                     std::make_shared<const std::string>(content_)})
                          : std::nullopt;
  };
  Start();
  const Client client(listener_);
  client.Ask("GET", "/secret/made");
  EXPECT_EQ(BodyOf(client.Hear()), content_);
  EXPECT_TRUE(IsServing());  // that was not the file
}

TEST_F(FileServerThreads, StaysAsLongAsSomebodyAsks) {
  limits_.stays = true;
  limits_.whole = milliseconds(1500);
  Start();
  for (int visit = 0; visit < 4; ++visit) {
    const Client client(listener_);
    client.Ask("GET", kPath);
    EXPECT_EQ(BodyOf(client.Hear()), content_);
    std::this_thread::sleep_for(milliseconds(500));
  }
  EXPECT_EQ(end_.get(), ServeEnd::kFetched);
}

}  // namespace
}  // namespace borescope::internal
