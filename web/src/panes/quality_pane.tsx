// How far the recording can be trusted, and what was not recorded.
import { NOT_RECORDED, REMARKS, type Report, type Section } from '../model';
import { useNavigation } from '../navigation';
import { Quality } from '../quality';
import { heading } from '../units';

export function QualitySection({ report }: { report: Report }) {
  return (
    <section id={REMARKS} aria-labelledby="section-remarks">
      <h2 id="section-remarks">Remarks on the files</h2>
      <p class="summary">what was odd while reading the recording</p>
      <Quality diagnostics={report.diagnostics} />
    </section>
  );
}

/** Links to what each lacks; the advice is in the pane where the section would be. */
export function NotRecorded({ sections }: { sections: Section[] }) {
  const { href } = useNavigation();
  return (
    <section id={NOT_RECORDED} aria-labelledby="section-not-recorded">
      <h2 id="section-not-recorded">Without an answer</h2>
      <p class="summary">what these sections would say; each says what it lacks</p>
      <ul class="links">
        {sections.map((section) => (
          <li key={section.name}><a href={href(section.name)}>{heading(section.name)}</a> <small>{section.summary}</small></li>
        ))}
      </ul>
    </section>
  );
}
