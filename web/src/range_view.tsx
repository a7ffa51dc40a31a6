// What happened in the chosen range of time: sums over the boxes of the timeline, beside whatever pane is
// shown.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { useWidth } from './hooks';
import { fitName } from './measure';
import { OVERVIEW, TIMELINE } from './model';
import { useNavigation } from './navigation';
import { timelineOfPage } from './timeline/of_page';
import { type DeviceSum, type NameSum, type RangeSums, type RowFilter, sumRange } from './timeline/range_sums';
import { type Store } from './timeline/store';
import { type Span } from './timeline/view';
import { placeOf } from './timeline/words';
import { NO_NAME, printable, show, showShare } from './units';

const MOST_NAMES = 8;
const MOST_ROWS = 12;
const WAIT_MS = 60; // of somebody who drags
const NUMBERS_PX = 150; // beside a name
const NOTHING = 'Nothing in the range.';

/** Sums up once nothing changes any more: neither the range nor the documents, of which the server adds more exact ones. */
function keepSummed(store: Store, range: Span, filter: RowFilter, report: (sums: RangeSums) => void): () => void {
  let stop = () => {};
  const start = () => {
    stop();
    const timer = setTimeout(() => { stop = sumRange(store, range, filter, report); }, WAIT_MS);
    stop = () => clearTimeout(timer);
  };
  const leave = store.watch(start);
  start();
  return () => {
    leave();
    stop();
  };
}

/** The sums over the range that is chosen, as soon as they are there; the last ones until then. */
function useSums(): RangeSums | null {
  const { route: { filters } } = useNavigation();
  const { time, rank, stream } = filters;
  const [sums, setSums] = useState<RangeSums | null>(null);
  useEffect(() => {
    const page = time === null ? null : timelineOfPage();
    if (time === null || page === null) {
      setSums(null);
      return undefined;
    }
    return keepSummed(page.store, { begin: time[0], end: time[1] }, { rank, stream }, setSums);
  }, [time?.[0], time?.[1], rank, stream]);
  return sums;
}

/** How far the sums can be trusted. */
function trustWords({ grain, missing, isCut }: RangeSums): string {
  const rows = missing === 0 ? '' : ` Of ${missing} ${missing === 1 ? 'row' : 'rows'} a part of the range is not in this page.`;
  const deep = isCut ? ' Deeper rows are not in this page.' : '';
  return grain === 0
    ? `Exact: every event of the range is in this page.${rows}${deep}`
    : `About: events closer together than ${show(grain, 'ns')} are merged in a part of the range, and count for the longest name among them.${rows}${deep}`;
}

const about = ({ grain }: RangeSums): string => (grain === 0 ? '' : '≈\u00a0');
const countText = (count: number): string => Math.round(count).toLocaleString('en');

/** "busy 63.2 %", of one device or all. */
function busyWords(sums: RangeSums): string {
  const length = sums.range.end - sums.range.begin;
  const busy = sums.devices.reduce((all, one) => all + one.busyNs, 0);
  return sums.devices.length === 0 ? 'no device work' : `${sums.devices.length === 1 ? 'device' : `${sums.devices.length} devices`} busy ${about(sums)}${showShare(busy, length * sums.devices.length)}`;
}

function headWords(sums: RangeSums): string {
  const works = sums.streams.reduce((all, one) => all + one.count, 0);
  const launches = sums.launches === null ? 'launches: cannot tell' : `${countText(sums.launches)} ${sums.launches === 1 ? 'launch' : 'launches'}`;
  const steps = sums.steps.length === 0 ? '' : sums.steps.length === 1 ? ` · in ${printable(sums.steps[0]!)}` : ` · in ${sums.steps.length} steps`;
  return `${busyWords(sums)} · ${about(sums)}${countText(works)} kernels and copies begin · ${launches}${steps}`;
}

