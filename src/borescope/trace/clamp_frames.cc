#include <algorithm>
#include <iterator>

#include "borescope/base/each_row.h"
#include "borescope/trace/repaired_times.h"

namespace borescope::internal {
namespace {

// More than a stack of Python has, and than rows are looked at again, so that no input makes this
// slow.
constexpr ptrdiff_t kMostDepth = 1024;
constexpr uint64_t kLooksPerRow = 8;

// Functions of Python are named by their file and line, modules by their class.
bool IsOfC(std::string_view name) {
  return name.find(".py(") == std::string_view::npos && !name.starts_with("nn.Module");
}

class Clamp {
 public:
  Clamp(HostEvents& host, const FrameNumbers& numbers, const StringPool& strings,
        Diagnostics& diagnostics)
      : host_(host), numbers_(numbers), strings_(strings), diagnostics_(diagnostics) {}

  void Thread(uint32_t first_row, uint32_t end_row) {
    first_row_ = first_row;
    end_row_ = end_row;
    looks_left_ = kLooksPerRow * (end_row - first_row);
    last_end_ns_ = kMissing;
    last_cut_ns_ = kMissing;
    open_.clear();
    for (const uint32_t row : EachRow(first_row, end_row)) {
      if (host_.kind[row] == HostKind::kPython) {
        Open(row);
      }
    }
  }

  // Frames of a track where events may overlap have no caller there.
  void Overlapping(uint32_t first_row, uint32_t end_row) {
    for (uint32_t row = first_row; row < end_row; ++row) {
      if (host_.kind[row] == HostKind::kPython) {
        host_.detail[row] = kNoDetail;
      }
    }
  }

  bool any() const { return any_; }

 private:
  struct Frame {
    uint32_t row;
    int32_t id;
    int64_t end_ns;
    bool is_cut;  // it had not ended when its caller did
  };

  void Open(uint32_t row) {
    const int64_t begin_ns = host_.ts_ns[row];
    while (!open_.empty() && open_.back().end_ns <= begin_ns) {
      open_.pop_back();
    }
    const uint32_t detail = host_.detail[row];
    const FrameNumbers::Row number =
        detail == kNoDetail ? FrameNumbers::Row() : numbers_.rows[detail];
    host_.detail[row] = kNoDetail;
    int64_t end_ns = host_.end_ns({row});
    if (!open_.empty() && number.caller != FrameNumbers::kNone &&
        open_.back().id != number.caller) {
      EndReturned(number.caller, row);
    } else if (!open_.empty() && detail != kNoDetail && number.caller == FrameNumbers::kNone) {
      EndRepeated(row);
    }
    // The caller, unless it has returned.
    const bool is_cut =
        !open_.empty() && end_ns > open_.back().end_ns && end_ns - open_.back().end_ns > Rounding();
    if (is_cut) {
      end_ns = open_.back().end_ns;
      Cut(row, end_ns, true);
    }
    open_.push_back({row, number.id, end_ns, is_cut});
  }

  // Frames in the caller that had returned by the time it called the next one.
  void EndReturned(int32_t caller, uint32_t row) {
    const auto outermost = open_.rbegin() + std::min(kMostDepth, std::ssize(open_));
    const auto found = std::find_if(open_.rbegin(), outermost,
                                    [&](const Frame& frame) { return frame.id == caller; });
    if (found == outermost && caller != FrameNumbers::kNobody) {
      return;  // of another thread, or not recorded
    }
    const auto inner = found == outermost ? outermost.base() : found.base();
    const int64_t last_ns = LastEnd();
    const int64_t end_ns = host_.end_ns({row});
    const bool is_impossible = std::any_of(inner, open_.end(), [&](const Frame& frame) {
      return frame.is_cut || frame.end_ns >= last_ns || frame.end_ns < end_ns;
    });
    if (!is_impossible) {
      return;  // ends that are somewhat late are not unusual, and do little harm
    }
    Return(static_cast<size_t>(inner - open_.begin()), row);
  }

