import { afterEach } from 'vitest';

const LINES = 40;
const logs = new Map<string, () => string>();

/** Whoever fails sees what the pods had to say. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const [name, read] of logs) console.error(`=== ${name}\n${shortened(read())}`);
});

/** The last lines of what each container has written are shown when a test fails. */
export function showLogsOfFailures(name: string, read: () => string): void {
  logs.set(name, read);
}

/** The last lines of each container. */
export function shortened(text: string): string {
  const parts = text.split(/^(?=--- )/m);
  return parts.map((part) => part.trimEnd().split('\n').slice(-LINES).join('\n')).join('\n');
}
