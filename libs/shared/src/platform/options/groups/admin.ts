/** Where the admin API is served, and who may use it. */
import { ADMIN, option } from '../parsing/option.ts';
import {
  bool,
  duration,
  integer,
  listenAddress,
  matching,
  networks,
  oneOf,
  optionalPath,
} from '../parsing/values.ts';

const group = 'Admin API';

export const adminOptions = {
  apiAddr: option({
    flag: '--api-addr',
    env: 'REROLL_API_ADDR',
    default: ':8080',
    apps: ADMIN,
    group,
    description: 'Address of the API and the dashboard. Port 0 selects a free port.',
    ...listenAddress(),
  }),
  apiTlsCertFile: option({
    flag: '--api-tls-cert-file',
    env: 'REROLL_API_TLS_CERT_FILE',
    default: '',
    apps: ADMIN,
    group,
    description:
      'PEM file with the certificate of the API. It is reloaded when it changes. Requires --api-tls-key-file. Unset: plain HTTP, for clusters that terminate TLS in front of the admin.',
    ...optionalPath('the path of a file'),
  }),
  apiTlsKeyFile: option({
    flag: '--api-tls-key-file',
    env: 'REROLL_API_TLS_KEY_FILE',
    default: '',
    apps: ADMIN,
    group,
    description: 'PEM file with the private key of that certificate.',
    ...optionalPath('the path of a file'),
  }),
  auth: option({
    flag: '--auth',
    env: 'REROLL_AUTH',
    default: 'kubernetes',
    apps: ADMIN,
    group,
    description:
      'How bearer tokens are checked: `kubernetes` uses TokenReview and SubjectAccessReview, `static` uses --static-tokens-file.',
    ...oneOf(['kubernetes', 'static']),
  }),
  apiAudience: option({
    flag: '--api-audience',
    env: 'REROLL_API_AUDIENCE',
    default: 'reroll',
    apps: ADMIN,
    group,
    description:
      'Audience that Kubernetes tokens must have, as in `kubectl create token NAME --audience=reroll`. With --auth=kubernetes.',
    ...matching('the name of an audience, without blanks', /^[!-~]{1,253}$/),
  }),
  apiAcceptApiServerTokens: option({
    flag: '--api-accept-api-server-tokens',
    env: 'REROLL_API_ACCEPT_API_SERVER_TOKENS',
    default: 'false',
    apps: ADMIN,
    group,
    description:
      'Also accept tokens for the API server itself (`kubectl create token NAME`, OIDC, exec plugins). Whoever controls an admin or reads its traffic can then act as the owners of these tokens in the whole cluster. With --auth=kubernetes.',
    ...bool(),
  }),
  staticTokensFile: option({
    flag: '--static-tokens-file',
    env: 'REROLL_STATIC_TOKENS_FILE',
    default: '',
    apps: ADMIN,
    group,
    description:
      'YAML or JSON file: a list of entries with `name`, `sha256` (of the token, in hex), `access` (read or write) and `namespaces` (names, or "*"). It is reloaded when it changes. Requires --auth=static.',
    ...optionalPath('the path of a file'),
  }),
  anonymous: option({
    flag: '--anonymous',
    env: 'REROLL_ANONYMOUS',
    default: 'none',
    apps: ADMIN,
    group,
    description: 'What a request without a token may do: nothing, or read everything.',
    ...oneOf(['none', 'read']),
  }),
  apiRequestsPerMinute: option({
    flag: '--api-requests-per-minute',
    env: 'REROLL_API_REQUESTS_PER_MINUTE',
    default: '600',
    apps: ADMIN,
    group,
    description:
      'Maximum number of requests per minute from one caller to one admin. Further requests are answered with 429.',
    ...integer({ min: 1, max: 1_000_000 }),
  }),
  apiRequestsPerMinutePerAddress: option({
    flag: '--api-requests-per-minute-per-address',
    env: 'REROLL_API_REQUESTS_PER_MINUTE_PER_ADDRESS',
    default: '6000',
    apps: ADMIN,
    group,
    description:
      'Maximum number of requests per minute from one address without a token or with a token that was not valid when last checked. Other requests do not count. Behind a proxy, such as that of the API server, all callers share one address unless --api-trusted-proxies names the proxy.',
    ...integer({ min: 1, max: 1_000_000 }),
  }),
  apiTrustedProxies: option({
    flag: '--api-trusted-proxies',
    env: 'REROLL_API_TRUSTED_PROXIES',
    default: '',
    apps: ADMIN,
    group,
    description:
      "Networks of trusted proxies in front of the admin (an ingress, the control plane). For requests through them, the caller's address is the last one in `X-Forwarded-For` that is not a trusted proxy; the header is ignored in all other requests. List proxies only.",
    ...networks(),
  }),
  apiRequestTimeout: option({
    flag: '--api-request-timeout',
    env: 'REROLL_API_REQUEST_TIMEOUT',
    default: '15s',
    apps: ADMIN,
    group,
    description: 'Timeout of an API request; after it the answer is 503. Server-sent events have no timeout.',
    ...duration({ min: 100, max: 300_000 }),
  }),
} as const;
