// node reaper.ts — started by processes.ts, which holds the other end of stdin and writes `+PID` and `-PID`.
// When stdin ends, the test process has ended, however that came about: ends what it left running.
import { text } from 'node:stream/consumers';

const lines = (await text(process.stdin)).split('\n').filter((line) => line !== '');
const running = new Set<number>();
for (const line of lines) {
  const pid = Number(line.slice(1));
  if (line.startsWith('+')) running.add(pid);
  else running.delete(pid);
}
for (const pid of running) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
