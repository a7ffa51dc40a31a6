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
  doc: string;
  hints?: Hints;
  values: Cell[];
}

/** How a table was made of those of two runs. */
export type Comparison = 'none' | 'matched' | 'joined';

interface RawTable {
  name: string;
  title: string;
  columns: Column[];
}

export interface Table extends RawTable {
  comparison: Comparison;
}

export interface Diagnostic {
  code: string;
  severity: 'info' | 'warning' | 'error';
  count: number;
  file: string;
  first: string;
  help: string;
}

/** docs/table-json.md */
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
  first_table: number;
  tables: number;
  lack: string;
  other_lack: string;
  views: View[];
}

export interface Layout {
  title: string;
  against: string;
  all_rows: number[];
  comparisons: Comparison[];
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
  lack: string;
  otherLack: string;
  views: View[];
  tables: SizedTable[];
}

export interface Report {
  version: string;
  title: string;
  against: string; // title of the other run; empty: there is none
  sections: Section[];
  diagnostics: Diagnostic[];
}

export function makeReport(data: TableDocument, layout: Layout): Report {
  const sized = data.tables.map((table, i) => ({
    table: { ...table, comparison: layout.comparisons?.[i] ?? 'none' },
    allRows: layout.all_rows[i] ?? 0,
  }));
  const sections = layout.sections.map((section) => ({
    name: section.name,
    summary: section.summary,
    lack: section.lack,
    otherLack: section.other_lack ?? '',
    views: section.views,
    tables: sized.slice(section.first_table, section.first_table + section.tables),
  }));
  return {
    version: data.borescope,
    title: layout.title,
    against: layout.against ?? '',
    sections,
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

export function indices(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
