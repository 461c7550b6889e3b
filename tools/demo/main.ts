import { runDemo } from './src/run.ts';

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
// Whoever read the output has gone: there is nobody to show anything to.
process.stdout.on('error', () => interruption.abort());

process.exitCode = await runDemo(process.argv.slice(2), interruption.signal);
