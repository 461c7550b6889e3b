/**
 * Errors of the Kubernetes adapter. They drop the API server's messages, which quote field values (a rejected Secret's data, an
 * environment variable), because errors travel into logs, events and Redis. They keep code, status, reasons from closed lists, and
 * field paths.
 */

export const KUBE_ERROR_CODES = {
  /** The API server answered with an error status. */
  KUBE_API: 'the API server refused or failed the request',
  /** No answer: an error of DNS, connect or TLS, or a connection reset. */
  KUBE_NETWORK: 'the API server could not be reached, or the connection broke',
  /** No complete answer within the request's deadline. */
  KUBE_TIMEOUT: 'the API server did not answer in time',
  /** The caller's signal fired, or the client was closed. */
  KUBE_ABORTED: 'the request was cancelled by its caller',
  /** The answer breaks the protocol (not JSON, a line without end, no resourceVersion). */
  KUBE_BAD_RESPONSE: 'the answer was not what the Kubernetes API promises',
  /** The kubeconfig or its credentials are unusable. */
  KUBE_CREDENTIALS: 'the kubeconfig or its credentials cannot be used',
} as const;
export type KubeErrorCode = keyof typeof KUBE_ERROR_CODES;

/** `metav1.StatusReason`s. Anything else becomes `Unknown`, because an admission webhook may answer with any text. */
const STATUS_REASONS: ReadonlySet<string> = new Set([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StoreReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);

/** `metav1.CauseType`s. */
const CAUSE_REASONS: ReadonlySet<string> = new Set([
  'FieldValueNotFound',
  'FieldValueRequired',
  'FieldValueDuplicate',
  'FieldValueInvalid',
  'FieldValueNotSupported',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'InternalError',
  'FieldValueTypeInvalid',
  'UnexpectedServerResponse',
  'FieldManagerConflict',
  'ResourceVersionTooLarge',
  'NamespaceTerminating',
]);

/** Statuses after which the same request may succeed later. */
const RETRYABLE_STATUS: ReadonlySet<number> = new Set([401, 408, 425, 429, 500, 502, 503, 504]);

/** One of the API server's `details.causes`, without its message. */
export interface KubeErrorCause {
  readonly reason: string;
  /** The field's path, e.g. `spec.template.spec.containers[0].image`; '' if it does not have that form. */
  readonly field: string;
}

export interface KubeErrorInit {
  readonly code: KubeErrorCode;
  /** The request, e.g. `PATCH /apis/apps/v1/namespaces/shop/deployments/web`: names, never values. */
  readonly request?: string | undefined;
  /** `https://host:port` of the API server, if it did not answer. */
  readonly server?: string | undefined;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly retryable: boolean;
  readonly causes?: readonly KubeErrorCause[] | undefined;
  readonly retryAfterMs?: number | undefined;
}

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  /** HTTP status, or the `code` of a Status in a watch; 0 without an answer. */
  readonly status: number;
  /** The API's `reason` (a closed list), the system's error code (`ECONNRESET`), or `Unknown`. */
  readonly reason: string;
  /** Whether the same request may succeed later without intervention. */
  readonly retryable: boolean;
  readonly causes: readonly KubeErrorCause[];
  /** The wait that the server asked for (`Retry-After`), in milliseconds; a minute at most. */
  readonly retryAfterMs: number | undefined;

  constructor(init: KubeErrorInit) {
    const reason = init.reason ?? 'Unknown';
    const status = init.status ?? 0;
    const server = init.server === undefined ? '' : ` ${init.server}`;
    const what = KUBE_ERROR_CODES[init.code].replace('the API server', `the API server${server}`);
    super(`${init.request ?? 'request'}: ${what} (${status || init.code} ${reason})`);
    this.name = 'KubeError';
    this.code = init.code;
    this.status = status;
    this.reason = reason;
    this.retryable = init.retryable;
    this.causes = init.causes ?? [];
    this.retryAfterMs = init.retryAfterMs;
  }

  /** Whether the server named fields. A 422 without causes is a failed `test`; one with causes is final. */
  get hasCauses(): boolean {
    return this.causes.length > 0;
  }
}

/** The parts of a `metav1.Status` that errors may keep. */
interface StatusBody {
  readonly kind?: unknown;
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly details?: { readonly causes?: unknown; readonly retryAfterSeconds?: unknown } | null;
}

/** A path of field names, indexes and map keys; no free text. */
const FIELD_PATH = /^[\w.\-/[\]*$]{1,256}$/;

function memberOf(set: ReadonlySet<string>, value: unknown): string {
  return typeof value === 'string' && set.has(value) ? value : 'Unknown';
}

function causesOf(body: StatusBody): KubeErrorCause[] {
  const causes = body.details?.causes;
  if (!Array.isArray(causes)) return [];
  return causes.slice(0, 16).map((cause: { reason?: unknown; field?: unknown } | null) => {
    const field = cause?.field;
    return {
      reason: memberOf(CAUSE_REASONS, cause?.reason),
      field: typeof field === 'string' && FIELD_PATH.test(field) ? field : '',
    };
  });
}

function asStatus(body: unknown): StatusBody {
  return typeof body === 'object' && body !== null ? body : {};
}

export interface ErrorAnswer {
  readonly request: string;
  /** 0: take it from the body, as in a watch's ERROR event. */
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter?: string | undefined;
}

/** Converts an error status and its parsed body into an error. Ignores the body's message. */
export function apiError(answer: ErrorAnswer): KubeError {
  const body = asStatus(answer.body);
  const status = answer.status || (typeof body.code === 'number' ? body.code : 0);
  const retryAfterMs = retryAfterOf(answer.retryAfter, body.details?.retryAfterSeconds);
  return new KubeError({
    code: 'KUBE_API',
    request: answer.request,
    status,
    reason: memberOf(STATUS_REASONS, body.reason),
    retryable: RETRYABLE_STATUS.has(status) || retryAfterMs !== undefined,
    causes: causesOf(body),
    retryAfterMs,
  });
}

/** A maintenance page may name hours, for which nobody would notice that the API server is back. */
const MOST_RETRY_AFTER_MS = 60_000;

function retryAfterOf(header: string | undefined, seconds: unknown): number | undefined {
  const given = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : seconds;
  return typeof given === 'number' && given > 0 ? Math.min(given * 1000, MOST_RETRY_AFTER_MS) : undefined;
}

/** undici's codes for an answer that did not come in time. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);

/** undici's codes for a client that was closed during the request. */
const CLOSED_CODES: ReadonlySet<string> = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** Converts a failure below HTTP into an error. Keeps the code of a system error, but no message. */
export function networkError(request: string, error: unknown, server?: string): KubeError {
  if (error instanceof KubeError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  const reason = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'Unknown';
  if (CLOSED_CODES.has(reason)) return abortedError(request);
  const timeout = TIMEOUT_CODES.has(reason);
  const errorCode = timeout ? 'KUBE_TIMEOUT' : 'KUBE_NETWORK';
  return new KubeError({ code: errorCode, request, server, reason, retryable: true });
}

export function abortedError(request: string): KubeError {
  return new KubeError({ code: 'KUBE_ABORTED', request, reason: 'Aborted', retryable: false });
}

export function timeoutError(request: string, server?: string): KubeError {
  return new KubeError({ code: 'KUBE_TIMEOUT', request, server, reason: 'Timeout', retryable: true });
}

export function badResponse(request: string, reason: string): KubeError {
  return new KubeError({ code: 'KUBE_BAD_RESPONSE', request, reason, retryable: true });
}

/** Returns an error's class, which is all that is reported of an error from other code. */
export function errorClass(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}
