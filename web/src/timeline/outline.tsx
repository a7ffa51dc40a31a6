// The timeline as tables: for those who cannot see the picture, and for those who want numbers.
import { useEffect, useState } from 'preact/hooks';

import { NO_NAME, printable, shortenName, show, showShare } from '../units';
import { exactTime } from './axis';
import { depthsOf, durationOf, overlapping } from './boxes';
import { useChanges } from './changes';
import { asRecorded } from './hit';
import { type MarkerSum, markersOf } from './markers';
import { type Spot, boxesIn } from './scene';
import { type Stage } from './stage';
import { inSlices } from './store';
import { isMerged, mergedWords, nameOf, placeOf } from './words';

const MOST_EVENTS = 20;
const MOST_A_TRACK = 5;
const MOST_NAME = 70;

/** The longest boxes of a track in the view. */
function longestOf(stage: Stage, track: number): Spot[] {
  const longest: Spot[] = [];
  const byLength = (a: Spot, b: Spot) => durationOf(b.boxes, b.index) - durationOf(a.boxes, a.index);
  for (const stretch of stage.stretchesOf(track)) {
    const found = boxesIn(stage.store, track, stretch);
    for (let depth = 0; found !== null && depth < depthsOf(found.boxes); ++depth) {
      const [first, end] = overlapping(found.boxes, depth, stretch.begin, stretch.end);
      for (let index = first; index < end; ++index) {
        const least = longest[MOST_A_TRACK - 1];
        if (least === undefined || durationOf(found.boxes, index) > durationOf(least.boxes, least.index)) {
          longest.push({ track, ...found, index });
          longest.sort(byLength).splice(MOST_A_TRACK);
        }
      }
    }
  }
  return longest;
}

function largestEvents(stage: Stage): Spot[] {
  const tracks = stage.store.tracks.flatMap((info, track) => (info.kind === 'counter' ? [] : [track]));
  const all = tracks.flatMap((track) => longestOf(stage, track));
  const longest = all.sort((a, b) => durationOf(b.boxes, b.index) - durationOf(a.boxes, a.index)).slice(0, MOST_EVENTS);
  return longest.map((spot) => asRecorded(stage.store, spot));
}

function Events({ stage }: { stage: Stage }) {
  useChanges(stage, 'settle');
  return (
    <table class="tl-table">
      <caption>Longest events in view, from {exactTime(Math.round(stage.view.begin))} to {exactTime(Math.round(stage.view.end))}</caption>
      <thead><tr><th scope="col">event</th><th scope="col">begin</th><th scope="col">duration</th><th scope="col">row</th></tr></thead>
      <tbody>
        {largestEvents(stage).map((spot) => (
          <tr key={`${spot.track} ${spot.piece.level} ${spot.piece.source} ${spot.index}`}>
            <td><button type="button" title={nameOf(stage.store, spot)} onClick={() => stage.reveal(spot)}>{shortenName(nameOf(stage.store, spot), MOST_NAME)}</button>{isMerged(spot) && <small> {mergedWords(spot)}</small>}</td>
            <td class="number">{exactTime(spot.boxes.begin[spot.index]!)}</td>
            <td class="number">{show(durationOf(spot.boxes, spot.index), 'ns')}</td>
            <td>{placeOf(stage.store, spot.track)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MOST_MARKERS = 100;

/** The sums of all markers as soon as they are there. */
function useMarkers(stage: Stage): MarkerSum[] | null {
  const [sums, setSums] = useState<MarkerSum[] | null>(null);
  useEffect(() => inSlices(stage.store, markersOf(stage.store, stage.whole), setSums), [stage]);
  return sums;
}

const about = (isAbout: boolean): string => (isAbout ? '≈\u00a0' : '');

/** The ranges that the program named. */
function Markers({ stage }: { stage: Stage }) {
  const sums = useMarkers(stage);
  if (sums === null || sums.length === 0) {
    return <p class="note">{sums === null ? 'Markers are being counted.' : 'No markers (NVTX, record_function) were recorded.'}</p>;
  }
  return (
    <table class="tl-table">
      <caption>Markers: ranges that the program named (NVTX, record_function), by time on the host</caption>
      <thead><tr><th scope="col">marker</th><th scope="col">count</th><th scope="col">time</th><th scope="col">mean</th><th scope="col">longest</th><th scope="col">row of the longest</th></tr></thead>
      <tbody>
        {sums.slice(0, MOST_MARKERS).map(({ name, count, ns, longest, isMerged: isRough }) => (
          <tr key={name}>
            <td title={printable(stage.store.name(name))}>{shortenName(printable(stage.store.name(name)) || NO_NAME, MOST_NAME)}</td>
            <td class="number">{about(isRough)}{count.toLocaleString('en')}</td>
            <td class="number">{about(isRough)}{show(Math.round(ns), 'ns')}</td>
            <td class="number">{about(isRough)}{show(ns / count, 'ns')}</td>
            <td class="number">{about(isMerged(longest))}<button type="button" onClick={() => stage.reveal(asRecorded(stage.store, longest))}>{show(durationOf(longest.boxes, longest.index), 'ns')}</button></td>
            <td>{placeOf(stage.store, longest.track)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Tracks({ stage }: { stage: Stage }) {
  return (
    <table class="tl-table">
      <caption>Rows</caption>
      <thead><tr><th scope="col">row</th><th scope="col">kind</th><th scope="col">events</th><th scope="col">busy</th></tr></thead>
      <tbody>
        {stage.store.tracks.map((info, track) => (
          <tr key={track}>
            <td>{placeOf(stage.store, track)}</td>
            <td>{info.kind}</td>
            <td class="number">{info.events.toLocaleString('en')}</td>
            <td class="number">{info.kind === 'counter' ? '–' : showShare(info.busy_ns, stage.whole)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Outline({ stage }: { stage: Stage }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="tl-outline" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><h3>As tables</h3></summary>
      {isOpen && <><Events stage={stage} /><Markers stage={stage} /><Tracks stage={stage} /></>}
    </details>
  );
}
