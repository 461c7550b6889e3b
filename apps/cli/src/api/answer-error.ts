import { problem } from '@reroll/shared/api/problem';
import type { KubeError } from '@reroll/kube/client/errors';
import type { ExchangeResult } from '@reroll/kube/client/transport';
import { z } from 'zod';
import { TOKEN_HINTS } from '../connect/bearer.ts';
import { CliError } from '../errors.ts';
import { jsonOf } from '@reroll/core/json';
import { loosen } from './loosen.ts';

const PROBLEM = loosen(problem);
const KUBE_STATUS = z.object({ kind: z.literal('Status'), message: z.string().optional() });

export function contentTypeOf({ headers }: Pick<ExchangeResult, 'headers'>): string {
  const value = headers['content-type'];
  return typeof value === 'string' ? value : '';
}

/** Whether a response comes from the admin, and not from something in between. */
export function isOfAdmin(status: number, contentType: string): boolean {
  return status < 300
    ? /^application\/json|^text\/event-stream/.test(contentType)
    : /problem\+json/.test(contentType);
}

/** The admin's problem details as a message for the user. `subject`: what a 404 is about, if that is one thing. */
export function problemError(status: number, text: string, subject?: string): CliError {
  const read = PROBLEM.safeParse(jsonOf(text));
  if (!read.success) return new CliError(`the admin refused the request (${status})`, { status });
  const { title, detail, errors = [], code } = read.data as z.infer<typeof problem>;
  const places = errors.map(({ path, expected }) => `${path}: ${expected}`);
  const about = status === 404 && subject !== undefined ? `${subject}: ` : '';
  const message = `${about}${lowerFirst(title)}`;
  return new CliError(detail === undefined ? message : `${message}: ${detail}`, {
    hints: [...places, ...(HINTS[code] ?? [])],
    status,
  });
}

const HINTS: Readonly<Record<string, readonly string[]>> = {
  Unauthenticated: TOKEN_HINTS,
  Forbidden: [
    'https://github.com/reroll/reroll/blob/main/docs/guide/cli.md#rights lists the rights that each command needs',
  ],
};

/** The message for a response from something in between: the API server's own message, or the status. */
export function wayError(status: number, text: string): string {
  const read = KUBE_STATUS.safeParse(jsonOf(text));
  const message = read.success ? read.data.message : undefined;
  return message === undefined || message === '' ? `answered ${status}` : `answered ${status}: ${message}`;
}

/** The message for a failure below HTTP. */
export function networkReason(error: KubeError): string {
  if (error.code === 'KUBE_TIMEOUT') return 'did not answer in time';
  if (error.code === 'KUBE_ABORTED') return 'was given up';
  return `could not be reached (${error.reason})`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
