import { useEffect, useState } from 'preact/hooks';

import { type Change, type Stage } from './stage';

/** Renders the component again whenever one of these changes. */
export function useChanges(stage: Stage, ...changes: readonly Change[]): void {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const stops = changes.map((change) => stage.listen(change, () => setTurn((turn) => turn + 1)));
    return () => stops.forEach((stop) => stop());
  }, [stage, changes.join()]);
}
