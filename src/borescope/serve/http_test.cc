#include "borescope/serve/http.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace borescope::internal {

namespace {

TEST(HttpRequest, FirstLineAndTheTwoHeadersThatCount) {
  const std::optional<HttpRequest> request = ParseHttpRequest(
      "GET /a/b?c HTTP/1.1\r\nUser-Agent: x: y\r\nhOST:\t127.0.0.1:9001 \r\nOrigin: https://a.b");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->target, "/a/b?c");
  EXPECT_EQ(request->host, "127.0.0.1:9001");
  EXPECT_EQ(request->origin, "https://a.b");
}

TEST(HttpRequest, HeadersMayLack) {
  const std::optional<HttpRequest> request = ParseHttpRequest("HEAD / HTTP/1.0");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->host, "");
  EXPECT_FALSE(request->origin.has_value());
}

TEST(HttpRequest, AnEmptyOriginIsOne) {
  const std::optional<HttpRequest> request = ParseHttpRequest("GET / HTTP/1.1\r\nOrigin:");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->origin, "");
}

TEST(HttpRequest, WhatIsNoRequest) {
  using namespace std::string_view_literals;
  for (const std::string_view head :
       {""sv, "GET"sv, "GET /"sv, " / HTTP/1.1"sv, "GET  HTTP/1.1"sv, "GET / HTTP/2"sv,
        "GET / HTTP/1.1 "sv, "GET /a b HTTP/1.1"sv, "\r\nGET / HTTP/1.1"sv, "\0\0\0"sv,
        "GET / HTTP/1.1\r\nno colon"sv, "GET / HTTP/1.1\r\n: no name"sv,
        "GET / HTTP/1.1\r\nHost : a"sv, "GET / HTTP/1.1\r\n Host: a"sv, "GET / HTTP/1.1\r\nHost:"sv,
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b"sv, "GET / HTTP/1.1\r\nOrigin: a\r\nOrigin: a"sv,
        "GET / HTTP/1.1\nHost: a"sv}) {
    EXPECT_FALSE(ParseHttpRequest(head).has_value()) << head;
  }
}

ServedFile Trace() {
  ServedFile file;
  file.bytes = StoredBytes::OfMemory("trace");
  file.path = "/secret/trace.json";
  file.content_type = "application/json";
  file.reader = "https://ui.perfetto.dev";
  return file;
}

// A request for the file with one thing different.
struct Request {
  std::string method = "GET";
  std::string target = "/secret/trace.json";
  std::string host = "127.0.0.1:9001";
  std::string origin = "https://ui.perfetto.dev";

  std::string Head() const {
    return method + " " + target + " HTTP/1.1\r\nHost: " + host +
           (origin.empty() ? "" : "\r\nOrigin: " + origin);
  }
};

bool Has(const HttpResponse& answer, std::string_view text) {
  return answer.head.find(text) != std::string::npos;
}

TEST(HttpResponse, TheReaderGetsTheFileAndMayReadIt) {
  const HttpResponse answer = AnswerTo(Request().Head(), Trace());
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has_file);
  EXPECT_TRUE(answer.head.starts_with("HTTP/1.1 200 OK\r\n")) << answer.head;
  EXPECT_TRUE(answer.head.ends_with("\r\n\r\n"));
  EXPECT_TRUE(Has(answer, "\r\nAccess-Control-Allow-Origin: https://ui.perfetto.dev\r\n"));
  EXPECT_TRUE(Has(answer, "\r\nContent-Length: 5\r\n"));
  EXPECT_TRUE(Has(answer, "\r\nContent-Type: application/json\r\n"));
  EXPECT_TRUE(Has(answer, "\r\nConnection: close\r\n"));
}

TEST(HttpResponse, HeadersAloneForHead) {
  const HttpResponse whole = AnswerTo(Request().Head(), Trace());
  const HttpResponse head = AnswerTo(Request{.method = "HEAD"}.Head(), Trace());
  EXPECT_EQ(head.head, whole.head);
  EXPECT_FALSE(head.has_file);
  EXPECT_TRUE(AnswerTo(Request{.method = "HEAD", .target = "/"}.Head(), Trace())
                  .head.ends_with("\r\n\r\n"));
}

// Programs like curl, and a browser that opens the page itself, send none.
TEST(HttpResponse, WithoutAnOriginNobodyIsAllowedAnything) {
  const HttpResponse answer = AnswerTo(Request{.origin = ""}.Head(), Trace());
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(Has(answer, "Access-Control"));
}

TEST(HttpResponse, OtherPagesAreRefused) {
  for (const std::string origin : {"https://evil.example", "null", "http://ui.perfetto.dev",
                                   "https://ui.perfetto.dev.evil.example", "https://ui.perfetto"}) {
    const HttpResponse answer = AnswerTo(Request{.origin = origin}.Head(), Trace());
    EXPECT_EQ(answer.status, 403) << origin;
    EXPECT_FALSE(answer.has_file);
    EXPECT_FALSE(Has(answer, "Access-Control"));
  }
  ServedFile page = Trace();
  page.reader = "";
  EXPECT_EQ(AnswerTo(Request().Head(), page).status, 403);
  EXPECT_EQ(AnswerTo(Request{.origin = ""}.Head(), page).status, 200);
  EXPECT_EQ(AnswerTo("GET /secret/trace.json HTTP/1.1\r\nHost: localhost\r\nOrigin:", page).status,
            403);
}

