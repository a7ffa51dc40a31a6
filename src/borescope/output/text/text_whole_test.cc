// Whatever the shape of a table and the width of the terminal, all of it is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "borescope/output/text/text_layout.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

// Each cell begins with a tag of its own, so short that no cut takes it away.
std::string TagOf(size_t row, size_t column) {
  return "r" + std::to_string(row) + "c" + std::to_string(column);
}

int64_t NumberOf(size_t row, size_t column) {
  return static_cast<int64_t>(10'000'000 + column * 1000 + row);
}

// A name, or prose.
std::string RandomText(std::mt19937& random, size_t row, size_t column) {
  constexpr size_t kLengths[] = {1, 8, 18, 23, 30, 50, 110, 400};
  std::string text = TagOf(row, column) + std::string(kLengths[random() % 8], 'x');
  if (random() % 3 == 0) {
    for (size_t at = 7; at < text.size(); at += 7) {
      text[at] = ' ';
    }
  }
  return text;
}

void AddRandomColumn(std::mt19937& random, size_t rows, size_t at, Table& table) {
  const std::string name = "h" + std::to_string(at) + std::string(random() % 10, 'n');
  const Role role = random() % 2 == 0 ? Role::kKey : Role::kDerived;
  const bool is_text = random() % 4 != 0;
  const bool is_missing = random() % 8 == 0;
  Column& column =
      is_text ? AddString(table, name, role, "") : AddInt(table, name, Unit::kNone, role, "");
  for (size_t row = 0; row < rows; ++row) {
    if (is_missing || random() % 10 == 0) {
      PushMissing(column);
    } else if (is_text) {
      Push(column, RandomText(random, row, at));
    } else {
      Push(column, NumberOf(row, at));
    }
  }
}

Table RandomTable(std::mt19937& random) {
  Table table{"t", "Title", {}};
  const size_t rows = 1 + random() % 6;
  const size_t columns = 1 + random() % 9;
  for (size_t at = 0; at < columns; ++at) {
    AddRandomColumn(random, rows, at, table);
  }
  return table;
}

// Names of columns and tags and numbers of cells that `text` has not.
std::string LostIn(std::string_view text, const Table& table) {
  std::string lost;
  for (size_t at = 0; at < table.columns.size(); ++at) {
    const Column& column = table.columns[at];
    lost += text.find(column.name) == std::string_view::npos ? " " + column.name : "";
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string cell =
          column.IsNumber() ? std::to_string(NumberOf(row, at)) : TagOf(row, at);
      const bool is_there = column.IsMissing(row) || text.find(cell) != std::string_view::npos;
      lost += is_there ? "" : " " + cell;
    }
  }
  return lost;
}

// Without escape sequences.
std::string PlainText(std::string text) {
  for (size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  return text;
}

size_t WidestLine(std::string_view text) {
  size_t widest = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, DisplayWidth(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

TEST(LayOutTable, LosesNoRowNoColumnAndNoNote) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const Table table = RandomTable(random);
    const size_t width = 40 + random() % 100;
    RowBars bars{"bars", std::vector<double>(table.rows(), 0.5),
                 std::vector<Tone>(table.rows(), Tone::kCompute)};
    const bool has_bars = random() % 2 == 0;
    const std::string text =
        PlainText(LayOutTable(table, {width, has_bars}, has_bars ? &bars : nullptr));
    ASSERT_EQ(LostIn(text, table), "") << "round " << round << ", width " << width << '\n' << text;
    ASSERT_LE(WidestLine(text), width) << "round " << round << '\n' << text;
  }
}

// A table of long names that only their middle distinguishes, with numbers and prose.
Table TableOfNames(std::mt19937& random) {
  Table table{"t", "Title", {}};
  const size_t rows = 4 + random() % 4;  // of fewer, names may be beside each other
  const std::string around(25 + random() % 300, 'x');
  Column& name = AddString(table, "h0", Role::kKey, "");
  for (size_t row = 0; row < rows; ++row) {
    Push(name, around + "_" + TagOf(row, 0) + "_" + around);
  }
  const size_t numbers = random() % 30;
  for (size_t at = 1; at <= numbers; ++at) {
    Column& column = AddInt(table, "h" + std::to_string(at), Unit::kNone, Role::kSum, "");
    for (size_t row = 0; row < rows; ++row) {
      Push(column, NumberOf(row, at));
    }
  }
  if (random() % 2 == 0) {
    Column& help = AddString(table, "help", Role::kDerived, "");
    for (size_t row = 0; row < rows; ++row) {
      Push(help, TagOf(row, numbers + 1) + " and a remark on it");
    }
  }
  return table;
}

TEST(LayOutTable, KeepsLongNamesApart) {
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    const Table table = TableOfNames(random);
    const size_t width = 40 + random() % 100;
    std::string text = LayOutTable(table, {width, false});
    ASSERT_LE(WidestLine(text), width) << "round " << round << '\n' << text;
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });  // tags may be wrapped
    ASSERT_EQ(LostIn(text, table), "") << "round " << round << ", width " << width << '\n'
                                       << LayOutTable(table, {width, false});
  }
}

