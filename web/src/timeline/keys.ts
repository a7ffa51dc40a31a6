// The keys of the timeline. Letters are those of Perfetto: W and S zoom, A and D move.
import { Motion } from './frames';
import { type Stage } from './stage';
import { launchOf, neighbourOf, sameName } from './spots';

const ZOOM_A_SECOND = 3.5; // as a power of e
const MOVE_A_SECOND = 1.1; // of the view
const ZOOM_A_PRESS = 0.7;
const MOVE_A_PRESS = 0.15;

const HELD: Record<string, readonly [zoom: number, move: number]> = {
  w: [-1, 0], s: [1, 0], a: [0, -1], d: [0, 1],
};

const prefersStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Keys that act as long as they are held: smoothly, or in steps for those who want no motion. */
export class HeldKeys {
  private readonly down = new Set<string>();
  private readonly motion = new Motion((seconds) => this.go(seconds));

  constructor(private readonly stage: Stage) {}

  press(key: string): boolean {
    const by = HELD[key];
    if (by === undefined) {
      return false;
    }
    if (prefersStill()) {
      this.act(by[0] * 0.35, by[1] * MOVE_A_PRESS);
    } else if (!this.down.has(key)) {
      this.down.add(key);
      this.act(by[0] * 0.1, by[1] * 0.02); // even a short press does something
      this.motion.start();
    }
    return true;
  }

  release(key: string): void {
    this.down.delete(key);
  }

  stop(): void {
    this.down.clear();
    this.motion.stop();
  }

  private go(seconds: number): boolean {
    for (const key of this.down) {
      const [zoom, move] = HELD[key] ?? [0, 0];
      this.act(zoom * seconds * ZOOM_A_SECOND, move * seconds * MOVE_A_SECOND);
    }
    return this.down.size > 0;
  }

  private act(zoom: number, move: number): void {
    if (zoom !== 0) {
      this.stage.zoom(Math.exp(zoom));
    }
    if (move !== 0) {
      this.stage.move(move);
    }
  }
}

/** The box on the screen with which arrow keys begin: the first of the first row that has any. */
function selectFirst(stage: Stage): void {
  const { width } = stage;
  for (const row of stage.visibleRows()) {
    for (let x = 0; x < width && row.lines > 0; x += 4) {
      const spot = stage.spotAt(x, stage.yOf(row) + 8);
      if (spot !== null) {
        stage.reveal(spot);
        return;
      }
    }
  }
}

function arrow(stage: Stage, key: string): void {
  const next = stage.selected === null ? null : neighbourOf(stage.selected, key);
  if (next !== null) {
    stage.reveal(next);
  } else if (stage.selected === null && (key === 'ArrowLeft' || key === 'ArrowRight')) {
    stage.move(key === 'ArrowLeft' ? -MOVE_A_PRESS : MOVE_A_PRESS);
  } else if (stage.selected === null) {
    selectFirst(stage);
  } else if (key === 'ArrowUp' || key === 'ArrowDown') {
    stage.selectBeside(key === 'ArrowUp' ? -1 : 1);
  }
}

function same(stage: Stage, direction: 1 | -1): void {
  const next = stage.selected === null ? null : sameName(stage.selected, direction);
  if (next !== null) {
    stage.reveal(next);
  }
}

function toLaunch(stage: Stage): void {
  const launch = stage.selected === null ? null : launchOf(stage.store, stage.selected);
  if (launch !== null) {
    stage.reveal(launch);
  }
}

function escape(stage: Stage): void {
  if (stage.selected !== null) {
    stage.select(null);
  } else {
    stage.setRange(null);
  }
}

const ACTIONS: Record<string, (stage: Stage, key: string) => void> = {
  ArrowLeft: arrow,
  ArrowRight: arrow,
  ArrowUp: arrow,
  ArrowDown: arrow,
  Enter: (stage) => (stage.selected === null ? selectFirst(stage) : stage.fit()),
  Escape: escape,
  Home: (stage) => stage.showAll(),
  End: (stage) => stage.move(Infinity),
  '+': (stage) => stage.zoom(ZOOM_A_PRESS),
  '=': (stage) => stage.zoom(ZOOM_A_PRESS),
  '-': (stage) => stage.zoom(1 / ZOOM_A_PRESS),
  f: (stage) => stage.fit(),
  r: (stage) => stage.setRange(stage.view),
  g: toLaunch,
  n: (stage) => same(stage, 1),
  p: (stage) => same(stage, -1),
};

/** Acts on a key; false: it has no meaning here. */
export function pressed(stage: Stage, key: string): boolean {
  const action = ACTIONS[key];
  action?.(stage, key);
  return action !== undefined;
}

/** What keys do, for those who ask. */
export const KEY_HELP: readonly (readonly [string, string])[] = [
  ['W S or + −', 'zoom in, out'],
  ['A D', 'move left, right'],
  ['← → ↑ ↓', 'select the box beside, around, within'],
  ['Enter or F', 'fit the selected box, else the range'],
  ['Home', 'show everything'],
  ['N P', 'next, previous of the same name'],
  ['G', 'go to the launch, or from the critical path to the event'],
  ['R', 'select the seen time as range'],
  ['/', 'search'],
  ['Esc', 'unselect'],
  ['Ctrl + wheel, pinch', 'zoom'],
  ['Shift + wheel, Shift + drag', 'move'],
  ['Drag', 'select a range of time'],
];
