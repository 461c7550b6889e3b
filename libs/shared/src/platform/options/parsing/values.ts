/** The kinds of values that options have: how each is read, and the error if it cannot be. */
import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { formatDuration, parseDuration } from '@reroll/core/durations';
import { parseLabelSelector, type LabelSelector } from '@reroll/core/label-selector';
import { parseListenAddress } from '../../http/listen-address.ts';
import type { ListenAddress } from '../../http/listen-address.ts';
import * as forms from './forms.ts';
import type { ValueKind } from './option.ts';

/** A schema from text to `T`; `read` returns undefined for unexpected text. */
function reading<T>(expects: string, read: (text: string) => T | undefined): z.ZodType<T> {
  return z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: expects });
    return z.NEVER;
  });
}

interface Scalar<T> {
  readonly type: string;
  readonly expects: string;
  readonly read: (text: string) => T | undefined;
  /** See `ValueKind`. */
  readonly pattern?: string;
}

/** One value that `read` reads; it returns undefined for unexpected text. */
export function scalar<T>({ read, ...kind }: Scalar<T>): ValueKind<T> {
  return { form: 'value', ...kind, schema: reading(kind.expects, read) };
}

/** Go's `strconv.ParseBool`. */
const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

export function parseBool(text: string): boolean | undefined {
  return BOOLS.get(text);
}

export function bool(): ValueKind<boolean> {
  const expects = 'true or false';
  return { form: 'bool', type: 'bool', expects, schema: reading(expects, parseBool) };
}

/** A bool whose value follows a blank or an equals sign, as for text; the empty one is false. */
export function boolText(): ValueKind<boolean> {
  const read = (given: string): boolean | undefined => (given === '' ? false : parseBool(given));
  return scalar({ type: 'true | false', expects: 'true or false', read });
}

export function boolOrAuto(): ValueKind<boolean | 'auto'> {
  const read = (given: string): boolean | 'auto' | undefined => (given === 'auto' ? given : parseBool(given));
  return scalar({ type: 'true | false | auto', expects: 'true, false or auto', read });
}

/** A boolean for which stakater/Reloader has a word of its own. */
export function enabledOrBool(): ValueKind<boolean> {
  const expects = 'true or false, enabled or disabled';
  const words = new Map([...BOOLS, ['enabled', true], ['disabled', false]] as const);
  return { form: 'bool', type: 'bool', expects, schema: reading(expects, (given) => words.get(given)) };
}

export function anyText(expects: string): ValueKind<string> {
  return { form: 'value', type: 'string', expects, schema: z.string() };
}

export function text(expects: string): ValueKind<string> {
  return scalar({ type: 'string', expects, read: (given) => (given === '' ? undefined : given) });
}

/** Text that matches the pattern, which Go has to read too; `expects` describes it. */
export function matching(expects: string, pattern: RegExp): ValueKind<string> {
  const read = (given: string): string | undefined => (pattern.test(given) ? given : undefined);
  return scalar({ type: 'string', expects, read, pattern: pattern.source });
}

/** '' is undefined, which means none. */
function optional<T>({ read, ...kind }: Scalar<T>): ValueKind<T | undefined> {
  const { expects } = kind;
  const schema = z.string().transform((given, context): T | undefined => {
    const value = given === '' ? undefined : read(given);
    if (value === undefined && given !== '') context.addIssue({ code: 'custom', message: expects });
    return value;
  });
  return { form: 'value', ...kind, schema };
}

/** Any text; '' is undefined, which means none. */
export function optionalText(expects: string): ValueKind<string | undefined> {
  return optional({ type: 'string', expects, read: (given) => given });
}

/** A file's path; '' is undefined, which means none. */
export function optionalPath(expects: string): ValueKind<string | undefined> {
  return optional({ type: 'path', expects, read: (given) => given });
}

export function oneOf<const T extends string>(words: readonly T[]): ValueKind<T> {
  return scalar({
    type: words.join(' | '),
    expects: words.length === 1 ? String(words[0]) : `one of: ${words.join(', ')}`,
    read: (given) => words.find((word) => word === given),
  });
}

