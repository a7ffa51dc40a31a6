#include "borescope/serve/http_response.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/serve/http_request.h"

namespace borescope::internal {
namespace {

// What every answer says: one request a connection, nothing stored, nothing guessed, and no page of
// others may embed it.
constexpr std::string_view kCommonHeaders =
    "Connection: close\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n";

struct Refusal {
  int status;
  std::string_view reason;
  std::string_view header = {};
};
constexpr Refusal kBadRequest{400, "Bad Request"};
constexpr Refusal kForbidden{403, "Forbidden"};
constexpr Refusal kNotFound{404, "Not Found"};
constexpr Refusal kNotAllowed{405, "Method Not Allowed", "Allow: GET, HEAD\r\n"};
constexpr Refusal kTooLong{431, "Request Header Fields Too Large"};

HttpResponse Refuse(const Refusal& refusal, bool has_body = true) {
  return {
      refusal.status,
      fmt::format("HTTP/1.1 {} {}\r\n{}{}Content-Type: text/plain\r\nContent-Length: {}\r\n"
                  "\r\n{}{}",
                  refusal.status, refusal.reason, kCommonHeaders, refusal.header,
                  refusal.reason.size() + 1, has_body ? refusal.reason : "", has_body ? "\n" : "")};
}

// By name, with any port: behind a forwarded port the browser knows another one.
bool IsThisMachine(std::string_view host) {
  const std::string_view name = host.substr(0, host.find(':'));
  const std::string_view port = host.substr(std::min(name.size() + 1, host.size()));
  return (name == "127.0.0.1" || name == "localhost") &&
         std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

HttpResponse AnswerTo(std::string_view head, const ServedFile& file) {
  const std::optional<HttpRequest> request = ParseHttpRequest(head);
  if (!request.has_value()) {
    return Refuse(kBadRequest);
  }
  const bool is_head = request->method == "HEAD";
  const bool may_read =
      !request->origin.has_value() || (!file.reader.empty() && *request->origin == file.reader);
  if (!IsThisMachine(request->host) || !may_read) {
    return Refuse(kForbidden, !is_head);
  }
  if (request->method != "GET" && !is_head) {
    return Refuse(kNotAllowed);
  }
  if (request->target != file.path) {
    return Refuse(kNotFound, !is_head);
  }
  std::string reader;
  if (request->origin.has_value()) {
    reader = fmt::format("Access-Control-Allow-Origin: {}\r\nVary: Origin\r\n", file.reader);
  }
  return {200,
          fmt::format("HTTP/1.1 200 OK\r\n{}{}Content-Type: {}\r\nContent-Length: {}\r\n\r\n",
                      kCommonHeaders, reader, file.content_type, file.bytes.size()),
          !is_head};
}

HttpResponse AnswerToLongHead() { return Refuse(kTooLong); }

}  // namespace borescope::internal
