// Rows as CSV with raw numbers, as the command line writes them.
import { type Cell, type Table } from './model';

function field(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) {
    return '';
  }
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function toCsv(table: Table, rows: readonly number[]): string {
  const lines = [table.columns.map((column) => field(column.name)).join(',')];
  for (const row of rows) {
    lines.push(table.columns.map((column) => field(column.values[row])).join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** Whether the text is on the clipboard now. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** For pages that may not use the clipboard directly, as those from a disk in some browsers. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('aria-hidden', 'true');
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  return copied;
}
