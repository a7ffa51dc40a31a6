#include "borescope/serve/http.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace borescope::internal {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Takes the text up to `separator`, and that with it; all of it where there is none.
std::string_view TakeUntil(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

bool IsNamed(std::string_view name, std::string_view lower) {
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool ParseFirstLine(std::string_view line, HttpRequest& request) {
  request.method = TakeUntil(line, " ");
  request.target = TakeUntil(line, " ");
  return !request.method.empty() && !request.target.empty() &&
         (line == "HTTP/1.1" || line == "HTTP/1.0");
}

// A line of headers that begins with a blank would go on with the one above: nobody writes that any
// more, and who reads it differently from us reads another request.
bool ParseHeader(std::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      line.substr(0, colon).find_first_of(" \t") != std::string_view::npos) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1));
  if (IsNamed(name, "host")) {
    if (!request.host.empty() || value.empty()) return false;
    request.host = value;
  } else if (IsNamed(name, "origin")) {
    if (request.origin.has_value()) return false;
    request.origin = value;
  }
  return true;
}

}  // namespace

std::optional<HttpRequest> ParseHttpRequest(std::string_view head) {
  HttpRequest request;
  if (!ParseFirstLine(TakeUntil(head, kLineEnd), request)) {
    return std::nullopt;
  }
  while (!head.empty()) {
    if (!ParseHeader(TakeUntil(head, kLineEnd), request)) {
      return std::nullopt;
    }
  }
  return request;
}

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

// What the handler of the file makes of a target; nothing outside of the folder of the file.
std::optional<MadeAnswer> MadeFor(std::string_view target, const ServedFile& file) {
  const std::string_view folder = std::string_view(file.path).substr(0, file.path.rfind('/') + 1);
  if (file.handler == nullptr || !target.starts_with(folder)) {
    return std::nullopt;
  }
  target.remove_prefix(folder.size());
  const std::string_view name = target.substr(0, target.find('?'));
  target.remove_prefix(std::min(name.size() + 1, target.size()));
  return file.handler(name, target);
}

std::string HeadOf(std::string_view status, std::string_view more, std::string_view content_type,
                   uint64_t size) {
  return fmt::format("HTTP/1.1 {}\r\n{}{}Content-Type: {}\r\nContent-Length: {}\r\n\r\n", status,
                     kCommonHeaders, more, content_type, size);
}

HttpResponse Give(MadeAnswer made, std::string_view reader, bool is_file, bool is_head) {
  const std::string status = made.is_refusal
                                 ? fmt::format("{} {}", kBadRequest.status, kBadRequest.reason)
                                 : std::string("200 OK");
  std::string head = HeadOf(status, reader, made.content_type, made.body->size());
  return {made.is_refusal ? kBadRequest.status : 200, std::move(head), is_file && !is_head,
          is_head ? nullptr : std::move(made.body)};
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
  const bool is_file = request->target == file.path;
  std::optional<MadeAnswer> made = MadeFor(request->target, file);
  if (!is_file && !made.has_value()) {
    return Refuse(kNotFound, !is_head);
  }
  std::string reader;
  if (request->origin.has_value()) {
    reader = fmt::format("Access-Control-Allow-Origin: {}\r\nVary: Origin\r\n", file.reader);
  }
  if (made.has_value()) {
    return Give(std::move(*made), reader, is_file, is_head);
  }
  return {200, HeadOf("200 OK", reader, file.content_type, file.bytes.size()), !is_head};
}

HttpResponse AnswerToLongHead() { return Refuse(kTooLong); }

Result<std::string> MakeSecretPath(std::string_view name) {
  std::array<unsigned char, 16> secret{};
  if (getentropy(secret.data(), secret.size()) != 0) {
    return Error{ErrorCode::kIo, fmt::format("no random numbers: {}", std::strerror(errno))};
  }
  std::string path = "/";
  for (const unsigned char byte : secret) {
    path += fmt::format("{:02x}", byte);
  }
  path += '/';
  for (const char c : name) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    path += is_plain ? c : '_';
  }
  return path;
}

}  // namespace borescope::internal
