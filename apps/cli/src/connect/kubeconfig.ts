import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { KubeConfig, type Context, type User } from '@kubernetes/client-node';
import { mergedKubeconfigs, readKubeconfig } from '@reroll/kube/client/kubeconfig-files';
import { CliError, usageError } from '../errors.ts';

/** kubectl's flags for the cluster and the user. */
export interface KubeFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
}
/** The name of an entry that the flags change. */
const OWN_NAME = 'reroll-cli';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Loads the kubeconfig by kubectl's rules: `--kubeconfig`, else the files of `KUBECONFIG` (missing ones are skipped,
 * earlier ones win), else `~/.kube/config`, else the pod's service account.
 * @throws an error that says which part is
 * missing
 */
export function loadKubeconfig(flags: KubeFlags, env: Env): KubeConfig {
  const config = loadFiles(flags, env);
  const context = chosenContext(config, flags);
  config.contexts = [...config.contexts.filter(({ name }) => name !== context.name), context];
  config.setCurrentContext(context.name);
  return config;
}

/** The names of its contexts; empty if no kubeconfig can be read. */
export function contextNames(flags: KubeFlags, env: Env): readonly string[] {
  try {
    return loadFiles(flags, env).contexts.map(({ name }) => name);
  } catch {
    return [];
  }
}

function loadFiles(flags: KubeFlags, env: Env): KubeConfig {
  if (flags.kubeconfig !== undefined && flags.kubeconfig !== '') {
    if (!existsSync(flags.kubeconfig)) {
      throw new CliError(`expected --kubeconfig to name a file, given ${JSON.stringify(flags.kubeconfig)}`);
    }
    return readFile(flags.kubeconfig);
  }
  const files = filesOf(env).filter((file) => existsSync(file));
  if (files.length > 0) return files.map(readFile).reduce(mergedKubeconfigs);
  const pod = new KubeConfig();
  if (env['KUBERNETES_SERVICE_HOST'] === undefined) {
    throw new CliError(`found no kubeconfig: looked for ${filesOf(env).join(', ')}`, {
      hints: ['name one with --kubeconfig or KUBECONFIG, or the admin itself with --server and --token'],
    });
  }
  pod.loadFromCluster();
  return pod;
}

function filesOf(env: Env): string[] {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  return listed.length > 0 ? listed : [join(env['HOME'] ?? env['USERPROFILE'] ?? '', '.kube', 'config')];
}

function readFile(file: string): KubeConfig {
  try {
    return readKubeconfig(file);
  } catch (error) {
    // The libraries' messages could quote the file, which holds credentials.
    const code = (error as { code?: unknown }).code;
    throw new CliError(
      `${file} is not a kubeconfig that can be read${typeof code === 'string' ? ` (${code})` : ''}`,
    );
  }
}

function chosenContext(config: KubeConfig, flags: KubeFlags): Context {
  const found = namedContext(config, flags);
  const cluster = flags.cluster ?? found?.cluster ?? '';
  if (!config.clusters.some((each) => each.name === cluster)) {
    throw missing('the cluster', cluster, config.clusters);
  }
  const user = chosenUser(config, flags, found?.user);
  return { ...found, name: found?.name ?? OWN_NAME, cluster, user };
}

/** Undefined if no context is current and none is needed, because the cluster is named. */
function namedContext(config: KubeConfig, flags: KubeFlags): Context | undefined {
  const name = flags.context ?? config.currentContext;
  const found = config.contexts.find((each) => each.name === name);
  if (found !== undefined) return found;
  if (flags.context !== undefined) throw missing('--context', flags.context, config.contexts);
  if (flags.cluster !== undefined) return undefined;
  throw new CliError('the kubeconfig has no current context', {
    hints: ['choose one with --context, or with `kubectl config use-context`'],
  });
}

/** Adds the chosen user as changed by the flags; returns its name. */
function chosenUser(config: KubeConfig, flags: KubeFlags, named: string | undefined): string {
  const name = flags.user ?? named ?? '';
  const found = config.users.find((each) => each.name === name);
  if (found === undefined && flags.user !== undefined) throw missing('--user', flags.user, config.users);
  if (flags.token === undefined && flags.as === undefined) return name;
  const own: User = {
    ...(flags.token === undefined ? found : { token: flags.token }),
    name: OWN_NAME,
    ...(flags.as === undefined ? {} : { impersonateUser: flags.as }),
  };
  config.users = [...config.users.filter((each) => each.name !== own.name), own];
  return own.name;
}

function missing(what: string, name: string, all: readonly { readonly name: string }[]): CliError {
  const names = all.map((each) => each.name).join(', ') || 'none';
  return usageError(
    `the kubeconfig has no such entry for ${what}: given ${JSON.stringify(name)}, it has ${names}`,
  );
}
