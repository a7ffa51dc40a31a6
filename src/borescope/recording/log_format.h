// The log of one process that `borescope record` records: what libborescope_record.so writes and
// ingest/recording reads. docs/formats/recording.md describes it for readers in other languages.
// This header includes nothing of ours, and needs nothing but the C library: it is compiled into
// the programs of other people.
//
// A log is a header followed by chunks. Every chunk has one writer, a thread; it begins at a
// multiple of LogHeader::chunk_alignment. Within a chunk, records of whole 8-byte words follow each
// other. All numbers are little-endian; all times are nanoseconds of CLOCK_MONOTONIC.
//
// A record is complete when its first word is not zero: writers store that word last, with release
// order. So a log may be read at any moment, also after its process was killed: a chunk ends at a
// zero word or at its own end. What follows in the file is read all the same.
//
// Any record may be in any chunk: a thread writes a string before the first record that refers to
// it, but another thread may refer to it in a chunk that comes earlier in the file. The same
// string, name or function may be written more than once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::recording {

inline constexpr char kLogMagic[8] = {'B', 'S', 'R', 'L', 'O', 'G', '1', '\n'};
inline constexpr uint32_t kLogVersion = 1;
inline constexpr char kLogSuffix[] = ".bsl";  // <host>.<pid>.<start time>.<image>.bsl
inline constexpr char kRunSuffix[] = ".bsr";  // of the folder of a run
inline constexpr char kControlName[] = "control";

// Set by the launcher to the absolute path of the run's folder. Without it the library does
// nothing.
inline constexpr char kRunVariable[] = "BORESCOPE_RECORD";
// Options for the library, "name=value" or "name", separated by semicolons (LogOption names).
inline constexpr char kOptionsVariable[] = "BORESCOPE_RECORD_OPTIONS";

struct LogHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // of the file's beginning that hold no chunk; a multiple of the alignment
  uint32_t pid;
  uint32_t ppid;
  uint64_t start_time;  // of the process: field 22 of /proc/self/stat, clock ticks since boot
  uint8_t boot_id[16];  // of the machine: two logs with the same one share their clocks
  uint64_t host_hash;   // FNV-1a of boot_id and host name
  uint64_t mono_ns;     // the moment at which the log was made, by three clocks
  uint64_t real_ns;
  uint64_t boot_ns;
  uint32_t outer_pid;  // in the outermost PID namespace; 0: unknown
  uint32_t flags;      // LogFlags
  int32_t rank;        // of the distributed job, by the variables of its launcher; -1: none
  int32_t local_rank;
  int32_t world_size;
  uint32_t image;            // how many programs this process had executed before this one
  uint32_t chunk_alignment;  // a power of two, of at least 4096
  uint32_t reserved[5];
};
inline constexpr size_t kLeastHeaderBytes = 4096;
static_assert(sizeof(LogHeader) == 128 && sizeof(LogHeader) <= kLeastHeaderBytes);

enum LogFlags : uint32_t {
  kSealed = 1,      // the writer or the launcher knows that no more comes
  kIsForked = 2,    // the process was made by fork: ppid is the process it is a copy of
  kIsLauncher = 4,  // the launcher's own log, of samples and states of the run
  kIsRing = 8,      // chunks are used again once they are old: the log holds the last part
};

inline constexpr uint32_t kChunkMagic = 0x48435342;  // "BSCH"
// In place of it while a chunk of a ring is being used again: it holds nothing, and its size is
// right.
inline constexpr uint32_t kReusedChunkMagic = 0x52435342;  // "BSCR"
inline constexpr uint32_t kRingChunkBytes = 64 * 1024;
inline constexpr uint32_t kLeastChunkBytes = 16 * 1024;
inline constexpr uint32_t kMostChunkBytes = 1024 * 1024;

enum class ChunkKind : uint32_t {
  kThread = 1,    // of one thread of the program, in its order
  kActivity = 2,  // of the vendor's library, in any order
  kStrings = 3,   // strings and descriptions that other chunks refer to
  kSamples = 4,
};

struct ChunkHeader {
  uint32_t magic;     // stored last
  uint32_t bytes;     // with this header; a multiple of 8
  uint64_t sequence;  // in the file, from 0
  ChunkKind kind;
  uint32_t tid;           // the writer
  uint64_t first_ns;      // no record of it is older, but for what its device did
  uint64_t generation;    // how often this place was written, in a ring; else 0
  uint64_t pthread_self;  // of the writer, as CUPTI knows threads; 0: unknown
  uint64_t offset;        // in the file, in a ring; else 0
  uint64_t released_ns;   // in a ring: when its writer left it; 0: it has not
};
static_assert(sizeof(ChunkHeader) == 64);

// The first word of a record: type (bits 0 to 7), words with this one (8 to 23), flags (24 to 31),
// and a number whose meaning depends on the type (32 to 63).
struct RecordHead {
  uint8_t type;
  uint16_t words;
  uint8_t flags;
  uint32_t a;
};

