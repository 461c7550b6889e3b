/** TLS to Redis, and to its Sentinels. */
import { ALL, option } from '../parsing/option.ts';
import { bool, optionalPath, optionalText } from '../parsing/values.ts';

const group = 'Redis';

export const redisTlsOptions = {
  redisTls: option({
    flag: '--redis-tls',
    env: 'REDIS_TLS',
    default: 'false',
    apps: ALL,
    group,
    description: 'TLS to Redis, and to the Sentinels. A URL says so by rediss://.',
    ...bool(),
  }),
  redisTlsCaFile: option({
    flag: '--redis-tls-ca-file',
    env: 'REDIS_TLS_CA_FILE',
    default: '',
    apps: ALL,
    group,
    description:
      "Certificates (PEM) of the authorities to trust, in the place of those of Node.js. This file and the client's are read anew for each connection.",
    ...optionalPath('the path of a file'),
  }),
  redisTlsCertFile: option({
    flag: '--redis-tls-cert-file',
    env: 'REDIS_TLS_CERT_FILE',
    default: '',
    apps: ALL,
    group,
    description: 'Client certificate (PEM). Needs --redis-tls-key-file.',
    ...optionalPath('the path of a file'),
  }),
  redisTlsKeyFile: option({
    flag: '--redis-tls-key-file',
    env: 'REDIS_TLS_KEY_FILE',
    default: '',
    apps: ALL,
    group,
    description: 'Key (PEM) of the client certificate.',
    ...optionalPath('the path of a file'),
  }),
  redisTlsServerName: option({
    flag: '--redis-tls-server-name',
    env: 'REDIS_TLS_SERVER_NAME',
    default: '',
    apps: ALL,
    group,
    description: 'Name that the certificates must be for. Unset: the host that is connected to.',
    ...optionalText('a host name'),
  }),
  redisTlsInsecureSkipVerify: option({
    flag: '--redis-tls-insecure-skip-verify',
    env: 'REDIS_TLS_INSECURE_SKIP_VERIFY',
    default: 'false',
    apps: ALL,
    group,
    description:
      'Accept any certificate: whoever is in between can read and write everything. Warned of at each start.',
    ...bool(),
  }),
} as const;
