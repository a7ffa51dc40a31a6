// The names of rows, which stay in sight beside them, fold them and pin them to the top.
import { printable, showShare } from '../units';
import { useChanges } from './changes';
import { type Row } from './rows';
import { type Stage } from './stage';

function LabelText({ row, note }: { row: Row; note: string }) {
  return (
    <>
      {row.canFold && <span aria-hidden="true" class="tl-fold">{row.isFolded ? '▸' : '▾'}</span>}
      {printable(row.label)}{note !== '' && <small> {note}</small>}
    </>
  );
}

/** "waits 31 %" of the heading of a rank whose rows are folded. */
function noteOf(stage: Stage, { track, isFolded, summary }: Row): string {
  const { tracks } = stage.store;
  const waits = track < 0 && isFolded ? summary.flatMap((line) => line.tracks).map((one) => tracks[one]!).filter((one) => one.kind === 'wait') : [];
  return waits.length === 1 && waits[0]!.busy_ns > 0 ? `waits ${showShare(waits[0]!.busy_ns, stage.whole)}` : '';
}

function Label({ stage, row }: { stage: Stage; row: Row }) {
  const style = { top: `${row.y}px`, height: `${row.height}px`, '--tl-depth': row.indent };
  const name = printable(row.label);
  const note = noteOf(stage, row);
  return (
    <li class={`tl-label tl-${row.kind}`} style={style} title={note === '' ? name : `${name}, ${note} of the time`}>
      {row.canFold
        ? <button type="button" aria-expanded={!row.isFolded} onClick={() => stage.toggle(row.key)}><LabelText row={row} note={note} /></button>
        : <span><LabelText row={row} note={note} /></span>}
      {row.track >= 0 && (
        <button
          type="button" class="tl-pin" aria-pressed={row.isPinned} title={row.isPinned ? 'No longer at the top' : 'Keep at the top'}
          aria-label={`Keep ${name} at the top`} onClick={() => stage.pin(row.track)}
        >
          {row.isPinned ? '✕' : '⤒'}
        </button>
      )}
    </li>
  );
}

export function Labels({ stage }: { stage: Stage }) {
  useChanges(stage, 'rows');
  const of = (isPinned: boolean) => stage.layout.rows.filter((row) => row.isPinned === isPinned).map((row) => <Label key={row.key} stage={stage} row={row} />);
  return (
    <div class="tl-labels">
      {stage.layout.pinned > 0 && <ul class="tl-labels-pinned" aria-label="Rows at the top">{of(true)}</ul>}
      <ul aria-label="Rows">{of(false)}</ul>
    </div>
  );
}