constexpr uint64_t PackHead(const RecordHead& head) {
  return uint64_t{head.type} | uint64_t{head.words} << 8U | uint64_t{head.flags} << 24U |
         uint64_t{head.a} << 32U;
}

constexpr RecordHead UnpackHead(uint64_t word) {
  return {static_cast<uint8_t>(word), static_cast<uint16_t>(word >> 8U),
          static_cast<uint8_t>(word >> 24U), static_cast<uint32_t>(word >> 32U)};
}

inline constexpr size_t kMostRecordWords = 0xffff;

// Flags of records. A text is the rest of a record; its last word is filled up with zeros, of which
// the low three bits are the number.
inline constexpr uint8_t kPaddingMask = 7;
inline constexpr uint8_t kHasAttributes =
    8;                                 // push, mark and range start: Attributes precede the text
inline constexpr uint8_t kIsCut = 16;  // the text was longer than a record can hold
inline constexpr uint8_t kHasThread = 32;  // operator: the tid it ran on precedes the text
inline constexpr uint8_t kIsRange = 64;    // operator: a range of the program's own, which is over

// In brackets: `a`; then the words that follow. Words of two numbers are written low/high.
enum class RecordType : uint8_t {
  kEndOfChunk = 0,
  kString = 0x01,      // [id] text. Ids are of the process, from 1, in no order
  kAnchor = 0x02,      // [-] mono_ns, real_ns, boot_ns, half width in ns of the reading
  kProcess = 0x03,     // [-] text: a JSON object that describes the process (docs)
  kThread = 0x04,      // [tid] pthread_self, outer tid, text: the name
  kPush = 0x10,        // [domain] t, Attributes?, text
  kPop = 0x11,         // [domain] t
  kMark = 0x12,        // [domain] t, Attributes?, text
  kRangeStart = 0x13,  // [domain] t, id, Attributes?, text. Ids are of the process
  kRangeEnd = 0x14,    // [domain] t, id
  kName = 0x15,        // [NameKind] domain, number, text: its name
  kCall = 0x20,  // [correlation] start, end, callback/ApiDomain, result (signed), thread: its tid,
                 // or the low half of its pthread_self (kThread)
  kCallDetail = 0x21,  // [correlation] CallDetailKind, three words of it
  kKernel = 0x30,      // [correlation] KernelBody
  kCopy = 0x31,        // [correlation] CopyBody
  kSet = 0x32,         // [correlation] CopyBody; `value` is what memory was set to
  kSync = 0x33,        // [correlation] start, end, SyncKind/stream, context/event
  kMemory = 0x34,    // [correlation] t, address, bytes, operation/kind, device/context, stream/pool
  kGraphRun = 0x35,  // [correlation] start, end, device/context, stream/graph
  kExternal = 0x36,  // [correlation] kind, id
  kOverhead = 0x37,  // [kind] start, end, object
  kDevice = 0x38,    // [DeviceRecordKind] id/parent, text: a JSON object that describes it
  kDropped = 0x39,   // [DropSource] count, from, to; a count of 0 says that none was
  kCounters = 0x3a,  // [correlation] CountersBody, then as often as it says: string id of a metric,
                     // its value (a double)
  kPythonCall = 0x40,    // [code id] t
  kPythonReturn = 0x41,  // [code id] t
  kPythonCode = 0x42,    // [code id] file (string id)/line, text: the qualified name
  kOperator = 0x50,      // [string id of the name] start, end, sequence number, forward tid, op id,
                         // tid?, text: its inputs as JSON (docs); without any the text is empty
  kSample = 0x60,        // [string id of the series] t, a double
  kState = 0x70,         // [StateKind] t, text
  kEnd = 0x7f,           // [EndKind] t, status (signed; of a signal its number below 0)
};

// Ids of NVTX domains are of the process, in order of making. These are fixed:
enum FixedDomain : uint32_t {
  kDefaultDomain = 0,  // of NVTX
  kRoctxDomain = 1,
  kApiDomain = 2,   // of borescope_record.h and the Python package
  kStepDomain = 3,  // of its steps
  kFirstFreeDomain = 16,
};

enum class PayloadKind : uint32_t { kNone = 0, kUnsigned = 1, kSigned = 2, kDouble = 3 };

struct Attributes {
  uint32_t category;
  uint32_t color;       // ARGB; 0: none
  uint32_t registered;  // string id of the text, which then is empty; 0: the text is in the record
  PayloadKind payload_kind;
  uint64_t payload;
};
static_assert(sizeof(Attributes) == 24);

enum class NameKind : uint32_t {
  kDomain = 1,
  kCategory = 2,
  kThread = 3,
  kResource = 4,
  kCall = 5,  // of a function of an ApiDomain, by its callback
};

enum class ApiDomain : uint16_t { kRuntime = 1, kDriver = 2, kHip = 3, kHsa = 4, kRccl = 5 };

