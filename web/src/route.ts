// Where on the page somebody is, and by what rows are filtered, as the address has it:
// "#PANE", "#PANE/SECTION", and "?rank=1&step=5&stream=7&text=gemm&t=BEGIN-END" after either; after the timeline also
// "view=BEGIN-END", "box=ROW.BEGIN.DURATION.DEPTH" and "pin=ROW.ROW". A section
// alone ("#kernels") leads to the pane that has it, as addresses of older pages do.
import { NOT_RECORDED, OVERVIEW, QUALITY, REMARKS, type Report, TIMELINE } from './model';

export interface Filters {
  rank: number | null;
  step: number | null;
  stream: number | null;
  text: string;
  time: readonly [number, number] | null; // nanoseconds since the recording began
}

/** What of the timeline is looked at: other parts of the page do not ask for it. */
export interface Look {
  view: readonly [number, number] | null; // nanoseconds since the recording began; null: all
  event: readonly number[]; // row, begin, duration and depth of what is selected; empty: nothing
  pins: readonly number[]; // rows that stay at the top
}

export const NO_LOOK: Look = { view: null, event: [], pins: [] };

export interface Route {
  look?: Look | undefined; // undefined: as it was
  pane: string;
  section: string; // empty: the top of the pane
  filters: Filters;
}

export const NO_FILTERS: Filters = { rank: null, step: null, stream: null, text: '', time: null };

/** The filters that compare one number. */
export const NUMBER_FILTERS = ['rank', 'step', 'stream'] as const;

export const isFiltering = (filters: Filters): boolean =>
  filters.text.trim() !== '' || filters.time !== null || NUMBER_FILTERS.some((name) => filters[name] !== null);

function integerIn(text: string | null): number | null {
  const number = text !== null && /^-?\d{1,15}$/.test(text) ? Number(text) : null;
  return number;
}

function timeIn(text: string | null): Filters['time'] {
  const match = /^(-?\d{1,15})-(-?\d{1,15})$/.exec(text ?? '');
  const [begin, end] = [Number(match?.[1]), Number(match?.[2])];
  return match !== null && begin < end ? [begin, end] : null;
}

const numbersIn = (text: string | null): number[] =>
  text !== null && /^\d{1,15}(\.\d{1,15}){0,63}$/.test(text) ? text.split('.').map(Number) : [];

function lookIn(query: string): Look | undefined {
  const params = new URLSearchParams(query);
  if (!['view', 'box', 'pin'].some((name) => params.has(name))) {
    return undefined;
  }
  const event = numbersIn(params.get('box'));
  return { view: timeIn(params.get('view')), event: event.length === 4 ? event : [], pins: numbersIn(params.get('pin')) };
}

function filtersIn(query: string): Filters {
  const params = new URLSearchParams(query);
  return {
    rank: integerIn(params.get('rank')),
    step: integerIn(params.get('step')),
    stream: integerIn(params.get('stream')),
    text: params.get('text') ?? '',
    time: timeIn(params.get('t')),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a "%" that somebody typed
  }
}

/** The pane that shows what is called so; undefined: there is nothing. */
function paneOf(report: Report, section: string): string | undefined {
  const found = report.panes.find((pane) => pane.sections.some((one) => one.name === section));
  return section === NOT_RECORDED || section === REMARKS ? QUALITY : found?.name;
}

/** The overview, where there is one. */
const firstPane = (report: Report): string =>
  report.panes.some((pane) => pane.name === OVERVIEW) ? OVERVIEW : report.panes[0]?.name ?? OVERVIEW;

export function parseRoute(report: Report, hash: string): Route {
  const [path = '', ...rest] = hash.replace(/^#/, '').split('?');
  const [first = '', second = ''] = path.split('/').map(decoded);
  const filters = filtersIn(rest.join('?'));
  const isPane = report.panes.some((pane) => pane.name === first);
  const section = isPane ? second : first;
  const home = paneOf(report, section);
  const pane = home ?? (isPane ? first : firstPane(report));
  return { pane, section: home === undefined ? '' : section, filters, look: pane === TIMELINE ? lookIn(rest.join('?')) : undefined };
}

function putLook(look: Look, params: URLSearchParams): void {
  if (look.view !== null) {
    params.set('view', `${Math.round(look.view[0])}-${Math.round(look.view[1])}`);
  }
  if (look.event.length > 0) {
    params.set('box', look.event.map(Math.round).join('.'));
  }
  if (look.pins.length > 0) {
    params.set('pin', look.pins.join('.'));
  }
}

function queryOf({ filters, look, pane }: Route): string {
  const params = new URLSearchParams();
  for (const name of NUMBER_FILTERS) {
    if (filters[name] !== null) {
      params.set(name, String(filters[name]));
    }
  }
  if (filters.text !== '') {
    params.set('text', filters.text);
  }
  if (filters.time !== null) {
    params.set('t', `${Math.round(filters.time[0])}-${Math.round(filters.time[1])}`);
  }
  if (look !== undefined && pane === TIMELINE) {
    putLook(look, params);
  }
  const query = params.toString();
  return query === '' ? '' : `?${query}`;
}

export function formatRoute(route: Route): string {
  const section = route.section === '' ? '' : `/${encodeURIComponent(route.section)}`;
  return `#${encodeURIComponent(route.pane)}${section}${queryOf(route)}`;
}
