// A page that is replaced while a browser shows it, which then loads the new one.
//
// The browser asks for "live" beside the page once a second. The answer is JSON:
//
//   {"version": 3, "text": "4 ranks at 14:05:09", "problems": ["rank-4.json: ..."], "runs": [...]}
//
// A page of another version than its own makes it load itself again; `text` and `problems` are in
// a banner, and under it what is being recorded: the objects of JsonOfSteps. The page may ask its
// own origin for that (connect-src), which no page in a file may.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/serve.h"
#include "borescope/serve/http.h"

namespace borescope::internal {

// `html`, a report, with the permission to ask the server that it came from (connect-src), once.
// Unchanged where it has no scripts.
std::string LetAsk(std::string html);

// `html`, a report, with that permission and what makes it say from time to time that it is still
// open. Unchanged where it has no scripts.
std::string MakeServed(std::string html);

// `html`, a report, with what makes it ask. A report without scripts is loaded again by the browser
// every few seconds.
std::string MakeLive(std::string html, uint64_t version);

// A page for the time when no report can be shown yet: with scripts, where there are any, one that
// asks as a report does, and shows what is being recorded.
std::string WaitingPage(std::string_view text);

// Thread-safe.
class LivePage {
 public:
  // Before the first SetPage a page that says so in `waiting` is shown.
  LivePage(std::string name, std::string_view waiting);

  void SetPage(std::string html, LiveNews news);
  // Something else to say, of the same page.
  void SetNews(LiveNews news);

  // What is being recorded: JsonOfSteps.
  void SetSteps(std::string json);

  // The page under its name, and "live".
  std::optional<MadeAnswer> Answer(std::string_view name) const;

 private:
  const std::string name_;
  mutable std::mutex mutex_;  // of what follows
  uint64_t reserved_ = 0;     // versions that were given out
  uint64_t version_ = 0;      // of `page_`; 0: that for the time when there is none
  std::shared_ptr<const std::string> page_;
  LiveNews news_;
  std::string steps_ = "[]";
};

}  // namespace borescope::internal
