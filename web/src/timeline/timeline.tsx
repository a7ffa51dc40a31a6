// The timeline: rows of events over time, drawn on a canvas, with everything that is needed around it.
import { type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { type Look } from '../route';
import { printable, show } from '../units';
import { exactTime } from './axis';
import { useChanges } from './changes';
import { Details, Spoken } from './details';
import { type TimelineDocument } from './document';
import { HEAD_PX } from './head';
import { interact, interactMap } from './interact';
import { Labels } from './labels';
import { Legend } from './legend';
import { Finer } from './more';
import { useLook } from './look';
import { Outline } from './outline';
import { type Focus, Stage } from './stage';
import { type Store } from './store';
import { Tools } from './tools';
import { Tooltip } from './tooltip';
import { type Span } from './view';
import { HOW_TO_GET_ALL } from './words';

const RANGE_MS = 120; // a drag is reported when it rests
const MOST_PRINTED_PX = 1600;
const MOST_REASONS = 3;
const MOST_OWN = 8;

export const FIRST_FRAME_MARK = 'borescope-timeline-first-frame';

/** `range` is what other panes have chosen; `onRange` reports what is chosen here. `focus` jumps to a
 *  moment whenever it is another object, `search` sets the search whenever it is another text. */
export interface TimelineProps {
  document: TimelineDocument;
  range?: Span | null;
  onRange?: (range: Span | null) => void;
  focus?: Focus | null;
  search?: string;
  look?: Look | undefined; // what the address has of view, selection and pinned rows
  onLook?: (look: Look) => void;
  store?: Store; // of the document, where others have it, too
  children?: ComponentChildren; // below the picture
}

interface Elements {
  plot: { current: HTMLCanvasElement | null };
  head: { current: HTMLCanvasElement | null };
  scroller: { current: HTMLDivElement | null };
  area: { current: HTMLDivElement | null };
}

/** Keeps the picture as large as its place; one that is not shown keeps its size. */
function measure(stage: Stage, { area, scroller }: Elements): void {
  const [width = 0, height = 0] = [area.current?.clientWidth, scroller.current?.clientHeight];
  if (width > 0 && height > 0) {
    stage.resize(width, height);
  }
}

/** Draws the first frame before anything else of the page is shown, and again when places or colours change. */
function useSurfaces(stage: Stage, elements: Elements): void {
  useLayoutEffect(() => {
    const { plot, head, scroller } = { plot: elements.plot.current, head: elements.head.current, scroller: elements.scroller.current };
    if (plot === null || head === null || scroller === null) {
      return undefined;
    }
    stage.attach({ plot, head, scroller });
    measure(stage, elements);
    stage.paintNow();
    performance.mark(FIRST_FRAME_MARK);
    const onScroll = () => stage.redraw();
    scroller.addEventListener('scroll', onScroll, { passive: true });
    const stops = [watchSize(stage, elements, scroller), watchTheme(stage), watchPrint(stage, elements)];
    return () => {
      scroller.removeEventListener('scroll', onScroll);
      stops.forEach((stop) => stop());
      stage.detach();
    };
  }, [stage]);
}

function watchSize(stage: Stage, elements: Elements, scroller: HTMLElement): () => void {
  const observer = new ResizeObserver(() => measure(stage, elements));
  observer.observe(scroller);
  if (elements.area.current !== null) {
    observer.observe(elements.area.current);
  }
  return () => observer.disconnect();
}

function watchTheme(stage: Stage): () => void {
  const change = () => stage.readTheme();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(change);
  observer.observe(globalThis.document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  dark.addEventListener('change', change);
  return () => {
    observer.disconnect();
    dark.removeEventListener('change', change);
  };
}

/** Paper shows the whole recording and all rows, as many as fit on a page. */
function watchPrint(stage: Stage, elements: Elements): () => void {
  let before: Span | null = null;
  const begin = () => {
    before = stage.view;
    measure(stage, elements);
    stage.showAll();
    stage.resize(stage.width, Math.min(MOST_PRINTED_PX, stage.layout.height));
    stage.paintNow();
    stage.changed('settle'); // the legend is of what is printed
  };
  const end = () => {
    stage.show(before ?? stage.view);
    measure(stage, elements);
  };
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  return () => {
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}

/** The same to the nanosecond: an address has no fractions of one. */
const isSameSpan = (a: Span | null, b: Span | null): boolean =>
  a === b || (a !== null && b !== null && Math.abs(a.begin - b.begin) < 1 && Math.abs(a.end - b.end) < 1);

/** The range of this timeline and that of the panes around it, each set when the other changes. */
function useRange(stage: Stage, range: Span | null | undefined, onRange: ((range: Span | null) => void) | undefined): void {
  const outer = useRef<Span | null>(null);
  const own = useRef<(Span | null)[]>([]); // reported, and not come back yet: until then a drag may have gone on
  const report = useRef(onRange);
  report.current = onRange;
  useEffect(() => {
    const at = own.current.findIndex((one) => isSameSpan(range ?? null, one));
    outer.current = range ?? null;
    own.current.splice(0, at + 1);
    if (range !== undefined && at < 0 && !isSameSpan(range, stage.range)) {
      stage.setRange(range);
      stage.showRange();
    }
  }, [stage, range]);
  useEffect(() => {
    let timer = 0;
    const stop = stage.listen('range', () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        if (!isSameSpan(outer.current, stage.range)) {
          outer.current = stage.range;
          own.current = [...own.current.slice(-MOST_OWN), stage.range];
          report.current?.(stage.range);
        }
      }, RANGE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [stage]);
}

/** Why a part of the picture is merged, and what is exact. */
function mergedWords(stage: Stage): string {
  const reasons = [...new Set(stage.exact.map(({ why, cut }) => `${printable(why)}${cut === true ? ', as much as fitted' : ''}`))];
  const where = reasons.length === 0 ? '' : `; exact is what lies between the dashed lines (${reasons.slice(0, MOST_REASONS).join('; ')}${reasons.length > MOST_REASONS ? '; and more' : ''})`;
  const rest = stage.document.more === undefined && stage.exact.length > 0 ? ` All of it does not fit into a page: ${HOW_TO_GET_ALL}` : '';
  return `Events closer together than ${show(stage.merged, 'ns')} are merged in a part of this view${where}.${rest}`;
}

/** What the document lacks. */
function lackWords({ document, store }: Stage): string {
  const { tracks = 0, events = 0 } = document.left_out ?? {};
  const count = (number: number, word: string) => (number > 0 ? [`${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`] : []);
  const lacks = [...count(tracks, 'row'), ...count(events, 'event')];
  const left = lacks.length > 0 ? ` Left out for size: ${lacks.join(' and ')}; “borescope timeline RECORDING --detail full” has them.` : '';
  return store.problem === '' ? left : `${left} Some rows could not be read: ${printable(store.problem)}.`;
}

/** What of the picture is exact. */
function State({ stage }: { stage: Stage }) {
  useChanges(stage, 'settle');
  const seen = `Seen: ${show(Math.round(stage.view.end - stage.view.begin), 'ns')} from ${exactTime(Math.round(stage.view.begin))}.`;
  const words = stage.merged > 0 ? mergedWords(stage) : 'Every event of this view that is wide enough to be seen is drawn as it was recorded.';
  return <p class="note">{seen} {words}{lackWords(stage)}</p>;
}

/** Listens for fingers, keys and the wheel. */
function useGestures(stage: Stage, elements: Elements, input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const { plot, head } = { plot: elements.plot.current, head: elements.head.current };
    if (plot === null || head === null) {
      return undefined;
    }
    const stops = [interact(stage, plot, () => input.current?.focus()), interactMap(stage, head)];
    const finer = new Finer(stage);
    stops.push(stage.listen('settle', () => finer.settled()));
    return () => stops.forEach((stop) => stop());
  }, [stage]);
}

function useElements(): Elements {
  return { plot: useRef(null), head: useRef(null), scroller: useRef(null), area: useRef(null) };
}

const HELP = 'Timeline. W and S zoom, A and D move, arrow keys select events, Enter zooms to the selected one, slash searches. The same as tables is below.';

/** The picture: minimap and axis above, names of rows beside, rows that scroll. */
function Plot({ stage, elements }: { stage: Stage; elements: Elements }) {
  useChanges(stage, 'rows');
  const [gutter, setGutter] = useState(0);
  useLayoutEffect(() => setGutter(elements.area.current?.offsetLeft ?? 0));
  return (
    <div class="tl-frame">
      <div class="tl-head">
        <div class="tl-corner"><span>{show(stage.whole, 'ns')} in all</span></div>
        <canvas ref={elements.head} aria-hidden="true" style={{ height: `${HEAD_PX}px` }} />
      </div>
      <div class="tl-scroll" ref={elements.scroller}>
        <div class="tl-content" style={{ height: `${stage.layout.height}px` }}>
          <Labels stage={stage} />
          <div class="tl-area" ref={elements.area}>
            <canvas ref={elements.plot} tabIndex={0} role="application" aria-label={HELP} />
          </div>
        </div>
      </div>
      <Tooltip stage={stage} left={gutter} top={HEAD_PX} />
    </div>
  );
}

export function Timeline({ document: data, range, onRange, focus, search = '', look, onLook, store, children }: TimelineProps) {
  const stage = useMemo(() => new Stage(data, store), [data, store]);
  const elements = useElements();
  const input = useRef<HTMLInputElement>(null);
  useSurfaces(stage, elements);
  useGestures(stage, elements, input);
  useRange(stage, range, onRange);
  useEffect(() => (focus === null || focus === undefined ? undefined : stage.focus(focus)), [stage, focus]);
  useLook(stage, look, onLook);
  return (
    <div class="timeline">
      <Tools stage={stage} input={input} search={search} />
      <Plot stage={stage} elements={elements} />
      <Details stage={stage} />
      {children}
      <Spoken stage={stage} />
      <Legend stage={stage} />
      <State stage={stage} />
      <Outline stage={stage} />
    </div>
  );
}
