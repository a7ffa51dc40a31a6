// The data of the page: two JSON documents that stand in it. Names in them come from traces and are
// shown as text only, never as markup.

export type Cell = number | string | boolean | null;

/** How a column is best shown. */
export interface Hints {
  tone?: string; // of its values
  tones?: Record<string, string>; // of those of its cells that colour their rows
  names?: boolean; // its cells have no order of their own
}

export interface Column {
  name: string;
  type: 'int' | 'float' | 'string' | 'bool';
  unit: string | null;
  role?: string; // "key", "sum" (may be added up), "min", "max", "derived"
  doc: string;
  hints?: Hints;
  values: Cell[];
}

/** How a table was made of those of two runs. */
export type Comparison = 'none' | 'matched' | 'joined';

/** As it stands in the page: texts that recur once each, and their numbers in place of the cells. */
type PackedColumn = Omit<Column, 'values'> & ({ values: Cell[] } | { texts: string[]; cells: (number | null)[] });

interface RawTable {
  name: string;
  title: string;
  columns: PackedColumn[];
}

function unpacked(column: PackedColumn): Column {
  if ('values' in column) {
    return column;
  }
  const { texts, cells, ...rest } = column;
  return { ...rest, values: cells.map((cell) => (cell === null ? null : texts[cell] ?? null)) };
}

/** When a recording begins: on the clock of its file, and after the first of all recordings. */
export interface Clock {
  begin: number;
  shift: number;
}

export interface Table {
  name: string;
  title: string;
  columns: Column[];
  comparison: Comparison;
  clocks?: ReadonlyMap<number, Clock>; // by rank
  usuallyZero?: ReadonlySet<string>; // columns that are shown only where there is something in them
}

export interface Diagnostic {
  code: string;
  severity: 'info' | 'warning' | 'error';
  count: number;
  file: string;
  first: string;
  help: string;
}

/** docs/formats/table-json.md */
export interface TableDocument {
  borescope: string;
  tables: RawTable[];
  diagnostics: Diagnostic[];
}

export interface View {
  table: string;
  kind: string;
  title: string;
  labels: string[];
  values: string[];
  x: string;
  tones?: string[]; // of lines, in their order
}

interface LayoutSection {
  name: string;
  summary: string;
  pane?: string;
  first_table: number;
  tables: number;
  lack: string;
  other_lack: string;
  views: View[];
}

/** What two runs are compared by: sums are those of one of them, the mean. */
export interface Units {
  unit: string; // "step", "token", "rank" or "run"
  this: number; // how many this run has
  other: number;
}

export interface Layout {
  title: string;
  against: string;
  units?: Units;
  all_rows: number[];
  comparisons: Comparison[];
  panes?: { name: string; title: string }[];
  clocks?: { rank: number; begin_ns: number; shift_ns: number }[];
  sections: LayoutSection[];
}

/** A table with the number of rows it had before it was made to fit. */
export interface SizedTable {
  table: Table;
  allRows: number;
}

export interface Section {
  name: string;
  summary: string;
  pane: string;
  lack: string;
  otherLack: string;
  views: View[];
  tables: SizedTable[];
}

/** A part of the page that is shown at once. */
export interface Pane {
  name: string; // as links have it
  title: string;
  sections: Section[];
}

export interface Report {
  version: string;
  title: string;
  against: string; // title of the other run; empty: there is none
  units: Units | null; // where there is one
  sections: Section[];
  panes: Pane[];
  diagnostics: Diagnostic[];
}

export const OVERVIEW = 'overview';
export const TIMELINE = 'timeline';
export const QUALITY = 'quality';
export const POSTMORTEM = 'postmortem'; // of a page about a job that died
/** Of the page, with the timeline; there may be none. */
export const TIMELINE_ELEMENT = 'borescope-timeline';

// Sections that belong to no analysis.
export const NOT_RECORDED = 'not-recorded';
export const REMARKS = 'remarks';

