// What is looked at in a timeline as an address keeps it: the view, the selected event and the pinned rows.
import { useEffect, useRef } from 'preact/hooks';

import { type Look, NO_LOOK } from '../route';
import { depthOf, durationOf } from './boxes';
import { exactSpot, mergedSpot } from './spots';
import { type Stage } from './stage';
import { clamped } from './view';

const WAIT_MS = 250; // after the last change

/** The look of a timeline now. */
export function lookOf({ view, whole, selected, pinned }: Stage): Look {
  const isAll = view.begin <= 0 && view.end >= whole;
  const event = selected === null ? [] : [
    selected.track, selected.boxes.begin[selected.index]!, durationOf(selected.boxes, selected.index), depthOf(selected.boxes, selected.index)];
  return { view: isAll ? null : [Math.round(view.begin), Math.max(Math.round(view.begin) + 1, Math.round(view.end))], event, pins: pinned };
}

const isSame = (a: Look, b: Look): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Shows what an address asks for; rows and events that are not there are passed over. */
export function showLook(stage: Stage, { view, event, pins }: Look): void {
  const { tracks } = stage.store;
  stage.setPins(pins.filter((track) => tracks[track] !== undefined));
  const [track = -1, begin = 0, duration = 0, depth = 0] = event;
  stage.allowJump();
  const spot = tracks[track] === undefined ? null
    : exactSpot(stage.store, track, begin, duration, depth) ?? mergedSpot(stage.store, track, begin, duration, depth);
  if (spot !== null) {
    stage.reveal(spot);
  } else if (event.length === 0 && stage.selected !== null) {
    stage.select(null);
  }
  stage.show(view === null ? clamped(0, stage.whole, stage.whole) : clamped(view[0], view[1], stage.whole));
}

/** Keeps the look of a timeline and that of an address the same. */
export function useLook(stage: Stage, look: Look | undefined, onLook: ((look: Look) => void) | undefined): void {
  const said = useRef<Look>(NO_LOOK); // what the address has
  const report = useRef(onLook);
  report.current = onLook;
  useEffect(() => {
    if (look !== undefined && !isSame(look, said.current)) {
      said.current = look;
      showLook(stage, look);
    }
  }, [stage, look]);
  useEffect(() => {
    let timer = 0;
    const changed = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const now = lookOf(stage);
        if (!isSame(now, said.current)) {
          said.current = now;
          report.current?.(now);
        }
      }, WAIT_MS);
    };
    const stops = (['settle', 'select', 'rows'] as const).map((change) => stage.listen(change, changed));
    return () => {
      clearTimeout(timer);
      stops.forEach((stop) => stop());
    };
  }, [stage]);
}
