// What was odd in the files: a line for each kind, whatever the number of ranks, as on a terminal.
import { Help, Mark } from './findings';
import type { Diagnostic } from './model';
import { printable, shortenName } from './units';

const MOST_FIRST = 140; // characters
const SEVERITIES = ['error', 'warning', 'info'];

export interface Kind {
  first: Diagnostic;
  count: number;
  files: number;
}

/** Worst first; within one severity in order of first appearance. */
export function kindsOf(diagnostics: readonly Diagnostic[]): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const one of diagnostics) {
    const kind = kinds.get(one.code) ?? { first: one, count: 0, files: 0 };
    kinds.set(one.code, { ...kind, count: kind.count + one.count, files: kind.files + 1 });
  }
  const rank = (kind: Kind) => SEVERITIES.indexOf(kind.first.severity);
  return [...kinds.values()].sort((a, b) => rank(a) - rank(b));
}

const timesIn = (kind: Kind): string => {
  const where = kind.files === 1 ? printable(kind.first.file) : `${kind.files.toLocaleString('en')} files`;
  return `${kind.count.toLocaleString('en')} × in ${where}`;
};

export function Quality({ diagnostics }: { diagnostics: Diagnostic[] }) {
  if (diagnostics.length === 0) {
    return <p class="note">Nothing odd was found while reading the recording.</p>;
  }
  return (
    <ul class="verdict whole">
      {kindsOf(diagnostics).map((kind) => (
        <li key={kind.first.code}>
          <Mark severity={kind.first.severity} />
          <div>
            <h3>{kind.first.code} <small>{timesIn(kind)}</small></h3>
            {kind.first.first !== '' && (
              <p title={printable(kind.first.first)}>
                {kind.files > 1 && `${printable(kind.first.file)}: `}{shortenName(printable(kind.first.first), MOST_FIRST)}
              </p>
            )}
            <p class="help"><Help text={kind.first.help} /></p>
          </div>
        </li>
      ))}
    </ul>
  );
}
