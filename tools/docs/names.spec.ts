import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { namesIn } from './names.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Documents, chart, manifests and examples. */
const PATHS = ['*.md', 'deploy', 'examples', 'docker-compose.yml', '.krew.yaml', ':!*package-lock.json'];
const FILES = execFileSync('git', ['ls-files', ...PATHS], { cwd: ROOT, encoding: 'utf8' })
  .trimEnd()
  .split('\n');
const NAMES = new Map(FILES.map((file) => [file, namesIn(readFileSync(join(ROOT, file), 'utf8'))]));

/** Before you add one: it exists, and is of who it is meant to be. */
const KNOWN: ReadonlySet<string> = new Set([
  // Ours, once it is registered: SECURITY.md.
  '@reroll',
  'ghcr.io/reroll',
  'github.com/reroll',
  'raw.githubusercontent.com/reroll',
  'reroll.dev',
  // Packages that package-lock.json pins, and one that cli.md warns of.
  '@kubernetes',
  '@nestjs',
  '@peculiar',
  '@types',
  'npx node',
  'npx reroll',
  'npx vitest',
  // Images.
  'docker.io',
  'docker.io/library',
  'docker.io/rancher',
  'docker.io/valkey',
  'gcr.io/distroless',
  // Domains of annotations, APIs and labels.
  'argoproj.io',
  'artifacthub.io',
  'bitnami.com',
  'cert-manager.io',
  'coreos.com',
  'external-secrets.io',
  'fabric8.io',
  'fluxcd.io',
  'github.com', // krew.googlecontainertools.github.com
  'istio.io',
  'k8s.io',
  'kubernetes.io',
  'linkerd.io',
  'openshift.io',
  'pusher.com',
  'stakater.com',
  'x-k8s.io',
  // Links.
  'github.com/PeculiarVentures',
  'github.com/le0pard',
  'github.com/rajatjindal',
  'github.com/stakater',
  'githubusercontent.com', // the issuer of tokens of GitHub's workflows
  'json-schema.org',
  'keepachangelog.com',
  'npmjs.com',
  'openapi-ts.dev',
  'rfc-editor.org',
  'semver.org',
  'stryker-mutator.io',
  // Services in a cluster.
  'kubernetes.default',
  'vault.vault',
]);

it.each(FILES)('%s names nothing that somebody else could register', (file) => {
  expect(NAMES.get(file)?.filter((name) => !KNOWN.has(name))).toEqual([]);
});

it('every name that is known is in use', () => {
  const used = new Set([...NAMES.values()].flat());
  expect([...KNOWN].filter((name) => !used.has(name))).toEqual([]);
});

it('names are found in addresses, images, annotations and commands', () => {
  const text = [
    'See <https://docs.evil.io/x>, https://evil.land/y, https://github.com/mallory/z and [a](https://quay.io/mallory/b).',
    '`a.b.evil.dev/auto`, https://registry.example/x, http://127.0.0.1:8080, https://a.example.com, mail@evil.org',
    '  image: ghcr.io/mallory/x:1',
    '- image: mallory/x',
    '--set image.repository=eve/x',
    'helm pull oci://quay.io/eve/x',
    'image: nginx:1.29',
    'npm run images -- --image=evil.net/reroll:1 --push',
    'npm install --global @mallory/cli && npx -y mallory',
  ].join('\n');
  expect(namesIn(text)).toEqual([
    '@mallory',
    'docker.io/eve',
    'docker.io/library',
    'docker.io/mallory',
    'evil.dev',
    'evil.io',
    'evil.land',
    'evil.net',
    'ghcr.io/mallory',
    'github.com/mallory',
    'npx mallory',
    'quay.io/eve',
    'quay.io/mallory',
  ]);
});
