#include "borescope/ingest/events/text_reader.h"

#include <algorithm>
#include <cstring>

#include "borescope/ingest/events/event_parser.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal {

bool StartsEvent(std::string_view text) {
  if (!text.starts_with('{')) {
    return false;
  }
  const std::string_view rest = text.substr(FindNonSpace(text, 1));
  for (const std::string_view key :
       {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\""}) {
    if (rest.starts_with(key)) {
      return true;
    }
  }
  return false;
}

// A guess, fast and nearly always right; each is proved afterwards when the parser finds that every
// chunk ends exactly between two events.
size_t FindEventBoundary(std::string_view text) {
  for (size_t comma = text.rfind(','); comma != std::string_view::npos && comma > 0;
       comma = text.rfind(',', comma - 1)) {
    size_t before = comma - 1;
    while (before > 0 && IsSpace(text[before])) {
      --before;
    }
    const size_t brace = FindNonSpace(text, comma + 1);
    if (text[before] == '}' && StartsEvent(text.substr(brace))) {
      return brace;
    }
  }
  return std::string_view::npos;
}

namespace {

constexpr size_t kWindowBlock = 64 * 1024;

}  // namespace

TextReader::TextReader(OpenedSource source, Progress progress)
    : source_(std::move(source)), progress_(std::move(progress)) {}

size_t TextReader::ReadInto(char* out, size_t capacity) {
  if (at_end_ || capacity == 0) {
    return 0;
  }
  Result<size_t> got = ReadFully(*source_.bytes, out, capacity);
  if (!got.ok()) {
    error_ = got.error();
    at_end_ = true;
    return 0;
  }
  at_end_ = *got < capacity;
  inflated_ += *got;
  if (IsBomb()) {
    error_ = Error{ErrorCode::kCorrupt,
                   "the compressed text grows more than " + std::to_string(kMaxExpansion) +
                       " times, as no trace does",
                   "inflate it first if it is one"};
    at_end_ = true;
  }
  if (progress_) {
    progress_(source_.bytes->stored_bytes(), source_.bytes->stored_total());
  }
  return *got;
}

bool TextReader::IsBomb() const {
  return source_.inflating != nullptr && inflated_ > kExpansionFloor &&
         inflated_ / kMaxExpansion > source_.bytes->stored_bytes();
}

bool TextReader::Fill() {
  window_.erase(0, window_begin_);
  window_begin_ = 0;
  const size_t old_size = window_.size();
  // Growing by a share of the current size keeps long scans linear.
  const size_t more = std::max(kWindowBlock, old_size / 2);
  window_.resize(old_size + more);
  const size_t got = ReadInto(window_.data() + old_size, more);
  window_.resize(old_size + got);
  return got != 0;
}

void TextReader::Consume(size_t size) {
  window_begin_ += size;
  byte_ += size;
}

char TextReader::SkipSpace() {
  for (;;) {
    Consume(FindNonSpace(window()));
    if (!window().empty()) {
      return window().front();
    }
    if (!Fill()) {
      return 0;
    }
  }
}

void TextReader::SkipByteOrderMark() {
  SkipSpace();
  if (window().starts_with(kByteOrderMark)) {
    Consume(kByteOrderMark.size());
  }
}

TextChunk TextReader::NewChunk(size_t capacity) {
  if (!spare_.empty() && spare_.back().capacity >= capacity) {
    TextChunk chunk = std::move(spare_.back());
    spare_.pop_back();
    return chunk;
  }
  TextChunk chunk;
  chunk.capacity = capacity;
  chunk.buffer = std::make_unique_for_overwrite<char[]>(capacity + kTextPadding);
  return chunk;
}

// The cut depends only on the text and `target`, not on the size of the window: the same file gives
// the same chunks however often text was put back.
TextChunk TextReader::NextChunk(size_t target) {
  for (size_t capacity = target;; capacity *= 2) {
    TextChunk chunk = NewChunk(capacity);
    const size_t waiting = std::min(capacity, window().size());
    const bool drained = waiting == window().size();
    std::memcpy(chunk.buffer.get(), window().data(), waiting);
    const size_t fresh = drained ? ReadInto(chunk.buffer.get() + waiting, capacity - waiting) : 0;
    chunk.size = waiting + fresh;
    chunk.byte = byte_;
    chunk.is_last = drained && at_end_ && chunk.size < capacity;
    const size_t cut = chunk.is_last ? std::string_view::npos : FindEventBoundary(chunk.text());
    const bool is_found = cut != std::string_view::npos;
    const bool is_done = is_found || chunk.is_last || chunk.size >= kLongestEvent;
    const size_t used = !is_done ? 0 : is_found ? cut : chunk.size;
    if (drained) {
      window_.assign(chunk.text().substr(used));
      window_begin_ = 0;
      byte_ += used;
    } else {
      Consume(used);
    }
    if (is_done) {
      chunk.size = used;
      std::memset(chunk.buffer.get() + chunk.size, ' ', kTextPadding);
      return chunk;
    }
  }
}

void TextReader::PushBack(const std::vector<std::string_view>& pieces) {
  std::string text;
  for (const std::string_view piece : pieces) {
    text += piece;
  }
  byte_ -= text.size();
  text += window();
  window_.swap(text);
  window_begin_ = 0;
}

void TextReader::Recycle(TextChunk chunk) {
  if (chunk.capacity == kChunkBytes && spare_.size() < 8) {
    spare_.push_back(std::move(chunk));
  }
}

double TextReader::stored_share() const {
  const auto done = static_cast<double>(source_.bytes->stored_bytes());
  const uint64_t total = source_.bytes->stored_total();
  return total == 0 ? 0 : done / static_cast<double>(total);
}

uint64_t TextReader::stored_bytes() const {
  const uint64_t total = source_.bytes->stored_total();
  return total != 0 ? total : source_.bytes->stored_bytes();
}

std::string_view TextReader::damage() const {
  return source_.inflating == nullptr ? std::string_view() : source_.inflating->damage();
}

}  // namespace borescope::internal
