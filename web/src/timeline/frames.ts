// One painting for each frame of the screen, whatever asks for it how often; and what goes on from
// frame to frame as long as keys are held.

const SETTLED_MS = 200;

/** Calls `paint` once in the next frame for all calls of `ask`, and `settle` once nothing asked for a while. */
export class Frames {
  private frame = 0;
  private timer = 0;

  constructor(private readonly paint: () => void, private readonly settle: () => void) {}

  ask(): void {
    this.frame ||= requestAnimationFrame(() => this.now());
  }

  /** Paints at once: for the first frame and for paper. */
  now(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.paint();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(this.settle, SETTLED_MS);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
  }
}

const LONGEST_MS = 50; // of a step, so that a slow frame does not jump

/** Calls `step` with the seconds since the last frame until it says that nothing moves any more. */
export class Motion {
  private frame = 0;
  private last = 0;

  constructor(private readonly step: (seconds: number) => boolean) {}

  start(): void {
    if (this.frame === 0) {
      this.last = performance.now();
      this.frame = requestAnimationFrame((now) => this.go(now));
    }
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private go(now: number): void {
    const seconds = Math.max(0, Math.min(LONGEST_MS, now - this.last)) / 1000;
    this.last = now;
    this.frame = this.step(seconds) ? requestAnimationFrame((next) => this.go(next)) : 0;
  }
}
