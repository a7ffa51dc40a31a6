// Which run is which, wherever both are drawn: this one full, the other hatched, dashed or hollow.

/** Behind the title of a chart about both runs. */
export function RunLegend() {
  return (
    <ul class="legend runs">
      <li><i class="full" aria-hidden="true" />this run</li>
      <li><i class="hatched" aria-hidden="true" />other run</li>
    </ul>
  );
}