  // Ends the open frames from the `first` on, which had returned when a frame began: with the last
  // event in each that had ended by then, or, if there is none, where that frame begins. Rows are
  // looked at once, or, where frames further out have missed their returns, too, a few times.
  void Return(size_t first, uint32_t row) {
    const int64_t begin_ns = host_.ts_ns[row];
    int64_t inside_ns = kMissing;
    uint32_t until = row;
    while (open_.size() > first) {
      const Frame frame = open_.back();
      for (uint32_t inner = frame.row + 1; inner < until && looks_left_ > 0; ++inner) {
        --looks_left_;
        const int64_t end_ns = host_.end_ns({inner});
        inside_ns = end_ns <= begin_ns ? std::max(inside_ns, end_ns) : inside_ns;
      }
      inside_ns = inside_ns == kMissing ? begin_ns : inside_ns;
      Cut(frame.row, inside_ns, !frame.is_cut);
      until = frame.row;
      open_.pop_back();
    }
  }

  // A function in C that seems to call itself, without a frame between, and to end with itself last
  // of all: it had returned.
  void EndRepeated(uint32_t row) {
    const Frame& caller = open_.back();
    const std::string_view name = strings_.Get(host_.name[row]);
    if (host_.name[caller.row] == host_.name[row] && host_.ts_ns[caller.row] < host_.ts_ns[row] &&
        host_.end_ns({caller.row}) == host_.end_ns({row}) && IsOfC(name) &&
        host_.end_ns({row}) >= LastEnd()) {
      Return(open_.size() - 1, row);
    }
  }

  void Cut(uint32_t row, int64_t end_ns, bool is_first) {
    if (is_first) {
      diagnostics_.Count(Diag::kClampedFrame, Diagnostics::kNoByte, strings_.Get(host_.name[row]));
    }
    last_cut_ns_ = std::max(last_cut_ns_, host_.end_ns({row}));
    host_.dur_ns[row] = end_ns - host_.ts_ns[row];
    any_ = true;
  }

  // The end of the frame of the thread that ends last, as recorded.
  int64_t LastEnd() {
    if (last_end_ns_ == kMissing) {
      last_end_ns_ = last_cut_ns_;
      for (uint32_t row = first_row_; row < end_row_; ++row) {
        if (host_.kind[row] == HostKind::kPython) {
          last_end_ns_ = std::max(last_end_ns_, host_.end_ns({row}));
        }
      }
    }
    return last_end_ns_;
  }

  int64_t Rounding() {
    if (rounding_ns_ < 0) {
      rounding_ns_ = RoundingOf(host_);
    }
    return rounding_ns_;
  }

  HostEvents& host_;
  const FrameNumbers& numbers_;
  const StringPool& strings_;
  Diagnostics& diagnostics_;
  std::vector<Frame> open_;  // of one thread, each called by the one before it
  uint32_t first_row_ = 0;   // of the thread
  uint32_t end_row_ = 0;
  uint64_t looks_left_ = 0;         // of Return
  int64_t last_end_ns_ = kMissing;  // of the frames of the thread; kMissing: not asked for yet
  int64_t last_cut_ns_ = kMissing;  // of those that were cut so far
  int64_t rounding_ns_ = -1;
  bool any_ = false;
};

}  // namespace

bool ClampFrames(HostEvents& host, const Tracks& tracks, const FrameNumbers& numbers,
                 const StringPool& strings, Diagnostics& diagnostics) {
  if (std::find(host.kind.begin(), host.kind.end(), HostKind::kPython) == host.kind.end()) {
    return false;
  }
  Clamp clamp(host, numbers, strings, diagnostics);
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost && tracks.is_async[track] == 0) {
      clamp.Thread(tracks.first_row[track], tracks.end_row[track]);
    } else if (tracks.kind[track] == TrackKind::kHost) {
      clamp.Overlapping(tracks.first_row[track], tracks.end_row[track]);
    }
  }
  return clamp.any();
}

}  // namespace borescope::internal
