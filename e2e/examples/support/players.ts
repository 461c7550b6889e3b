import { parse } from 'yaml';
import { CERTIFICATES } from '@reroll/core/testing/certificates';
import type { Manifest } from '../../support/kube.ts';
import { secret } from '../../support/objects/builders.ts';
import type { Example } from './example.ts';

/** The controllers of other projects, as far as Reroll sees them: the Secret that each of them writes. */

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
}

interface ExternalSecret extends Owner {
  readonly spec: {
    readonly target: { readonly name: string };
    readonly data: readonly { readonly secretKey: string; readonly remoteRef: { readonly key: string } }[];
  };
}

interface SecretStore {
  readonly spec: {
    readonly provider: {
      readonly fake: { readonly data: readonly { readonly key: string; readonly value: string }[] };
    };
  };
}

interface SealedSecret extends Owner {
  readonly spec: { readonly encryptedData: Readonly<Record<string, string>> };
}

async function read<T>(example: Example, ref: string): Promise<T> {
  return parse(await example.shell(`kubectl get ${ref} -n ${example.space.name} -o yaml`)) as T;
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Owner, manifest: Manifest): Manifest {
  const reference = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return { ...manifest, metadata: { ...manifest.metadata, ownerReferences: [reference] } as never };
}

/** External Secrets Operator refreshes an ExternalSecret. */
export async function refresh(example: Example, name: string): Promise<void> {
  const external = await read<ExternalSecret>(example, `externalsecret/${name}`);
  const { data } = (await read<SecretStore>(example, 'secretstore/store')).spec.provider.fake;
  const values = external.spec.data.map(({ secretKey, remoteRef }) => {
    const found = data.find(({ key }) => key === remoteRef.key);
    if (!found) throw new Error(`expected ${remoteRef.key} in the store`);
    return [secretKey, found.value] as const;
  });
  // It notes when it did so.
  const annotations = { 'e2e/refreshed': new Date().toISOString() };
  const target = secret(external.spec.target.name, Object.fromEntries(values), { annotations });
  await example.space.apply(ownedBy(external, target));
}

/** cert-manager issues the certificate, or renews it. It owns nothing, and the key is no real one. */
export async function issue(
  example: Example,
  name: string,
  which: keyof typeof CERTIFICATES,
): Promise<number> {
  const { spec } = await read<{ spec: { secretName: string } }>(example, `certificate/${name}`);
  const { pem, expiresAt } = CERTIFICATES[which];
  const annotations = { 'cert-manager.io/certificate-name': name };
  const data = { 'ca.crt': pem, 'tls.crt': pem, 'tls.key': `key of ${which}` };
  await example.space.apply(secret(spec.secretName, data, { annotations, type: 'kubernetes.io/tls' }));
  return expiresAt;
}

/** Puts a kubeseal on the example's PATH: its text differs each time, and `unseal` can read it. */
export function installKubeseal(example: Example): void {
  example.program(
    'kubeseal',
    `#!/bin/sh
name=$(date +%s%N)
sed -n "s/^  \\([A-Z]*\\): \\(.*\\)$/\\1 \\2/p" | {
  read -r key value
  printf 'apiVersion: bitnami.com/v1alpha1\\nkind: SealedSecret\\nmetadata: {name: db}\\n'
  printf 'spec: {encryptedData: {%s: %s.%s}, template: {metadata: {name: db}}}\\n' "$key" "$value" "$name"
}
`,
  );
}

/** The controller of Sealed Secrets unseals what that kubeseal sealed. */
export async function unseal(example: Example, name: string): Promise<void> {
  const sealed = await read<SealedSecret>(example, `sealedsecret/${name}`);
  const entries = Object.entries(sealed.spec.encryptedData).map(([key, text]) => {
    const [value = ''] = text.split('.');
    return [key, Buffer.from(value, 'base64').toString()] as const;
  });
  await example.space.apply(ownedBy(sealed, secret(name, Object.fromEntries(entries))));
}
