// Compares what is written with partial.proto: every field that is written is there with its type,
// and every field that is there is written.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/catalog/pack.h"
#include "borescope/engine/partial/partial_samples.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/engine/partial/wire/partial_fields.h"

namespace borescope::internal {
namespace {

struct Field {
  std::string name;
  std::string type;
  bool is_repeated = false;
};

struct Schema {
  std::map<std::string, std::map<uint32_t, Field>> messages;
  std::map<std::string, size_t> enums;  // by name: how many values, numbered from 0
};

// Reads the few forms of lines that the file has.
Schema ReadSchema() {
  const std::regex begin(R"(\s*(message|enum) (\w+) \{)");
  const std::regex field(R"(\s*(optional |repeated )?(\w+) (\w+) = (\d+);)");
  const std::regex value(R"(\s*[A-Z_]+ = (\d+);)");
  Schema schema;
  std::vector<std::string> open;
  std::ifstream file(BORESCOPE_PARTIAL_PROTO);
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, found, begin)) {
      open.push_back(found[2]);
    } else if (std::regex_match(line, found, field)) {
      const auto number = static_cast<uint32_t>(std::stoul(found[4]));
      schema.messages[open.back()][number] = {found[3], found[2], found[1] == "repeated "};
    } else if (std::regex_match(line, found, value)) {
      EXPECT_EQ(std::stoul(found[1]), schema.enums[open.back()]++) << open.back();
    } else if (line.find('}') != std::string::npos) {
      open.pop_back();
    }
  }
  return schema;
}

// What is written of each message, "Column.unit".
class Walker {
 public:
  explicit Walker(const Schema& schema) : schema_(schema) {}

  void Walk(const std::string& message, protozero::data_view bytes) {
    const std::map<uint32_t, Field>& fields = schema_.messages.at(message);
    for (protozero::pbf_reader in(bytes); in.next();) {
      const auto found = fields.find(in.tag());
      ASSERT_NE(found, fields.end()) << message << " has no field " << in.tag();
      const Field& field = found->second;
      seen_.insert(message + "." + field.name);
      EXPECT_EQ(in.wire_type(), WireTypeOf(field)) << message << "." << field.name;
      if (schema_.messages.contains(field.type)) {
        Walk(field.type, in.get_view());
      } else {
        in.skip();
      }
    }
  }
  const std::set<std::string>& seen() const { return seen_; }

 private:
  protozero::pbf_wire_type WireTypeOf(const Field& field) const {
    const bool is_bytes =
        field.type == "bytes" || field.type == "string" || schema_.messages.contains(field.type);
    return is_bytes || field.is_repeated ? protozero::pbf_wire_type::length_delimited
                                         : protozero::pbf_wire_type::varint;
  }

  const Schema& schema_;
  std::set<std::string> seen_;
};

TEST(PartialSchema, StandsForEveryFieldThatIsWritten) {
  if (Packs().empty()) GTEST_SKIP() << "a build without packs";
  const Schema schema = ReadSchema();
  ASSERT_EQ(schema.messages.count("Partial"), 1U);
  Walker walker(schema);
  for (const PartialData& sample :
       {SamplePartial(), SampleOfKernels(Compat::kHta, false), SampleOfKernels(Compat::kNone, true),
        SampleOfReport(), SampleOfCheck()}) {
    ASSERT_TRUE(ParsePartialBody(PartialBody(sample), "sample").ok())
        << ParsePartialBody(PartialBody(sample), "sample").error().Sentence();
    walker.Walk("Partial", PartialBody(sample));
  }
  for (const auto& [message, fields] : schema.messages) {
    for (const auto& [number, field] : fields) {
      EXPECT_TRUE(walker.seen().contains(message + "." + field.name))
          << message << "." << field.name << " is written nowhere";
    }
  }
}

TEST(PartialSchema, HasTheValuesOfEveryEnum) {
  const Schema schema = ReadSchema();
  EXPECT_EQ(schema.enums.at("Unit"), std::size(wire::kUnits));
  EXPECT_EQ(schema.enums.at("Role"), std::size(wire::kRoles));
  EXPECT_EQ(schema.enums.at("Cause"), std::size(wire::kCauses));
  EXPECT_EQ(schema.enums.at("Type"), static_cast<size_t>(wire::CellType::kCount));
}

}  // namespace
}  // namespace borescope::internal
