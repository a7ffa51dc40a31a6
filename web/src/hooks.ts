import { useEffect, useRef, useState } from 'preact/hooks';

/** The width in pixels of the element that the reference is given to. */
export function useWidth<T extends HTMLElement>(): [{ current: T | null }, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const target = element.current;
    if (target === null) {
      return undefined;
    }
    setWidth(target.clientWidth);
    const observer = new ResizeObserver(() => setWidth(target.clientWidth));
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

// What waits to be drawn, one at a time, so that the page answers in between.
const waiting: (() => void)[] = [];

function drawNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) {
    setTimeout(drawNext);
  } else {
    document.documentElement.dataset['drawn'] = 'all';
  }
}

/** False at first, then true when all that asked before has been drawn. */
export function useTurn(): boolean {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    waiting.push(() => setDrawn(true));
    if (waiting.length === 1) {
      setTimeout(drawNext);
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
