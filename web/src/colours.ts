// Colours carry one meaning all over the page. The palette is that of Okabe and Ito, which people
// with any kind of colour vision can tell apart; the style sheet holds the shades of both themes.

type Colour =
  | 'compute' | 'comm' | 'copy' | 'idle' | 'tail' | 'host' | 'device' | 'sync' | 'data' | 'faint';

// First match counts.
const MEANINGS: readonly (readonly [RegExp, Colour])[] = [
  [/copy|memcpy|memset|[hd]to[hd]/i, 'copy'],
  [/exposed|collective|communication|nccl|rccl|all_reduce|all_gather|all_to_all|reduce_scatter/i, 'comm'],
  [/unknown|other|unlinked|no annotation/i, 'faint'],
  [/tail/i, 'tail'],
  [/idle|head|gap|reserved/i, 'idle'],
  [/sync|wait|excess/i, 'sync'],
  [/data/i, 'data'],
  [/^device|overlapped|kernel_kernel/i, 'device'],
  [/host|delay|cpu|launch/i, 'host'],
];

export function colourOf(name: string): string {
  const found = MEANINGS.find(([pattern]) => pattern.test(name));
  return `var(--${found?.[1] ?? 'compute'})`;
}

const COMPUTE = 'var(--compute)';

/** Of a bar that is named after device work, or else of what its table is about. */
export function barColour(work: string, value: string, table: string): string {
  const own = colourOf(work);
  if (own === 'var(--comm)' || own === 'var(--copy)') {
    return own;
  }
  return [value, table].map(colourOf).find((colour) => colour !== COMPUTE) ?? COMPUTE;
}

/** Lines of one chart, told apart by order. */
const ORDER: readonly Colour[] = [
  'compute', 'comm', 'host', 'copy', 'device', 'sync', 'data', 'idle',
];
export const MOST_LINES = ORDER.length;
export function lineColour(index: number): string {
  return `var(--${ORDER[index % ORDER.length] ?? 'compute'})`;
}
