// Pointer, wheel and touch. A drag of the mouse selects a range of time, with Shift it moves; one finger
// moves, two zoom; the plain wheel scrolls the rows as everywhere.
import { HeldKeys, pressed } from './keys';
import { type Stage } from './stage';
import { type Span, clamped } from './view';

const DRAG_PX = 4; // from which a press is no click any more
const WHEEL_PX_PER_E = 300; // pixels of the wheel for a factor of e
const LINE_PX = 16;

type Mode = 'press' | 'range' | 'move' | 'pinch';

interface Finger {
  x: number;
  y: number;
}

/** Listens on the plot until the returned function is called. */
export function interact(stage: Stage, plot: HTMLCanvasElement, onSearch: () => void): () => void {
  const gesture = new Gesture(stage, plot);
  const held = new HeldKeys(stage);
  const down = (event: KeyboardEvent) => onKey(event, stage, held, onSearch);
  const up = (event: KeyboardEvent) => held.release(event.key.toLowerCase());
  const blur = () => held.stop();
  const listeners: [string, (event: never) => void][] = [
    ['wheel', (event: WheelEvent) => onWheel(event, stage)],
    ['pointerdown', (event: PointerEvent) => gesture.down(event)],
    ['pointermove', (event: PointerEvent) => gesture.move(event)],
    ['pointerup', (event: PointerEvent) => gesture.up(event)],
    ['pointercancel', (event: PointerEvent) => gesture.cancel(event)],
    ['pointerleave', () => stage.leave()],
    ['dblclick', () => stage.fit()],
    ['keydown', down], ['keyup', up], ['blur', blur],
  ];
  listeners.forEach(([name, listener]) => plot.addEventListener(name, listener as EventListener, { passive: false }));
  const letter = (event: KeyboardEvent) => (isForPlot(event, plot) ? down(event) : undefined);
  const anywhere: [string, (event: never) => void][] = [['keydown', letter], ['keyup', up], ['blur', blur]];
  anywhere.forEach(([name, listener]) => addEventListener(name, listener as EventListener));
  return () => {
    held.stop();
    anywhere.forEach(([name, listener]) => removeEventListener(name, listener as EventListener));
    listeners.forEach(([name, listener]) => plot.removeEventListener(name, listener as EventListener));
  };
}

/** Whether a letter that is pressed elsewhere is meant for the plot: it is shown, and nobody types. */
function isForPlot(event: KeyboardEvent, plot: HTMLElement): boolean {
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea, dialog *');
  const isShown = plot.closest('[hidden]') === null && document.querySelector('dialog[open]') === null;
  return event.target !== plot && !isTyping && isShown && /^[a-z+=-]$/i.test(event.key);
}

function onKey(event: KeyboardEvent, stage: Stage, held: HeldKeys, onSearch: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isOwn = key === '/' || held.press(key) || pressed(stage, key);
  if (isOwn) {
    event.preventDefault();
    event.stopPropagation(); // the page around has keys of its own
  }
  if (key === '/') {
    onSearch();
  }
}

function onWheel(event: WheelEvent, stage: Stage): void {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
  const [x, y] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey || event.metaKey || event.altKey) {
    event.preventDefault();
    stage.zoom(Math.exp(y / WHEEL_PX_PER_E), stage.nsAt(event.offsetX));
  } else if (event.shiftKey || Math.abs(x) > Math.abs(y)) {
    event.preventDefault();
    stage.move((Math.abs(x) > Math.abs(y) ? x : y) / stage.width);
  }
}

/** One gesture from the first finger or button down to the last one up. */
class Gesture {
  private readonly fingers = new Map<number, Finger>();
  private mode: Mode = 'press';
  private from: Finger = { x: 0, y: 0 };
  private view: Span; // when the gesture began

  constructor(private readonly stage: Stage, private readonly plot: HTMLCanvasElement) {
    this.view = stage.view;
  }

