// The stretch of time that is seen, in nanoseconds since the recording began.

const LEAST_SPAN = 50; // nanoseconds: below there is nothing to see

export interface Span {
  begin: number;
  end: number;
}

/** A span inside [0, whole] of at least the least length. */
export function clamped(begin: number, end: number, whole: number): Span {
  const length = Math.min(whole, Math.max(LEAST_SPAN, end - begin));
  const middle = (begin + end) / 2;
  const from = end - begin < LEAST_SPAN ? middle - length / 2 : begin;
  const first = Math.max(0, Math.min(whole - length, from));
  return { begin: first, end: first + length };
}

/** Zooms by a factor, keeping the time at `ns` where it is: more than one shows more. */
export function zoomed(view: Span, ns: number, factor: number, whole: number): Span {
  const length = Math.min(whole, Math.max(LEAST_SPAN, (view.end - view.begin) * factor));
  const share = (ns - view.begin) / (view.end - view.begin);
  const begin = ns - share * length;
  return clamped(begin, begin + length, whole);
}

/** Moves by a share of what is seen. */
export function moved(view: Span, share: number, whole: number): Span {
  const by = Math.max(-whole, Math.min(whole, (view.end - view.begin) * share));
  return clamped(view.begin + by, view.end + by, whole);
}

/** The view of a box or a range with some room around it. */
export function around(begin: number, end: number, whole: number, room = 0.5): Span {
  const length = Math.max(LEAST_SPAN, end - begin);
  return clamped(begin - length * room, end + length * room, whole);
}
