import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run demo [-- --keep]

Starts a control plane, a Redis, two watchers and two workers on this machine, changes a ConfigMap and a
Secret of a small shop, and shows what Reroll does about it. Ends by itself and leaves nothing behind.

  --keep    leave everything running at the end, with a dashboard, and say how to reach and to stop it
`;

export type Arguments =
  | { readonly kind: 'run'; readonly keep: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly problem: string };

export function parseArguments(argv: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { keep: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    return values.help === true ? { kind: 'help' } : { kind: 'run', keep: values.keep === true };
  } catch (error) {
    return { kind: 'wrong', problem: error instanceof Error ? error.message : String(error) };
  }
}
