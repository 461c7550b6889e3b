/** The program of the image: `reroll <role> [flags]`. Each role is loaded alone, and takes the arguments after its name. */
// Before any code with decorators: each role's own import of it may come after that of a file that roles share.
import 'reflect-metadata';
import { choose, type Role } from './roles.ts';

const START: Readonly<Record<Role, () => Promise<unknown>>> = {
  watcher: () => import('@reroll/watcher/main'),
  worker: () => import('@reroll/worker/main'),
  admin: () => import('@reroll/admin/main'),
  all: () => import('@reroll/standalone/main'),
  'make-secrets': () => import('./make-secrets/main.ts'),
};

const choice = choose(process.argv[2]);
if ('role' in choice) {
  process.argv.splice(2, 1);
  await START[choice.role]();
} else {
  process[choice.exitCode === 0 ? 'stdout' : 'stderr'].write(`${choice.text}\n`);
  process.exitCode = choice.exitCode;
}
