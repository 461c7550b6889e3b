/**
 * Why something was, or was not, done. The catalogue is closed: whatever is logged, counted, recorded or
 * answered carries one of these codes, and `docs/reference/reasons.md` is generated from it. A code, once
 * released, keeps its meaning.
 */
export const REASONS = {
  WorkloadKindIgnored: 'Workloads of this kind are left alone (`--ignored-workload-types`).',
  SourceTypeIgnored: 'Sources of this kind are not watched (`--resources-to-ignore`).',
  SourceIgnored:
    'The source says that nothing reloads for it (`reloader.stakater.com/ignore: "true"` on it).',
  SourceExcluded: 'The workload lists the source by name as one that it never reloads for.',
  NamedByAnnotation:
    "A pattern in the workload's reload annotation for this kind of source matches the source's name.",
  SearchMatch:
    'The workload searches for matching sources, and the source is marked as one (`search` and `match`).',
  AutoReload: 'The workload reloads for every source that it uses (`auto`, in general or for this kind).',
  AutoReloadAll:
    'Every workload that does not say otherwise reloads for what it uses (`--auto-reload-all`), and this one does not.',
  NotAnnotated: 'No annotation of the workload asks for a reload when this source changes.',
  InvalidPattern:
    "A pattern in the workload's reload annotation cannot be used, and nothing else asks for a reload.",
  NoContainer:
    'The annotations allow a reload, but no container of the pod template uses the source, or there is no container.',
} as const;

export type Reason = keyof typeof REASONS;

/** `docs/reference/reasons.md`, whole. */
export function reasonsMarkdown(): string {
  const rows = Object.entries(REASONS).map(([code, meaning]) => `| \`${code}\` | ${escapeCell(meaning)} |`);
  return [
    '# Reasons',
    '',
    'Why a workload was, or was not, reloaded. The same codes appear in logs, metrics, events, the history and',
    'the answers of the API.',
    '',
    '<!-- Generated from libs/shared/src/core/reasons.ts by `node tools/docs/generate.ts`. Do not edit. -->',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
