// Streams: the order of calls, errors, and who outlives whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "borescope/arrow/arrow_testing.h"

namespace borescope::internal {
namespace {

using testkit::Batch;
using testkit::CellsOf;
using testkit::HeldArray;
using testkit::HeldSchema;
using testkit::HeldStream;
using testkit::ReadColumn;
using testkit::TableOfAllTypes;

std::shared_ptr<const Table> SharedTable() {
  return std::make_shared<const Table>(TableOfAllTypes(20, true));
}

TEST(ArrowStream, OneBatchThenTheEnd) {
  HeldStream stream;
  ExportTable(SharedTable(), &stream);
  HeldArray batch;
  EXPECT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.length, 20);
  for (int i = 0; i < 3; ++i) {
    HeldArray end;
    EXPECT_EQ(stream.get_next(&stream, &end), 0);
    EXPECT_EQ(end.release, nullptr);
    EXPECT_EQ(stream.get_last_error(&stream), nullptr);
  }
}

TEST(ArrowStream, TheSchemaCanBeAskedForAtAnyTime) {
  HeldStream stream;
  ExportTable(SharedTable(), &stream);
  HeldArray batch;
  HeldArray end;
  HeldSchema schemas[3];
  EXPECT_EQ(stream.get_schema(&stream, &schemas[0]), 0);
  EXPECT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(stream.get_schema(&stream, &schemas[1]), 0);
  EXPECT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(stream.get_schema(&stream, &schemas[2]), 0);
  for (const HeldSchema& schema : schemas) {
    EXPECT_EQ(schema.n_children, 4);
  }
}

TEST(ArrowStream, AfterReleaseThereAreErrorsOnly) {
  HeldStream stream;
  ExportTable(SharedTable(), &stream);
  stream.Release();
  EXPECT_EQ(stream.release, nullptr);
  HeldArray batch;
  HeldSchema schema;
  EXPECT_EQ(stream.get_next(&stream, &batch), EINVAL);
  EXPECT_EQ(stream.get_schema(&stream, &schema), EINVAL);
  EXPECT_STREQ(stream.get_last_error(&stream), "the stream was released");
}

TEST(ArrowStream, AMovedStreamGoesOn) {
  HeldStream stream;
  ExportTable(SharedTable(), &stream);
  HeldStream moved;
  moved.MoveFrom(stream);
  HeldArray batch;
  EXPECT_EQ(moved.get_next(&moved, &batch), 0);
  EXPECT_EQ(batch.length, 20);
}

TEST(ArrowStream, ColumnsThatDoNotFitTogetherAreAnError) {
  auto table = std::make_shared<Table>(TableOfAllTypes(20, false));
  Push(table->columns[2], "one more");
  HeldStream stream;
  ExportTable(table, &stream);
  HeldArray batch;
  HeldSchema schema;
  EXPECT_EQ(stream.get_next(&stream, &batch), EINVAL);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_STREQ(stream.get_last_error(&stream),
               "table 'kernels': column 'name' has not as many cells as the table has rows");
  EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_EQ(stream.get_last_error(&stream), nullptr);
}

TEST(ArrowStream, MarksThatDoNotFitAreAnError) {
  auto table = std::make_shared<Table>(TableOfAllTypes(20, false));
  table->columns[0].missing = {1};
  HeldStream stream;
  ExportTable(table, &stream);
  HeldArray batch;
  EXPECT_EQ(stream.get_next(&stream, &batch), EINVAL);
}

TEST(ArrowStream, AStreamThatNobodyReadKeepsNothing) {
  std::weak_ptr<const Table> watched;
  {
    HeldStream stream;
    auto table = SharedTable();
    watched = table;
    ExportTable(std::move(table), &stream);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

// Everything that is handed out for one table, each released on its own.
class Pieces {
 public:
  explicit Pieces(std::shared_ptr<const Table> table) : table_(*table), watched_(table) {
    ExportTable(std::move(table), &stream_);
    EXPECT_EQ(stream_.get_schema(&stream_, &schema_), 0);
    EXPECT_EQ(stream_.get_next(&stream_, &batch_), 0);
    ints_.MoveFrom(*batch_.children[0]);
    texts_.MoveFrom(*batch_.children[2]);
    EXPECT_EQ(stream_.get_schema(&stream_, &kept_schema_), 0);
  }

  static constexpr int kCount = 5;
  void Release(int piece) {
    switch (piece) {
      case 0:
        return stream_.Release();
      case 1:
        return schema_.Release();
      case 2:
        return batch_.Release();
      case 3:
        return ints_.Release();
      default:
        return texts_.Release();
    }
  }

  // Reads what is left.
  void Check() const {
    CheckColumn(ints_, 0);
    CheckColumn(texts_, 2);
    if (batch_.release != nullptr) {
      EXPECT_EQ(batch_.children[0]->release, nullptr);
      CheckColumn(*batch_.children[1], 1);
      CheckColumn(*batch_.children[3], 3);
    }
    if (schema_.release != nullptr) {
      EXPECT_STREQ(schema_.children[2]->name, "name");
    }
  }

  bool NeedsTable() const {
    return stream_.release != nullptr || batch_.release != nullptr || ints_.release != nullptr ||
           texts_.release != nullptr;
  }
  bool HasTable() const { return !watched_.expired(); }

 private:
  void CheckColumn(const ArrowArray& array, size_t column) const {
    if (array.release != nullptr) {
      EXPECT_EQ(ReadColumn(*kept_schema_.children[column], array), CellsOf(table_.columns[column]));
    }
  }

  const Table table_;  // a copy to compare with
  std::weak_ptr<const Table> watched_;
  HeldStream stream_;
  HeldSchema schema_;
  HeldSchema kept_schema_;
  HeldArray batch_;
  HeldArray ints_;
  HeldArray texts_;
};

TEST(ArrowStream, PiecesAreReleasedInAnyOrder) {
  std::vector<int> order;
  for (int piece = 0; piece < Pieces::kCount; ++piece) {
    order.push_back(piece);
  }
  do {
    Pieces pieces(SharedTable());
    pieces.Check();
    for (const int piece : order) {
      pieces.Release(piece);
      pieces.Check();
      EXPECT_EQ(pieces.HasTable(), pieces.NeedsTable());
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(ArrowStream, ADictionaryMovedOutOutlivesItsColumn) {
  auto table = SharedTable();
  const std::weak_ptr<const Table> watched = table;
  Batch batch;
  testkit::Export(std::move(table), batch);
  HeldArray dictionary;
  dictionary.MoveFrom(*batch.array.children[2]->dictionary);
  batch.array.Release();
  EXPECT_TRUE(watched.expired());
  ASSERT_EQ(dictionary.length, 6);  // five texts, and the empty one of missing cells
  EXPECT_EQ(testkit::TextAt<int32_t>(dictionary, 0), "text 0");
}

}  // namespace
}  // namespace borescope::internal
