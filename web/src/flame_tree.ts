// The frames of a flame graph, and which of them are drawn.
import { cellTone } from './colours';
import { type Run, againstOf } from './compare';
import { type Table, find, indices, numberAt, rowsOf, textAt } from './model';
import { NO_NAME, printable } from './units';

const OTHER_TONE = 'other'; // of kinds without one
const MOST_LEVELS = 40;
const LEAST_PX = 0.7;
const TRUNK_SHARE = 0.99; // a frame with so much of all is one of the trunk
const KEPT_ABOVE = 2; // frames of the trunk, and around the one that is zoomed, that are drawn

export interface Frame {
  row: number; // -1: everything
  name: string;
  kind: string;
  tone: string;
  value: number; // its width
  mine: number; // in this run
  other: number; // in the other one
  depth: number;
  begin: number; // where it starts, in the unit of value
  parent: Frame | null;
  children: Frame[];
}

/** The tree of rows in preorder. Children lie side by side from the start of their parent. */
export function treeOf(table: Table, value: string, widths: Run): Frame {
  const column = find(table, value);
  const against = againstOf(table, value);
  const [names, kinds, depths] = ['name', 'kind', 'depth'].map((name) => find(table, name));
  const root: Frame = { row: -1, name: 'all', kind: '', tone: OTHER_TONE, value: 0, mine: 0, other: 0, depth: -1, begin: 0, parent: null, children: [] };
  const path: Frame[] = [root];
  for (const row of indices(rowsOf(table))) {
    const depth = Math.min(numberAt(depths, row), path.length - 1);
    path.length = depth + 1;
    const parent = path[depth] ?? root;
    const last = parent.children[parent.children.length - 1];
    const begin = last === undefined ? parent.begin : last.begin + last.value;
    const [mine, other] = [numberAt(column, row), numberAt(against, row)];
    const frame: Frame = {
      row, begin, parent, depth, mine, other, children: [],
      name: printable(textAt(names, row)).trim() || NO_NAME, kind: textAt(kinds, row), tone: cellTone(kinds, row) ?? OTHER_TONE,
      value: widths === 'this' ? mine : other,
    };
    parent.children.push(frame);
    path.push(frame);
  }
  for (const child of root.children) {
    root.value += child.value;
    root.mine += child.mine;
    root.other += child.other;
  }
  return root;
}

/** What of a tree is drawn. */
export interface Drawn {
  frames: Frame[];
  first: number; // depth of the level below "all"
  leftOut: number; // frames between the two
  isCut: boolean; // there are levels below
}

/** How many frames stand below each other from the top on that hold nearly all: where a program comes
 *  from tells little. */
function trunkOf(root: Frame): number {
  const holdsAll = (frame: Frame) => frame.value >= TRUNK_SHARE * root.value;
  let trunk = 0;
  for (let frame = root.children.find(holdsAll); frame !== undefined; frame = frame.children.find(holdsAll)) {
    ++trunk;
  }
  return trunk > KEPT_ABOVE + 1 ? trunk - KEPT_ABOVE : 0;
}

function firstDepth(zoom: Frame, root: Frame, wholeTrunk: boolean): number {
  const trunk = wholeTrunk ? 0 : trunkOf(root);
  return zoom === root ? trunk : Math.min(Math.max(trunk, zoom.depth - KEPT_ABOVE), zoom.depth);
}

/** "all", the frames around `zoom`, and those in it that are wide enough to be seen. */
export function drawnOf(zoom: Frame, root: Frame, width: number, wholeTrunk: boolean): Drawn {
  const first = firstDepth(zoom, root, wholeTrunk);
  const drawn: Drawn = { frames: [root], first, leftOut: first, isCut: false };
  const path: Frame[] = [];
  for (let frame: Frame | null = zoom; frame !== null && frame !== root && frame.depth >= first; frame = frame.parent) {
    path.unshift(frame);
  }
  drawn.frames.push(...path);
  const visit = (frame: Frame) => {
    for (const child of frame.children) {
      if ((child.value / zoom.value) * width < LEAST_PX) {
        continue;
      }
      if (child.depth - first >= MOST_LEVELS) {
        drawn.isCut = true;
        continue;
      }
      if (child.depth >= first) {
        drawn.frames.push(child);
      }
      visit(child);
    }
  };
  visit(zoom);
  return drawn;
}

/** Time in frames that match, those inside another match counted with it. */
export function matched(frame: Frame, wanted: string): number {
  if (frame.row >= 0 && frame.name.toLowerCase().includes(wanted)) {
    return frame.value;
  }
  return frame.children.reduce((total, child) => total + matched(child, wanted), 0);
}

/** The outermost frames that the shown run does not have. */
export function absent(frame: Frame): Frame[] {
  return frame.children.flatMap((child) => (child.value === 0 && child.mine + child.other > 0 ? [child] : absent(child)));
}

function shownBelow(frame: Frame, shown: Set<Frame>): Frame | null {
  for (const child of frame.children) {
    const found = shown.has(child) ? child : shownBelow(child, shown);
    if (found !== null) {
      return found;
    }
  }
  return null;
}

function shownAbove(frame: Frame, shown: Set<Frame>): Frame | null {
  let above = frame.parent;
  while (above !== null && !shown.has(above)) {
    above = above.parent;
  }
  return above;
}

/** Where an arrow key leads. */
export function neighbour(frame: Frame, key: string, shown: Set<Frame>): Frame | null {
  const siblings = frame.parent?.children.filter((one) => shown.has(one)) ?? [];
  const at = siblings.indexOf(frame);
  switch (key) {
    case 'ArrowUp':
      return shownAbove(frame, shown);
    case 'ArrowDown':
      return shownBelow(frame, shown);
    case 'ArrowLeft':
      return siblings[at - 1] ?? null;
    case 'ArrowRight':
      return siblings[at + 1] ?? null;
    default:
      return null;
  }
}

export function framesByRow(root: Frame): Map<number, Frame> {
  const rows = new Map<number, Frame>();
  const visit = (frame: Frame) => {
    rows.set(frame.row, frame);
    frame.children.forEach(visit);
  };
  visit(root);
  return rows;
}
