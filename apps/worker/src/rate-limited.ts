/** The limit of reloads a minute is used up; there is a token again after `wait` milliseconds. */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError';
  readonly wait: number;

  constructor(wait: number) {
    super(`RateLimited: a reload can be sent in ${wait} ms`);
    this.wait = wait;
  }
}
