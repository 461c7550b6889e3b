import type { WorkloadKey } from '@reroll/core/model';

/** The access that a caller asks for, in the terms in which rights are granted. */
export interface Access {
  /** The HTTP method, in lower case; `head` counts as `get`. */
  readonly method: string;
  /** As requested, without the query: `/api/v1/changes`. */
  readonly path: string;
  readonly writes: boolean;
}

/**
 * A caller and their rights. A question may be put to the API server. It rejects with a `ProblemError` `Unavailable` if
 * the API server cannot be reached, and the request must then fail. Answers are kept for some seconds.
 */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  /** Whether they have no token: all such callers share a name. */
  readonly isAnonymous: boolean;
  mayRequest(access: Access): Promise<boolean>;
  seesAll(): Promise<boolean>;
  sees(namespace: string): Promise<boolean>;
  /** Whether they may patch this workload. */
  mayChange(workload: WorkloadKey): Promise<boolean>;
  /** Whether they may patch any workload of this namespace. */
  mayChangeAll(namespace: string): Promise<boolean>;
  /** Whether a reload that they ask for may pass the freezes of a namespace; undefined: of the whole installation. */
  mayOverrideFreeze(namespace: string | undefined): Promise<boolean>;
  /** Whether they may do what concerns all users: pause, resume, limits. */
  maySteer(): Promise<boolean>;
  /** Whether they would still be admitted as the same user: for streams, which outlast a token. */
  isKnown(): Promise<boolean>;
}

export interface Authenticator {
  /** Whether the token was valid when last checked. Sends no request. */
  recognizes(token: string): boolean;
  /**
   * `from`: the address, by which unrecognized tokens are counted. Rejects with a `ProblemError`: `Unauthenticated`, or
   * `Unavailable` if the token cannot be checked.
   */
  authenticate(token: string, from: string): Promise<Caller>;
  /** The caller without a token; undefined if a token is required. */
  readonly anonymous: Caller | undefined;
}

/** The namespaces that a caller sees. What they do not see does not exist for them. */
export interface Visibility {
  readonly all: boolean;
  /** Call this for each namespace that occurs. */
  readonly sees: (namespace: string) => Promise<boolean>;
}

/** Call this once a request. */
export async function visibility(caller: Caller): Promise<Visibility> {
  if (await caller.seesAll()) return { all: true, sees: () => Promise.resolve(true) };
  return { all: false, sees: (namespace) => caller.sees(namespace) };
}
