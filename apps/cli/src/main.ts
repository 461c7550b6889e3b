import { redrawing } from './output/redraw.ts';
import { run } from './run.ts';

const interrupt = new AbortController();
process.on('SIGINT', () => interrupt.abort());
process.on('SIGTERM', () => interrupt.abort());
// The reader (`| head`) may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') interrupt.abort();
  else throw error;
});

const [, file = '', ...words] = process.argv;
process.exitCode = await run(file, words, {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  outIsTerminal: process.stdout.isTTY,
  errIsTerminal: process.stderr.isTTY,
  redraw: redrawing(process.stderr, process.env),
  env: process.env,
  now: () => Date.now(),
  signal: interrupt.signal,
});
