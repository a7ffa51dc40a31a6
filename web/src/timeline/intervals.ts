// Stretches of time as pairs of numbers, begin and end, in order and apart from each other.

export type Stretches = readonly number[];

/** What any of both covers. */
export function united(a: Stretches, b: Stretches): number[] {
  const all: number[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    const isFirst = j >= b.length || (i < a.length && a[i]! <= b[j]!);
    const [begin, end] = isFirst ? [a[i]!, a[i + 1]!] : [b[j]!, b[j + 1]!];
    [i, j] = isFirst ? [i + 2, j] : [i, j + 2];
    const last = all.length - 1;
    if (last > 0 && begin <= all[last]!) {
      all[last] = Math.max(all[last]!, end);
    } else {
      all.push(begin, end);
    }
  }
  return all;
}

/** The same of stretches that are in order of their begins, but may touch or overlap. */
export const unitedInOrder = (stretches: Stretches): number[] => united(stretches, []);

/** What any of many covers, in pairs, so that each stretch is copied as often as the number of parts can be halved. */
export function* unitedAll(parts: readonly Stretches[]): Generator<void, Stretches> {
  let left = parts;
  while (left.length > 1) {
    const pairs: Stretches[] = [];
    for (let i = 0; i < left.length; i += 2) {
      pairs.push(united(left[i]!, left[i + 1] ?? []));
      yield;
    }
    left = pairs;
  }
  return left[0] ?? [];
}

export function lengthOf(stretches: Stretches): number {
  let length = 0;
  for (let i = 0; i < stretches.length; i += 2) {
    length += stretches[i + 1]! - stretches[i]!;
  }
  return length;
}

/** The longest pause between `begin` and `end`. */
export function longestPause(stretches: Stretches, begin: number, end: number): { begin: number; length: number } {
  let [from, longest] = [begin, { begin, length: 0 }];
  for (let i = 0; i <= stretches.length; i += 2) {
    const to = i < stretches.length ? stretches[i]! : end;
    if (to - from > longest.length) {
      longest = { begin: from, length: to - from };
    }
    from = stretches[i + 1] ?? from;
  }
  return longest;
}
