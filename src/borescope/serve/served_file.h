// The file that a server gives, under which name, and what is made for requests beside it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/io/stored_bytes.h"
#include "borescope/base/result.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
