// What keys do, and how filters and addresses work.
import { useLayoutEffect, useRef } from 'preact/hooks';

const KEYS: readonly (readonly [string, string])[] = [
  ['1 … 9, 0', 'the first ten panes'],
  ['← →, Home, End', 'from tab to tab'],
  ['/', 'filter by name'],
  ['↑ ↓, Enter', 'from row to row of a table; all about one'],
  ['Esc', 'back to all of a flame graph; closes this'],
  ['?', 'this help'],
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next frame is painted: until it is modal, the dialog does not show at all.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help-dialog" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl>{KEYS.map(([keys, what]) => <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <p class="note">
        Filters hold in all panes. A table says whether they acted on it, and adds up what is left. The
        address of the page has the pane, the filters, and on the timeline what is seen and selected: copy it to show somebody the same.
      </p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}
