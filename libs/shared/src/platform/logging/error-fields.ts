/**
 * What may be logged of an error. API servers, Redis and HTTP libraries quote values in their messages (the data of a
 * rejected Secret, a URL with its password). So a message is logged only if the error's class is ours, whose messages
 * consist of names, codes and our own words. The stack of an unknown error begins with its message, so only its place in
 * the code is logged.
 */

export interface ErrorFields {
  /** The error's class, e.g. `KubeError`. */
  readonly error: string;
  /** E.g. `KUBE_API`, `ECONNREFUSED`, `409`, `OOM`. */
  readonly code?: string;
  /** Only of classes whose messages are ours. */
  readonly message?: string;
  /** Of other errors: where in the code they were created, `file:///app/main.js:12:34`. */
  readonly at?: string;
  /** Class and code of the cause: `Error ECONNRESET`. */
  readonly cause?: string;
}

type ErrorClass = abstract new (...args: never[]) => Error;

const ours = new Set<unknown>();

/**
 * Declares error classes whose messages hold no data, credentials or foreign text. An app does so once, at its start.
 * Subclasses are not included.
 */
export function trustMessagesOf(...classes: readonly ErrorClass[]): void {
  for (const each of classes) ours.add(each);
}

const NAME = /^[A-Za-z_$][\w$]{0,63}$/u;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/u;

function className(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const name = error.constructor.name;
  return NAME.test(name) ? name : 'Error';
}

/** ioredis' classes of what Redis answers, and the code with which such an answer begins. */
const REPLIES: ReadonlySet<string> = new Set(['ReplyError', 'SimpleError', 'BlobError']);
const REPLY_CODE = /^(?<code>[A-Z]{3,20}) /u;

/** The error's `code` if it has the form of one, or that of an answer of Redis. Any other text could come from elsewhere. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (REPLIES.has(error.constructor.name)) return REPLY_CODE.exec(error.message)?.groups?.['code'];
  const { code } = error as { code?: unknown };
  if (typeof code === 'number' && Number.isSafeInteger(code)) return String(code);
  return typeof code === 'string' && CODE.test(code) ? code : undefined;
}

const FRAME = /^ {4}at (?:[\w$.<># [\]]+ \()?(?<place>[\w$./:@%-]{1,200}:\d+:\d+)\)?$/u;

/**
 * The topmost frame that names a file. Frames begin after the stack's head, which must equal the error's present message,
 * so that no text in the message is mistaken for a frame.
 */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined;
  const { message, stack, name } = error;
  const heads = [`${name}: ${message}`, `${error.constructor.name}: ${message}`, name];
  const head = heads.find((each) => stack.startsWith(`${each}\n    at `));
  if (head === undefined) return undefined;
  const places = stack
    .slice(head.length)
    .split('\n')
    .map((line) => FRAME.exec(line)?.groups?.['place']);
  return places.find((place) => place !== undefined);
}

function isOurs(error: unknown): error is Error {
  return error instanceof Error && ours.has(error.constructor);
}

function summary(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? className(error) : `${className(error)} ${code}`;
}

/** The fields under which an error, or any other thrown value, is logged. */
export function errorFields(error: unknown): ErrorFields {
  const code = codeOf(error);
  const cause = error instanceof Error ? error.cause : undefined;
  const at = isOurs(error) ? undefined : placeOf(error);
  return {
    error: className(error),
    ...(code === undefined ? {} : { code }),
    ...(isOurs(error) ? { message: error.message } : {}),
    ...(at === undefined ? {} : { at }),
    ...(cause === undefined ? {} : { cause: summary(cause) }),
  };
}

/** One phrase for the error: our own message, else class and code. */
export function errorPhrase(error: unknown): string {
  return isOurs(error) ? error.message : summary(error);
}
