import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { imageArgument, imageEnvironment, instructions, ROLES, ROOT } from './dockerfile.ts';

const all = instructions();
const texts = (name: string): readonly string[] =>
  all.flatMap((each) => (each.name === name ? [each.text] : []));

it('the last stage is the image, and starts each role of its program once', () => {
  expect(texts('FROM').at(-1)).toBe('${BASE_IMAGE} AS reroll');
  const starts = texts('RUN').flatMap((text) => /"\/app\/main.js", "(\w+)"/.exec(text)?.[1] ?? []);
  expect(starts).toEqual([...ROLES]);
});

it('Node.js is of the version that everything is tested with', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  expect(imageArgument('NODE_IMAGE')).toMatch(new RegExp(`:${devDependencies['node']}-[a-z]+$`));
});

it('its environment is that of its last stage', () => {
  expect(imageEnvironment()).toMatchObject({ NODE_ENV: 'production', MALLOC_ARENA_MAX: '2' });
  expect(imageEnvironment()).not.toHaveProperty('CI');
});

it('images of others can be replaced by arguments, and have a tag', () => {
  const others = texts('FROM').flatMap((text) => /(\$\{\w+\}|\S+) AS/.exec(text)?.[1] ?? []);
  const stages = texts('FROM').map((text) => / AS (\S+)$/.exec(text)?.[1]);
  const names = others.filter((name) => !stages.includes(name));
  expect([...new Set(names)]).toEqual(['${NODE_IMAGE}', '${BASE_IMAGE}']);
  for (const name of ['NODE_IMAGE', 'BASE_IMAGE'] as const)
    expect(imageArgument(name)).toMatch(/^[\w./-]+:[\w.-]+$/);
});

it('dependencies are installed for every workspace, from the lockfile, before the sources come', () => {
  const copied = all.slice(
    0,
    all.findIndex(({ text }) => text.includes('npm ci')),
  );
  const sources = copied
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text }) => text.split(' ').slice(0, -1));
  expect(sources.sort()).toEqual(
    ['package.json', 'package-lock.json', ...globSync('{apps,libs}/*/package.json', { cwd: ROOT })].sort(),
  );
});

it('what the Dockerfile copies is not left out by .dockerignore', () => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const kept = ignored.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  expect(ignored).toContain('*');
  for (const path of kept) expect(existsSync(join(ROOT, path))).toBe(true);
});

it('nothing runs as root, and nothing is given to it by the environment of the build', () => {
  expect(texts('USER')).toEqual(['65532:65532']);
  expect(texts('ARG').map((text) => text.split('=')[0])).toEqual([
    'NODE_IMAGE',
    'BASE_IMAGE',
    'VALKEY',
    'VALKEY',
    'VERSION',
  ]);
});

it('what admin serves is in its image, from its own build', () => {
  expect(texts('COPY')).toContain('--from=build /src/apps/reroll/dist/public /app/public');
});
