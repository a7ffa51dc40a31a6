#include "borescope/engine/partial/wire/wire_reader.h"

#include <algorithm>
#include <limits>
#include <protozero/varint.hpp>

namespace borescope::internal::wire {

using protozero::pbf_wire_type;

WireReader::WireReader(std::string_view document, WireFault& fault)
    : WireReader(fault, protozero::data_view(document.data(), document.size())) {
  fault.begin = document.data();
}

WireReader::WireReader(WireFault& fault, protozero::data_view message)
    : in_(message), at_(message.data()), fault_(&fault) {}

void WireReader::Fail(std::string cause) {
  if (!fault_->any()) {
    fault_->place = static_cast<size_t>(at_ - fault_->begin);
    fault_->cause = std::move(cause);
  }
}

bool WireReader::Next() {
  if (fault_->any()) {
    return false;
  }
  at_ = in_.data().data();
  try {
    return in_.next();
  } catch (const protozero::exception&) {
    Fail("no field can be read here");
    return false;
  }
}

template <class Value, class Get>
Value WireReader::Take(pbf_wire_type type, Get get) {
  if (in_.wire_type() != type) {
    Fail("field " + std::to_string(field()) + " has another type than it should");
    return Value();
  }
  try {
    return get(in_);
  } catch (const protozero::exception&) {
    Fail("field " + std::to_string(field()) + " cannot be read");
    return Value();
  }
}

void WireReader::Skip() {
  Take<bool>(in_.wire_type(), [](protozero::pbf_reader& in) {
    in.skip();
    return true;
  });
}

uint64_t WireReader::Number() {
  return Take<uint64_t>(pbf_wire_type::varint,
                        [](protozero::pbf_reader& in) { return in.get_uint64(); });
}

int64_t WireReader::Signed() {
  return Take<int64_t>(pbf_wire_type::varint,
                       [](protozero::pbf_reader& in) { return in.get_sint64(); });
}

std::string_view WireReader::Bytes() {
  const auto view = Take<protozero::data_view>(
      pbf_wire_type::length_delimited, [](protozero::pbf_reader& in) { return in.get_view(); });
  return {view.data(), view.size()};
}

WireReader WireReader::Message() {
  const std::string_view bytes = Bytes();
  return {*fault_, protozero::data_view(bytes.data(), bytes.size())};
}

template <class Value, class Decode>
void WireReader::AppendVarints(std::vector<Value>& to, Decode decode) {
  if (in_.wire_type() == pbf_wire_type::varint) {
    to.push_back(decode(Number()));
    return;
  }
  const std::string_view bytes = Bytes();
  const char* place = bytes.data();
  const char* const end = place + bytes.size();
  const auto last_bytes = std::count_if(bytes.begin(), bytes.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0x80) == 0;
  });
  to.reserve(to.size() + static_cast<size_t>(last_bytes));
  try {
    while (place != end) {
      to.push_back(decode(protozero::decode_varint(&place, end)));
    }
  } catch (const protozero::exception&) {
    Fail("field " + std::to_string(field()) + " holds a number that cannot be read");
  }
}

void WireReader::Append(std::vector<int64_t>& to) {
  AppendVarints(to, [](uint64_t number) { return protozero::decode_zigzag64(number); });
}

void WireReader::Append(std::vector<uint32_t>& to) {
  AppendVarints(to, [](uint64_t number) {
    // A number beyond 32 bits is the place of nothing.
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(number < kMost ? number : kMost);
  });
}

void WireReader::Append(std::vector<double>& to) {
  if (in_.wire_type() == pbf_wire_type::fixed64) {
    to.push_back(Take<double>(pbf_wire_type::fixed64,
                              [](protozero::pbf_reader& in) { return in.get_double(); }));
    return;
  }
  Take<bool>(pbf_wire_type::length_delimited, [&](protozero::pbf_reader& in) {
    const auto cells = in.get_packed_double();
    to.insert(to.end(), cells.begin(), cells.end());
    return true;
  });
}

}  // namespace borescope::internal::wire
