// TraceStore: a folder in which indexed traces are kept as files under the hash of the content of
// their inputs, or of what says which content that is, from one process to the next.
// docs/use/cache.md says what is believed, and when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/store/file_identity.h"
#include "borescope/store/stored_trace.h"

namespace borescope::internal {

// The content of an input, and of which file it was when it was looked at.
struct InputContent {
  ContentHash hash;
  FileIdentity identity;
  // Whether every later change shows in the identity.
  bool is_settled = false;
};

// Safe to use from several threads, and by several processes at once.
class TraceStore {
 public:
  // The store in a folder, which is made (with mode 0700) where it is missing. kIo where it cannot
  // be used, and where this build has no identity.
  static Result<std::shared_ptr<TraceStore>> Open(const std::string& folder, uint64_t most_bytes);

  const std::string& folder() const { return folder_; }

  // The content of an ordinary file: from what the store remembers of it where the file cannot have
  // changed since, else by reading all of it, with several threads. kIo where it cannot be read, or
  // changes meanwhile.
  Result<InputContent> ContentOf(const std::string& path, int threads);
  // The content that somebody else calls by this text, which no other content is ever called by.
  // Never that of a file.
  InputContent ContentCalled(std::string_view identity) const;
  // Whether the file is still what it was. Where its identity does not say so for sure, it is read
  // once more.
  bool IsStill(const std::string& path, const InputContent& content, int threads);

  // Whether a trace of this content is kept, which may turn out to be damaged.
  bool Has(const InputContent& content) const;
  // The trace that is kept of this content; nothing where there is none. kCorrupt or kIo says why
  // one that is there cannot be used.
  Result<std::optional<StoredTrace>> Find(const InputContent& content, const StoredSource& source,
                                          int threads);

  // Keeps a trace, then removes what was used longest ago until the folder has no more bytes than
  // it may. Errors are those of WriteStoredTrace, kIo, and kInvalidArgument for a trace that alone
  // is larger.
  Result<void> Keep(const InputContent& content, const Trace& trace, const TraceIndex& index,
                    int threads);

 private:
  TraceStore(std::string folder, uint64_t most_bytes, const SecretHash::Secret& secret)
      : folder_(std::move(folder)), most_bytes_(most_bytes), hash_(secret) {}

  std::string SeenPath(const FileIdentity& identity) const;
  std::string TracePath(const ContentHash& content) const;
  std::optional<ContentHash> Remembered(const FileIdentity& identity) const;
  void Remember(const InputContent& content, int64_t seen_ns) const;

  const std::string folder_;
  const uint64_t most_bytes_;
  const SecretHash hash_;
};

}  // namespace borescope::internal
