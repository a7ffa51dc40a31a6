// What a folded group shows in its heading: its streams as one line of work and one of communication, its first
// thread, or its counters.
import { type Boxes } from './boxes';
import { type TrackInfo } from './document';

export type SummaryPart = 'work' | 'communication' | 'all' | 'counters';

/** A line of a folded group: the outermost boxes of these tracks, of one part of them. */
export interface SummaryLine {
  part: SummaryPart;
  tracks: readonly number[];
}

const COMMUNICATION: readonly string[] = ['comm'];

/** The lines for the tracks that are in the group; `communicating`: the ranks that have process groups. */
export function summaryOf(tracks: readonly TrackInfo[], members: readonly number[], communicating: ReadonlySet<number>): SummaryLine[] {
  const of = (kind: TrackInfo['kind']) => members.filter((track) => tracks[track]!.kind === kind);
  const [streams, threads] = [of('stream'), of('thread')];
  if (streams.length > 0) {
    const waits = of('wait');
    const communicates = waits.length > 0 || streams.some((track) => communicating.has(tracks[track]!.rank));
    return communicates
      ? [{ part: 'work', tracks: streams }, { part: 'communication', tracks: [...streams, ...waits] }] : [{ part: 'all', tracks: streams }];
  }
  const counters = of('counter');
  return threads.length > 0 ? [{ part: 'all', tracks: threads.slice(0, 1) }]
    : counters.length > 0 ? [{ part: 'counters', tracks: counters }] : [];
}

/** Whether a box of a track belongs to a part; null: all of them do. */
export function partOf(part: SummaryPart, info: TrackInfo | undefined, tones: readonly string[]): ((boxes: Boxes, index: number) => boolean) | null {
  if (part === 'all' || part === 'counters' || info?.kind === 'wait') {
    return null;
  }
  const isCommunication = tones.map((tone) => COMMUNICATION.includes(tone));
  return (boxes, index) => isCommunication[boxes.tone[index]!] === (part === 'communication');
}
