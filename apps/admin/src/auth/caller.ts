import type { WorkloadKey } from '@reroll/core/model';

/** What is asked for, as rights are given for it. */
export interface Access {
  /** Of HTTP, in lower case; `head` counts as `get`. */
  readonly method: string;
  /** As requested, without the query: `/api/v1/changes`. */
  readonly path: string;
  /** Whether it changes anything. */
  readonly writes: boolean;
}

/**
 * Who asks, and what they may. Each question may be put to the API server: it rejects with a `ProblemError`
 * `Unavailable` if that cannot be asked, and then nothing may be answered. Answers are kept for some seconds.
 */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  /** Whether they came without a token: then their name is everybody's. */
  readonly isAnonymous: boolean;
  mayRequest(access: Access): Promise<boolean>;
  /** Whether they may see every namespace. */
  seesAll(): Promise<boolean>;
  sees(namespace: string): Promise<boolean>;
  /** Whether they may patch this workload. */
  mayChange(workload: WorkloadKey): Promise<boolean>;
  /** Whether they may patch any workload of this namespace. */
  mayChangeAll(namespace: string): Promise<boolean>;
  /** Whether they may do what concerns everybody: pause, resume, limits. */
  maySteer(): Promise<boolean>;
  /** Whether they would still be let in, as the very same: for streams, which outlast a token. */
  isKnown(): Promise<boolean>;
}

/** Tells who a token belongs to. */
export interface Authenticator {
  /** Whether the token was valid when it was last looked at. Costs no request. */
  recognizes(token: string): boolean;
  /**
   * `from`: the address, which answers for tokens that are not recognized. Rejects with a `ProblemError`: `Unauthenticated`, or
   * `Unavailable` if nobody can tell.
   */
  authenticate(token: string, from: string): Promise<Caller>;
  /** Who comes without a token; undefined if they are not let in. */
  readonly anonymous: Caller | undefined;
}

/** What of the namespaces a caller sees. What they do not see does not exist for them. */
export interface Visibility {
  /** Every one of them. */
  readonly all: boolean;
  /** To be asked for each namespace that is met. */
  readonly sees: (namespace: string) => Promise<boolean>;
}

/** Asked once a request. */
export async function visibility(caller: Caller): Promise<Visibility> {
  if (await caller.seesAll()) return { all: true, sees: () => Promise.resolve(true) };
  return { all: false, sees: (namespace) => caller.sees(namespace) };
}
