import { Backoff } from '@reroll/kube/client/backoff';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { ProblemError } from '../http/problem-error.ts';

const AUTHENTICATION = 'authentication.k8s.io/v1';
const AUTHORIZATION = 'authorization.k8s.io/v1';

/** Milliseconds: longer than a healthy API server takes, and short enough for the request's own deadline. */
const REVIEW_TIMEOUT = 5_000;
/** The longest pause (ms) before an API server that did not answer is asked again. */
const LONGEST_PAUSE = 5_000;

/** The user of a token, in the form in which the API server returns and accepts it. */
export interface KubeUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The requested action: `nonResourceAttributes` or `resourceAttributes` of a SubjectAccessReview. */
export type AccessAttributes =
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } }
  | {
      readonly resourceAttributes: {
        readonly group: string;
        readonly resource: string;
        readonly verb: string;
        /** Absent: all namespaces. */
        readonly namespace?: string;
        readonly name?: string;
      };
    };

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: Partial<KubeUser>;
    readonly audiences?: readonly string[];
  };
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean };
}

export interface ReviewsContext {
  readonly client: Pick<KubeClient, 'post'>;
  readonly log: Logger;
  readonly metrics: Pick<AdminMetrics, 'reviews'>;
  /** Which tokens are accepted: `--api-audience`, `--api-accept-api-server-tokens`. */
  readonly options: Pick<AdminOptions, 'apiAudience' | 'apiAcceptApiServerTokens'>;
}

/** Clients in a pause at a time; beyond that, the oldest may ask again at once. */
const MOST_PAUSES = 2_000;

interface Pause {
  readonly backoff: Backoff;
  /** By `performance.now()`. */
  readonly until: number;
}

/**
 * Sends the two kinds of reviews to the API server. A missing answer is not a "no": the client gets a `ProblemError`
 * `Unavailable`, and may not ask again during a pause that grows. The pause is per client, so no client can lock out
 * others.
 */
export class Reviews {
  readonly #client: ReviewsContext['client'];
  readonly #log: Logger;
  readonly #metrics: ReviewsContext['metrics'];
  readonly #options: ReviewsContext['options'];
  /** By client, the oldest first. */
  readonly #pauses = new Map<string, Pause>();

  constructor(by: ReviewsContext) {
    this.#client = by.client;
    this.#log = by.log;
    this.#metrics = by.metrics;
    this.#options = by.options;
  }

  /** Undefined if the token is invalid or not for the admin. `asker` has to pause if the API server does not answer. */
  async userOf(token: string, asker: string): Promise<KubeUser | undefined> {
    const { apiAudience, apiAcceptApiServerTokens } = this.#options;
    const user = await this.#reviewToken({ token, audiences: [apiAudience] }, asker);
    return user === undefined && apiAcceptApiServerTokens ? await this.#reviewToken({ token }, asker) : user;
  }

  /** Without audiences, the token must be for the API server. */
  async #reviewToken(
    spec: { token: string; audiences?: readonly [string] },
    asker: string,
  ): Promise<KubeUser | undefined> {
    const body = { apiVersion: AUTHENTICATION, kind: 'TokenReview', spec };
    const path = `/apis/${AUTHENTICATION}/tokenreviews`;
    const { status = {} } = await this.#ask<TokenReview>('token', { path, body, asker });
    const user = status.authenticated === true && isFor(spec.audiences, status) ? status.user : undefined;
    const username = user?.username ?? '';
    this.#metrics.reviews.inc({ review: 'token', result: username === '' ? 'denied' : 'allowed' });
    return username === '' ? undefined : { ...user, username };
  }

  async may({ username, ...rest }: KubeUser, attributes: AccessAttributes): Promise<boolean> {
    const spec = { user: username, ...rest, ...attributes };
    const body = { apiVersion: AUTHORIZATION, kind: 'SubjectAccessReview', spec };
    const path = `/apis/${AUTHORIZATION}/subjectaccessreviews`;
    const asker = `user ${username}`;
    const { status } = await this.#ask<SubjectAccessReview>('access', { path, body, asker });
    const allowed = status?.allowed === true;
    this.#metrics.reviews.inc({ review: 'access', result: allowed ? 'allowed' : 'denied' });
    return allowed;
  }

  async #ask<Answer>(
    review: 'token' | 'access',
    { path, body, asker }: { path: string; body: unknown; asker: string },
  ): Promise<Answer> {
    if (performance.now() < (this.#pauses.get(asker)?.until ?? 0)) throw unavailable();
    try {
      const answer = await this.#client.post<Answer>(path, body, { timeoutMs: REVIEW_TIMEOUT });
      this.#pauses.delete(asker);
      return answer.body;
    } catch (error) {
      this.#metrics.reviews.inc({ review, result: 'error' });
      if (!(error instanceof KubeError)) throw error;
      this.#log.failure('cannot review a caller with the API server', error);
      // The rejection of a single review says nothing about the next one.
      if (error.retryable || error.status === 403) this.#pause(asker);
      throw unavailable();
    }
  }

  #pause(asker: string): void {
    const { backoff } = this.#pauses.get(asker) ?? { backoff: new Backoff({ maxMs: LONGEST_PAUSE }) };
    this.#pauses.delete(asker);
    this.#pauses.set(asker, { backoff, until: performance.now() + backoff.next() });
    if (this.#pauses.size <= MOST_PAUSES) return;
    const [oldest] = this.#pauses.keys();
    if (oldest !== undefined) this.#pauses.delete(oldest);
  }
}

/** An authenticator that does not support audiences returns none: the token is then for the API server. */
function isFor(
  audiences: readonly string[] | undefined,
  answered: { readonly audiences?: readonly string[] },
): boolean {
  return audiences === undefined || audiences.some((each) => answered.audiences?.includes(each));
}

function unavailable(): ProblemError {
  return new ProblemError('Unavailable', { detail: 'the API server could not check the caller' });
}
