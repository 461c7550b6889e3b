import { at } from '../look.ts';
import type { Manifest } from '../render.ts';

/** One end of a connection: a pod by its labels, or an address outside. */
export interface End {
  readonly labels?: Readonly<Record<string, string>>;
  /** Of its namespace; default: those of the release's, which has none but its name. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly address?: string;
}

export interface Connection {
  readonly from: End;
  readonly to: End;
  readonly port: number;
  /** Default TCP. */
  readonly protocol?: 'TCP' | 'UDP';
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
}
interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
}
interface Rule {
  readonly ports?: readonly { readonly protocol?: string; readonly port: number }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}
type Direction = 'Ingress' | 'Egress';

const OWN_NAMESPACE = { 'kubernetes.io/metadata.name': 'reroll' };

/**
 * Whether policies of one namespace let a connection through, as Kubernetes defines it: a pod that no policy selects
 * for a direction is open in it, else one rule of those that select it has to fit; both ends have to agree.
 * @throws for what it does not know of policies: expressions, ranges and names of ports, exceptions, IPv6.
 */
export function isAllowed(policies: readonly Manifest[], connection: Connection): boolean {
  const { from, to } = connection;
  for (const policy of policies) checkPolicy(at(policy, 'spec'));
  const leaves = isOpen(policies, 'Egress', { ...connection, self: from, other: to });
  return leaves && isOpen(policies, 'Ingress', { ...connection, self: to, other: from });
}

type Side = Connection & { readonly self: End; readonly other: End };

function isOpen(policies: readonly Manifest[], direction: Direction, side: Side): boolean {
  const { self } = side;
  const isOurs = self.labels !== undefined && self.namespaceLabels === undefined;
  const selecting = policies.filter(
    (policy) =>
      isOurs &&
      (at(policy, 'spec.policyTypes') as readonly string[]).includes(direction) &&
      selects(at(policy, 'spec.podSelector') as Selector, self.labels),
  );
  if (selecting.length === 0) return true;
  const rules = selecting.flatMap(
    (policy) => (at(policy, `spec.${direction.toLowerCase()}`) ?? []) as readonly Rule[],
  );
  return rules.some((rule) => fits(rule, side));
}

function fits(rule: Rule, { port, protocol = 'TCP', other }: Side): boolean {
  const hasPort =
    rule.ports === undefined ||
    rule.ports.some((each) => (each.protocol ?? 'TCP') === protocol && each.port === port);
  const peers = rule.from ?? rule.to;
  return hasPort && (peers === undefined || peers.some((peer) => isPeer(peer, other)));
}

function isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, end: End): boolean {
  if (ipBlock !== undefined) return end.address !== undefined && isWithin(end.address, ipBlock.cidr);
  if (end.labels === undefined) return false;
  const isThere =
    namespaceSelector === undefined
      ? end.namespaceLabels === undefined
      : selects(namespaceSelector, end.namespaceLabels ?? OWN_NAMESPACE);
  return isThere && (podSelector === undefined || selects(podSelector, end.labels));
}

function selects({ matchLabels = {} }: Selector, labels: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}

function isWithin(address: string, cidr: string): boolean {
  const [network = '', bits = '32'] = cidr.split('/');
  const size = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(network) / size);
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Nothing but these keys. */
function checkKeys(object: unknown, ...known: readonly string[]): void {
  for (const key of Object.keys(object ?? {}))
    if (!known.includes(key)) throw new Error(`expected only ${known.join(', ')}, given ${key}`);
}

function checkPolicy(spec: unknown): void {
  checkKeys(spec, 'podSelector', 'policyTypes', 'ingress', 'egress');
  checkKeys(at(spec, 'podSelector'), 'matchLabels');
  for (const rule of (at(spec, 'ingress') ?? []) as readonly Rule[]) checkRule(rule, 'from');
  for (const rule of (at(spec, 'egress') ?? []) as readonly Rule[]) checkRule(rule, 'to');
}

function checkRule(rule: Rule, peers: 'from' | 'to'): void {
  checkKeys(rule, 'ports', peers);
  for (const port of rule.ports ?? []) {
    checkKeys(port, 'protocol', 'port');
    if (typeof port.port !== 'number')
      throw new Error(`expected a port's number, given ${String(port.port)}`);
  }
  for (const { podSelector, namespaceSelector, ipBlock, ...rest } of rule[peers] ?? []) {
    checkKeys(rest);
    checkKeys(podSelector, 'matchLabels');
    checkKeys(namespaceSelector, 'matchLabels');
    checkKeys(ipBlock, 'cidr');
    if (ipBlock && !/^[\d.]+\/\d+$/u.test(ipBlock.cidr))
      throw new Error(`expected IPv4, given ${ipBlock.cidr}`);
  }
}
