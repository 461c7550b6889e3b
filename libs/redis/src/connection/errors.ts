export type CatalogErrorCode = 'CATALOG_OTHER_CLUSTER' | 'CATALOG_BAD_REPLY' | 'REDIS_TOO_OLD';

/** An error of the catalog. Its message never holds a value from Redis. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly code: CatalogErrorCode;
  readonly retryable = false;

  constructor(code: CatalogErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
