// The panel about the selected box: its whole name, times, shapes, launch and stacks, and ways on.
import { copyText } from '../csv';
import { Fact, KernelLimits } from '../limits';
import { show, shortenName } from '../units';
import { exactTime } from './axis';
import { boxAt, depthOf, durationOf } from './boxes';
import { useChanges } from './changes';
import { type Flow, besideOnLine, flowOf } from './flow';
import { type Spot } from './scene';
import { isOnPath, launchOf, sameName, stackOf } from './spots';
import { type Stage } from './stage';
import { adviceOf, detailOf, isMerged, mergedWords, nameOf, placeOf } from './words';

const MOST_STACK = 64;
const MOST_NAME = 90;

/** The moment as a clock said it. */
function clockOf(stage: Stage, ns: number): string {
  const begin = Number(stage.document.begin_ns);
  return begin > 0 && begin < 8e18 ? `${new Date((begin + ns) / 1e6).toISOString().replace('T', ' ').slice(0, 23)} UTC` : '';
}

/** The step of the same rank in which a box begins. */
function stepOf(stage: Stage, spot: Spot): string {
  const { store } = stage;
  const rank = store.tracks[spot.track]?.rank;
  const track = store.tracks.findIndex((info) => info.kind === 'steps' && info.rank === rank);
  const boxes = track < 0 || track === spot.track ? null : store.boxes(track, spot.piece);
  const index = boxes === null ? -1 : boxAt(boxes, 0, spot.boxes.begin[spot.index]!);
  return boxes === null || index < 0 ? '' : nameOf(store, { track, piece: spot.piece, boxes, index });
}

/** The innermost box of a tone, such as an operator, around the call that launched something. */
function aroundOf(stage: Stage, launch: Spot | null, tone: string): string {
  const { store } = stage;
  const wanted = store.tones.indexOf(tone);
  const found = launch === null ? [] : stackOf(launch).filter(({ boxes, index }) => boxes.tone[index] === wanted);
  const last = found[found.length - 1];
  return last === undefined ? '' : [shortenName(nameOf(store, last), MOST_NAME), detailOf(store, last)].filter((part) => part !== '').join(' ');
}

