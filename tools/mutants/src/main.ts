/** `npm run mutants`: breaks one rule of the protocol after the other, and runs what has to notice. Exit 1 if something does not. */
import { command } from './command.ts';

await command(process.argv.slice(2));
