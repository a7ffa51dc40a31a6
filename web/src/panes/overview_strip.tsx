// The recording at a glance: its steps, and below them how busy the devices were; a click leads to that moment.
import { useMemo, useRef } from 'preact/hooks';

import { type BusyStrip, busyStrip } from '../busy_strip';
import { usePrinting, useTurn, useWidth } from '../hooks';
import { TIMELINE } from '../model';
import { useNavigation } from '../navigation';
import { timelineOfPage } from '../timeline/of_page';
import { printable, show, showShare } from '../units';

const STEPS_PX = 14;
const BUSY_PX = 46;
const BIN_PX = 2;
const DIGIT_PX = 7;
const NAME_PAD_PX = 4;
const LEAST_BINS = 40;
const BINS_STEP = 20; // so that not each pixel of a window that grows asks for another strip

/** The outline of the busy shares, from the bottom. */
function outline({ busy }: BusyStrip, width: number): string {
  const each = width / busy.length;
  let path = `M0,${STEPS_PX + BUSY_PX}`;
  busy.forEach((share, bin) => {
    path += `L${(bin * each).toFixed(1)},${(STEPS_PX + BUSY_PX * (1 - share)).toFixed(1)}H${((bin + 1) * each).toFixed(1)}`;
  });
  return `${path}V${STEPS_PX + BUSY_PX}Z`;
}

function Picture({ strip, width }: { strip: BusyStrip; width: number }) {
  const { go, route } = useNavigation();
  const picture = useRef<SVGSVGElement>(null);
  const x = (ns: number) => (ns / strip.whole) * width;
  const mean = strip.busy.reduce((sum, share) => sum + share, 0) / strip.busy.length;
  /** The step there, or a twentieth of the recording around it. */
  const look = (event: MouseEvent) => {
    const at = ((event.clientX - (picture.current?.getBoundingClientRect().left ?? 0)) / width) * strip.whole;
    const step = strip.steps.find(({ begin, end }) => at >= begin && at < end);
    const [begin, end] = step === undefined ? [Math.max(0, at - strip.whole / 40), Math.min(strip.whole, at + strip.whole / 40)] : [step.begin, step.end];
    go({ pane: TIMELINE, section: '', filters: { ...route.filters, time: [Math.floor(begin), Math.ceil(end)] } });
  };
  return (
    <svg
      ref={picture} class="busy-strip" width={width} height={STEPS_PX + BUSY_PX} role="img" onClick={look}
      aria-label={`The recording of ${show(strip.whole, 'ns')}: ${strip.areStepsMerged ? 'about ' : ''}${strip.stepCount.toLocaleString('en')} ${strip.stepCount === 1 ? 'step' : 'steps'}; devices busy ${showShare(mean, 1)} of it`}
    >
      {strip.steps.map((step, i) => {
        const wide = x(step.end - step.begin);
        const name = printable(step.name).replace(/^.*?(\d+)$/, '$1');
        return (
          <g key={i}>
            <rect class={i % 2 === 0 ? 'step-a' : 'step-b'} x={x(step.begin)} y={0} width={Math.max(0.5, wide)} height={STEPS_PX - 2} />
            {wide >= name.length * DIGIT_PX + NAME_PAD_PX && <text x={x(step.begin) + wide / 2} y={STEPS_PX - 4.5} text-anchor="middle">{name}</text>}
          </g>
        );
      })}
      <rect class="ground" x={0} y={STEPS_PX} width={width} height={BUSY_PX} />
      <path class="busy" d={outline(strip, width)} />
    </svg>
  );
}

/** It is worked out in its turn, after what is shown first; of a page without a timeline there is none. */
export function Strip() {
  const isDue = useTurn(false);
  const isPrinting = usePrinting();
  const [box, width] = useWidth<HTMLDivElement>();
  const { href } = useNavigation();
  const bins = Math.max(LEAST_BINS, Math.floor(width / BIN_PX / BINS_STEP) * BINS_STEP);
  const strip = useMemo(() => {
    const page = (isDue || isPrinting) && width > 0 ? timelineOfPage() : null;
    const whole = page === null ? 0 : page.document.span_ns;
    return page === null ? null : busyStrip(page.store, whole, bins);
  }, [isDue || isPrinting, width > 0, bins]);
  return (
    <div class="box strip" ref={box}>
      {strip !== null && (
        <>
          <h3><a href={href(TIMELINE)}>Over time</a><small> {strip.steps.length > 0 && 'steps of the host; '}{strip.isAbout ? 'about ' : ''}the busy share of {strip.devices === 1 ? 'the device' : `${strip.devices} devices`}</small></h3>
          <Picture strip={strip} width={width} />
        </>
      )}
    </div>
  );
}
