import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { readFileSync } from 'node:fs';
import { SettingsError } from '@reroll/nest/settings-error';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';

/** Milliseconds between two checks of the certificate. The kubelet takes a minute to bring a new one. */
const LOOK_EVERY = 5_000;

/** Deadlines (ms) for callers who send their requests slowly. */
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 30_000 };

/** The certificate or its key is unusable. The message reveals nothing of their contents. */
class CertificateError extends SettingsError {
  override readonly name = 'CertificateError';
}
trustMessagesOf(CertificateError);

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Makes the API's server: HTTPS if there is a certificate. Throws a `CertificateError`. */
export function createApiServer(
  listener: RequestListener,
  by: { options: AdminOptions; log: Logger; lifecycle: Lifecycle },
): Server {
  const { apiTlsCertFile: cert, apiTlsKeyFile: key } = by.options;
  if (cert === undefined || key === undefined) return createHttpServer(TIMEOUTS, listener);
  const files = { cert, key };
  let present = readPair(files);
  const server = createHttpsServer({ ...TIMEOUTS, ...present }, listener);
  const timer = setInterval(() => {
    try {
      const next = readPair(files);
      if (next.cert === present.cert && next.key === present.key) return;
      server.setSecureContext(next);
      present = next;
      by.log.info('the certificate of the API was reloaded');
    } catch (error) {
      // The files are invalid or being replaced: the certificate that was read before stays in use.
      by.log.failure('cannot reload the certificate of the API', error);
    }
  }, LOOK_EVERY);
  by.lifecycle.onStop('certificate of the API', 500, () => clearInterval(timer));
  return server;
}

function readPair(files: Pair): Pair {
  try {
    const pair = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
    createSecureContext(pair);
    return pair;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const why = typeof code === 'string' ? code : 'unreadable';
    throw new CertificateError(
      `--api-tls-cert-file: expected a certificate in PEM and its private key; given an invalid or mismatched pair (${why})`,
    );
  }
}
