/** TLS to Redis, and to its Sentinels. */
import { ALL, options } from '../parsing/option.ts';
import { bool, optionalPath, optionalText } from '../parsing/values.ts';

export const redisTlsOptions = options('Redis', {
  redisTls: {
    flag: '--redis-tls',
    env: 'REDIS_TLS',
    default: 'false',
    apps: ALL,
    description: 'Use TLS for Redis and the Sentinels. With a URL, use rediss:// instead.',
    ...bool(),
  },
  redisTlsCaFile: {
    flag: '--redis-tls-ca-file',
    env: 'REDIS_TLS_CA_FILE',
    default: '',
    apps: ALL,
    description:
      'PEM file with the CA certificates to trust instead of those of Node.js. Certificate files are read for each connection.',
    ...optionalPath('the path of a file'),
  },
  redisTlsCertFile: {
    flag: '--redis-tls-cert-file',
    env: 'REDIS_TLS_CERT_FILE',
    default: '',
    apps: ALL,
    description: 'PEM file with the client certificate. Requires --redis-tls-key-file.',
    ...optionalPath('the path of a file'),
  },
  redisTlsKeyFile: {
    flag: '--redis-tls-key-file',
    env: 'REDIS_TLS_KEY_FILE',
    default: '',
    apps: ALL,
    description: "PEM file with the client certificate's private key.",
    ...optionalPath('the path of a file'),
  },
  redisTlsServerName: {
    flag: '--redis-tls-server-name',
    env: 'REDIS_TLS_SERVER_NAME',
    default: '',
    apps: ALL,
    description: "Name that the server's certificate must be valid for. Default: the host.",
    ...optionalText('a host name'),
  },
  redisTlsInsecureSkipVerify: {
    flag: '--redis-tls-insecure-skip-verify',
    env: 'REDIS_TLS_INSECURE_SKIP_VERIFY',
    default: 'false',
    apps: ALL,
    description:
      'Accept any server certificate. Anyone on the network path can then read and change everything. Logs a warning at each start.',
    ...bool(),
  },
});