/** Boxes from the outermost to the innermost, each a way to it. */
function Stack({ stage, title, spots }: { stage: Stage; title: string; spots: readonly Spot[] }) {
  return (
    <div class="tl-stack">
      <p class="tl-title">{title}</p>
      <ol>
        {spots.slice(-MOST_STACK).map((spot) => (
          <li key={spot.index}>
            <button type="button" title={nameOf(stage.store, spot)} onClick={() => stage.reveal(spot)}>{shortenName(nameOf(stage.store, spot), MOST_NAME)}</button>
            <small> {show(durationOf(spot.boxes, spot.index), 'ns')} {detailOf(stage.store, spot)}</small>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** What a box leads to, each with the time from its begin or end on. */
function FlowList({ stage, from, flow }: { stage: Stage; from: Spot; flow: Flow }) {
  const begin = from.boxes.begin[from.index]!;
  return (
    <div class="tl-stack tl-flow">
      <p class="tl-title">{flow.title}</p>
      <ol>
        {flow.spots.map((spot) => (
          <li key={`${spot.track} ${spot.index}`}>
            <button type="button" title={nameOf(stage.store, spot)} onClick={() => stage.reveal(spot)}>{shortenName(nameOf(stage.store, spot), MOST_NAME)}</button>
            <small> {placeOf(stage.store, spot.track)}, {show(durationOf(spot.boxes, spot.index), 'ns')}, {awayWords(spot.boxes.begin[spot.index]! - begin)}</small>
          </li>
        ))}
      </ol>
      {flow.more > 0 && <p class="note">{flow.more.toLocaleString('en')} more</p>}
    </div>
  );
}

/** "12 µs later" from the begin of one box to that of another. */
const awayWords = (ns: number): string => (ns === 0 ? 'begins with it' : `begins ${show(Math.abs(ns), 'ns')} ${ns > 0 ? 'later' : 'earlier'}`);

/** The boxes before and after on the same line. */
function Beside({ stage, spot }: { stage: Stage; spot: Spot }) {
  const sides = ([[-1, 'after'], [1, 'before']] as const).flatMap(([direction, word]) => {
    const found = besideOnLine(spot, direction);
    return found === null ? [] : [{ ...found, word }];
  });
  return sides.length === 0 ? null : (
    <div class="tl-stack tl-flow">
      <p class="tl-title">On its row</p>
      <ol>
        {sides.map(({ spot: to, apart, word }) => (
          <li key={word}>
            <small>{apart > 0 ? `${show(apart, 'ns')} ${word}` : `right ${word}`} </small>
            <button type="button" title={nameOf(stage.store, to)} onClick={() => stage.reveal(to)}>{shortenName(nameOf(stage.store, to), MOST_NAME)}</button>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Ways({ stage, spot, launch }: { stage: Stage; spot: Spot; launch: Spot | null }) {
  const [before, after] = [sameName(spot, -1), sameName(spot, 1)];
  const go = (to: Spot | null) => (to === null ? undefined : stage.reveal(to));
  return (
    <div class="tools">
      <button type="button" onClick={() => stage.fit()}>Zoom to it</button>
      {launch !== null && <button type="button" onClick={() => go(launch)}>{isOnPath(stage.store, spot) ? 'Go to the event' : 'Go to its launch'}</button>}
      <button type="button" disabled={before === null} onClick={() => go(before)}>Previous of this name</button>
      <button type="button" disabled={after === null} onClick={() => go(after)}>Next of this name</button>
      <button type="button" onClick={() => stage.setRange({ begin: spot.boxes.begin[spot.index]!, end: spot.boxes.end[spot.index]! })}>Its time as range</button>
      <button type="button" onClick={() => void copyText(nameOf(stage.store, spot))}>Copy name</button>
    </div>
  );
}

function Facts({ stage, spot, launch }: { stage: Stage; spot: Spot; launch: Spot | null }) {
  const { store } = stage;
  const [begin, duration] = [spot.boxes.begin[spot.index]!, durationOf(spot.boxes, spot.index)];
  const isLaunched = launch !== null && !isOnPath(store, spot);
  const delay = launch === null ? '' : show(begin - launch.boxes.begin[launch.index]!, 'ns');
  return (
    <dl>
      <Fact label="row" value={placeOf(store, spot.track)} />
      <Fact label="begin" value={exactTime(begin)} />
      <Fact label="duration" value={show(duration, 'ns')} />
      <Fact label="step" value={stepOf(stage, spot)} />
      <Fact label="detail" value={detailOf(store, spot)} />
      <Fact label="operator" value={isLaunched ? aroundOf(stage, launch, 'op') : ''} />
      <Fact label="Python" value={isLaunched ? aroundOf(stage, launch, 'python') : ''} />
      <Fact label="launched" value={!isLaunched ? '' : `${delay} before, by ${nameOf(store, launch)}`} />
      <Fact label="merged" value={isMerged(spot) ? `${mergedWords(spot)}; mostly of this name. ${adviceOf(store, spot, stage.document.more !== undefined)}` : ''} />
      <Fact label="clock" value={clockOf(stage, begin)} />
    </dl>
  );
}

export function Details({ stage }: { stage: Stage }) {
  useChanges(stage, 'select');
  const spot = stage.selected;
  if (spot === null) {
    return null;
  }
  stage.allowJump();
  const launch = launchOf(stage.store, spot);
  return (
    <div class="details tl-details" role="region" aria-label="Selected event">
      <button type="button" class="close" aria-label="Unselect" onClick={() => stage.select(null)}>✕</button>
      <p class="tl-name">{nameOf(stage.store, spot)}</p>
      <Ways stage={stage} spot={spot} launch={launch} />
      <Facts stage={stage} spot={spot} launch={launch} />
      {stage.store.tracks[spot.track]?.kind === 'stream' && <KernelLimits name={nameOf(stage.store, spot)} rank={stage.store.tracks[spot.track]?.rank ?? null} detail={detailOf(stage.store, spot)} />}
      {depthOf(spot.boxes, spot.index) > 0 && <Stack stage={stage} title="Within" spots={stackOf(spot)} />}
      {launch !== null && <Stack stage={stage} title={isOnPath(stage.store, spot) ? 'The event, within' : 'Launched from'} spots={stackOf(launch)} />}
      {flowOf(stage.store, spot).map((flow) => <FlowList key={flow.title} stage={stage} from={spot} flow={flow} />)}
      <Beside stage={stage} spot={spot} />
    </div>
  );
}

/** The selected box in one sentence, for those who cannot see it. */
export function Spoken({ stage }: { stage: Stage }) {
  useChanges(stage, 'select');
  const spot = stage.selected;
  const words = spot === null ? '' : `${nameOf(stage.store, spot)}, ${show(durationOf(spot.boxes, spot.index), 'ns')}, at ${exactTime(spot.boxes.begin[spot.index]!)}, ${placeOf(stage.store, spot.track)}`;
  return <p class="unseen" role="status">{words}</p>;
}
