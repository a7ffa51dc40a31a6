// The values of a JSON text one after the other, each as a whole in memory.
#pragma once

#include <optional>
#include <string_view>

#include "borescope/ingest/events/text_reader.h"

namespace borescope::internal {

// Reads what is between values from the reader itself. Used by one thread at a time.
class ValueStream {
 public:
  explicit ValueStream(TextReader& reader) : reader_(reader) {}

  // The text of the value that comes next, which stays until something is consumed; empty where
  // the text ends before it does. Nothing where brackets do not match or it is too long.
  std::optional<std::string_view> Next();

  void Consume(size_t size) { reader_.Consume(size); }
  // Consumes the value that Next gave.
  void ConsumeValue() { reader_.Consume(size_); }

 private:
  bool HasByte(size_t at);

  TextReader& reader_;
  size_t size_ = 0;
};

}  // namespace borescope::internal
