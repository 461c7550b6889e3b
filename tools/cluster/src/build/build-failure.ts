import { ClusterError } from '../errors.ts';
import type { RunResult } from '../run.ts';

const CONTROL_PLANE = 'the local control plane';

/** What the output of a failed build looks like, and what that means; the first that fits is told. */
const CAUSES: readonly { readonly pattern: RegExp; readonly meaning: string }[] = [
  {
    pattern: /no space left on device|disk quota exceeded/i,
    meaning: 'the disk is full (the build needs about 5 GB)',
  },
  {
    pattern: /requires go >= |toolchain not available|invalid go version/i,
    meaning:
      'this Go is too old for the go.mod below tools/cluster: install the version that it names, from https://go.dev/dl/',
  },
  {
    pattern:
      /dial tcp|no such host|i\/o timeout|TLS handshake|connection re(fused|set)|module lookup disabled/i,
    meaning: 'the Go module proxy could not be reached: check the network, or GOPROXY (`go env GOPROXY`)',
  },
  {
    pattern: /signal: killed|cannot allocate memory/i,
    meaning: 'the compiler ran out of memory (it needs about 4 GB)',
  },
];

/** There is no Go at all. */
export function explainMissingGo(goMod: string, what = CONTROL_PLANE): ClusterError {
  const version = /^go (\S+)$/m.exec(goMod)?.[1] ?? '1.26';
  return new ClusterError(
    `expected Go ${version} or newer on PATH to build ${what}, found no \`go\`: ` +
      'install it from https://go.dev/dl/',
  );
}

/** Go is there and failed: says why as far as its output tells, and shows the end of it. */
export function explainBuildFailure(command: string, result: RunResult, what = CONTROL_PLANE): ClusterError {
  const cause = CAUSES.find(({ pattern }) => pattern.test(result.tail));
  const meaning = cause?.meaning ?? 'see its last lines';
  return new ClusterError(
    `building ${what} failed: \`${command}\` ended with code ${result.code}: ${meaning}\n${result.tail}`,
  );
}