TEST(HttpResponse, OnlyOurOwnNames) {
  for (const std::string host : {"127.0.0.1", "localhost", "localhost:1", "127.0.0.1:65535"}) {
    EXPECT_EQ(AnswerTo(Request{.host = host}.Head(), Trace()).status, 200) << host;
  }
  for (const std::string host : {"evil.example", "evil.example:9001", "127.0.0.1.evil.example",
                                 "localhost.evil.example:9001", "127.0.0.1:9001@evil.example",
                                 "127.0.0.1:9001:1", "127.0.0.2:9001", "[::1]:9001", ":9001"}) {
    EXPECT_EQ(AnswerTo(Request{.host = host}.Head(), Trace()).status, 403) << host;
  }
  EXPECT_EQ(AnswerTo("GET /secret/trace.json HTTP/1.1", Trace()).status, 403);
}

TEST(HttpResponse, OnePathAndTwoMethods) {
  for (const std::string target :
       {"/", "/secret", "/secret/", "/secret/trace.json?", "/secret/trace.json/", "/status",
        "//secret/trace.json", "/secret/../secret/trace.json", "/%73ecret/trace.json",
        "http://127.0.0.1:9001/secret/trace.json", "/etc/passwd", "/favicon.ico"}) {
    const HttpResponse answer = AnswerTo(Request{.target = target}.Head(), Trace());
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_FALSE(answer.has_file);
    EXPECT_FALSE(Has(answer, "secret"));
  }
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "CONNECT"}) {
    const HttpResponse answer = AnswerTo(Request{.method = method}.Head(), Trace());
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_TRUE(Has(answer, "\r\nAllow: GET, HEAD\r\n"));
  }
}

TEST(HttpResponse, WhatIsNoRequest) {
  EXPECT_EQ(AnswerTo("\x16\x03\x01 hello TLS", Trace()).status, 400);
  EXPECT_EQ(AnswerToLongHead().status, 431);
}

TEST(SecretPath, CannotBeGuessedAndNeedsNoEscapes) {
  std::set<std::string> paths;
  for (int i = 0; i < 100; ++i) {
    const Result<std::string> path = MakeSecretPath("a b/../c&%#?.json.gz");
    ASSERT_TRUE(path.ok());
    EXPECT_TRUE(path->ends_with("/a_b_.._c____.json.gz")) << *path;
    const std::string secret = path->substr(1, path->find('/', 1) - 1);
    EXPECT_EQ(secret.size(), 32U);
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos);
    paths.insert(secret);
  }
  EXPECT_EQ(paths.size(), 100U);
}

// A page, and an answer that is made for each request.
ServedFile WithHandler() {
  ServedFile file = Trace();
  file.handler = [](std::string_view name, std::string_view query) -> std::optional<MadeAnswer> {
    if (name == "live" || name == "trace.json") {
      return MadeAnswer{"text/x-made", std::make_shared<const std::string>(std::string(name) + "?" +
                                                                           std::string(query))};
    }
    return std::nullopt;
  };
  return file;
}

TEST(HttpResponse, AHandlerAnswersBesideTheFile) {
  const HttpResponse answer =
      AnswerTo(Request{.target = "/secret/live?begin=5"}.Head(), WithHandler());
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.has_file);
  ASSERT_NE(answer.made, nullptr);
  EXPECT_EQ(*answer.made, "live?begin=5");
  EXPECT_TRUE(Has(answer, "\r\nContent-Type: text/x-made\r\n"));
  EXPECT_TRUE(Has(answer, "\r\nContent-Length: 12\r\n"));
  const HttpResponse head =
      AnswerTo(Request{.method = "HEAD", .target = "/secret/live?begin=5"}.Head(), WithHandler());
  EXPECT_EQ(head.head, answer.head);
  EXPECT_EQ(head.made, nullptr);
}

TEST(HttpResponse, AHandlerMayRefuse) {
  ServedFile file = Trace();
  file.handler = [](std::string_view, std::string_view) {
    return MadeAnswer{"text/plain", std::make_shared<const std::string>("ask well"), true};
  };
  const HttpResponse answer = AnswerTo(Request{.target = "/secret/live?x"}.Head(), file);
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.head.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  ASSERT_NE(answer.made, nullptr);
  EXPECT_EQ(*answer.made, "ask well");
}

TEST(HttpResponse, AHandlerMayAnswerInPlaceOfTheFile) {
  const HttpResponse answer = AnswerTo(Request().Head(), WithHandler());
  EXPECT_TRUE(answer.has_file);
  ASSERT_NE(answer.made, nullptr);
  EXPECT_EQ(*answer.made, "trace.json?");
}

// The same rules as for the file, and the same secret.
TEST(HttpResponse, NobodyElseReachesAHandler) {
  for (const char* const target : {"/live", "/secre/live", "/secret", "/secret/other",
                                   "/secret/live/", "/secret/../secret/live"}) {
    EXPECT_EQ(AnswerTo(Request{.target = target}.Head(), WithHandler()).status, 404) << target;
  }
  const std::string live = "/secret/live";
  EXPECT_EQ(AnswerTo(Request{.target = live, .host = "evil.example"}.Head(), WithHandler()).status,
            403);
  EXPECT_EQ(AnswerTo(Request{.target = live, .origin = "https://a.b"}.Head(), WithHandler()).status,
            403);
  EXPECT_EQ(AnswerTo(Request{.method = "POST", .target = live}.Head(), WithHandler()).status, 405);
}

}  // namespace

}  // namespace borescope::internal
