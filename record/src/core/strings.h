// Texts and names that records refer to by number, known once for the process and its forks.
//
// They are kept in memory besides the log: a program may register a text long before its first
// record, and a child made by fork uses the handles of its parent in a log of its own. Nothing is
// ever taken back, so that a handle stays valid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/recording/log_format.h"

namespace borescope::inject {

struct Entry {
  Entry* next;
  uint32_t id;      // of a string, a domain or a function
  uint32_t domain;  // with kind and number: what the text belongs to
  uint64_t number;
  uint32_t kind;
  uint32_t length;
  uint32_t words;
  uint32_t hash;

  // As it is in the log, after this.
  uint64_t* record() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* record() const { return reinterpret_cast<const uint64_t*>(this + 1); }
};

// A string; the same text has the same number. A null pointer where memory has run out.
const Entry* InternString(const char* text, size_t length);

// Whether the text of a string is this one.
bool IsText(const Entry* string, const char* text, size_t length);

// The text of a string.
const char* StringText(const Entry* string);

// A domain; the same name has the same number, whichever copy of NVTX asks.
const Entry* InternDomain(const char* text, size_t length);

// The name of a category, thread or resource.
const Entry* InternName(recording::NameKind kind, uint32_t domain, uint64_t number,
                        const char* text, size_t length);

// A function of an interpreter; the file is a string.
const Entry* InternCode(const char* name, size_t length, uint32_t file, uint32_t line);

// Writes all of them into a log that was just opened.
void WriteKnownStrings(uint64_t* (*reserve)(size_t words));

}  // namespace borescope::inject
