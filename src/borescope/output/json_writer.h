// JsonWriter: JSON to a Sink, piece by piece, in the order of the calls. It puts the commas; the
// caller keeps containers and keys balanced (checked in debug builds) and may break lines between
// values.
//
// Numbers: integers exactly, doubles as the shortest text that reads back the same, with a fraction
// or an exponent so that they stay doubles; NaN and infinities are null. Strings are valid UTF-8,
// whatever they were before. Failures of the sink are kept; Finish returns them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

class JsonWriter {
 public:
  // `printable`: what a terminal would obey or hide (C1 controls, marks of direction) is escaped as
  // \uXXXX, too, which readers of JSON turn back.
  explicit JsonWriter(Sink& sink, bool printable = false) : sink_(sink), printable_(printable) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }

  // REQUIRES: inside an object; a value or container follows.
  void Key(std::string_view key);

  void String(std::string_view text);
  // A key and its text. REQUIRES: inside an object.
  void Member(std::string_view key, std::string_view text) {
    Key(key);
    String(text);
  }
  void Int(int64_t value);
  void Uint(uint64_t value);
  void Double(double value);
  void Bool(bool value);
  void Null();

  // Ends the line before the next value or bracket and indents the new one by `indent` blanks.
  void BreakLine(int indent) { break_indent_ = indent; }

  // Hands over what is left and reports the first failure. REQUIRES: every container is closed.
  Result<void> Finish();

 private:
  void Begin(char bracket);
  void End(char bracket);
  void BeforeValue();
  void PutBreak();
  void Flush();

  Sink& sink_;
  bool printable_;
  std::string buffer_;
  Result<void> status_;
  int depth_ = 0;
  int break_indent_ = -1;  // a line break is due when >= 0
  bool needs_comma_ = false;
};

// Appends `text` as a JSON string: in quotation marks, escaped, valid UTF-8 whatever it was before.
// What a build server would obey in the log of a step ("##vso[") is escaped, too: readers of JSON
// get it, and servers see none.
void AppendJsonString(std::string& json, std::string_view text);

// The shortest text that reads back as the same double: "0.1", "2.0", "1e+30". REQUIRES: finite.
std::string ShortestDouble(double value);

}  // namespace borescope::internal
