// What is being recorded, above the report: of each rank the last steps as they come, as bars and as a
// table. The server counts and measures; here is only drawn. What is not known yet is marked, never
// guessed: a step that still runs, and one of which the device has not reported all work.
import { printable, show, showShare } from './units';

export interface LiveStep {
  step: number;
  gpu: number | null;
  begin_ms: number | null;
  state: 'whole' | 'partial' | 'running';
  host_ns: number;
  span_ns: number;
  busy_ns: number;
  compute_ns: number;
  exposed_comm_ns: number;
  exposed_copy_ns: number;
  idle_ns: number;
  launches: number;
  unreported: number;
}

export interface LiveRun {
  rank: number | null;
  name: string;
  state: 'running' | 'paused' | 'ended' | 'died' | 'elsewhere';
  text: string;
  notes: string[];
  steps: LiveStep[];
}

const PARTS = [
  { key: 'compute_ns', tone: 'compute', name: 'compute' },
  { key: 'exposed_comm_ns', tone: 'comm', name: 'communication alone' },
  { key: 'exposed_copy_ns', tone: 'copy', name: 'copies alone' },
  { key: 'idle_ns', tone: 'idle', name: 'idle' },
] as const;

const ROWS = 10; // of the table, the newest first
const BAR_PX = 14;
const HEIGHT_PX = 72;

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, text = '', className = '', ...children: Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...(text === '' ? [] : [printable(text)]), ...children);
  return made;
}

function shape(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

const withDevices = (run: LiveRun) => new Set(run.steps.map((step) => step.gpu)).size > 1;

const nameOf = (step: LiveStep, run: LiveRun) =>
  (withDevices(run) && step.gpu !== null ? `${step.step}, GPU ${step.gpu}` : String(step.step));

/** What is not known of a step. */
export function knownOf(step: LiveStep): string {
  if (step.state === 'running') {
    return 'still runs';
  }
  if (step.unreported > 0) {
    return `${step.unreported} of ${step.launches} launches without a record of the device`;
  }
  return step.state === 'partial' ? 'device records may follow' : 'all';
}

const time = (ns: number) => show(ns, 'ns');

/** A part of a step's time; of a step without any time of its device nothing is known. */
const partOf = (step: LiveStep, key: (typeof PARTS)[number]['key']) => (step.span_ns > 0 ? time(step[key]) : '–');

const lengthOf = (step: LiveStep) => (step.span_ns > 0 ? step.span_ns : step.host_ns);

function summaryOf(step: LiveStep, run: LiveRun): string {
  const parts = PARTS.map(({ key, name }) => `${name} ${partOf(step, key)}`).join(', ');
  const marked = step.state === 'whole' ? '' : ` (${knownOf(step)})`;
  return `step ${nameOf(step, run)}: ${time(lengthOf(step))}${marked}; ${parts}`;
}

/** A bar for each step, of the time of its device; pale and dashed where that is not all known. */
function chart(run: LiveRun): Node {
  const largest = Math.max(1, ...run.steps.map(lengthOf));
  const bars = run.steps.map((step, i) => {
    const bar = shape('g', { class: step.state }, shape('title', {}, document.createTextNode(summaryOf(step, run))));
    let top = HEIGHT_PX;
    for (const { key, tone } of PARTS) {
      const height = (step[key] / largest) * HEIGHT_PX;
      top -= height;
      bar.append(shape('rect', {
        x: i * BAR_PX, y: top.toFixed(2), width: BAR_PX - 3, height: Math.max(0, height).toFixed(2), fill: `var(--${tone})`,
      }));
    }
    if (step.state !== 'whole') {
      const height = (lengthOf(step) / largest) * HEIGHT_PX;
      bar.append(shape('rect', {
        class: 'outline', x: i * BAR_PX + 0.5, y: (HEIGHT_PX - height + 0.5).toFixed(2), width: BAR_PX - 4, height: Math.max(1, height - 1).toFixed(2),
      }));
    }
    return bar;
  });
  const width = Math.max(1, run.steps.length) * BAR_PX;
  const last = run.steps.at(-1);
  const label = `The last ${run.steps.length} steps; the newest: ${last === undefined ? 'none' : summaryOf(last, run)}`;
  return shape('svg', { viewBox: `0 0 ${width} ${HEIGHT_PX}`, width, height: HEIGHT_PX, role: 'img', 'aria-label': label }, ...bars);
}

function legend(): Node {
  const list = element('ul', '', 'live-legend');
  for (const { tone, name } of PARTS) {
    const box = element('i');
    box.style.background = `var(--${tone})`;
    list.append(element('li', '', '', box, document.createTextNode(name)));
  }
  list.append(element('li', '', '', element('i', '', 'open'), document.createTextNode('not all known yet')));
  return list;
}

function clockTime(ms: number | null): string {
  if (ms === null) {
    return '–';
  }
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function table(run: LiveRun): Node {
  const heads = ['step', 'began at', 'time', 'compute', 'communication alone', 'copies alone', 'idle', 'busy', 'known'];
  const head = element('tr', '', '', ...heads.map((name) => {
    const cell = element('th', name);
    cell.scope = 'col';
    return cell;
  }));
  const rows = run.steps.slice(-ROWS).reverse().map((step) => element('tr', '', step.state, ...[
    nameOf(step, run), clockTime(step.begin_ms), time(lengthOf(step)), ...PARTS.map(({ key }) => partOf(step, key)),
    showShare(step.busy_ns, step.span_ns), knownOf(step),
  ].map((text) => element('td', text))));
  return element('table', '', '', element('thead', '', '', head), element('tbody', '', '', ...rows));
}

const STATES = {
  running: 'recording', paused: 'paused', ended: 'ended', died: 'process gone', elsewhere: 'elsewhere',
} as const;

function section(run: LiveRun): HTMLElement {
  const title = run.rank === null ? run.name : `Rank ${run.rank} of ${run.name}`;
  const heading = element('h2', title, '', element('span', STATES[run.state], `live-state ${run.state}`));
  const made = element('section', '', 'live-run', heading, element('p', run.text));
  for (const note of run.notes) {
    made.append(element('p', note, 'live-note'));
  }
  if (run.steps.length > 0) {
    const scroller = element('div', '', 'live-scroller', table(run));
    scroller.tabIndex = 0;
    scroller.setAttribute('role', 'region');
    scroller.setAttribute('aria-label', `Last steps of ${title}`);
    made.append(element('div', '', 'live-chart', chart(run), legend()), scroller);
  }
  return made;
}

/** Draws them into `place`, which then has nothing else. */
export function showLiveRuns(place: HTMLElement, runs: readonly LiveRun[]): void {
  place.hidden = runs.length === 0;
  const scrolled = [...place.querySelectorAll('.live-scroller')].map((one) => one.scrollLeft);
  const active = [...place.querySelectorAll('.live-scroller')].indexOf(document.activeElement ?? place);
  place.replaceChildren(...runs.map(section));
  place.querySelectorAll<HTMLElement>('.live-scroller').forEach((one, i) => {
    one.scrollLeft = scrolled[i] ?? 0;
    if (i === active) {
      one.focus({ preventScroll: true });
    }
  });
}
