import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** As wide as what is shown, for what is drawn in a pane that is not: all are equally wide. */
function widthAround(element: HTMLElement): number {
  return element.closest<HTMLElement>('main')?.clientWidth ?? 0;
}

/** To ask an element in a pane that is not shown for its width would lay that pane out. */
const isHidden = (element: HTMLElement): boolean => element.closest('.pane[hidden]') !== null;

/** The width in pixels of the element that the reference is given to. */
export function useWidth<T extends HTMLElement>(): [{ current: T | null }, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const target = element.current;
    if (target === null) {
      return undefined;
    }
    const measure = () => setWidth((before) => (isHidden(target) ? 0 : target.clientWidth) || before || widthAround(target));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

const NEAR_PX = 800;

/** True once the element is in sight or near it, or on paper: what is far from it need not be drawn as well. */
export function useSeen<T extends HTMLElement>(element: { current: T | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  const isPrinting = usePrinting();
  useEffect(() => {
    const target = element.current;
    if (target === null || isSeen) {
      return undefined;
    }
    const observer = new IntersectionObserver((entries) => setSeen((before) => before || entries.some((one) => one.isIntersecting)), { rootMargin: `${NEAR_PX}px` });
    observer.observe(target);
    return () => observer.disconnect();
  }, [isSeen]);
  return isSeen || isPrinting;
}

// What waits to be drawn, one at a time, so that the page answers in between: of the shown pane, then of
// the others.
export const DRAWN = 'borescope-drawn'; // an event of the window, after each piece
const FRAME_MS = 200; // after which a first frame is taken for drawn where the page is not in sight
const shown: (() => void)[] = [];
const hidden: (() => void)[] = [];
let isDrawing = false;

function drawNext(): void {
  const next = shown.shift() ?? hidden.shift();
  document.documentElement.dataset['drawn'] = next === undefined ? 'all' : shown.length > 0 ? 'some' : 'shown';
  isDrawing = next !== undefined;
  if (next !== undefined) {
    next();
    dispatchEvent(new Event(DRAWN));
    setTimeout(drawNext); // when what it draws has asked for its own turns
  }
}

/** Once, when what is there now has been seen. */
function afterFrame(then: () => void): void {
  let isDone = false;
  const once = () => {
    if (!isDone) {
      isDone = true;
      then();
    }
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, FRAME_MS);
}

/** False at first, then true when all that asked before, or is shown when this is not, has been drawn. */
export function useTurn(isShown: boolean): boolean {
  const [isDrawn, setDrawn] = useState(false);
  useLayoutEffect(() => {
    (isShown ? shown : hidden).push(() => setDrawn(true));
    if (!isDrawing) {
      isDrawing = true;
      afterFrame(drawNext);
    }
  }, []);
  return isDrawn;
}

/** True while the page is printed. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => setPrinting(true);
    const end = () => setPrinting(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return printing;
}
