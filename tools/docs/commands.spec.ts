import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { cliProgram } from './cli-page.ts';
import { rerollCommandsOf, wordsOf } from './commands.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Other programs that the image and the shell have under the same name. */
const SERVERS = /^(?:watcher|worker|admin|all|make-secrets)\b/u;

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const commands = pages.flatMap((page) =>
  rerollCommandsOf(readFileSync(join(ROOT, page), 'utf8'))
    .filter((command) => !SERVERS.test(command))
    .map((command) => [page, command] as const),
);

/** Rejects with what the command line says of a command that it would refuse. */
async function parsed(command: string): Promise<void> {
  const program = await cliProgram();
  for (const each of program.commands) each.action(() => undefined);
  await withoutHelp(program).parseAsync(wordsOf(command), { from: 'user' });
}

function withoutHelp(program: Command): Command {
  return program.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
}

describe('a command of the documentation is one that the command line takes', () => {
  it.each(commands)('%s: reroll %s', async (_, command) => {
    await expect(parsed(command)).resolves.toBe(undefined);
  });

  it('and there are some', () => {
    expect(commands.length).toBeGreaterThan(30);
  });

  it.each(['why', 'whynot deploy/web', 'changes --sate held', 'reload deploy/web', 'status deploy/web'])(
    'reroll %s is none',
    async (command) => {
      await expect(parsed(command)).rejects.toThrow();
    },
  );
});
