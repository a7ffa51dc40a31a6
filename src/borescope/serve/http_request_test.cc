#include "borescope/serve/http_request.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace borescope::internal
