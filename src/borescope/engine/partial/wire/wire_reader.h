// WireReader: a message of Protocol Buffers, field by field. What cannot be read ends the reading
// of the whole document: the place and cause of the first fault are in a WireFault that all
// readers of one document share, and from then on every reader is at its end. So that code which
// reads need not look for errors after each field, only once at the end.
//
// Views point into the bytes that were given. Not thread-safe.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal::wire {

struct WireFault {
  const char* begin = nullptr;  // of the document
  size_t place = 0;             // byte of the document
  std::string cause;            // empty: no fault

  bool any() const { return !cause.empty(); }
};

class WireReader {
 public:
  // The whole document. `fault` outlives the reader.
  WireReader(std::string_view document, WireFault& fault);

  // Goes to the next field; false at the end of the message, and after a fault.
  bool Next();
  uint32_t field() const { return in_.tag(); }
  // REQUIRES of all that follow: Next was true, and one of them is called for each field.
  void Skip();
  uint64_t Number();
  int64_t Signed();
  bool Flag() { return Number() != 0; }
  std::string_view Bytes();
  std::string Text() { return std::string(Bytes()); }
  WireReader Message();
  // What is left of the message; all of it before the first Next.
  std::string_view rest() const { return {in_.data().data(), in_.data().size()}; }
  // Repeated numbers, packed or one by one, are appended.
  void Append(std::vector<int64_t>& to);
  void Append(std::vector<uint32_t>& to);
  void Append(std::vector<double>& to);

  // Something is wrong with the current field, or with the message if it has been read.
  void Fail(std::string cause);

 private:
  WireReader(WireFault& fault, protozero::data_view message);

  template <class Value, class Get>
  Value Take(protozero::pbf_wire_type type, Get get);
  // The cells of a packed field, read by `decode` from `[place, end)`.
  template <class Value, class Decode>
  void AppendVarints(std::vector<Value>& to, Decode decode);

  protozero::pbf_reader in_;
  const char* at_;  // where the current field begins
  WireFault* fault_;
};

}  // namespace borescope::internal::wire
