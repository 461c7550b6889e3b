import { parseArgs } from 'node:util';

/** A Secret to make if it is not there. */
export type WantedSecret =
  | { readonly name: string; readonly keys: readonly string[] }
  | { readonly name: string; readonly hosts: readonly string[] };

export interface Wanted {
  /** Default: that of the pod. */
  readonly namespace: string | undefined;
  readonly secrets: readonly WantedSecret[];
}

export const HELP = `Usage: reroll make-secrets [--namespace=NAMESPACE] [--random=NAME:KEY,…]… [--certificate=NAME:HOST,…]…

Makes Secrets that are not there, and adds keys that are missing. Never changes a value.

  --namespace
        The namespace of the Secrets. Default: that of the pod, or of the kubeconfig.
  --random
        A Secret and its keys; each value is 48 random letters and digits.
  --certificate
        A Secret of type kubernetes.io/tls with a certificate for these hosts, valid for ten years, and its key; ca.crt is the
        certificate of the authority that signed it, whose key is not kept.
  -h, --help
        Print this text.`;

/** @throws an `Error` that says what was expected and what was given */
export function readArguments(args: readonly string[]): Wanted | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      namespace: { type: 'string' },
      random: { type: 'string', multiple: true, default: [] },
      certificate: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const random = values.random.map((text) => {
    const { name, items } = nameAndItems('--random', text);
    return { name, keys: items };
  });
  const certificates = values.certificate.map((text) => {
    const { name, items } = nameAndItems('--certificate', text);
    return { name, hosts: items };
  });
  const secrets = [...random, ...certificates];
  if (secrets.length === 0) throw new Error('expected --random or --certificate; given neither');
  return { namespace: values.namespace, secrets };
}

function nameAndItems(flag: string, text: string): { name: string; items: readonly string[] } {
  const [, name, items] = /^([a-z0-9][a-z0-9.-]*):([A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*)$/.exec(text) ?? [];
  if (name === undefined || items === undefined)
    throw new Error(`expected ${flag}=NAME:ITEM,ITEM,…; given ${JSON.stringify(text)}`);
  return { name, items: items.split(',') };
}
