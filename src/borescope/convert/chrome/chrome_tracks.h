// The processes and threads of a Chrome trace: which numbers a track has there and what it is
// called. A process of the program is one of the trace, and each GPU is one whose threads are its
// streams.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/convert/chrome/chrome_text.h"

namespace borescope::internal {

class ChromeTracks {
 public:
  // `source` is the name of the trace among several, which names of processes begin with; else
  // empty.
  ChromeTracks(const Trace& trace, std::string_view source);

  // "pid" and "tid" of the events of a track, as members of an event that end in its "ts" key.
  const std::string& Place(TrackId track) const { return places_[track.value]; }

  // Names and order of all processes and threads. Threads of which no name is known stay without.
  void WriteNames(ChromeText& text) const;

 private:
  void WriteProcess(int64_t pid, bool is_device, ChromeText& text) const;
  void WriteThread(uint32_t track, ChromeText& text) const;
  std::string DeviceName(int64_t device) const;
  std::string StreamName(uint32_t track) const;

  // A name with that of the trace in front.
  std::string Named(std::string name) const;

  const Trace& trace_;
  std::string source_;
  std::vector<int64_t>
      threads_;  // by TrackId; streams of several processes need lines of their own
  std::vector<std::string> places_;
};

}  // namespace borescope::internal
