// Where the time of all devices goes, and of each rank; of two runs both.
import { relativeChange } from '../compare';
import { type DeviceTime, NO_TIME, type TimePart, deviceTime, ofRank } from '../device_time';
import { type Table, find } from '../model';
import { useNavigation } from '../navigation';
import { RunLegend } from '../runs';
import { show, showShare } from '../units';
import { NotFiltered } from './overview_filters';

const MOST_RANKS = 8;
const FEWER_RANKS = 4; // of two runs, which have two bars each

/** The tables of one run. */
export interface TimeTables {
  breakdown: Table;
  leftOut: Table | undefined;
}

function Track({ time, longest, isOther = false }: { time: DeviceTime; longest: number; isOther?: boolean }) {
  return (
    <div class={isOther ? 'track other' : 'track'} aria-hidden="true">
      {time.parts.map((part) => (
        <span key={part.name} style={{ width: `${(part.value / longest) * 100}%`, backgroundColor: part.colour }} />
      ))}
    </div>
  );
}

const sectionOf = (part: TimePart): string => (part.name === 'idle_ns' ? 'idle' : 'breakdown');

/** "; other 5 ms · 20 % (+3 %)". */
function otherWords(part: TimePart, other: DeviceTime): string {
  const value = other.parts.find((one) => one.name === part.name)?.value ?? 0;
  return `; other ${show(value, 'ns')} · ${showShare(value, other.whole)} (${relativeChange(part.value, value)})`;
}

/** What no share is of. */
function LeftOut({ time, of }: { time: DeviceTime; of: string }) {
  const words = time.leftOut.map((part) => `${show(part.value, 'ns')} ${part.label}`).join(', ');
  return words === '' ? null : <p class="note left-out">Shares{of} are of {show(time.whole, 'ns')}; left out: {words}.</p>;
}

interface TimeBoxProps {
  mine: TimeTables;
  other: TimeTables | null;
  parts: readonly string[]; // the columns that are stacked
}

const timeOf = (tables: TimeTables | null, parts: readonly string[]): DeviceTime =>
  tables === null ? NO_TIME : deviceTime(tables.breakdown, parts, tables.leftOut);

/** Of two runs the time of one step in both, unless filters choose some of it. */
export interface UnitTimes {
  unit: string;
  mine: DeviceTime;
  other: DeviceTime;
}

export function TimeBox({ mine, other, parts, units }: TimeBoxProps & { units: UnitTimes | null }) {
  const { href } = useNavigation();
  const [time, before] = units === null ? [timeOf(mine, parts), timeOf(other, parts)] : [units.mine, units.other];
  const longest = Math.max(time.whole, before.whole);
  const gone = before.parts.filter((part) => !time.parts.some((one) => one.name === part.name)).map((part) => ({ ...part, value: 0 }));
  return (
    <div class="box time">
      <h3><a href={href('breakdown')}>Where the device time{units !== null && ` of a ${units.unit}`} goes</a><NotFiltered table={mine.breakdown} /></h3>
      <Track time={time} longest={longest} />
      {other !== null && <Track time={before} longest={longest} isOther />}
      <ul class="legend">
        {[...time.parts, ...gone].map((part) => (
          <li key={part.name} title={part.doc}>
            <a href={href(sectionOf(part))}>
              <i style={{ background: part.colour }} aria-hidden="true" />
              {part.label} <small>{show(part.value, 'ns')} · {showShare(part.value, time.whole)}{other !== null && otherWords(part, before)}</small>
            </a>
          </li>
        ))}
      </ul>
      {other !== null && <RunLegend />}
      <LeftOut time={time} of="" />
      {other !== null && <LeftOut time={before} of=" of the other run" />}
    </div>
  );
}

const ofRankBoth = ({ breakdown, leftOut }: TimeTables, rank: number): TimeTables => ({ breakdown: ofRank(breakdown, rank) ?? breakdown, leftOut: ofRank(leftOut, rank) });

function RankLine({ rank, mine, other, longest }: { rank: number; mine: DeviceTime; other: DeviceTime | null; longest: number }) {
  const { href } = useNavigation();
  const idle = mine.whole - mine.busy;
  return (
    <li>
      <a href={href('breakdown', { rank })}>
        <span class="bar-label">rank {rank}</span>
        <div class="tracks"><Track time={mine} longest={longest} />{other !== null && <Track time={other} longest={longest} isOther />}</div>
        <span class="bar-value">
          {show(mine.whole, 'ns')}
          <small>{other !== null ? ` ${relativeChange(mine.whole, other.whole)}` : mine.whole > 0 ? ` idle ${showShare(idle, mine.whole)}` : ''}</small>
        </span>
      </a>
    </li>
  );
}

/** The devices of a rank together; of two runs those of the same number beside each other. */
export function Ranks({ mine, other, parts }: TimeBoxProps) {
  const { href } = useNavigation();
  const ranks = [...new Set(find(mine.breakdown, 'rank')?.values)].filter((rank) => typeof rank === 'number').sort((a, b) => a - b);
  const shown = ranks.slice(0, other === null ? MOST_RANKS : FEWER_RANKS);
  const lines = shown.map((rank) => ({
    rank, mine: timeOf(ofRankBoth(mine, rank), parts), other: other === null ? null : timeOf(ofRankBoth(other, rank), parts),
  }));
  const longest = Math.max(1, ...lines.map((line) => Math.max(line.mine.whole, line.other?.whole ?? 0)));
  return ranks.length < 2 ? null : (
    <div class="box ranks">
      <h3><a href={href('breakdown')}>Ranks</a><NotFiltered table={mine.breakdown} /></h3>
      <ol>{lines.map((line) => <RankLine key={line.rank} {...line} longest={longest} />)}</ol>
      {ranks.length > shown.length && <p class="note"><a href={href('breakdown')}>{ranks.length - shown.length} more ranks</a></p>}
    </div>
  );
}
