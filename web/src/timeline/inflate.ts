// Unpacks a raw deflate stream (RFC 1951). Browsers can do that, but only later, through a promise; a chunk is
// unpacked piece by piece within frames, or at once where somebody waits for it.

const STRIDE = 1 << 15; // symbols between two pauses
const MOST_BITS = 15; // of a code
const FAST_BITS = 10; // codes up to so many are looked up at once
const DAMAGED = 'a packed chunk is damaged';
const TOO_SHORT = 'the columns end early';
const FIRST_LENGTH = 257; // symbols from here on are lengths of repetitions
const END = 256;
const LENGTH_CODES = 29;
const DISTANCE_CODES = 30;

/** Bases and extra bits of lengths and distances: each base follows the values that the one before covers. */
function spansOf(first: number, count: number, bitsOf: (code: number) => number): { base: Uint16Array; bits: Uint8Array } {
  const [base, bits] = [new Uint16Array(count), new Uint8Array(count)];
  for (let code = 0, next = first; code < count; ++code) {
    [base[code], bits[code]] = [next, bitsOf(code)];
    next += 2 ** bits[code]!;
  }
  return { base, bits };
}

const LENGTHS = spansOf(3, LENGTH_CODES, (code) => (code < 4 ? 0 : Math.min(5, (code >> 2) - 1)));
[LENGTHS.base[LENGTH_CODES - 1], LENGTHS.bits[LENGTH_CODES - 1]] = [258, 0]; // the longest has a code of its own
const DISTANCES = spansOf(1, DISTANCE_CODES, (code) => Math.max(0, (code >> 1) - 1));
const ORDER_OF_CODES = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]; // as their lengths are written

/** A prefix code: how many codes there are of each length, the symbols in the order of their codes, and for what
 *  begins with any FAST_BITS bits its symbol, if its code is no longer, with the length of that. */
interface Code {
  counts: Uint16Array;
  symbols: Uint16Array;
  fast: Uint16Array; // symbol * 16 + bits; 0: the code is longer, or there is none
}

/** The first bit of a code comes first, as the lowest of what is read. */
function reversed(code: number, bits: number): number {
  let result = 0;
  for (let i = 0; i < bits; ++i) {
    result |= ((code >> i) & 1) << (bits - 1 - i);
  }
  return result;
}

function countsOf(lengths: ArrayLike<number>): Uint16Array {
  const counts = new Uint16Array(MOST_BITS + 1);
  for (let symbol = 0; symbol < lengths.length; ++symbol) {
    counts[lengths[symbol]!]! += 1;
  }
  counts[0] = 0;
  let left = 1;
  for (let bits = 1; bits <= MOST_BITS; ++bits) {
    left = left * 2 - counts[bits]!;
    if (left < 0) {
      throw new Error(DAMAGED);
    }
  }
  return counts;
}

function codeOf(lengths: ArrayLike<number>): Code {
  const counts = countsOf(lengths);
  const [place, next] = [new Uint16Array(MOST_BITS + 2), new Uint16Array(MOST_BITS + 2)];
  for (let bits = 1; bits <= MOST_BITS; ++bits) {
    place[bits + 1] = place[bits]! + counts[bits]!;
    next[bits + 1] = (next[bits]! + counts[bits]!) << 1;
  }
  const [symbols, fast] = [new Uint16Array(lengths.length), new Uint16Array(1 << FAST_BITS)];
  for (let symbol = 0; symbol < lengths.length; ++symbol) {
    const bits = lengths[symbol]!;
    if (bits === 0) {
      continue;
    }
    symbols[place[bits]!++] = symbol;
    const code = next[bits]!++;
    for (let at = reversed(code, bits); bits <= FAST_BITS && at < fast.length; at += 1 << bits) {
      fast[at] = symbol * 16 + bits;
    }
  }
  return { counts, symbols, fast };
}

const FIXED: readonly [Code, Code] = [
  codeOf(Uint8Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8))),
  codeOf(new Uint8Array(DISTANCE_CODES).fill(5)),
];

class BitReader {
  private at = 0;
  private held = 0;
  private count = 0;

  constructor(private readonly bytes: Uint8Array) {}

  bits(wanted: number): number {
    this.fill();
    if (this.count < wanted) {
      throw new Error(TOO_SHORT);
    }
    return this.take(wanted);
  }

  symbol(code: Code): number {
    this.fill();
    const found = code.fast[this.held & ((1 << FAST_BITS) - 1)]!;
    const bits = found & 15;
    if (bits === 0 || bits > this.count) {
      return this.longSymbol(code);
    }
    this.held >>>= bits;
    this.count -= bits;
    return found >> 4;
  }

