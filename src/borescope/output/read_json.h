// Reads the tables and diagnostics that WriteJson wrote, of this schema and of the one before
// (docs/formats/table-json.md). Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// The values of a JSON text that must have a certain form, with the byte of what has another.
// Pure; any thread.

// A member of an object that its reader knows.
struct JsonMember {
  std::string_view key;
  bool is_required = true;
  std::string_view value = {};  // as text; empty where the object has no such member
};

// Values are given as parts of the text, as JsonCursor gives them. The text outlives this.
class JsonValues {
 public:
  explicit JsonValues(std::string_view text) : text_(text) {}

  // Whether the whole text is one value of JSON. REQUIRED before everything else.
  Result<void> Check() const;

  // Each of these fails with kCorrupt where the value has another form.
  //
  // Passes over members that are not listed. Of those that are listed none may be there twice.
  Result<void> Members(std::string_view object, std::span<JsonMember> members) const;
  Result<void> Elements(std::string_view array,
                        const std::function<Result<void>(std::string_view)>& read) const;
  // Valid UTF-8 without lone surrogates.
  Result<std::string> Text(std::string_view value) const;
  Result<int64_t> Int(std::string_view value) const;
  Result<uint64_t> Uint(std::string_view value) const;
  Result<double> Double(std::string_view value) const;
  Result<bool> Bool(std::string_view value) const;

  // The cause, at the byte where `at` begins.
  Error Fault(std::string_view at, std::string_view cause) const;
  // "'abc' is no number", at its byte.
  Error NotA(std::string_view value, std::string_view what) const;

 private:
  Error FaultAt(size_t offset, std::string_view cause) const;

  std::string_view text_;
};

// Whatever the text is, the result is a document that every writer can write, or an error that
// names the byte: kUnsupportedFormat for other JSON and for schemas that are not known, kCorrupt
// for damage. Members that are not known are passed over, and so are tones and palettes.
//
// What WriteJson makes of the result is what it made of the original. Columns of schema 1 have the
// role kDerived, as it has none.
Result<Document> ReadJson(std::string_view json);

}  // namespace borescope::internal
