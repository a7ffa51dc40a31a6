// HTTP without sockets: what of a request decides about the answer, and the head of the answer.
// Pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// What of an HTTP request decides about the answer.

// Requests whose first line and headers are longer are refused.
inline constexpr size_t kLongestRequestHead = size_t{8} * 1024;

// Views of the text that was parsed.
struct HttpRequest {
  std::string_view method;
  std::string_view target;  // "/name?query", as written
  std::string_view host;    // "127.0.0.1:9001"; empty: none
  std::optional<std::string_view> origin;
};

// `head` is the first line and the headers, up to the empty line and without it. Nothing unless it
// is HTTP/1.x with well-formed headers, of which "Host" and "Origin" occur at most once.
std::optional<HttpRequest> ParseHttpRequest(std::string_view head);

// The file that a server gives, under which name, and what is made for requests beside it.

// What is made for one request.
struct MadeAnswer {
  std::string content_type;
  std::shared_ptr<const std::string> body;
  bool is_refusal = false;  // the request makes no sense (400); the body says why
};

// Answers GET and HEAD of paths beside the file: of "/0f…e3/timeline?begin=5" it gets "timeline"
// and "begin=5", as they are there; the name of the file itself, too, where it wants to answer in
// its place. Nothing: there is no such path (404), or the file as it is. Hosts, origins and the
// secret in the path were checked before. Called in the thread that serves, which does nothing else
// meanwhile: an answer that takes longer than some tens of milliseconds keeps other clients
// waiting.
using ServedHandler =
    std::function<std::optional<MadeAnswer>(std::string_view name, std::string_view query)>;

struct ServedFile {
  StoredBytes bytes;
  std::string path;          // "/0f…e3/rank-0.json.gz", from MakeSecretPath
  std::string content_type;  // "application/json"
  // Pages of this origin ("https://ui.perfetto.dev") may read it; empty: no other page may.
  std::string reader;
  ServedHandler handler = nullptr;  // nullptr: there is nothing beside the file
};

// A path that nobody can guess (128 random bits), which ends in `name`: its letters, digits, dots,
// dashes and underscores, anything else as an underscore, so that no URL needs escapes. kIo where
// the system has no random numbers.
Result<std::string> MakeSecretPath(std::string_view name);

// Which answer a request gets. Pure: what is asked for and what there is decide.

struct HttpResponse {
  int status = 0;
  std::string head;       // first line and headers, up to and with the empty line; of a refusal
                          // also its text
  bool has_file = false;  // the bytes of the file follow, or what was made in its place
  // What follows where it is not the file; nullptr: the file, or nothing.
  std::shared_ptr<const std::string> made = nullptr;
};

// To the head of a request, which ended in an empty line. Refused are, in this order: what is no
// HTTP (400); a Host that is not this machine's own name for itself (403: another name may have
// been made to lead here, "DNS rebinding"); a page of an origin that may not read (403); any method
// but GET and HEAD (405); any path but that of the file and those that its handler answers (404).
HttpResponse AnswerTo(std::string_view head, const ServedFile& file);

// To a head that is too long (431).
HttpResponse AnswerToLongHead();

}  // namespace borescope::internal
