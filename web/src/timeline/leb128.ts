// Unsigned LEB128 numbers in base64: how the columns of a chunk are packed.

const PIECE = 1 << 16; // characters; a multiple of four

function bytesOfPiece(text: string, bytes: Uint8Array, at: number): number {
  const piece = atob(text);
  for (let i = 0; i < piece.length; ++i) {
    bytes[at + i] = piece.charCodeAt(i);
  }
  return at + piece.length;
}

/** The bytes of base64. Yields now and then, so that the page answers in between. */
export function* bytesOf(base64: string): Generator<void, Uint8Array> {
  const bytes = new Uint8Array(Math.ceil(base64.length / 4) * 3);
  let end = 0;
  for (let at = 0; at < base64.length; at += PIECE) {
    end = bytesOfPiece(base64.slice(at, at + PIECE), bytes, end);
    yield;
  }
  return bytes.subarray(0, end);
}

/** Reads numbers up to 2^53, beyond which they would not be exact. */
export class NumberReader {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  next(): number {
    let byte = this.bytes[this.at++];
    if (byte === undefined) {
      throw new Error('the columns end early');
    }
    if (byte < 128) {
      return byte;
    }
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = this.bytes[this.at++];
      if (byte === undefined || scale > 2 ** 49) {
        throw new Error(byte === undefined ? 'the columns end early' : 'a number is too large');
      }
      value += (byte & 127) * scale;
    }
    return value;
  }
}

/** 0, 1, 2, 3, 4 are 0, -1, 1, -2, 2. */
export const fromZigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);
