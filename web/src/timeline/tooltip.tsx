// What is said about the box under the pointer.
import { useLayoutEffect, useRef } from 'preact/hooks';

import { shorten } from '../units';
import { useChanges } from './changes';
import { type Spot } from './scene';
import { isOnPath, launchOf } from './spots';
import { type Stage } from './stage';
import { adviceOf, detailOf, isMerged, lengthOf, mergedWords, nameOf, placeOf } from './words';

const MOST_NAME = 160;
const MOST_DETAIL = 200;
const WIDTH_PX = 340;
const AWAY_PX = 14;

function Words({ stage, spot }: { stage: Stage; spot: Spot }) {
  const { store } = stage;
  stage.allowGlance();
  const launch = isOnPath(store, spot) ? null : launchOf(store, spot);
  const detail = detailOf(store, spot);
  return (
    <>
      <b>{shorten(nameOf(store, spot), MOST_NAME)}</b>
      <span>{lengthOf(spot)} · {placeOf(store, spot.track)}</span>
      {detail !== '' && <span>{shorten(detail, MOST_DETAIL)}</span>}
      {launch !== null && <span>launched by {shorten(nameOf(store, launch), MOST_NAME)}, {placeOf(store, launch.track)}</span>}
      {isMerged(spot) && <span>mostly this: {mergedWords(spot)}. {adviceOf(store, spot, stage.document.more !== undefined)}</span>}
    </>
  );
}

/** Moves a tooltip above the pointer that would reach below the window, and one inside that would reach out at the left. */
function keepInside(tip: HTMLElement | null): void {
  if (tip === null) {
    return;
  }
  tip.style.transform = '';
  const { bottom, height, left } = tip.getBoundingClientRect();
  const up = bottom > innerHeight ? height + 2 * AWAY_PX : 0;
  tip.style.transform = `translate(${Math.max(0, -left)}px, ${-up}px)`;
}

export function Tooltip({ stage, left, top }: { stage: Stage; left: number; top: number }) {
  useChanges(stage, 'hover');
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => keepInside(tip.current));
  const { pointer, hovered } = stage;
  if (pointer === null || (hovered === null && pointer.counter === null)) {
    return null;
  }
  const isRight = pointer.x + AWAY_PX + WIDTH_PX > stage.width;
  const x = isRight ? { right: `${stage.width - pointer.x + AWAY_PX}px` } : { left: `${left + pointer.x + AWAY_PX}px` };
  return (
    <div class="tl-tip" ref={tip} aria-hidden="true" style={{ ...x, top: `${top + pointer.y + AWAY_PX}px` }}>
      {hovered !== null ? <Words stage={stage} spot={hovered} /> : <span>{pointer.counter}</span>}
    </div>
  );
}
