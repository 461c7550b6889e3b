import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What the containers of a namespace have written, by `pod/container`; those of pods that are gone too. */
export function podLogs(folder: string, namespace: string): Map<string, string> {
  const root = join(folder, 'logs', namespace);
  const found = new Map<string, string>();
  if (!existsSync(root)) return found;
  for (const pod of readdirSync(root)) {
    for (const file of readdirSync(join(root, pod))) {
      const [name = ''] = pod.split('_');
      const key = `${name}/${file.replace(/\.log$/, '')}`;
      found.set(key, (found.get(key) ?? '') + readFileSync(join(root, pod, file), 'utf8'));
    }
  }
  return found;
}
