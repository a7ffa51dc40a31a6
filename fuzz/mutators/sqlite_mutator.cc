// Of the pages of a SQLite database (https://sqlite.org/fileformat2.html): fields of the header and
// of the trees, pointers to cells, and whole pages.

#include <algorithm>
#include <cstdint>

#include "mutator.h"

namespace fuzz {
namespace {

constexpr size_t kHeaderBytes = 100;
constexpr size_t kPageSizeAt = 16;

// Fields of the header of the file: where, and how many bytes.
struct Field {
  size_t at;
  size_t bytes;
};
constexpr Field kHeaderFields[] = {{16, 2}, {18, 1}, {19, 1}, {20, 1}, {21, 1}, {24, 4},
                                   {28, 4}, {32, 4}, {36, 4}, {40, 4}, {44, 4}, {52, 4},
                                   {56, 4}, {60, 4}, {64, 4}, {92, 4}, {96, 4}};
constexpr uint8_t kPageTypes[] = {2, 5, 10, 13, 0, 255};
constexpr uint64_t kNumbers[] = {0,    1,     2,     3,          0x7f,       0x80,
                                 0xff, 0x100, 0x200, 0x7fff,     0xffff,     0x10000,
                                 4096, 8192,  65535, 0x7fffffff, 0x80000000, 0xffffffff};

class PageMutation {
 public:
  PageMutation(std::string& bytes, Random& random) : bytes_(bytes), random_(random) {
    page_size_ = At(kPageSizeAt) * 256 + At(kPageSizeAt + 1);
    page_size_ = page_size_ == 1 ? 65536 : std::max<size_t>(page_size_, 512);
  }

  void Make() {
    switch (random_.Below(6)) {
      case 0: {
        const Field field = random_.Pick(kHeaderFields);
        return Put(field.at, field.bytes, random_.Pick(kNumbers));
      }
      case 1:
        return ChangeTree();
      case 2:
        return ChangeCellPointer();
      case 3:
        return CopyPage();
      default:
        return ChangeCell();
    }
  }

 private:
  uint8_t At(size_t at) const { return at < bytes_.size() ? static_cast<uint8_t>(bytes_[at]) : 0; }

  // Big endian, as far as the file goes.
  void Put(size_t at, size_t size, uint64_t number) {
    for (size_t i = 0; i < size && at + i < bytes_.size(); ++i) {
      bytes_[at + i] = static_cast<char>(number >> (8 * (size - 1 - i)));
    }
  }

  size_t Pages() const { return bytes_.size() / page_size_; }
  // Where the header of the tree of a page begins.
  size_t TreeOf(size_t page) const { return page == 0 ? kHeaderBytes : page * page_size_; }
  size_t CellsOf(size_t tree) const { return At(tree + 3) * 256U + At(tree + 4); }
  size_t PointersOf(size_t tree) const {
    const uint8_t type = At(tree);
    return tree + (type == 2 || type == 5 ? 12 : 8);
  }

  void ChangeTree() {
    const size_t tree = TreeOf(random_.Below(Pages()));
    if (random_.Below(3) == 0) {
      return Put(tree, 1, random_.Pick(kPageTypes));
    }
    static constexpr Field kFields[] = {{1, 2}, {3, 2}, {5, 2}, {7, 1}, {8, 4}};
    const Field field = random_.Pick(kFields);
    Put(tree + field.at, field.bytes, random_.Pick(kNumbers));
  }

  void ChangeCellPointer() {
    const size_t tree = TreeOf(random_.Below(Pages()));
    const size_t pointers = PointersOf(tree);
    const size_t cells = CellsOf(tree);
    const size_t from = pointers + 2 * random_.Below(cells);
    const size_t to = pointers + 2 * random_.Below(cells);
    const uint64_t number =
        random_.Below(2) == 0 ? At(from) * 256U + At(from + 1) : random_.Pick(kNumbers);
    Put(to, 2, number);
  }

  // One of its first bytes: the length of the record, its number, or the types of its values.
  void ChangeCell() {
    const size_t page = random_.Below(Pages());
    const size_t tree = TreeOf(page);
    const size_t pointer = PointersOf(tree) + 2 * random_.Below(CellsOf(tree));
    const size_t cell = page * page_size_ + At(pointer) * 256U + At(pointer + 1);
    const size_t at = cell + random_.Below(24);
    Put(at, 1, random_.Below(2) == 0 ? random_.Pick(kNumbers) : At(at) + 1U);
  }

  void CopyPage() {
    const size_t from = random_.Below(Pages()) * page_size_;
    const size_t to = random_.Below(Pages()) * page_size_;
    const std::string page = bytes_.substr(std::min(from, bytes_.size()), page_size_);
    if (to < bytes_.size()) {
      bytes_.replace(to, page.size(), page);
    }
  }

  std::string& bytes_;
  Random& random_;
  size_t page_size_ = 0;
};

}  // namespace

std::string MutateSqlite(std::string_view input, Random& random) {
  std::string bytes(input);
  for (size_t changes = 1 + random.Below(3); changes > 0; --changes) {
    PageMutation(bytes, random).Make();
  }
  return bytes;
}

}  // namespace fuzz
