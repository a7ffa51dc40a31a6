// A table that sorts, filters, copies as CSV, and draws only the rows that are seen.
import { useMemo, useRef, useState } from 'preact/hooks';

import { againstOf, changeOf, partOf, runsAt } from './compare';
import { type Shown, formatOf, indentAt, isShort, mattersFirst, printedColumns, roomFor, shownColumns } from './columns';
import { copyText, toCsv } from './csv';
import { usePrinting, useSeen, useWidth } from './hooks';
import { type Filtered, hasText, isAdditive } from './filters';
import { KernelLimits } from './limits';
import { fitName } from './measure';
import { type Column, type SizedTable, TIMELINE, type Table, find, indices, isNumeric, numberAt, rowsOf, textAt } from './model';
import { BEGIN, hasTimeline, momentOf } from './moments';
import { useNavigation } from './navigation';
import { timelineOfPage } from './timeline/of_page';
import { type Format, NO_NAME, columnLabel, formatCell, formatNumber, isProse, printable, prose, shortenName } from './units';

const ROW_PX = 26;
const SEEN_PX = 416; // sixteen rows
const SPARE_ROWS = 8; // drawn above and below those that are seen
const MOST_PRINTED = 60;
const MOST_PRINTED_CHARACTERS = 90;
const CELL_PX = 20; // of a cell beside its text
const FRAME_PX = 20; // around all columns, with a scroll bar
const NARROW_PX = 640;

interface Order {
  column: number;
  descending: boolean;
}

function compareCells(column: Column, a: number, b: number): number {
  const left = column.values[a] ?? null;
  const right = column.values[b] ?? null;
  if (left === null || right === null) {
    return left === right ? 0 : left === null ? 1 : -1;
  }
  if (typeof left === 'string' || typeof right === 'string') {
    return String(left) < String(right) ? -1 : String(left) > String(right) ? 1 : 0;
  }
  return Number(left) - Number(right);
}

/** Row numbers in order; missing cells come last either way. */
function sorted(table: Table, rows: readonly number[], order: Order | null): readonly number[] {
  const column = order === null ? undefined : table.columns[order.column];
  if (column === undefined || order === null) {
    return rows;
  }
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const missing = Number(column.values[a] === null) - Number(column.values[b] === null);
    return missing || sign * compareCells(column, a, b) || a - b;
  });
}

/** Of `rows` those that have the text. */
function matching(table: Table, rows: readonly number[], text: string): readonly number[] {
  const wanted = text.trim().toLowerCase();
  const columns = table.columns.filter((column) => column.type === 'string');
  if (wanted === '') {
    return rows;
  }
  return rows.filter((row) =>
    (columns.length > 0 ? columns : table.columns).some((column) => hasText(column, row, wanted)),
  );
}