  /** Bit by bit: codes of one length follow each other in the order of their symbols. */
  private longSymbol({ counts, symbols }: Code): number {
    let [code, first, index] = [0, 0, 0];
    for (let bits = 1; bits <= MOST_BITS; ++bits) {
      if (bits > this.count) {
        throw new Error(TOO_SHORT);
      }
      code |= (this.held >> (bits - 1)) & 1;
      const count = counts[bits]!;
      if (code - count < first) {
        this.take(bits);
        return symbols[index + code - first]!;
      }
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error(DAMAGED);
  }

  /** Holds more bits than any code and what belongs to it have, as far as there are any. */
  private fill(): void {
    while (this.count <= 16 && this.at < this.bytes.length) {
      this.held |= this.bytes[this.at++]! << this.count;
      this.count += 8;
    }
  }

  private take(wanted: number): number {
    const value = this.held & ((1 << wanted) - 1);
    this.held >>>= wanted;
    this.count -= wanted;
    return value;
  }

  /** Bytes that are not packed, from the next whole byte on. */
  stored(): Uint8Array {
    this.take(this.count % 8);
    this.at -= this.count / 8; // whole bytes that were held already
    [this.held, this.count] = [0, 0];
    const length = this.bits(16);
    this.bits(16); // the same inverted
    this.at -= this.count / 8;
    [this.held, this.count] = [0, 0];
    const end = this.at + length;
    if (end > this.bytes.length) {
      throw new Error(TOO_SHORT);
    }
    const bytes = this.bytes.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}

/** What is unpacked so far; it grows up to a limit. */
class Output {
  bytes: Uint8Array;
  length = 0;

  constructor(private readonly most: number, first: number) {
    this.bytes = new Uint8Array(Math.min(most, first));
  }

  need(more: number): void {
    const wanted = this.length + more;
    if (wanted > this.most) {
      throw new Error('a packed chunk holds more than its boxes');
    }
    if (wanted > this.bytes.length) {
      const larger = new Uint8Array(Math.min(this.most, Math.max(wanted, this.bytes.length * 2)));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
  }

  put(byte: number): void {
    if (this.length === this.bytes.length) {
      this.need(1);
    }
    this.bytes[this.length++] = byte;
  }

  add(bytes: Uint8Array): void {
    this.need(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  repeat(length: number, distance: number): void {
    if (distance > this.length) {
      throw new Error(DAMAGED);
    }
    this.need(length);
    const { bytes } = this;
    for (let i = 0; i < length; ++i, ++this.length) {
      bytes[this.length] = bytes[this.length - distance]!;
    }
  }
}

/** The codes of a block that brings its own. */
function ownCodes(reader: BitReader): readonly [Code, Code] {
  const [literals, distances, given] = [reader.bits(5) + FIRST_LENGTH, reader.bits(5) + 1, reader.bits(4) + 4];
  const ofLengths = new Uint8Array(ORDER_OF_CODES.length);
  for (let i = 0; i < given; ++i) {
    ofLengths[ORDER_OF_CODES[i]!] = reader.bits(3);
  }
  const code = codeOf(ofLengths);
  const lengths = new Uint8Array(literals + distances);
  for (let i = 0; i < lengths.length;) {
    const symbol = reader.symbol(code);
    if (symbol < 16) {
      lengths[i++] = symbol;
      continue;
    }
    const value = symbol === 16 ? lengths[i - 1] ?? 0 : 0;
    const times = symbol === 16 ? 3 + reader.bits(2) : symbol === 17 ? 3 + reader.bits(3) : 11 + reader.bits(7);
    lengths.fill(value, i, i + times);
    i += times;
  }
  return [codeOf(lengths.subarray(0, literals)), codeOf(lengths.subarray(literals))];
}

function* block(reader: BitReader, output: Output, [literals, distances]: readonly [Code, Code]): Generator<void> {
  for (let read = 1; ; ++read) {
    const symbol = reader.symbol(literals);
    if (symbol < END) {
      output.put(symbol);
    } else if (symbol === END) {
      return;
    } else {
      const code = symbol - FIRST_LENGTH;
      const length = (LENGTHS.base[code] ?? 0) + reader.bits(LENGTHS.bits[code] ?? 0);
      const far = reader.symbol(distances);
      const distance = (DISTANCES.base[far] ?? Infinity) + reader.bits(DISTANCES.bits[far] ?? 0);
      output.repeat(length, distance);
    }
    if (read % STRIDE === 0) {
      yield;
    }
  }
}

/** The bytes of a raw deflate stream, no more than `most`. Yields now and then, so that the page answers in between. */
export function* inflated(bytes: Uint8Array, most: number): Generator<void, Uint8Array> {
  const reader = new BitReader(bytes);
  const output = new Output(most, bytes.length * 4);
  for (let isLast = 0; isLast === 0;) {
    isLast = reader.bits(1);
    const kind = reader.bits(2);
    if (kind === 0) {
      output.add(reader.stored());
    } else if (kind === 3) {
      throw new Error(DAMAGED);
    } else {
      yield* block(reader, output, kind === 1 ? FIXED : ownCodes(reader));
    }
  }
  return output.bytes.subarray(0, output.length);
}
