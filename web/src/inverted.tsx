// The inverted tree: by kernel, who calls it. A row opens to the callers of what it shows.
import { useMemo, useState } from 'preact/hooks';

import { showChange } from './compare';
import { treeOf } from './flame_tree';
import { type Caller, MOST_DEEP, invertedOf, isWork, sortedCallers } from './inverted_tree';
import { type Table, find, numberAt } from './model';
import { plainWords, shortenName, show, showShare } from './units';

const MOST_ROWS = 15; // of one level, until more are asked for
const MOST_NAME = 110;

interface RowProps {
  caller: Caller;
  whole: number;
  depth: number;
  isPair: boolean;
  open: ReadonlySet<string>;
  onToggle: (key: string) => void;
}

function Row({ caller, whole, depth, isPair, open, onToggle }: RowProps) {
  const canOpen = caller.callers.size > 0 && depth < MOST_DEEP;
  const isOpen = canOpen && open.has(caller.key);
  const name = shortenName(caller.name, MOST_NAME);
  return (
    <>
      <tr>
        <td style={{ '--level': depth }} title={caller.name}>
          {canOpen
            ? <button type="button" aria-expanded={isOpen} onClick={() => onToggle(caller.key)}><span aria-hidden="true">{isOpen ? '▾' : '▸'} </span>{name}</button>
            : <span class="leaf">{name}</span>}
          <small> {plainWords(caller.kind)}</small>
        </td>
        <td class="number">{show(caller.mine, 'ns')}</td>
        {isPair && <td class="number">{showChange(caller.mine - caller.other, 'ns')}</td>}
        <td class="number">{showShare(caller.mine, whole)}</td>
        <td class="number">{caller.works.toLocaleString('en')}</td>
      </tr>
      {isOpen && <Rows parent={caller} whole={whole} depth={depth + 1} isPair={isPair} open={open} onToggle={onToggle} />}
    </>
  );
}

function Rows({ parent, depth, isPair, ...rest }: Omit<RowProps, 'caller'> & { parent: Caller }) {
  const [most, setMost] = useState(MOST_ROWS);
  const callers = useMemo(() => sortedCallers(parent), [parent]);
  const left = callers.length - most;
  return (
    <>
      {callers.slice(0, most).map((caller) => <Row key={caller.key} caller={caller} depth={depth} isPair={isPair} {...rest} />)}
      {left > 0 && (
        <tr><td colSpan={isPair ? 5 : 4} style={{ '--level': depth }}><button type="button" onClick={() => setMost(most * 4)}>{left.toLocaleString('en')} more</button></td></tr>
      )}
    </>
  );
}

/** Whether frames say which of them are kernels or copies. */
export const hasWork = (table: Table): boolean => {
  const kinds = find(table, 'kind');
  return kinds !== undefined && kinds.values.some((kind) => isWork(String(kind)));
};

/** Of the table of a flame graph, in which `value` is the time. */
export function Inverted({ table, value }: { table: Table; value: string }) {
  const [isShown, setShown] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const works = find(table, 'works');
  const root = useMemo(() => (isShown ? invertedOf(treeOf(table, value, 'this'), (row) => numberAt(works, row)) : null), [isShown, table, value]);
  const toggle = (key: string) => setOpen((now) => {
    const next = new Set(now);
    if (!next.delete(key)) {
      next.add(key);
    }
    return next;
  });
  const isPair = table.comparison === 'matched';
  return (
    <details class="inverted" onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary><h3>By kernel: who calls it</h3></summary>
      {root !== null && (
        <table>
          <thead>
            <tr><th scope="col">kernel or copy, below it its callers</th><th scope="col" class="number">device time</th>{isPair && <th scope="col" class="number">change</th>}<th scope="col" class="number">share</th><th scope="col" class="number">kernels and copies</th></tr>
          </thead>
          <tbody><Rows parent={root} whole={root.mine} depth={0} isPair={isPair} open={open} onToggle={toggle} /></tbody>
        </table>
      )}
    </details>
  );
}
