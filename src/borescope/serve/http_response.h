// Which answer a request gets. Pure: what is asked for and what there is decide.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "borescope/serve/served_file.h"

namespace borescope::internal {

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