/** The panes that a page has whatever was recorded. */
const ALWAYS: readonly string[] = [OVERVIEW, TIMELINE, QUALITY];

// Of a page whose layout names no panes.
const PLAIN_PANES = [
  { name: OVERVIEW, title: 'Overview' },
  { name: 'sections', title: 'Sections' },
  { name: QUALITY, title: 'Data quality' },
];

function panesOf(layout: Layout, sections: Section[]): Pane[] {
  const panes = (layout.panes ?? PLAIN_PANES).map((pane) => ({
    ...pane,
    sections: sections.filter((section) => section.pane === pane.name),
  }));
  return panes.filter((pane) => pane.sections.length > 0 || ALWAYS.includes(pane.name));
}

/** How far steps lie apart is said with the steps. */
function withSpread(sections: Section[]): Section[] {
  const summary = sections.find((section) => section.name === 'summary');
  const spread = summary?.tables.filter((sized) => sized.table.name === 'step_spread') ?? [];
  return sections.map((section) =>
    section.name === 'steps' && hasTables(section) ? { ...section, tables: [...section.tables, ...spread] } : section);
}

export function makeReport(data: TableDocument, layout: Layout): Report {
  const clocks = new Map(layout.clocks?.map((one) => [one.rank, { begin: one.begin_ns, shift: one.shift_ns }]));
  const usuallyZero = (index: number, name: string) => new Set(layout.sections
    .filter((section) => index >= section.first_table && index < section.first_table + section.tables)
    .flatMap((section) => section.views.flatMap((view) => (view.kind === 'aside' && view.table === name ? view.values : []))));
  const sized = data.tables.map((table, i) => ({
    table: {
      ...table, columns: table.columns.map(unpacked), clocks, comparison: layout.comparisons?.[i] ?? 'none',
      usuallyZero: usuallyZero(i, table.name),
    },
    allRows: layout.all_rows[i] ?? 0,
  }));
  const sections = withSpread(layout.sections.map((section) => ({
    name: section.name,
    summary: section.summary,
    pane: section.pane ?? (section.name === 'summary' ? OVERVIEW : 'sections'),
    lack: section.lack,
    otherLack: section.other_lack ?? '',
    views: section.views,
    tables: sized.slice(section.first_table, section.first_table + section.tables),
  })));
  return {
    version: data.borescope,
    title: layout.title,
    against: layout.against ?? '',
    units: layout.units ?? null,
    sections,
    panes: panesOf(layout, sections),
    diagnostics: data.diagnostics,
  };
}

export function rowsOf(table: Table): number {
  return table.columns[0]?.values.length ?? 0;
}

export function find(table: Table, name: string): Column | undefined {
  return table.columns.find((column) => column.name === name);
}

export function tableOf(section: Section | undefined, name: string): Table | undefined {
  return section?.tables.find((sized) => sized.table.name === name)?.table;
}

export function isNumeric(column: Column): boolean {
  return column.type === 'int' || column.type === 'float';
}

/** The number in a cell; 0 where there is none. */
export function numberAt(column: Column | undefined, row: number): number {
  const cell = column?.values[row];
  return typeof cell === 'number' && Number.isFinite(cell) ? cell : 0;
}

export function textAt(column: Column | undefined, row: number): string {
  const cell = column?.values[row];
  return cell === null || cell === undefined ? '' : String(cell);
}

/** The same table with these of its rows. */
export function takeRows(table: Table, rows: readonly number[]): Table {
  const columns = table.columns.map((column) => ({ ...column, values: rows.map((row) => column.values[row] ?? null) }));
  return { ...table, columns };
}

/** Whether a section has anything to show. */
export const hasTables = (section: Section): boolean => section.tables.length > 0;

export const sectionNamed = (report: Report, name: string): Section | undefined =>
  report.sections.find((section) => section.name === name);

export function indices(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
