// Which level is drawn where: the coarsest that still looks exact at the zoom, and where no level is that
// fine, the finest there is.

/** A stretch of time that one level of one document covers. */
export interface Piece {
  source: number; // 0: the page's document; others came from the server
  level: number;
  grain: number;
  begin: number;
  end: number;
  rank?: number | undefined; // undefined: it covers all ranks
  depths?: number | undefined; // undefined: all that there are
}

/** Pieces of one level that touch each other, such as windows of level 0, as one: they share their boxes. */
export function unitedPieces(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  const last = new Map<string, Piece>();
  for (const piece of [...pieces].sort((a, b) => a.begin - b.begin)) {
    const key = `${piece.level}/${piece.rank}/${piece.depths}`;
    const before = last.get(key);
    if (before !== undefined && piece.begin <= before.end) {
      before.end = Math.max(before.end, piece.end);
    } else {
      const own = { ...piece };
      last.set(key, own);
      result.push(own);
    }
  }
  return result;
}

/** A part of the view, and what is drawn there. */
export interface Stretch {
  begin: number;
  end: number;
  piece: Piece;
}

/** A merged box this many pixels wide does not look merged. */
export const MOST_GRAIN_PX = 2;

/** Pieces in the order in which they are preferred at a zoom. */
export function preferred(pieces: readonly Piece[], nsPerPixel: number): Piece[] {
  const most = nsPerPixel * MOST_GRAIN_PX;
  const fine = pieces.filter((piece) => piece.grain <= most).sort((a, b) => b.grain - a.grain);
  const coarse = pieces.filter((piece) => piece.grain > most).sort((a, b) => a.grain - b.grain);
  return [...fine, ...coarse];
}

type Span = readonly [number, number];

/** What of the gaps a piece fills, and what is left of them. */
function fill(gaps: readonly Span[], piece: Piece): { filled: Stretch[]; left: Span[] } {
  const filled: Stretch[] = [];
  const left: Span[] = [];
  for (const [begin, end] of gaps) {
    const [from, to] = [Math.max(begin, piece.begin), Math.min(end, piece.end)];
    if (from >= to) {
      left.push([begin, end]);
      continue;
    }
    filled.push({ begin: from, end: to, piece });
    left.push(...([[begin, from], [to, end]] as const).filter(([a, b]) => b > a));
  }
  return { filled, left };
}

/** The view divided into stretches of one level each, in order of time. Nothing is known of what they leave out. */
export function plan(pieces: readonly Piece[], begin: number, end: number, nsPerPixel: number): Stretch[] {
  let gaps: Span[] = [[begin, end]];
  const stretches: Stretch[] = [];
  for (const piece of preferred(pieces, nsPerPixel)) {
    const { filled, left } = fill(gaps, piece);
    stretches.push(...filled);
    gaps = left;
    if (gaps.length === 0) {
      break;
    }
  }
  return stretches.sort((a, b) => a.begin - b.begin);
}

/** The coarsest grain among stretches that look merged at this zoom; 0: none does. */
export function mergedGrain(stretches: readonly Stretch[], nsPerPixel: number): number {
  const most = nsPerPixel * MOST_GRAIN_PX;
  return stretches.reduce((grain, { piece }) => Math.max(grain, piece.grain > most ? piece.grain : 0), 0);
}
