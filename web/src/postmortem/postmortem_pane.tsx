// A job that hung, died or ran out of memory: the verdict, who waits for whom, and memory over time; the tables of
// all of it are below.
import { type Report, rowsOf, sectionNamed, tableOf } from '../model';
import { HangMatrix } from './hang_matrix';
import { JobVerdict } from './job_verdict';
import { MemoryAreas } from './memory_areas';
import { MemoryMap } from './memory_map';

export function PostmortemPane({ report }: { report: Report }) {
  const verdict = tableOf(sectionNamed(report, 'findings'), 'postmortem');
  const [hang, memory] = [sectionNamed(report, 'hang'), sectionNamed(report, 'memory')];
  return (
    <section id="postmortem" aria-labelledby="section-postmortem">
      <h2 id="section-postmortem">Verdict</h2>
      {verdict !== undefined && rowsOf(verdict) > 0 && <JobVerdict table={verdict} />}
      {hang !== undefined && <HangMatrix section={hang} />}
      {memory !== undefined && <MemoryAreas section={memory} />}
      {memory !== undefined && <MemoryMap section={memory} />}
    </section>
  );
}
