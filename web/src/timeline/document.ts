// The document of the timeline as docs/how-it-works/timeline.md describes it. Names in it come from traces and are
// drawn as text only.

export type TrackKind = 'steps' | 'path' | 'thread' | 'stream' | 'group' | 'wait' | 'counter';

export interface TrackInfo {
  rank: number;
  kind: TrackKind;
  name: string;
  parent: string; // process or device; empty: directly below the rank
  depths: number;
  events: number;
  busy_ns: number;
  unit: string; // of a counter
}

/** What a level covers of a rank. Its grain is the length below which events were merged; 0: none were. */
export interface LevelInfo {
  rank?: number; // without one: of all
  depths?: number; // only the first so many of each track fitted
  level: number;
  grain_ns: number;
  begin_ns: number;
  end_ns: number;
}

export interface ChunkInfo {
  track: number;
  level: number;
  boxes: number;
  data?: string; // base64 of the columns
  packed?: string; // instead: base64 of the columns as a raw deflate stream
}

/** Where the events are exact, and why there. */
export interface ExactWindow {
  rank?: number;
  cut?: boolean; // it ends early, as not all of it fitted
  begin_ns: number;
  end_ns: number;
  why: string;
}

export interface TimelineDocument {
  version: number;
  more?: string; // where a server gives finer detail
  begin_ns: string; // since 1970
  span_ns: number;
  names: string[];
  tones: string[];
  window?: ExactWindow | null; // the longest one
  windows?: ExactWindow[]; // one for each rank
  left_out?: { tracks: number; events: number };
  tracks: TrackInfo[];
  levels: LevelInfo[];
  chunks: ChunkInfo[];
}

/** From here to the first frame is what a reader waits for. */
export const BEGIN_MARK = 'borescope-timeline-begin';

const isTimeline = (value: unknown): value is TimelineDocument => {
  const document = value as Partial<TimelineDocument> | null;
  return document !== null && typeof document === 'object' && document.version === 1 &&
    [document.names, document.tones, document.tracks, document.levels, document.chunks].every(Array.isArray);
};

/** The document in a text; null where there is none, or one of a version that this page does not know. */
export function readTimeline(text: string | null | undefined): TimelineDocument | null {
  performance.mark(BEGIN_MARK);
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isTimeline(value) && value.tracks.length > 0 ? value : null;
  } catch {
    return null; // a page whose writer put nothing in the place of the document
  }
}
