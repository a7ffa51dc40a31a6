// What is said about a box, in the tooltip, the panel and the table.
import { NO_NAME, plainWords, printable, show, showShare } from '../units';
import { busyShare, countOf, durationOf } from './boxes';
import { type Spot } from './scene';
import { type Store } from './store';

/** What shows every event, however many there are. */
export const HOW_TO_GET_ALL = '“borescope open RECORDING --report” shows every event.';

export const nameOf = (store: Store, { boxes, index }: Spot): string => printable(store.name(boxes.name[index]!)) || NO_NAME;

/** Shapes, sizes of messages and similar; empty: none are recorded. */
export function detailOf(store: Store, { track, boxes, index }: Spot): string {
  const detail = boxes.detail?.[index] ?? 0;
  const text = detail === 0 ? '' : printable(store.name(detail - 1));
  return store.tracks[track]?.kind === 'path' ? plainWords(text) : text; // what bounds it
}

export function lengthOf({ boxes, index }: Spot): string {
  return show(durationOf(boxes, index), 'ns');
}

export const isMerged = ({ boxes, index }: Spot): boolean => countOf(boxes, index) > 1;

/** "12 events, busy 40 %" of a merged box. */
export function mergedWords({ boxes, index }: Spot): string {
  return `${countOf(boxes, index).toLocaleString('en')} events, busy ${showShare(busyShare(boxes, index), 1)}`;
}

/** How to see the events of a merged box one by one, if that is possible. */
export function adviceOf(store: Store, { track, boxes, index }: Spot, hasServer: boolean): string {
  const begin = boxes.begin[index]!;
  const isInside = store.piecesOf(track).some((piece) => piece.grain === 0 && begin < piece.end && boxes.end[index]! > piece.begin);
  return isInside || hasServer ? 'Zoom in for detail.' : `Outside of the exact windows of this page: events are merged. ${HOW_TO_GET_ALL}`;
}

/** "rank 0 · GPU 0 · stream 7". */
export function placeOf(store: Store, track: number): string {
  const info = store.tracks[track];
  const hasRanks = store.tracks.some((other) => other.rank !== store.tracks[0]?.rank);
  const parts = info === undefined ? [] : [hasRanks ? `rank ${info.rank}` : '', info.parent, info.name];
  return parts.filter((part) => part !== '').map(printable).join(' · ');
}
