// Loaded into a process before all else (`--import`): on SIGUSR2 its clock is off by as many milliseconds as the file says that
// JUMPING_CLOCK names. As with a real clock, timers and `performance.now()` take no notice.
import { readFileSync } from 'node:fs';

const file = process.env['JUMPING_CLOCK'] ?? '';
const realNow = Date.now;
let offMs = 0;
process.on('SIGUSR2', () => {
  offMs = Number(readFileSync(file, 'utf8'));
  console.error(`clock off by ${offMs} ms`);
});

const jumping = (): number => realNow() + offMs;
Date.now = jumping;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [jumping()] : args, newTarget) as Date,
  apply: () => new Date(jumping()).toString(),
});
