import { PROBLEMS, type Problem, type ProblemCode } from '@reroll/shared/api/problem';

interface ProblemDetails {
  /** Our own words; never text of a server or possible credentials. */
  readonly detail?: string;
  readonly errors?: Problem['errors'];
}

/** Why a request is not served. Throw it anywhere below a controller. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.detail ?? PROBLEMS[code].title);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** RFC 9457. */
  toJSON(): Problem {
    const { title, status } = PROBLEMS[this.code];
    const { detail, errors } = this.details;
    return {
      type: `urn:reroll:problem:${this.code}`,
      title,
      status,
      code: this.code,
      ...(detail === undefined ? {} : { detail }),
      ...(errors === undefined ? {} : { errors: [...errors] }),
    };
  }
}
