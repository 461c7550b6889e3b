/** Parts of `pattern`s, in the syntax that JavaScript and Go share: without anchors, look-ahead or named groups. */

/** Digits without a sign, up to `length` of them and not only zeros. */
export function positive(length: number): string {
  const forms = Array.from({ length }, (_, zeros) => String.raw`0{${zeros}}[1-9]\d{0,${length - zeros - 1}}`);
  return `(?:${forms.join('|')})`;
}

const FIVE_DIGITS = String.raw`[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]`;
/** 1 to 65535, in at most five digits. */
export const PORT = String.raw`(?:${FIVE_DIGITS}|0?${positive(4)})`;
/** The same, or 0. */
export const PORT_OR_ZERO = `(?:${PORT}|0{1,5})`;

export const HOST = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';

const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]\d|\d)`;
export const IPV4 = String.raw`(?:${BYTE}\.){3}${BYTE}`;
const GROUP = '[0-9A-Fa-f]{1,4}';
/** After `count` groups with a colon each: the rest of an address in which a double colon stands for what is missing. */
function afterGroups(count: number): string {
  const begin = `(?:${GROUP}:){${count}}`;
  if (count === 6) return `${begin}(?:${IPV4}|:${GROUP}|:)`;
  if (count === 7) return `${begin}(?:${GROUP}|:)`;
  return `${count === 0 ? ':' : begin}(?:(?::${GROUP}){0,${5 - count}}:${IPV4}|(?::${GROUP}){1,${7 - count}}|:)`;
}
export const IPV6 = `(?:${[7, 6, 5, 4, 3, 2, 1, 0].map(afterGroups).join('|')})`;
/** With the zone of an address that is valid on one link. */
export const IPV6_IN_ZONE = `${IPV6}(?:%[0-9A-Za-z.:-]+)?`;

export const DURATION = String.raw`(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h|d))+`;

/** As in `parseLabelSelector`. */
const LABEL_KEY = String.raw`(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?`;
const LABEL_VALUE = String.raw`(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?`;
const REQUIREMENT = [
  String.raw`\s+(?:in|notin)\s*\(\s*${LABEL_VALUE}\s*(?:,\s*${LABEL_VALUE}\s*)*\)`,
  String.raw`\s*(?:==|=|:)\s*(?:${LABEL_VALUE}|\*)`,
  String.raw`\s*!=\s*${LABEL_VALUE}`,
  String.raw`\s*[<>]\s*\d{1,18}`,
].join('|');
const LABEL_REQUIREMENT = String.raw`\s*(?:${LABEL_KEY}(?:${REQUIREMENT})?|!\s*${LABEL_KEY})\s*`;
export const LABEL_SELECTOR = `${LABEL_REQUIREMENT}(?:,${LABEL_REQUIREMENT})*`;

/** The key of an annotation: a name behind an optional DNS prefix. */
export const ANNOTATION_KEY = LABEL_KEY;

/** What no host of a URL may hold, as the URL standard says; in http URLs, a percent sign neither. */
const FORBIDDEN = String.raw`\x00-\x20#/:<>?@\[\\\]^|\x7f`;
const URL_PORT = `(?::0*${PORT_OR_ZERO}?)?`;
export const HTTP_URL = String.raw`(?i:https?):[/\\]*(?:(?:[^%/\\?#]|%[0-9A-Fa-f]{2})*@)?(?:\[${IPV6}\]|[^%${FORBIDDEN}]+)${URL_PORT}(?:[/\\?#].*)?`;
/** Of a user or password: percent signs only before two hexadecimal digits. */
const CREDENTIAL = '(?:[^%/?#]|%[0-9A-Fa-f]{2})*';
export const REDIS_URL = String.raw`(?i:rediss?)://(?:${CREDENTIAL}@)?(?:\[${IPV6}\]|[^${FORBIDDEN}]+)${URL_PORT}(?:/\d*)?(?:\?[^#]*)?#?`;

const WAVE = String.raw`(?:${positive(6)}|0{0,4}[1-9]\d?%|0{0,3}100%|0{5}[1-9]%)`;
/** As in `readWaves`: at most 10. */
export const WAVES = String.raw`(?:none|${WAVE}(?:\s*,\s*${WAVE}){0,9})`;

/** As in `readLimit`; the range of the duration is not in it. */
export const RELOAD_LIMIT = String.raw`(?:none|(?:0{0,3}[1-9]|0{0,2}[1-4]\d|0{0,2}50)/\+?${DURATION})`;

const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const DAYS = `${DAY}(?:-${DAY})?(?:,${DAY}(?:-${DAY})?)*`;
const TIME = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d`;
const WINDOW = String.raw`(?:${DAYS}\s+)?${TIME}\s*-\s*(?:${TIME}|24:00)(?:\s+[a-z][\w+/-]*)?`;
/** As in `readWindows`; any word is a zone in it, and an end may be its start. */
export const WINDOWS = String.raw`(?i:always|[\s;]*${WINDOW}(?:\s*;\s*(?:${WINDOW})?)*)`;
