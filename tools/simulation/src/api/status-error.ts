import { qualifiedName, type ResourceType } from './resource-types.ts';

/** One of `details.causes` of a Status. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusInit {
  /** The HTTP status. */
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** More of the `metadata`: the token with which a list can go on. */
  readonly continue?: string;
}

/** The answer to a request that fails: a `metav1.Status`. */
export class StatusError extends Error {
  readonly init: StatusInit;

  constructor(init: StatusInit) {
    super(init.message);
    this.name = 'StatusError';
    this.init = init;
  }

  get code(): number {
    return this.init.code;
  }

  json(): string {
    const { code, reason, message, details, continue: next } = this.init;
    return JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: next === undefined ? {} : { continue: next },
      status: 'Failure',
      message,
      reason,
      details,
      code,
    });
  }
}

function of(type: ResourceType, name: string): StatusDetails {
  const details = { name, kind: type.plural };
  return type.group === '' ? details : { ...details, group: type.group };
}

export function notFound(type: ResourceType, name: string): StatusError {
  const message = `${qualifiedName(type)} "${name}" not found`;
  return new StatusError({ code: 404, reason: 'NotFound', message, details: of(type, name) });
}

export function alreadyExists(type: ResourceType, name: string): StatusError {
  const message = `${qualifiedName(type)} "${name}" already exists`;
  return new StatusError({ code: 409, reason: 'AlreadyExists', message, details: of(type, name) });
}

export function conflict(type: ResourceType, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(type)} "${name}": ${why}`;
  return new StatusError({ code: 409, reason: 'Conflict', message, details: of(type, name) });
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest', message });
}

/** An object that breaks rules; the causes name its fields. */
export function invalid(
  kind: { group: string; kind: string },
  name: string,
  causes: readonly StatusCause[],
): StatusError {
  const what = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const message = `${what} "${name}" is invalid: ${causes.map((cause) => `${cause.field}: ${cause.message}`).join(', ')}`;
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.kind, causes };
  return new StatusError({ code: 422, reason: 'Invalid', message, details });
}

/** A JSON Patch that does not apply, e.g. because a `test` failed: 422 without causes. */
export function patchFailed(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError({ code: 422, reason: 'Invalid', message, details: {} });
}

/** The history that the request needs is no more. With `next`, a list can go on from there, inconsistently. */
export function expired(message: string, next?: string): StatusError {
  return new StatusError({
    code: 410,
    reason: 'Expired',
    message,
    ...(next === undefined ? {} : { continue: next }),
  });
}

/** A resourceVersion that the server does not reach in time. */
export function tooLargeVersion(wanted: number, current: number): StatusError {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' };
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: { causes: [cause], retryAfterSeconds: 1 },
  });
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

export function unsupportedMediaType(given: string): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json; given ${given}`;
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
}

const REASONS: Readonly<Record<number, string>> = {
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A status that a fault asks for. */
export function faultStatus(code: number, retryAfterSeconds?: number): StatusError {
  const reason = REASONS[code] ?? 'Unknown';
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  return new StatusError({ code, reason, message: 'a simulated fault', ...(details ? { details } : {}) });
}
