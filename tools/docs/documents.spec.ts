import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import GithubSlugger from 'github-slugger';
import { expect, it } from 'vitest';

/** What every Markdown file of the repository has to keep: links that lead somewhere. */
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
