import { createSecureContext, type SecureContext } from 'node:tls';
import { RotatedFile } from './rotated-file.ts';

export interface CertificateFiles {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Certificates and key from files that are replaced from time to time, perhaps one after the other. */
export class RotatedContext {
  readonly #ca: RotatedFile;
  readonly #cert: RotatedFile;
  readonly #key: RotatedFile;
  #last: SecureContext | undefined;

  constructor(files: CertificateFiles) {
    this.#ca = new RotatedFile(files.ca);
    this.#cert = new RotatedFile(files.cert);
    this.#key = new RotatedFile(files.key);
  }

  /**
   * What they hold now or, while they do not fit each other, held before: never throws, because ioredis gives up a
   * connection for good whose options cannot be read.
   */
  current(): SecureContext | undefined {
    const { ca, cert, key } = { ca: this.#ca.read(), cert: this.#cert.read(), key: this.#key.read() };
    try {
      this.#last = createSecureContext({
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
      });
    } catch {
      // In the middle of being replaced: the next attempt to connect reads them again.
    }
    return this.#last;
  }
}
