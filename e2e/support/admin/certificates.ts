import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * An authority and a certificate of it for this DNS name, as files in a folder, in the place of those that were
 * there. Server and client use the same.
 */
export function writeCertificates(folder: string, name: string): Certificates {
  const at = (file: string): string => join(folder, file);
  const files = { ca: at('ca.crt'), cert: at('tls.crt'), key: at('tls.key') };
  const fresh = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const days = ['-days', '2'];
  openssl(...fresh, ...days, '-subj', `/CN=authority of ${name}`, '-keyout', at('ca.key'), '-out', files.ca);
  const authority = ['-CA', files.ca, '-CAkey', at('ca.key')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  openssl(...fresh, ...days, ...authority, ...subject, '-keyout', files.key, '-out', files.cert);
  return files;
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
