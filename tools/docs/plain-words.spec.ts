import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  commentsOfYaml,
  forbiddenWords,
  proseOfMarkdown,
  textOfTemplate,
  textsOfCode,
} from './plain-words.ts';

const ROOT = join(import.meta.dirname, '../..');

type TextOf = (text: string, file: string) => string;

/** What people read, and how its text is found. Decisions are records of their time; the compatibility page quotes stakater/Reloader. */
const TEXTS: Readonly<Record<string, readonly [paths: readonly string[], textOf: TextOf]>> = {
  documents: [['*.md', ':!docs/adr/*', ':!docs/compatibility.md'], proseOfMarkdown],
  'dashboard, command line, API, logs, reasons and options': [
    ['apps/*.ts', 'apps/*.tsx', 'libs/*.ts', ':!*.spec.ts', ':!*/testing/*'],
    textsOfCode,
  ],
  'values of the chart': [['deploy/helm/reroll/values.yaml'], commentsOfYaml],
  'notes of the chart': [['deploy/helm/reroll/templates/NOTES.txt'], textOfTemplate],
};

it.each(Object.entries(TEXTS))('%s: no word that the glossary has another for', (_what, [paths, textOf]) => {
  const files = execFileSync('git', ['ls-files', ...paths], { cwd: ROOT, encoding: 'utf8' }).trimEnd();
  const found = files.split('\n').flatMap((file) => {
    const text = textOf(readFileSync(join(ROOT, file), 'utf8'), file);
    return forbiddenWords(text).map((word) => `${file}: ${word}`);
  });
  expect(found).toEqual([]);
});

it('such a word is found, but not in code', () => {
  expect(forbiddenWords('It rolls a pod, `--sweep-interval`, rolled out and rolled back.')).toEqual([
    'rolls: write reload (what Kubernetes does then is a rollout)',
  ]);
  expect(proseOfMarkdown('a\n```\nowed\n```\n[b](owed.md)')).toBe('a\n\n\n\n[b]');
});

it('of code, what people read is searched, and no name on the wire', () => {
  const code = [
    "import { x } from 'a ledger';",
    "const a: 'a twin' = kind === 'owed' ? 'a sweep' : 'Contested';",
    'const b = <p title="its edge">{`${n} are due`} Owed</p>;',
    "const c = { word: 'Doubtful', reason: 'Reloaded' };",
  ].join('\n');
  expect(textsOfCode(code, 'a.tsx').split('\n')).toEqual([
    'a sweep',
    'its edge',
    ' are due',
    ' Owed',
    'Doubtful',
  ]);
});

it('of a chart, comments and notes are searched', () => {
  expect(commentsOfYaml('# -- a sweep\n# @schema owed\nowed: 1\n  # twins\n')).toBe('a sweep\ntwins');
  expect(textOfTemplate('{{- if .Values.owed }}\npending {{ .Values.edge }}!\n{{- end }}')).toBe(
    '\npending !\n',
  );
});
