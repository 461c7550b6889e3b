import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { partsOf, type WorkloadKey } from '@reroll/core/model';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { ProblemError } from '../http/problem-error.ts';
import { AnswerCache } from './answer-cache.ts';
import type { Access, Authenticator, Caller } from './caller.ts';
import { RecognizedTokens } from './recognized-tokens.ts';
import type { AccessAttributes, KubeUser, Reviews } from './reviews.ts';

/** Milliseconds for which answers are kept: docs/adr/0018. */
const ALLOWED_FOR = 10_000;
const DENIED_FOR = 5_000;
const MOST_TOKENS = 2_000;
const MOST_ACCESSES = 20_000;

/**
 * The prefix of the API's paths in RBAC. Without it, every authenticated user could get `/api/*`, which each cluster
 * allows (`system:discovery`).
 */
export const RBAC_PREFIX = '/reroll';

const DEPLOYMENTS = { group: 'apps', resource: 'deployments' } as const;

/** A right that stands for no object, and that no ClusterRole of the chart gives. */
const OVERRIDE_FREEZE = { group: 'reroll.dev', resource: 'freezes', verb: 'override' } as const;

/** Callers as Kubernetes knows them: a TokenReview identifies them, SubjectAccessReviews decide what they may do. */
export class KubernetesTokens implements Authenticator {
  readonly anonymous: Caller | undefined;
  readonly #reviews: Reviews;
  readonly #unknown: string;
  /** These three use the SHA-256 of tokens as keys, so that no token is kept. */
  readonly #recognized = new RecognizedTokens();
  readonly #users = usersByToken();
  /** Separate, so that made-up tokens displace no answers. */
  readonly #usersOfUnknown = usersByToken();
  readonly #accesses = new AnswerCache<boolean>({
    most: MOST_ACCESSES,
    keptFor: (allowed) => (allowed ? ALLOWED_FOR : DENIED_FOR),
  });

  constructor(by: {
    reviews: Reviews;
    anonymous: Caller | undefined;
    options: Pick<AdminOptions, 'apiAudience' | 'apiAcceptApiServerTokens'>;
  }) {
    this.#reviews = by.reviews;
    this.anonymous = by.anonymous;
    this.#unknown = unknownToken(by.options);
  }

  recognizes(token: string): boolean {
    return this.#recognized.has(sha256(token));
  }

  async authenticate(token: string, from: string): Promise<Caller> {
    const user = await this.#userOf(token, from);
    if (!user) throw new ProblemError('Unauthenticated', { detail: this.#unknown });
    const isKnown = async (): Promise<boolean> => {
      const now = await this.#userOf(token, from);
      return now !== undefined && isDeepStrictEqual(comparable(now), comparable(user));
    };
    return this.#callerOf(user, isKnown);
  }

  async #userOf(token: string, from: string): Promise<KubeUser | undefined> {
    const hash = sha256(token);
    const isRecognized = this.#recognized.has(hash);
    const users = isRecognized ? this.#users : this.#usersOfUnknown;
    const asker = isRecognized ? `token ${hash}` : `address ${from}`;
    const user = await users.get(hash, () => this.#reviews.userOf(token, asker));
    if (!user) {
      this.#recognized.remove(hash);
      return undefined;
    }
    if (!isRecognized) this.#users.copyFrom(this.#usersOfUnknown, hash);
    this.#recognized.add(hash, user.username);
    return user;
  }

  #callerOf(user: KubeUser, isKnown: () => Promise<boolean>): Caller {
    const identity = sha256(JSON.stringify(user));
    const may = (attributes: AccessAttributes): Promise<boolean> =>
      this.#accesses.get(`${identity} ${JSON.stringify(attributes)}`, () =>
        this.#reviews.may(user, attributes),
      );
    const list = { ...DEPLOYMENTS, verb: 'list' };
    return {
      name: user.username,
      groups: user.groups ?? [],
      isAnonymous: false,
      mayRequest: ({ method, path }: Access) =>
        may({ nonResourceAttributes: { path: RBAC_PREFIX + path, verb: method } }),
      seesAll: () => may({ resourceAttributes: list }),
      sees: (namespace) => may({ resourceAttributes: { ...list, namespace } }),
      mayChange: (workload) => mayPatch(workload, may),
      mayChangeAll: (namespace) => may({ resourceAttributes: { ...DEPLOYMENTS, verb: 'patch', namespace } }),
      mayOverrideFreeze: (namespace) =>
        may({
          resourceAttributes: { ...OVERRIDE_FREEZE, ...(namespace === undefined ? {} : { namespace }) },
        }),
      maySteer: () => may({ resourceAttributes: { ...DEPLOYMENTS, verb: 'patch' } }),
      isKnown,
    };
  }
}

function usersByToken(): AnswerCache<KubeUser | undefined> {
  return new AnswerCache({ most: MOST_TOKENS, keptFor: (user) => (user ? ALLOWED_FOR : DENIED_FOR) });
}

/** All fields decide about rights, and the order of groups does not matter. */
function comparable(user: KubeUser): KubeUser {
  return { ...user, groups: (user.groups ?? []).toSorted() };
}

/** False for an unknown kind. */
async function mayPatch(
  workload: WorkloadKey,
  may: (attributes: AccessAttributes) => Promise<boolean>,
): Promise<boolean> {
  const { kind, namespace, name } = partsOf(workload);
  const definition = workloadKind(kind);
  if (!definition) return false;
  const { group, plural: resource } = definition;
  return await may({ resourceAttributes: { group, resource, verb: 'patch', namespace, name } });
}

/** The message for a token that is not accepted: most of them are tokens of the API server. */
function unknownToken(options: Pick<AdminOptions, 'apiAudience' | 'apiAcceptApiServerTokens'>): string {
  const { apiAudience, apiAcceptApiServerTokens } = options;
  if (apiAcceptApiServerTokens) return 'the API server does not know the token';
  return `expected a token for the audience ${apiAudience} (kubectl create token NAME --audience=${apiAudience}); the API server knows no such token`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
