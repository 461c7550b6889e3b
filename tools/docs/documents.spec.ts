import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import GithubSlugger from 'github-slugger';
import { expect, it } from 'vitest';

/** What every Markdown file of the repository has to keep: links that lead somewhere, and plain words. */
const ROOT = join(import.meta.dirname, '../..');
const FILES = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  .trimEnd()
  .split('\n');

/** Without fenced blocks, whose lines stay as empty ones. */
function proseOf(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gmu, (block) => block.replaceAll(/[^\n]/gu, ''));
}

function anchorsOf(text: string): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const headings = [...proseOf(text).matchAll(/^#+ (.*)$/gmu)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) => slugger.slug(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1'))),
  );
}

const TEXTS = new Map(FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
const ANCHORS = new Map([...TEXTS].map(([file, text]) => [file, anchorsOf(text)]));

/** Links that lead nowhere. Addresses outside are not asked. */
function brokenLinks(file: string, text: string): readonly string[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/gu)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/u.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : normalize(join(dirname(file), path));
    if (!existsSync(join(ROOT, target))) return [link];
    const anchors = ANCHORS.get(target);
    return anchor === undefined || anchors === undefined || anchors.has(anchor) ? [] : [link];
  });
}

it.each(FILES)('links of %s lead somewhere', (file) => {
  expect(brokenLinks(file, TEXTS.get(file) ?? '')).toEqual([]);
});

it('a link that leads nowhere is found', () => {
  const text =
    '[a](gone.md) [b](#gone) [c](https://example.com) [d](#here)\n\n```\n[e](gone.md)\n```\n# here\n';
  expect(brokenLinks('README.md', text)).toEqual(['gone.md', '#gone', '#here']);
  expect(anchorsOf('# A `b` [c](d)\n## A\n## A\n')).toEqual(new Set(['a-b-c', 'a', 'a-1']));
});

it('README.md is short', () => {
  expect(TEXTS.get('README.md')?.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

/**
 * Words that the glossary has others for, and what to write. Names on the wire stand in code spans, which are not searched. Decisions are
 * records of their time; the compatibility page quotes stakater/Reloader.
 */
const WORDS: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\broll(?:s|ed)?\b(?! out\b| back\b|s? it back\b)/iu, 'reload (what Kubernetes does then is a rollout)'],
  [/\bowed\b/iu, 'pending'],
  [/\b(?:doubtful|in doubt)\b/iu, 'unverified, or say what is not known'],
  [/\bledger\b/iu, 'cluster state'],
  [/\bwak(?:e|es|ing)\b/iu, 'enqueue'],
  [/\bsweeps?\b/iu, 'resync'],
  [/\btwins?\b/iu, 'pending Job'],
  [/\bcontest(?:s|ed)?\b/iu, 'conflict'],
  [/\bpresence\b/iu, 'heartbeat'],
  [/\banew\b/iu, 'again'],
  [/\bthat is none\b/iu, 'say what it has to be'],
];
const PLAIN = FILES.filter((file) => !/^(?:docs\/adr\/|docs\/compatibility\.md$|CHANGELOG\.md$)/u.test(file));

/** `<word>: write <instead>` of each place. */
function forbiddenWords(text: string): readonly string[] {
  const prose = proseOf(text)
    .replaceAll(/`[^`]*`/gu, '')
    .replaceAll(/\]\([^)]*\)/gu, ']');
  return WORDS.flatMap(([words, instead]) =>
    [...prose.matchAll(new RegExp(words, 'giu'))].map(([word]) => `${word}: write ${instead}`),
  );
}

it.each(PLAIN)('%s has none of the words that the glossary has others for', (file) => {
  expect(forbiddenWords(TEXTS.get(file) ?? '')).toEqual([]);
});

it('such a word is found, but not in code', () => {
  expect(forbiddenWords('It rolls a pod, `--sweep-interval`, rolled out and rolled back.')).toEqual([
    'rolls: write reload (what Kubernetes does then is a rollout)',
  ]);
});
