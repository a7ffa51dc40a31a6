// The flame graph the other way round: each kernel or copy, and who calls it, the nearest caller first.
import { type Frame } from './flame_tree';

export interface Caller {
  key: string; // of all from the kernel on
  name: string;
  kind: string;
  mine: number; // time in this run
  other: number; // in the other one
  works: number; // kernels and copies
  callers: Map<string, Caller>;
}

const WORK = new Set(['kernel', 'memcpy', 'memset']);
export const isWork = (kind: string): boolean => WORK.has(kind);
export const MOST_DEEP = 60; // callers above a kernel: deep stacks would make as many nodes as the square of their depth
const APART = '\u0000'; // in no name: they are printable

const callerOf = (key: string, { name, kind }: Pick<Frame, 'name' | 'kind'>): Caller => ({ key, name, kind, mine: 0, other: 0, works: 0, callers: new Map() });

function childOf(caller: Caller, frame: Frame): Caller {
  const own = `${frame.kind}${APART}${frame.name}`;
  const known = caller.callers.get(own);
  if (known !== undefined) {
    return known;
  }
  const made = callerOf(`${caller.key}${APART}${own}`, frame);
  caller.callers.set(own, made);
  return made;
}

function add(caller: Caller, { mine, other }: Frame, works: number): void {
  caller.mine += mine;
  caller.other += other;
  caller.works += works;
}

/** All work below one root, whose children are the kernels and copies; `worksOf` a row of the table. What a table left
 *  out or nobody called is in the sums of the root only. */
export function invertedOf(root: Frame, worksOf: (row: number) => number): Caller {
  const all = callerOf('', { name: 'all', kind: '' });
  [all.mine, all.other] = [root.mine, root.other];
  const visit = (frame: Frame) => {
    if (isWork(frame.kind)) {
      const works = worksOf(frame.row);
      all.works += works;
      let at = childOf(all, frame);
      add(at, frame, works);
      let deep = 0;
      for (let above = frame.parent; above !== null && above.row >= 0 && deep < MOST_DEEP; above = above.parent, ++deep) {
        at = childOf(at, above);
        add(at, frame, works);
      }
    }
    frame.children.forEach(visit);
  };
  visit(root);
  return all;
}

/** Those with most time first. */
export const sortedCallers = (caller: Caller): Caller[] =>
  [...caller.callers.values()].sort((a, b) => Math.max(b.mine, b.other) - Math.max(a.mine, a.other) || (a.name < b.name ? -1 : 1));
