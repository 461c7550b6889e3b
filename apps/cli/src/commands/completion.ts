import { Argument } from 'commander';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts';
import type { Adder } from './command.ts';

export const addCompletion: Adder = (program, { io }) => {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'shell').choices(SHELLS))
    .summary("prints a shell's completion script")
    .description(
      'Prints a script that completes commands, flags and names: `source <(reroll completion bash)`. kubectl completes `kubectl reroll` by itself if kubectl_complete-reroll is on PATH.',
    )
    .action((shell: Shell) => io.out(SCRIPTS[shell]));
};
