import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateFile } from './apiserver.ts';

export function kubeconfigFile(dir: string): string {
  return join(dir, 'kubeconfig');
}

export interface KubeconfigOptions {
  readonly dir: string;
  readonly port: number;
  readonly token: string;
  /** Default `dir/kubeconfig`. */
  readonly file?: string;
  /** Of another way to the API server. Default: this machine's. */
  readonly server?: string;
}

/** Writes a kubeconfig that is complete in itself. The certificate has to be there. */
export function writeKubeconfig({ dir, port, token, file, server }: KubeconfigOptions): void {
  const authority = readFileSync(certificateFile(dir)).toString('base64');
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: reroll',
    '  cluster:',
    `    server: ${server ?? `https://127.0.0.1:${port}`}`,
    ...(server === undefined ? [] : ['    tls-server-name: kubernetes.default.svc']),
    `    certificate-authority-data: ${authority}`,
    'users:',
    '- name: admin',
    '  user:',
    `    token: ${token}`,
    'contexts:',
    '- name: reroll',
    '  context:',
    '    cluster: reroll',
    '    user: admin',
    'current-context: reroll',
    '',
  ];
  writeFileSync(file ?? kubeconfigFile(dir), lines.join('\n'), { mode: 0o600 });
}
