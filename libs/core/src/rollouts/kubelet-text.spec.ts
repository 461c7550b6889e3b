import { describe, expect, it } from 'vitest';
import { kubeletText } from './kubelet-text.ts';

describe('a text of the kubelet', () => {
  it.each([
    'Back-off pulling image "ghcr.io/shop/web:1.2.3"',
    `couldn't find key database-url in Secret shop/web-settings`,
    'configmap "a-config-map-with-quite-a-long-name-in-a-team-of-its-own" not found',
    'back-off 5m0s restarting failed container=app pod=web-6c54bd5869-v8q2x_shop',
    "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    'image ghcr.io/shop/web@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 not found',
  ])('that names objects and images is left as it is: %s', (text) => {
    expect(kubeletText(text)).toBe(text);
  });

  it.each([
    [
      'a login in a URL',
      'pull from https://ann:hunter2@registry.shop/web',
      'pull from https://…@registry.shop/web',
    ],
    ['an assignment', 'exec: --db-password=hunter2 --port=80', 'exec: --db-password=… --port=80'],
    ['a quoted assignment', '{"token": "a b c", "port": 80}', '{"token": …, "port": 80}'],
    ['a bearer token', 'Authorization: Bearer abc.def.ghi', 'Authorization: …'],
    ['a long run of anything', 'got aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMg== there', 'got … there'],
    ['hexadecimal digits', 'key 9f86d081884c7d659a2feaa0c55ad015 is bad', 'key … is bad'],
    ['line breaks', 'one\n  two\tthree', 'one two three'],
  ])('loses %s', (_what, text, expected) => {
    expect(kubeletText(text)).toBe(expected);
  });

  it('is cut after 300 characters', () => {
    const text = kubeletText('many words '.repeat(100));
    expect(text).toHaveLength(300);
    expect(text.endsWith('…')).toBe(true);
  });
});
