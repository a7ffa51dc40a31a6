// Pages of post-mortems with planted ranks, operations and memory, for tests of the page.
import { composed } from './browser.mjs';

const column = (type, unit) => (name, values) => ({ name, type, unit, doc: '', values });
const text = column('string', null);
const int = column('int', null);
const bool = column('bool', null);
const bytes = column('int', 'bytes');
const ns = column('int', 'ns');

/** "0..7,9" of ascending ranks. */
function rankList(ranks) {
  const parts = [];
  for (let i = 0; i < ranks.length;) {
    let end = i;
    while (ranks[end + 1] === ranks[end] + 1) {
      ++end;
    }
    parts.push(end === i ? `${ranks[i]}` : end === i + 1 ? `${ranks[i]},${ranks[end]}` : `${ranks[i]}..${ranks[end]}`);
    i = end + 1;
  }
  return parts.length === 0 ? null : parts.join(',');
}

export const range = (count) => Array.from({ length: count }, (_, i) => i);

/** `world` ranks in all_reduce 17; `missing` never came, `dead` left no dump. Names are `name`. */
export function hangTables(world, { missing = [], dead = [], name = 'default_pg', line = 'train.py:41 step' } = {}) {
  const standing = range(world).filter((rank) => !missing.includes(rank) && !dead.includes(rank));
  const begin = 1_764_000_000_000_000_000;
  const waits = rankList([...missing, ...dead].sort((a, b) => a - b));
  const isAway = (rank) => missing.includes(rank) || dead.includes(rank);
  const ranks = range(world);
  return [
    { name: 'hang_culprits', title: 'Ranks that keep the others from going on', columns: [
      int('rank', missing), text('kind', missing.map(() => 'never-issued')), bool('primary', missing.map(() => true)),
      text('certainty', missing.map(() => 'certain')), text('group', missing.map(() => name)), text('operation', missing.map(() => 'all_reduce')),
      int('seq', missing.map(() => 17)), text('waiting_ranks', missing.map(() => rankList(standing))), text('last_line', missing.map(() => `loader.py:7 ${name}`)),
      text('waiting_line', missing.map(() => line)),
    ] },
    { name: 'hang_operations', title: 'Operations at which ranks stand', columns: [
      text('group', [name]), text('group_desc', [name]), int('seq', [17]), text('type', ['collective']), text('operation', ['all_reduce']),
      text('members', [rankList(ranks)]), text('done', [null]), text('started', [null]), text('open', [rankList(standing)]), text('missing', [rankList(missing)]),
      text('unknown', [rankList(dead)]), text('at_head', [rankList(standing)]), ns('created_first_unix_ns', [begin]), text('status', ['waits']),
    ] },
    { name: 'hang_ranks', title: 'Where each rank stands', columns: [
      int('rank', ranks), bool('dump', ranks.map((rank) => !dead.includes(rank))), text('head_group', ranks.map((rank) => (isAway(rank) ? null : name))),
      text('head_desc', ranks.map((rank) => (isAway(rank) ? null : name))), text('head_operation', ranks.map((rank) => (isAway(rank) ? null : 'all_reduce'))),
      int('head_seq', ranks.map((rank) => (isAway(rank) ? null : 17))), text('head_line', ranks.map((rank) => (isAway(rank) ? null : line))),
      text('waits_for', ranks.map((rank) => (isAway(rank) ? null : waits))), ns('last_issue_unix_ns', ranks.map((rank) => begin + rank)),
    ] },
  ];
}

export const CATEGORIES = ['before_recording_bytes', 'parameter_bytes', 'optimizer_state_bytes', 'library_workspace_bytes', 'held_bytes', 'gradient_bytes', 'activation_bytes', 'temporary_bytes'];
const MIB = 2 ** 20;

/** Memory that goes up and down, and a request of 200 MiB that fails at the end with 1,000 MiB allowed. */
export function memoryTables({ moments = 60, line = 'model.py:26 forward', hasTimes = true } = {}) {
  const at = range(moments);
  const parts = Object.fromEntries(CATEGORIES.map((name, i) => [name, at.map((moment) => (name === 'activation_bytes' ? 40 * (moment % 10) : 20 + 10 * i) * MIB)]));
  const last = moments - 1;
  return [
    { name: 'oom', title: 'Requests that failed for want of memory', columns: [
      int('rank', [0]), int('device', [0]), text('line', [line]), bytes('rounded_bytes', [200 * MIB]), bytes('allowed_low_bytes', [1000 * MIB]), bytes('allowed_high_bytes', [1000 * MIB]), text('cause', ['process-limit']),
    ] },
    { name: 'memory_areas', title: 'What memory held over time', columns: [
      int('rank', at.map(() => 0)), int('device', at.map(() => 0)), int('event', at), ns('ts_unix_ns', at.map((moment) => (hasTimes ? 1_764_000_000_000_000_000 + moment * 1e6 : null))),
      ...CATEGORIES.map((name) => bytes(name, parts[name])), bytes('reserved_bytes', at.map(() => 900 * MIB)), bytes('failed_bytes', at.map((moment) => (moment === last ? 200 * MIB : null))),
    ] },
  ];
}

/** The table of the verdict: a sentence each. */
export const verdictTable = (findings) => ({ name: 'postmortem', title: 'Verdict', columns: [
  text('finding', findings.map((one) => one.finding)), text('severity', findings.map((one) => one.severity ?? 'error')), text('certainty', findings.map((one) => one.certainty ?? 'certain')),
  text('ranks', findings.map((one) => one.ranks ?? null)), text('evidence', findings.map((one) => one.evidence ?? 'The others wait.')), text('where', findings.map((one) => one.where ?? null)),
  text('help', findings.map((one) => one.help ?? 'Look at what only this rank does.')),
] });

/** A page of these tables, as `borescope postmortem --html` writes it. */
export function postmortemPage(name, { findings, hang = [], memory = [], allRows = {} }) {
  const groups = [['findings', [verdictTable(findings)]], ['hang', hang], ['memory', memory]].filter(([, tables]) => tables.length > 0);
  const tables = groups.flatMap(([, of]) => of);
  let first = 0;
  const sections = groups.map(([section, of]) => {
    first += of.length;
    return { name: section, summary: section, pane: 'postmortem', first_table: first - of.length, tables: of.length, lack: '', other_lack: '', views: [] };
  });
  return composed(name, { borescope: '0', schema: 2, tables, diagnostics: [] }, {
    title: 'Post-mortem of job', against: '', all_rows: tables.map((table) => allRows[table.name] ?? table.columns[0].values.length), comparisons: tables.map(() => 'none'),
    panes: [{ name: 'postmortem', title: 'Post-mortem' }, { name: 'quality', title: 'Data quality' }], sections,
  });
}