enum class CallDetailKind : uint64_t {
  kAllocation = 1,   // address, bytes, 0
  kFree = 2,         // address, 0, 0
  kLaunch = 3,       // stream, 0, 0
  kCopy = 4,         // bytes, kind, stream
  kLaunchShape = 5,  // of the kernel that was launched, whose record does not say it: grid x/y,
                     // grid z/dynamic shared bytes, block x, y, z in 16 bits each
};

struct KernelBody {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t name;  // string id, as the compiler mangled it
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t registers;  // per thread
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint32_t local_bytes;  // per thread
  uint64_t graph_node;   // 0: none
  uint32_t graph;        // 0: none
  uint32_t channel;
};
static_assert(sizeof(KernelBody) == 88);

struct CopyBody {
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t bytes;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t value;        // of a set
  uint32_t copy_kind;    // CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP, …
  uint32_t source_kind;  // CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device, …
  uint32_t target_kind;
  uint32_t graph;
  uint64_t graph_node;
};
static_assert(sizeof(CopyBody) == 64);

// What the hardware counted while a kernel was replayed, whose launch took that time.
struct CountersBody {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t device;
  uint32_t context;
  uint32_t name;   // string id, as the compiler mangled it
  uint32_t count;  // of metrics that follow
};
static_assert(sizeof(CountersBody) == 32);

enum class DeviceRecordKind : uint32_t { kDevice = 1, kContext = 2, kStream = 3 };

enum class DropSource : uint32_t {
  kHost = 1,       // of the program's threads: the disk or the limit of bytes was reached
  kActivity = 2,   // by the vendor's library, which counts them
  kUnmatched = 3,  // a pop, an end or a return that nothing had begun
};

enum class StateKind : uint32_t {
  kStarted = 1,
  kStopped = 2,
  kDiskFull = 3,        // the log cannot grow; the text says why
  kLimitReached = 4,    // of --max-bytes
  kBackendMissing = 5,  // a source that was asked for cannot be had; the text says why
  kGap = 6,  // a source was off, another profiler had it, or some of its records are refused
  // t, then words: the first record that was overwritten, the number of chunks. Chunks that were
  // released until t are about to be overwritten, or a part of those around them is: readers leave
  // them out.
  kRingOverwrote = 7,
  kSlow = 8,  // the file system made the program wait
};

enum class EndKind : uint32_t {
  kExit = 1,    // exit handlers ran
  kExec = 2,    // another program took its place
  kParent = 3,  // the launcher saw its status
};

// A process that can be asked to fetch what its devices did, and which request it has answered.
struct FlusherSlot {
  uint32_t pid;  // stored last; 0: free
  uint32_t answered;
  uint64_t start_time;  // as in LogHeader
};
inline constexpr uint32_t kSlotBeingTaken = 0xffffffff;  // a pid that none has
inline constexpr size_t kFlusherSlots = 64;

// The name of a range or mark that came while a rule waited for another name.
struct SeenName {
  uint32_t length;  // stored last; 0: the place is free, or is being written
  char text[60];    // cut where it is longer
};
inline constexpr size_t kSeenNames = 24;

// One page that the launcher makes and every process of the run maps, to start and stop recording
// while programs run. Whoever reads it checks every value.
struct Control {
  uint32_t magic;  // kControlMagic
  uint32_t version;
  uint32_t generation;  // rises with every change; futex of those that wait for one
  uint32_t is_recording;
  // The low half: starts that no stop has answered. The high half: the epoch, which rises when the
  // launcher ends what rules began. In one word, so that no start falls between the two.
  uint64_t starts;
  uint64_t changed_ns;
  uint32_t flush_requests;  // rises with every request to fetch what devices did
  uint32_t log_error;       // why the last process failed to make its log, or lost it: errno
  // Until then rings grow, rather than overwrite anything: their logs are being copied. A time that
  // is further away than kMostHoldNs is ignored.
  uint64_t ring_held_until_ns;
  // Of rules that start and stop recording at ranges, steps and calls, in all processes.
  uint32_t rule_starts;     // how often they started
  uint32_t marks;           // how many were set from outside of the programs, by hand
  uint32_t are_rules_done;  // 1: no rule starts again
  uint32_t seen_names;      // how many places of `seen` were taken, or were wanted
  uint32_t launcher_pid;    // the parent of the run's program; 0: unknown
  uint32_t failed_logs;     // how many processes have no log for such a reason
  uint64_t next_step;       // one more than the largest step that a process began; 0: none did
  uint64_t reserved[5];
  FlusherSlot flushers[kFlusherSlots];
  SeenName seen[kSeenNames];
};
inline constexpr uint64_t kMostHoldNs = 60'000'000'000;
inline constexpr uint32_t kControlMagic = 0x54435342;  // "BSCT"
inline constexpr size_t kControlBytes = 4096;
static_assert(sizeof(Control) == 2680 && sizeof(Control) <= kControlBytes);

}  // namespace borescope::recording
