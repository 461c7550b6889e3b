import { X509Certificate } from 'node:crypto';
import { work } from '../work.ts';

/** Bytes of a `tls.crt` that are looked at. */
const MOST_BYTES = 64 * 1024;
const MOST_CHARACTERS = 4 * Math.floor(MOST_BYTES / 3);
const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/**
 * Returns when the first certificate of a `tls.crt` expires, in Unix seconds; undefined if there is none in the first 64 KiB, or if it
 * cannot be read. Takes PEM in base64, as the API serves it. Only the date leaves this function: no error, because its message may
 * quote the text.
 */
export function certificateExpiry(tlsCrt: string): number | undefined {
  work.certificates += 1;
  const text = Buffer.from(tlsCrt.slice(0, MOST_CHARACTERS), 'base64').toString('latin1');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin === -1 || end === -1) return undefined;
  try {
    const { validToDate } = new X509Certificate(text.slice(begin, end + END.length));
    const seconds = Math.floor(validToDate.getTime() / 1000);
    return Number.isNaN(seconds) ? undefined : seconds;
  } catch {
    return undefined;
  }
}
