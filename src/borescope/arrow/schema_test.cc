// The metadata of schemas, and schemas without arrays.
#include <gtest/gtest.h>

#include "borescope/arrow/arrow_testing.h"
#include "borescope/base/version.h"

namespace borescope::internal {
namespace {

using testkit::HeldSchema;
using testkit::ReadMetadata;
using testkit::TableOfAllTypes;
using Pairs = std::map<std::string, std::string>;

TEST(ArrowSchema, OfATable) {
  HeldSchema schema;
  ExportSchema(TableOfAllTypes(0, false), &schema);  // the table is gone at once
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_STREQ(schema.name, "");
  EXPECT_EQ(schema.n_children, 4);
  EXPECT_EQ(schema.dictionary, nullptr);
  EXPECT_EQ(ReadMetadata(schema), (Pairs{{"borescope:table", "kernels"},
                                         {"borescope:title", "Device time per kernel"},
                                         {"borescope:version", std::string(Version())}}));
}

TEST(ArrowSchema, OfColumns) {
  HeldSchema schema;
  ExportSchema(TableOfAllTypes(3, true), &schema);
  EXPECT_STREQ(schema.children[0]->name, "dur_ns");
  EXPECT_EQ(ReadMetadata(*schema.children[0]), (Pairs{{"borescope:title", "dur_ns"},
                                                      {"borescope:unit", "ns"},
                                                      {"borescope:role", "sum"},
                                                      {"borescope:doc", "How long."}}));
  EXPECT_EQ(ReadMetadata(*schema.children[1]).at("borescope:unit"), "share");
  EXPECT_EQ(ReadMetadata(*schema.children[1]).at("borescope:role"), "derived");
}

TEST(ArrowSchema, WhatIsEmptyHasNoKey) {
  HeldSchema schema;
  ExportSchema(TableOfAllTypes(3, true), &schema);
  EXPECT_EQ(ReadMetadata(*schema.children[3]),
            (Pairs{{"borescope:title", "is_tensor"}, {"borescope:role", "max"}}));
}

TEST(ArrowSchema, TextsAreUtf8) {
  Table table{"t", "title \xff", {}};
  AddInt(table, "n\xfe", Unit::kNone, Role::kKey, "doc \xc3");
  HeldSchema schema;
  ExportSchema(table, &schema);
  EXPECT_EQ(ReadMetadata(schema).at("borescope:title"), "title \uFFFD");
  EXPECT_STREQ(schema.children[0]->name, "n\uFFFD");
  EXPECT_EQ(ReadMetadata(*schema.children[0]).at("borescope:doc"), "doc \uFFFD");
}

TEST(ArrowSchema, IsTheSameWhateverIsMissing) {
  HeldSchema with;
  HeldSchema without;
  ExportSchema(TableOfAllTypes(3, true), &with);
  ExportSchema(TableOfAllTypes(3, false), &without);
  for (int column = 0; column < 4; ++column) {
    EXPECT_STREQ(with.children[column]->format, without.children[column]->format);
    EXPECT_EQ(with.children[column]->flags, without.children[column]->flags);
  }
}

TEST(ArrowSchema, AColumnMovedOutOutlivesTheSchema) {
  HeldSchema schema;
  HeldSchema column;
  HeldSchema dictionary;
  ExportSchema(TableOfAllTypes(3, true), &schema);
  column.MoveFrom(*schema.children[2]);
  dictionary.MoveFrom(*column.dictionary);
  schema.Release();
  EXPECT_EQ(schema.release, nullptr);
  EXPECT_STREQ(column.name, "name");
  EXPECT_EQ(ReadMetadata(column).at("borescope:role"), "key");
  column.Release();
  EXPECT_STREQ(dictionary.format, "u");
}

}  // namespace
}  // namespace borescope::internal