function Names({ title, sums, names, whole, note }: { title: string; sums: RangeSums; names: readonly NameSum[]; whole: number; note?: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const shown = names.slice(0, MOST_NAMES);
  const siblings = useMemo(() => shown.map((one) => printable(one.name) || NO_NAME), [names]);
  return (
    <div class="range-box" ref={box}>
      <table>
        <caption>{title}</caption>
        <thead><tr><th scope="col">name</th><th scope="col" class="number">time</th><th scope="col" class="number">share</th><th scope="col" class="number">count</th></tr></thead>
        <tbody>
          {shown.map((one, i) => (
            <tr key={one.name}>
              <td title={siblings[i]}>{width > 0 ? fitName(siblings[i]!, width - NUMBERS_PX - 40, siblings) : siblings[i]}</td>
              <td class="number">{about(sums)}{show(Math.round(one.ns), 'ns')}</td>
              <td class="number">{showShare(one.ns, whole)}</td>
              <td class="number">{about(sums)}{countText(one.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length === 0 && <p class="note">{NOTHING}</p>}
      {names.length > shown.length && <p class="note">{names.length - shown.length} more names</p>}
      {note !== undefined && <p class="note">{note}</p>}
    </div>
  );
}

function Devices({ sums, hasRanks }: { sums: RangeSums; hasRanks: boolean }) {
  const { route, go } = useNavigation();
  const length = sums.range.end - sums.range.begin;
  const look = ({ pause }: DeviceSum) => () => pause !== null && go({ filters: { ...route.filters, time: [Math.floor(pause.begin), Math.ceil(pause.begin + pause.length)] } });
  return (
    <div class="range-box">
      <table>
        <caption>{route.filters.stream === null ? 'Devices' : 'Devices, over all their streams'}</caption>
        <thead><tr><th scope="col">device</th><th scope="col" class="number">busy</th><th scope="col" class="number">share</th><th scope="col" class="number">longest gap</th></tr></thead>
        <tbody>
          {sums.devices.slice(0, MOST_ROWS).map((one) => (
            <tr key={`${one.rank} ${one.name}`}>
              <td>{hasRanks && `rank ${one.rank} · `}{printable(one.name)}</td>
              <td class="number">{about(sums)}{show(Math.round(one.busyNs), 'ns')}</td>
              <td class="number">{about(sums)}{showShare(one.busyNs, length)}</td>
              <td class="number">{one.pause === null ? 'cannot tell' : one.pause.length === 0 ? 'none' : <button type="button" class="link" title="Choose the gap as the range" onClick={look(one)}>{show(one.pause.length, 'ns')}</button>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {sums.devices.length === 0 && <p class="note">{NOTHING}</p>}
      {sums.devices.length > MOST_ROWS && <p class="note">{sums.devices.length - MOST_ROWS} more devices</p>}
    </div>
  );
}

function Streams({ sums, store }: { sums: RangeSums; store: Store }) {
  const length = sums.range.end - sums.range.begin;
  const rows = [...sums.streams].sort((a, b) => b.busyNs - a.busyNs);
  return (
    <div class="range-box">
      <table>
        <caption>Streams</caption>
        <thead><tr><th scope="col">stream</th><th scope="col" class="number">busy</th><th scope="col" class="number">share</th><th scope="col" class="number">works</th></tr></thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map((one) => (
            <tr key={one.track}>
              <td>{placeOf(store, one.track)}</td>
              <td class="number">{about(sums)}{show(Math.round(one.busyNs), 'ns')}</td>
              <td class="number">{about(sums)}{showShare(one.busyNs, length)}</td>
              <td class="number">{about(sums)}{countText(one.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="note">{NOTHING}</p>}
      {rows.length > MOST_ROWS && <p class="note">{rows.length - MOST_ROWS} more streams</p>}
    </div>
  );
}

function Body({ sums, store }: { sums: RangeSums; store: Store }) {
  const whole = (names: readonly NameSum[]) => names.reduce((all, one) => all + one.ns, 0);
  const hasRanks = new Set(store.tracks.map((track) => track.rank)).size > 1;
  const unlinked = sums.unlinkedNs > 0 && sums.operators.length > 0 ? `${show(Math.round(sums.unlinkedNs), 'ns')} of device time has no operator here.` : undefined;
  return (
    <div class="range-sums">
      <div><Devices sums={sums} hasRanks={hasRanks} /><Streams sums={sums} store={store} /></div>
      <Names title="Kernels and copies" sums={sums} names={sums.kernels} whole={whole(sums.kernels)} />
      {sums.operators.length > 0
        ? <Names title="Operators, by the device time of what they launched" sums={sums} names={sums.operators} whole={whole(sums.kernels)} {...(unlinked !== undefined ? { note: unlinked } : {})} />
        : <div class="range-box"><p class="range-title">Operators, by device time</p><p class="note">Cannot tell: {sums.grain > 0 ? 'which operator launched what is known of exact events only.' : 'no launch in the range is within an operator.'}</p></div>}
      <Names title="Host, time of its own by name" sums={sums} names={sums.host} whole={whole(sums.host)} />
    </div>
  );
}

/** Nothing without a range, or in a page without a timeline. */
export function RangeView() {
  const sums = useSums();
  const page = sums === null ? null : timelineOfPage();
  const { route: { pane } } = useNavigation();
  const [toggled, setToggled] = useState<boolean | null>(null);
  const isOpen = toggled ?? (pane === OVERVIEW || pane === TIMELINE); // elsewhere tables come first
  return sums === null || page === null ? null : (
    <details class="range" open={isOpen} onToggle={(event) => event.currentTarget.open !== isOpen && setToggled(event.currentTarget.open)}>
      <summary><b>In the range of {show(Math.round(sums.range.end - sums.range.begin), 'ns')}</b> <span role="status">{headWords(sums)}</span></summary>
      {isOpen && <Body sums={sums} store={page.store} />}
      <p class="note">{trustWords(sums)}</p>
    </details>
  );
}
