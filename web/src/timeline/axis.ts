// Ticks of the time axis, in units and with as many digits as the zoom needs.

export interface Tick {
  ns: number;
  label: string;
}

type Scale = readonly [number, string];
const UNITS: readonly Scale[] = [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's']];
const MOST_DIGITS = 7; // of a label; more are left to the first one

function stepFor(span: number, wanted: number): number {
  const raw = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  return Math.max(1, power * ([1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) ?? 10));
}

const unitFor = (ns: number): Scale => UNITS.reduce((chosen, unit) => (Math.abs(ns) >= unit[0] ? unit : chosen), UNITS[0]!);

/** A time with as many decimals as distinguish multiples of `step`. */
function label(ns: number, step: number): string {
  const [divisor, unit] = unitFor(Math.max(Math.abs(ns), step));
  const decimals = Math.max(0, Math.ceil(Math.log10(divisor / step) - 1e-9));
  return `${(ns / divisor).toFixed(decimals)}\u00a0${unit}`;
}

const SPAN_PARTS = 100; // of a span, to which its ends are exact

/** "12.3 ms – 12.9 ms": as many digits as distinguish the ends. */
export function spanText(begin: number, end: number): string {
  const step = Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, end - begin) / SPAN_PARTS)));
  return `${label(begin, step)} – ${label(end, step)}`;
}

/** A time to the nanosecond, in the unit that suits it: "1.234567 ms". */
export function exactTime(ns: number): string {
  const [divisor, unit] = unitFor(ns);
  const decimals = Math.round(Math.log10(divisor));
  const text = (ns / divisor).toFixed(decimals);
  return `${decimals > 0 ? text.replace(/\.?0+$/, '') : text}\u00a0${unit}`;
}

/** Where ticks count from: 0, or, where their labels would be too long, a round time before them. */
export function originOf(begin: number, end: number, step: number): number {
  const digits = Math.log10(Math.max(end, 1) / step);
  if (digits < MOST_DIGITS) {
    return 0;
  }
  const round = 10 ** (Math.ceil(Math.log10(end - begin)) + 1);
  return Math.floor(begin / round) * round;
}

/** Round times in [begin, end], about `wanted` of them, and what they count from. */
export function ticksOf(begin: number, end: number, wanted: number): { origin: number; ticks: Tick[]; step: number } {
  const step = stepFor(end - begin, wanted);
  const origin = originOf(begin, end, step);
  const ticks: Tick[] = [];
  for (let i = Math.ceil((begin - origin) / step); origin + i * step <= end; ++i) {
    const ns = origin + i * step;
    ticks.push({ ns, label: origin === 0 ? label(ns, step) : `+${label(ns - origin, step)}` });
  }
  return { origin, ticks, step };
}
