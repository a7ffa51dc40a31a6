// The names of rows, which stay in sight beside them and fold them.
import { printable } from '../units';
import { useChanges } from './changes';
import { type Row } from './rows';
import { type Stage } from './stage';

function LabelText({ row }: { row: Row }) {
  return row.canFold ? <><span aria-hidden="true" class="tl-fold">{row.isFolded ? '▸' : '▾'}</span>{printable(row.label)}</> : <>{printable(row.label)}</>;
}

function Label({ row, onFold }: { row: Row; onFold: () => void }) {
  const style = { top: `${row.y}px`, height: `${row.height}px`, '--tl-depth': row.indent };
  return (
    <li class={`tl-label tl-${row.kind}`} style={style} title={printable(row.label)}>
      {row.canFold
        ? <button type="button" aria-expanded={!row.isFolded} onClick={onFold}><LabelText row={row} /></button>
        : <span><LabelText row={row} /></span>}
    </li>
  );
}

export function Labels({ stage }: { stage: Stage }) {
  useChanges(stage, 'rows');
  return (
    <ul class="tl-labels" aria-label="Rows">
      {stage.layout.rows.map((row) => <Label key={row.key} row={row} onFold={() => stage.toggle(row.key)} />)}
    </ul>
  );
}
