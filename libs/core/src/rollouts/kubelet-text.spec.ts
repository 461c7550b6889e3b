import { describe, expect, it } from 'vitest';
import { kubeletText } from './kubelet-text.ts';

const JWT = [
  'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9',
  'eyJpc3MiOiJodHRwczovL3N0cy5leGFtcGxlLmNvbSJ9',
  'Qm9vZ2x5d29vZ2x5_Qm9v-Z2x5d29vZ2x5',
].join('.');

describe('a text of the kubelet', () => {
  it.each([
    'Back-off pulling image "ghcr.io/shop/web:1.2.3"',
    `couldn't find key database-url in Secret shop/web-settings`,
    'configmap "a-config-map-with-quite-a-long-name-in-a-team-of-its-own" not found',
    'back-off 5m0s restarting failed container=app pod=web-6c54bd5869-v8q2x_shop',
    "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    'violates PodSecurity "restricted:latest": container "web" must set securityContext.allowPrivilegeEscalation=false',
    'image registry.example.com/some-team/some-service.with-a-long-name of https://registry.example.com not found.',
    'image https://registry.example.com:5000/web@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'failed to fetch the token from Secret shop/registry-2',
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
    ['a token with dots', `invalid token ${JWT}`, 'invalid token …'],
    ['a token with dots before a full stop', `denied for ${JWT}.`, 'denied for …'],
    ['a token with short parts', 'denied for ya29.a0AfH6SMBx9Qw3rT7yUiOpAsDfGhJk', 'denied for …'],
    ['a token after a comma', `denied:x,${JWT}`, 'denied:x,…'],
    [
      'the query of a URL',
      'Get "https://reg.io/t?access_key=ab12&x=y": 401',
      'Get "https://reg.io/t?…": 401',
    ],
    ['a query before a colon', 'GET https://reg.io/t?sig=ab12: 401', 'GET https://reg.io/t?…: 401'],
    [
      'a login with signs of a URL',
      'error https://ann:p@ss/word@reg.io/v2/: 401',
      'error https://…@reg.io/v2/: 401',
    ],
    ['a word after a name', 'login with password hunter2 and more', 'login with password … and more'],
    ['a word of mixed case after a name', 'bad secretkey wJalrXUtnFEMI', 'bad secretkey …'],
    ['an access key', 'access_key: ab and access-key = cd', 'access_key: … and access-key = …'],
    ['a quoted value with an escaped quote', String.raw`token="a\"b c" d`, 'token=… d'],
    ['a quoted value without an end', 'token="a b c', 'token=…'],
    ['line breaks', 'one\n  two\tthree', 'one two three'],
  ])('loses %s', (_what, text, expected) => {
    expect(kubeletText(text)).toBe(expected);
  });

  it('is read for 600 characters, up to its last whole word', () => {
    const secret = 'x'.repeat(30);
    expect(kubeletText(`token=${secret} `.repeat(100))).toBe(`${'token=… '.repeat(16)}…`);
    expect(kubeletText(`a${'b'.repeat(3_000)}`)).toBe('…');
    const cut = kubeletText(`${`token=${secret} `.repeat(15)} and hunter2hunter2hunter2hunter2hunter2`);
    expect(cut).toBe(`${'token=… '.repeat(15)}and …`);
  });

  it('is cut after 300 characters', () => {
    const text = kubeletText('many words '.repeat(100));
    expect(text).toHaveLength(300);
    expect(text.endsWith('…')).toBe(true);
  });
});
