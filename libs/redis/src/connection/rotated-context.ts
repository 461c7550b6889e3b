import { createSecureContext, type SecureContext } from 'node:tls';
import { RotatedFile } from './rotated-file.ts';

export interface CertificateFiles {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Certificates and key from files that are replaced from time to time, perhaps not at once. */
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
   * Returns the current ones, or the previous ones while certificate and key do not match. Never throws, because ioredis gives up a
   * connection for good if its options cannot be read.
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
      // The files are being replaced; the next attempt to connect reads them again.
    }
    return this.#last;
  }
}
