import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const DIST = join(import.meta.dirname, '../../apps/dashboard/dist');
/** Of everything that a browser loads, gzipped; docs/guide/dashboard.md states it. */
const BUDGET = 60_000;

const page = readFileSync(join(DIST, 'index.html'), 'utf8');
const assets = [...page.matchAll(/(?:src|href)="\.\/([^"]+-[0-9A-Z]{8}\.(?:js|css|svg))"/g)].map(
  ([, file = '']) => file,
);

describe('the bundle of the dashboard', () => {
  it('is a page, a script, a style and an icon, whose names carry a hash', () => {
    expect(new Set(assets.map((file) => file.replace(/^.*\./, '')))).toEqual(new Set(['css', 'js', 'svg']));
    expect(new Set(readdirSync(DIST))).toEqual(
      new Set([...assets, 'index.html', 'licenses.txt', 'sbom.cdx.json']),
    );
  });

  it('loads within its budget of 60 kB, gzipped', () => {
    const sizes = ['index.html', ...assets].map((file) => gzipSync(readFileSync(join(DIST, file))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BUDGET);
  });

  it('has nothing in the page that a strict Content-Security-Policy forbids, and no address of another origin', () => {
    expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?! type="module" src="\.\/)/);
    const text = ['index.html', ...assets].map((file) => readFileSync(join(DIST, file), 'utf8')).join('\n');
    const addresses = text.match(/https?:\/\/[\w.-]+/g) ?? [];
    // Names of XML namespaces, and links in messages of errors; nothing is loaded from there.
    expect(addresses.filter((address) => !address.endsWith('w3.org'))).toEqual([]);
  });

  it('has neither zod nor a way to write HTML from text in it', () => {
    const script = readFileSync(join(DIST, assets.find((file) => file.endsWith('.js')) ?? ''), 'utf8');
    expect(script).not.toMatch(/ZodError|document\.write|insertAdjacentHTML|outerHTML/);
  });

  it('comes with the license of every package in it', () => {
    const { components } = JSON.parse(readFileSync(join(DIST, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string; licenses: { expression: string }[] }[];
    };
    expect(components.map(({ name }) => name)).toEqual([
      '@preact/signals',
      '@preact/signals-core',
      'eventsource-parser',
      'preact',
    ]);
    for (const { name, version, licenses } of components) {
      expect(licenses).toEqual([{ expression: 'MIT' }]);
      expect(readFileSync(join(DIST, 'licenses.txt'), 'utf8')).toContain(`${name} ${version}\nLicense: MIT`);
    }
  });
});
