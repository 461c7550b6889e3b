import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateFile } from './apiserver.ts';

export function kubeconfigFile(dir: string): string {
  return join(dir, 'kubeconfig');
}

/** Writes `dir/kubeconfig`, complete in itself. The certificate has to be there. */
export function writeKubeconfig({ dir, port, token }: { dir: string; port: number; token: string }): void {
  const authority = readFileSync(certificateFile(dir)).toString('base64');
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: reroll',
    '  cluster:',
    `    server: https://127.0.0.1:${port}`,
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
  writeFileSync(kubeconfigFile(dir), lines.join('\n'), { mode: 0o600 });
}