function Heading(props: {
  table: Table;
  shown: Shown;
  order: Order | null;
  index: number;
  onOrder: (order: Order) => void;
}) {
  const { order, index } = props;
  const { column, format, part, label, of } = props.shown;
  const isSorted = order?.column === index;
  const next = isSorted ? !order.descending : isNumeric(column);
  const arrow = isSorted ? (order.descending ? '↓' : '↑') : '';
  return (
    <th
      scope="col"
      data-column={column.name}
      class={`${isNumeric(column) ? 'number ' : ''}${part}${staysClass(props.table, column)}`}
      aria-sort={isSorted ? (order.descending ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        title={`${of}${of !== '' ? `${label}: ` : ''}${column.doc}`}
        onClick={() => props.onOrder({ column: index, descending: next })}
      >
        <span>{of !== '' && <span class="unseen">{of}</span>}{label}{arrow !== '' && <b aria-hidden="true"> {arrow}</b>}</span>
        {format.unit !== '' && <small>{format.unit}</small>}
      </button>
    </th>
  );
}

function ShareBar({ value }: { value: number }) {
  const percent = Math.max(0, Math.min(1, value)) * 100;
  return <span class="share" aria-hidden="true" style={{ width: `${percent}%` }} />;
}

/** A sign has a colour, and none where nothing changed. */
function changeKind(text: string): string {
  return text.startsWith('+') ? ' more' : text.startsWith('−') ? ' less' : ' same';
}

/** What stays in sight while the other columns of a wide table move. */
function staysClass(table: Table, column: Column): string {
  const stays = find(table, 'name') ?? table.columns[0];
  return table.comparison === 'matched' && column === stays ? ' stays' : '';
}

const BLOCK_ROWS = 48; // whose names are distinguished: what is on the screen together

/** Texts that are near each other in a column, by the block of rows. */
const blocksOf = new WeakMap<readonly number[], Map<Column, Map<number, string[]>>>();

/** The texts of the rows around the one at a place in `rows`; the same list for all of a block. */
function textsAround(column: Column, format: Format, rows: readonly number[], place: number): string[] {
  const block = Math.floor(place / BLOCK_ROWS);
  const byColumn = blocksOf.get(rows) ?? new Map<Column, Map<number, string[]>>();
  const byBlock = byColumn.get(column) ?? new Map<number, string[]>();
  const texts = byBlock.get(block) ?? rows.slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS).map((row) => formatCell(column, format, row));
  blocksOf.set(rows, byColumn.set(column, byBlock.set(block, texts)));
  return texts;
}

/** What fits of a text: of one that is far from sight the style sheet cuts the end. */
function fittingText(props: CellProps, text: string, indent: number): string {
  const { column, format } = props.shown;
  if (isProse(column)) {
    return text;
  }
  if (props.isPrinted) {
    return shortenName(text, MOST_PRINTED_CHARACTERS);
  }
  return props.isSeen ? fitName(text, props.width - CELL_PX - indent, textsAround(column, format, props.rows, props.place)) : text;
}

interface CellProps {
  table: Table;
  shown: Shown;
  row: number;
  rows: readonly number[]; // of the whole table, in their order
  place: number; // of the row among them
  width: number;
  isPrinted: boolean;
  isSeen: boolean;
}

/** When a row begins, as the way to that moment on the timeline. */
function Moment({ table, row, text }: { table: Table; row: number; text: string }) {
  const { href } = useNavigation();
  const moment = hasTimeline() ? momentOf(table, row) : null;
  return moment === null
    ? <span>{text}</span>
    : <a href={href(TIMELINE, moment)} aria-label={`Show ${text} on the timeline`} title="Show on the timeline">{text}</a>;
}

function BodyCell(props: CellProps) {
  const { table, row } = props;
  const { column, format, part } = props.shown;
  const cell = column.values[row];
  const text = formatCell(column, format, row);
  if (typeof cell === 'number') {
    return (
      <td class={`number ${part}${part === 'change' ? changeKind(text) : ''}${staysClass(table, column)}`} title={String(cell)}>
        {part === 'own' && column.unit === 'share' && <ShareBar value={cell} />}
        {column.name === BEGIN ? <Moment table={table} row={row} text={text} /> : <span>{text}</span>}
      </td>
    );
  }
  if (cell === null || cell === undefined) {
    return <td class={`${isNumeric(column) ? 'number ' : ''}missing ${part}${staysClass(table, column)}`}>{text}</td>;
  }
  const indent = indentAt(table, column, row);
  return (
    <td class={`${part}${isShort(props.shown) ? ' short' : ''}${staysClass(table, column)}`} title={text} dir="ltr" style={indent > 0 ? { paddingLeft: `${10 + indent}px` } : {}}>
      {text === '' && column.name === 'name' ? NO_NAME : fittingText(props, text, indent)}
    </td>
  );
}

// Tables with a row for each kernel, and the column of its name.
const KERNEL_NAMES: Record<string, string> = { kernels: 'name', speed_of_light: 'kernel', counters: 'kernel' };

const isOfKernels = (table: Table): boolean => table.comparison === 'none' && KERNEL_NAMES[table.name] !== undefined;

function rankOf(table: Table, row: number): number | null {
  const rank = find(table, 'rank')?.values[row];
  return typeof rank === 'number' ? rank : null;
}

/** Everything about one row, nothing shortened. */
function RowDetails(props: { table: Table; row: number; onClose: () => void }) {
  const { table, row } = props;
  const told = (column: Column) => {
    const format = formatOf(table, column);
    return `${formatCell(column, format, row)} ${column.values[row] === null ? '' : format.unit}`;
  };
  return (
    <div class="details" role="group" aria-label="Selected row">
      <button type="button" class="close" onClick={props.onClose} aria-label="Close">×</button>
      <dl>
        {table.columns.filter((column) => partOf(table, column) === 'own').map((column) => {
          const [against, change] = [againstOf(table, column.name), changeOf(table, column.name)];
          return (
            <div key={column.name}>
              <dt title={column.doc}>{columnLabel(column)}</dt>
              <dd>
                {told(column)}
                {against !== undefined && <small> other {told(against)}</small>}
                {change !== undefined && change.values[row] !== null && <small> · {told(change)}</small>}
              </dd>
            </div>
          );
        })}
      </dl>
      {isOfKernels(table) && <KernelLimits name={printable(textAt(find(table, KERNEL_NAMES[table.name]!), row))} rank={rankOf(table, row)} detail={textAt(find(table, 'grid'), row)} />}
    </div>
  );
}

function Tools(props: {
  table: Table;
  filter: string;
  rows: readonly number[];
  onFilter: (text: string) => void;
}) {
  const [copied, setCopied] = useState('');
  const total = rowsOf(props.table);
  const label = copied || 'Copy CSV';
  const copy = async () => {
    const done = await copyText(toCsv(props.table, props.rows));
    setCopied(done ? 'Copied' : 'Not copied');
    setTimeout(() => setCopied(''), 2000);
  };
  return (
    <div class="tools">
      {total > 8 && (
        <input
          type="search"
          placeholder="Filter"
          aria-label={`Filter rows of ${props.table.title}`}
          value={props.filter}
          onInput={(event) => props.onFilter(event.currentTarget.value)}
        />
      )}
      {props.filter !== '' && <span role="status">{props.rows.length} of {total} rows</span>}
      <button type="button" onClick={() => void copy()} aria-label={`${label}: ${props.table.title}`}>
        {label}
      </button>
    </div>
  );
}

/** Arrow keys go from row to row, Enter tells about one. */
function moveOrSelect(event: KeyboardEvent, select: () => void): void {
  const row = event.currentTarget as HTMLElement;
  const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  if (event.key === 'Enter') {
    select();
  } else if (next instanceof HTMLElement) {
    event.preventDefault();
    next.focus();
  }
}

interface Seen {
  rows: readonly number[];
  first: number; // place of the first of them
  before: number; // height of the rows that are not drawn
  after: number;
}

function seenRows(rows: readonly number[], top: number, printing: boolean): Seen {
  if (printing) {
    return { rows: rows.slice(0, MOST_PRINTED), first: 0, before: 0, after: 0 };
  }
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
  const last = Math.min(rows.length, first + Math.ceil(SEEN_PX / ROW_PX) + 2 * SPARE_ROWS);
  return {
    rows: rows.slice(first, last),
    first,
    before: first * ROW_PX,
    after: (rows.length - last) * ROW_PX,
  };
}

function Spacer({ height, span }: { height: number; span: number }) {
  return height === 0 ? null : (
    <tr aria-hidden="true" class="spacer" style={{ height: `${height}px` }}><td colSpan={span} /></tr>
  );
}

/** What paper has no room for. */
function NotPrinted({ rows, columns }: { rows: number; columns: number }) {
  return (
    <p class="note">
      {rows > MOST_PRINTED && `${MOST_PRINTED} of ${rows.toLocaleString('en')} rows are printed. `}
      {columns > 0 && `${columns} more ${columns === 1 ? 'column is' : 'columns are'} not printed.`}
    </p>
  );
}

/** What the filters of the page did here, and what they could not. */
function FilterNote({ whole, filtered }: { whole: SizedTable; filtered: Filtered }) {
  const { applied, missing, rows } = filtered;
  const embedded = rowsOf(whole.table);
  if (applied.length + missing.length === 0) {
    return null;
  }
  return (
    <p class="note filtered">
      {rows !== null && `Filtered by ${applied.join(', ')}: ${rows.length.toLocaleString('en')} of ${embedded.toLocaleString('en')} rows. `}
      {missing.length > 0 && `Not filtered by ${missing.join(', ')}, which its rows do not have. `}
      {missing.includes('time') && timelineOfPage() !== null && 'Sums over the range are above. '}
      {rows !== null && whole.allRows > embedded && `Only the ${embedded.toLocaleString('en')} rows that are in this page were searched; there are ${whole.allRows.toLocaleString('en')}.`}
    </p>
  );
}

/** Sums of what is left by a filter, and of all rows in the page, where numbers may be added up. */
function Totals({ table, columns, rows }: { table: Table; columns: readonly Shown[]; rows: readonly number[] }) {
  const total = (column: Column, of: readonly number[]) => of.reduce((all, row) => all + numberAt(column, row), 0);
  const line = (label: string, of: readonly number[]) => (
    <tr>
      {columns.map(({ column, format, part }, i) => {
        const sums = part === 'own' && isAdditive(table, column) && isNumeric(column);
        const value = sums ? total(column, of) : null;
        return i === 0
          ? <th key={column.name} scope="row" title={value === null ? undefined : String(value)}>{label}{value !== null && ` ${formatNumber(value, format)}`}</th>
          : <td key={column.name} class={isNumeric(column) ? 'number' : ''} title={value === null ? undefined : String(value)}>{value === null ? '' : formatNumber(value, format)}</td>;
      })}
    </tr>
  );
  return columns.some(({ column }) => isAdditive(table, column))
    ? <tfoot>{line('Kept', rows)}{line('All', indices(rowsOf(table)))}</tfoot>
    : null;
}

export function TableTitle({ sized }: { sized: SizedTable }) {
  const rows = rowsOf(sized.table);
  return (
    <>
      {prose(sized.table.title)}
      {sized.allRows > rows && (
        <small> {rows.toLocaleString('en')} of {sized.allRows.toLocaleString('en')} rows</small>
      )}
    </>
  );
}

export function TableView({ whole, filtered }: { whole: SizedTable; filtered: Filtered }) {
  const { table } = whole;
  const [order, setOrder] = useState<Order | null>(null);
  const [filter, setFilter] = useState('');
  const [top, setTop] = useState(0);
  const [selected, setSelected] = useState<number | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const printing = usePrinting();
  const [box, boxWidth] = useWidth<HTMLDivElement>();
  const isSeen = useSeen(box);
  const isNarrow = boxWidth > 0 && boxWidth < NARROW_PX;
  const all = useMemo(() => (isNarrow ? mattersFirst(shownColumns(table)) : shownColumns(table)), [table, isNarrow]);
  const columns = printing ? printedColumns(all) : all;
  const widths = useMemo(() => roomFor(columns, boxWidth - FRAME_PX), [columns, boxWidth]);
  const rows = useMemo(
    () => sorted(table, matching(table, filtered.rows ?? indices(rowsOf(table)), filter), order), [table, filtered, filter, order]);
  const isFiltered = filtered.rows !== null || filter.trim() !== '';
  const seen = seenRows(rows, top, printing);
  const span = columns.length;
  const select = (row: number) => setSelected(row === selected ? null : row);
  return (
    <div class="table" ref={box}>
      <FilterNote whole={whole} filtered={filtered} />
      <Tools table={table} filter={filter} rows={rows} onFilter={setFilter} />
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={`Table: ${table.title}`}
        style={{ maxHeight: `${SEEN_PX + 48}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <table
          aria-rowcount={rows.length + 1}
          class={table.comparison}
          style={{ width: `${widths.reduce((sum, one) => sum + one, 0)}px` }}
        >
          <colgroup>{widths.map((width, i) => <col key={i} style={{ width: `${width}px` }} />)}</colgroup>
          <thead>
            <tr>
              {columns.map((one) => (
                <Heading
                  key={one.column.name}
                  table={table}
                  shown={one}
                  order={order}
                  index={table.columns.indexOf(one.column)}
                  onOrder={setOrder}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            <Spacer height={seen.before} span={span} />
            {seen.rows.map((row, at) => (
              <tr
                key={row}
                aria-rowindex={seen.first + at + 2}
                class={`${runsAt(table, row)}${row === selected ? ' selected' : ''}`}
                tabIndex={row === (selected ?? seen.rows[0]) ? 0 : -1}
                onClick={() => select(row)}
                onKeyDown={(event) => moveOrSelect(event, () => select(row))}
              >
                {columns.map((one, i) => (
                  <BodyCell
                    key={one.column.name} table={table} shown={one} row={row} rows={rows} place={seen.first + at}
                    width={widths[i] ?? 0} isPrinted={printing} isSeen={isSeen}
                  />
                ))}
              </tr>
            ))}
            <Spacer height={seen.after} span={span} />
          </tbody>
          {isFiltered && <Totals table={table} columns={columns} rows={rows} />}
        </table>
      </div>
      {printing && <NotPrinted rows={rows.length} columns={all.length - columns.length} />}
      {selected !== null && (
        <RowDetails table={table} row={selected} onClose={() => setSelected(null)} />
      )}
    </div>
  );
}