interface Range {
  readonly min: number;
  readonly max?: number;
}

/** A whole number in a range, its ends included. */
export function integer({ min, max = Number.MAX_SAFE_INTEGER }: Range): ValueKind<number> {
  const upTo = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
  return scalar({
    type: 'integer',
    expects: `a whole number${upTo}`,
    read: (given) => {
      const value = /^\d{1,15}$/u.test(given) ? Number(given) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  });
}

/** The longest wait of a Node timer, rounded down to whole days. */
const LONGEST_TIMER = 24 * 86_400_000;

/** Whole milliseconds from `min` to `max`. Default of `max`: what a timer can hold. */
export function duration({ min, max = LONGEST_TIMER }: Range): ValueKind<number> {
  return scalar({
    type: 'duration',
    expects: `a duration such as 500ms, 1h30m or 7d, from ${formatDuration(min)} to ${formatDuration(max)}`,
    read: (given) => {
      const value = parseDuration(given);
      return value !== undefined && value >= min && value <= max ? Math.round(value) : undefined;
    },
  });
}

/** As `integer`; '' is undefined, which means none. */
export function optionalInteger(range: Range): ValueKind<number | undefined> {
  const { schema, ...kind } = integer(range);
  return { ...kind, schema: z.union([z.literal('').transform(() => undefined), schema], kind.expects) };
}

export function listenAddress(): ValueKind<ListenAddress> {
  const expects = 'an address such as :9090, 127.0.0.1:9090 or [::1]:9090';
  const pattern = String.raw`^(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)?:${forms.PORT_OR_ZERO}$`;
  return scalar({ type: 'host:port', expects, read: parseListenAddress, pattern });
}

/** `redis://` or `rediss://`, then `host[:port][/db]`, optionally after credentials and an `@`. */
function readRedisUrl(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  const isRedis = url.protocol === 'redis:' || url.protocol === 'rediss:';
  const isPlace = url.hostname !== '' && /^(?:\/\d*)?$/u.test(url.pathname) && url.hash === '';
  return isRedis && isPlace && canDecodeUser(url) ? given : undefined;
}

/** Whether user and password are percent-encoded. */
function canDecodeUser({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

/** '' is undefined, which means none. */
export function redisUrl(): ValueKind<string | undefined> {
  const expects =
    'a URL such as redis://user:password@host:6379/0 or rediss://… (special characters of a password percent-encoded)';
  return optional({
    type: 'url',
    expects,
    read: readRedisUrl,
    pattern: String.raw`^\s*${forms.REDIS_URL}\s*$`,
  });
}

/** '' is undefined, which means none. */
export function optionalHost(): ValueKind<string | undefined> {
  const expects = 'a host name or an IP address, without a port';
  const read = (given: string): string | undefined => (isIPv6(given) || HOST.test(given) ? given : undefined);
  return optional({ type: 'host', expects, read, pattern: `^(?:${forms.HOST}|${forms.IPV6_IN_ZONE})$` });
}

/** A port. Undefined for '' and for what Kubernetes writes into such a variable for a Service. */
export function servicePort(): ValueKind<number | undefined> {
  const port = integer({ min: 1, max: 65_535 });
  const schema = z.string().transform((given, context): number | undefined => {
    if (given === '' || given.startsWith('tcp://')) return undefined;
    const value = readPort(given);
    if (value === undefined) context.addIssue({ code: 'custom', message: port.expects });
    return value;
  });
  return { ...port, schema };
}

function readPort(given: string): number | undefined {
  const port = /^\d{1,5}$/u.test(given) ? Number(given) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const HOST = new RegExp(`^${forms.HOST}$`, 'u');

/** `host`, `host:port`, `[::1]` or `[::1]:port`. */
function readHostPort(given: string, otherwise: number): HostPort | undefined {
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>.+))?$/u.exec(given)?.groups;
  if (!parts) return undefined;
  const { v6, name = '' } = parts;
  const port = parts['port'] === undefined ? otherwise : readPort(parts['port']);
  const isHost = v6 === undefined ? HOST.test(name) : isIPv6(v6);
  return port !== undefined && isHost ? { host: v6 ?? name, port } : undefined;
}

/** Addresses, comma-separated. `port` is the default port. */
export function hostPorts(port: number): ValueKind<readonly HostPort[]> {
  const expects = `addresses such as redis-0:${port},redis-1:${port}`;
  const pattern = String.raw`^(?:\[${forms.IPV6_IN_ZONE}\]|${forms.HOST})(?::${forms.PORT})?$`;
  return list({ type: 'host:port', expects, read: (given) => readHostPort(given, port), pattern });
}

/** Networks in CIDR notation, or single addresses; comma-separated. */
export function networks(): ValueKind<readonly string[]> {
  const expects = 'networks such as 10.0.0.0/8 or fd00::/8, or single addresses';
  const of4 = String.raw`(?:0{0,2}\d|0?[12]\d|0?3[0-2])`;
  const of6 = String.raw`(?:0?\d{1,2}|00\d|1[01]\d|12[0-8])`;
  const pattern = `^(?:${forms.IPV4}(?:/${of4})?|${forms.IPV6_IN_ZONE}(?:/${of6})?)$`;
  return list({ type: 'CIDR', expects, read: (given) => (isNetwork(given) ? given : undefined), pattern });
}

function isNetwork(given: string): boolean {
  const [address = '', prefix, ...more] = given.split('/');
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/u.test(prefix) && Number(prefix) <= longest);
  return longest > 0 && isPrefix && more.length === 0;
}

/** '' is undefined, which means none. */
export function optionalHttpUrl(): ValueKind<string | undefined> {
  const expects =
    'a URL such as https://host/path (http or https; special characters of a user or password percent-encoded)';
  const read = (given: string): string | undefined => {
    if (!URL.canParse(given)) return undefined;
    const url = new URL(given);
    return /^https?:$/u.test(url.protocol) && canDecodeUser(url) ? given : undefined;
  };
  return optional({ type: 'url', expects, read, pattern: String.raw`^\s*${forms.HTTP_URL}\s*$` });
}

const ANNOTATION_KEY = new RegExp(`^${forms.ANNOTATION_KEY}$`, 'u');

/** An annotation key. '' is accepted, as in stakater/Reloader: no object has such an annotation, so it is switched off. */
export function annotationKey(): ValueKind<string> {
  return scalar({
    type: 'annotation key',
    expects: 'the key of an annotation such as example.com/reload, or nothing to switch it off',
    read: (given) => (given === '' || ANNOTATION_KEY.test(given) ? given : undefined),
    pattern: `^(?:${forms.ANNOTATION_KEY})?$`,
  });
}

/** The key of an annotation that Reroll writes, which cannot be switched off. */
export function writtenAnnotationKey(): ValueKind<string> {
  return matching('the key of an annotation such as example.com/reload', ANNOTATION_KEY);
}

/** A comma-separated list, as pflag's stringSlice reads it, trimmed and without duplicates. */
export function list<T>(element: Scalar<T>, max = Number.POSITIVE_INFINITY): ValueKind<readonly T[]> {
  const schema = z.array(z.string()).transform((given, context): readonly T[] => {
    const values = given.map((each) => element.read(each.trim()));
    const read = [...new Set(values.filter((value) => value !== undefined))];
    if (!values.includes(undefined) && read.length <= max) return read;
    context.addIssue({ code: 'custom', message: element.expects });
    return z.NEVER;
  });
  const { read: _read, ...kind } = element;
  return { form: 'list', ...kind, schema };
}

/** Requirements of a label selector, comma-separated; `undefined` if there are none. */
export function labelSelector(): ValueKind<LabelSelector | undefined> {
  const expects = 'a label selector such as env=prod,team in (a,b),!legacy';
  const schema = z.array(z.string()).transform((given, context): LabelSelector | undefined => {
    const text = given.join(',').trim();
    const selector = text === '' ? undefined : parseLabelSelector(text);
    if (selector || text === '') return selector;
    context.addIssue({ code: 'custom', message: expects });
    return z.NEVER;
  });
  const pattern = `^${forms.LABEL_SELECTOR}$`;
  return { form: 'list', type: 'label selector', expects, schema, pattern, isOneText: true };
}