  down(event: PointerEvent): void {
    if (event.pointerType === 'mouse' && event.button > 1) {
      return;
    }
    this.plot.focus({ preventScroll: true });
    this.plot.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.mode = this.fingers.size > 1 ? 'pinch' : event.button === 1 ? 'move' : 'press';
    this.restart();
    if (event.button === 1) {
      event.preventDefault(); // the middle button would scroll
    }
  }

  move(event: PointerEvent): void {
    const finger = this.fingers.get(event.pointerId);
    if (finger === undefined) {
      this.stage.point(event.offsetX, event.offsetY);
      return;
    }
    if (this.mode === 'press' && Math.abs(event.offsetX - this.from.x) > DRAG_PX) {
      this.mode = event.pointerType === 'touch' || event.shiftKey ? 'move' : 'range';
    }
    const before = [...this.fingers.values()].map(({ x }) => x);
    [finger.x, finger.y] = [event.offsetX, event.offsetY];
    this.act(before);
  }

  up(event: PointerEvent): void {
    if (this.fingers.delete(event.pointerId) && this.fingers.size === 0 && this.mode === 'press') {
      this.stage.select(this.stage.eventAt(event.offsetX, event.offsetY));
    }
    this.next();
  }

  cancel(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.next();
  }

  private next(): void {
    this.mode = this.fingers.size === 1 ? 'move' : this.mode;
    this.restart();
  }

  private restart(): void {
    this.from = { ...([...this.fingers.values()][0] ?? this.from) };
    this.view = this.stage.view;
  }

  private act(before: readonly number[]): void {
    const { stage, view, from } = this;
    const [x = from.x, second] = [...this.fingers.values()].map((finger) => finger.x);
    const nsPerPixel = (view.end - view.begin) / Math.max(1, stage.width);
    if (this.mode === 'range') {
      const ends = [from.x, x].map((one) => stage.nsAt(Math.max(0, Math.min(stage.width, one))));
      stage.setRange({ begin: Math.min(...ends), end: Math.max(...ends) });
    } else if (this.mode === 'move') {
      const by = (from.x - x) * nsPerPixel;
      stage.show(clamped(view.begin + by, view.end + by, stage.whole));
    } else if (this.mode === 'pinch' && second !== undefined) {
      stage.show(pinched(stage, before, [x, second]));
    }
  }
}

const LEAST_APART_PX = 10;

/** The view in which what was below two fingers is below them again. */
function pinched(stage: Stage, before: readonly number[], now: readonly [number, number]): Span {
  const [first = 0, second = 0] = before;
  const apart = (a: number, b: number) => Math.max(LEAST_APART_PX, Math.abs(a - b));
  const middle = stage.nsAt((first + second) / 2);
  const nsPerPixel = ((stage.view.end - stage.view.begin) / Math.max(1, stage.width)) * (apart(first, second) / apart(...now));
  const begin = middle - ((now[0] + now[1]) / 2) * nsPerPixel;
  return clamped(begin, begin + nsPerPixel * stage.width, stage.whole);
}

/** Moves the view by the minimap: a press beside it brings it there, a drag moves it. */
export function interactMap(stage: Stage, head: HTMLCanvasElement): () => void {
  let grip: number | null = null;
  const nsOf = (event: PointerEvent) => (event.offsetX / Math.max(1, stage.width)) * stage.whole;
  const go = (event: PointerEvent) => {
    const { begin, end } = stage.view;
    const from = nsOf(event) - (grip ?? 0);
    stage.show(clamped(from, from + end - begin, stage.whole));
  };
  const down = (event: PointerEvent) => {
    const { begin, end } = stage.view;
    const ns = nsOf(event);
    grip = ns >= begin && ns <= end ? ns - begin : (end - begin) / 2;
    head.setPointerCapture(event.pointerId);
    go(event);
  };
  const move = (event: PointerEvent) => (grip === null ? undefined : go(event));
  const up = () => { grip = null; };
  const listeners = [['pointerdown', down], ['pointermove', move], ['pointerup', up], ['pointercancel', up]] as const;
  listeners.forEach(([name, listener]) => head.addEventListener(name, listener));
  return () => listeners.forEach(([name, listener]) => head.removeEventListener(name, listener));
}
