// Unpacks raw deflate streams (RFC 1951). Browsers can do that, too, but only through a promise; a chunk is unpacked
// piece by piece within frames, or at once where somebody waits for it.
import { Inflate } from 'fflate';

const PIECE = 1 << 12; // packed bytes between two pauses

/** The bytes of a raw deflate stream, no more than `most`. Yields now and then, so that the page answers in between. */
export function* inflated(bytes: Uint8Array, most: number): Generator<void, Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const stream = new Inflate((part) => {
    length += part.length;
    parts.push(part);
  });
  for (let at = 0; at < bytes.length || at === 0; at += PIECE) {
    try {
      stream.push(bytes.subarray(at, at + PIECE), at + PIECE >= bytes.length);
    } catch {
      throw new Error('a packed chunk is damaged');
    }
    if (length > most) {
      throw new Error('a packed chunk holds more than its boxes take');
    }
    yield;
  }
  const whole = new Uint8Array(length);
  let next = 0;
  for (const part of parts) {
    whole.set(part, next);
    next += part.length;
  }
  return whole;
}