// A letter that no other cell has: how often it is in a text says how much of the cell is shown.
std::string LetterOf(size_t cell) {
  constexpr size_t kFirst = 0x4E8;  // Cyrillic, Armenian: one cell wide
  const size_t value = kFirst + cell;
  return {static_cast<char>(0xC0 | (value >> 6)), static_cast<char>(0x80 | (value & 0x3F))};
}

constexpr size_t kMostLetters = 70;

// A name of words as those of kernels, or one word.
std::string NameOfLetter(std::mt19937& random, const std::string& letter) {
  constexpr std::string_view kBetween[] = {"::", "_", ", ", "<", "("};
  constexpr size_t kLengths[] = {3, 20, 26, 34, 60, 90, 130, 300};
  const size_t length = kLengths[random() % std::size(kLengths)];
  const bool has_words = random() % 4 != 0;
  std::string name;
  for (size_t i = 0; i < length; ++i) {
    name += letter;
    if (has_words && random() % 8 == 0) name += kBetween[random() % std::size(kBetween)];
  }
  return name;
}

Table TableOfLetters(std::mt19937& random) {
  Table table{"t", "Title", {}};
  const size_t rows = 1 + random() % 7;
  const size_t texts = 1 + random() % 3;
  size_t letter = 0;
  for (size_t at = 0; at < texts && letter + rows < kMostLetters; ++at) {
    Column& column = AddString(table, "h" + std::to_string(at), Role::kKey, "");
    for (size_t row = 0; row < rows; ++row) {
      Push(column, NameOfLetter(random, LetterOf(letter++)));
    }
  }
  const size_t numbers = random() % 16;
  for (size_t at = 0; at < numbers; ++at) {
    Column& column =
        AddInt(table, "n" + std::to_string(at) + "_ns", Unit::kNanoseconds, Role::kMax, "");
    for (size_t row = 0; row < rows; ++row) {
      Push(column, static_cast<int64_t>(10'000'000 + random() % 90'000'000));
    }
  }
  return table;
}

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Letters shown of each cell, and decimals of all numbers.
struct Shown {
  std::vector<size_t> letters;
  size_t digits = 0;
};

Shown ShownIn(const std::string& text, const Table& table) {
  Shown shown;
  size_t letter = 0;
  for (const Column& column : table.columns) {
    for (size_t row = 0; row < table.rows() && !column.IsNumber(); ++row) {
      shown.letters.push_back(CountOf(text, LetterOf(letter++)));
    }
  }
  shown.digits = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }));
  return shown;
}

// Blocks below each other repeat names.
bool HasBlocks(const std::string& text) { return CountOf(text, "\n\n") > 0; }

// Letters of all cells that `wide` shows fewer of than `narrow`; a label may have a mark or two
// more in place of letters, but what was whole stays so.
std::string LostBetween(const Shown& narrow, const Shown& wide, const Table& table) {
  constexpr size_t kMarks = 8;
  std::string lost;
  size_t cell = 0;
  for (const Column& column : table.columns) {
    for (size_t row = 0; row < table.rows() && !column.IsNumber(); ++row, ++cell) {
      const size_t whole = CountOf(std::get<StringValues>(column.values)[row], LetterOf(cell));
      const bool was_whole = narrow.letters[cell] == whole;
      const size_t least =
          was_whole ? whole : narrow.letters[cell] - std::min(narrow.letters[cell], kMarks);
      if (wide.letters[cell] < least) {
        lost += " cell " + std::to_string(cell) + ": " + std::to_string(narrow.letters[cell]) +
                " then " + std::to_string(wide.letters[cell]) + " of " + std::to_string(whole);
      }
    }
  }
  return lost + (wide.digits < narrow.digits ? " digits" : "");
}

TEST(LayOutTable, AWiderTerminalShowsNoLessOfAnyCell) {
  std::mt19937 random(17);
  size_t compared = 0;
  for (int round = 0; round < 60; ++round) {
    const Table table = TableOfLetters(random);
    const RowBars bars{"bars", std::vector<double>(table.rows(), 0.5),
                       std::vector<Tone>(table.rows(), Tone::kCompute)};
    const RowBars* const or_none = random() % 2 == 0 ? &bars : nullptr;
    std::optional<Shown> before;
    for (size_t width = 60 + round % 2; width <= 240; width += 2) {
      const std::string text = PlainText(LayOutTable(table, {width, false}, or_none));
      ASSERT_LE(WidestLine(text), width) << text;
      if (HasBlocks(text)) {
        continue;
      }
      Shown now = ShownIn(text, table);
      if (before.has_value()) {
        ++compared;
        ASSERT_EQ(LostBetween(*before, now, table), "")
            << "round " << round << ", width " << width << '\n'
            << LayOutTable(table, {width - 2, false}, or_none) << '\n'
            << text;
      }
      before = std::move(now);
    }
  }
  EXPECT_GT(compared, 3'000U);
}

}  // namespace
}  // namespace borescope::internal
