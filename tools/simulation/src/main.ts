/** Runs the shipped processes in the simulated world, or replays one run. Exit 1 if a run fails, 2 for a flag that cannot be read. */
import { replaceGlobals, use } from './globals.ts';
import { Events } from './scheduler.ts';

replaceGlobals();
use(new Events(0, 0));
const { command } = await import('./command.ts');
await command(process.argv.slice(2));
// Timers of the simulated processes are none of Node.js', but some of their connections would keep it running. A pipe takes
// 64 KiB at once, so what was printed has to be written first.
process.stdout.write('', () => process.exit());
