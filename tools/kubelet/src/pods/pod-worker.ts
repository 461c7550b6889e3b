import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type KubeletApi, isStatus, podPath } from '../api.ts';
import type { ProcessOptions } from './container-process.ts';
import { ContainerRunner } from './container-runner.ts';
import { environment, expand, type ReadData } from './environment.ts';
import { NotYet } from '../errors.ts';
import { etcFiles } from './etc-files.ts';
import { type Image, type ImageRule, findImage } from './images.ts';
import { type Network, type PodNetwork, namespacePath } from '../network.ts';
import type { Programs } from '../packages.ts';
import { type PodFacts, now, podStatus } from './pod-status.ts';
import { type Mount, identityOf, sandbox } from './sandbox.ts';
import { type HostRow, hostsFile } from '../service-table.ts';
import type { Container, Pod, Service } from '../types.ts';
import { type MadeVolume, makeVolumes, refreshVolumes } from './volumes.ts';

/** What all pods of a kubelet share. */
export interface PodContext {
  readonly folder: string;
  readonly api: KubeletApi;
  readonly network: Network;
  readonly programs: Programs;
  readonly images: readonly ImageRule[];
  readonly backoffMs: number;
  readonly refreshMs: number;
  readonly services: () => readonly Service[];
  readonly hosts: () => readonly HostRow[];
  /** Folder of a bound claim. @throws NotYet until then. */
  readonly claim: (namespace: string, name: string) => Promise<string>;
}

const RETRY_MS = 500;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** One pod, from when it is bound to the node until it is gone from the API. */
export class PodWorker {
  #pod: Pod;
  readonly #context: PodContext;
  readonly #folder: string;
  readonly #init: readonly ContainerRunner[];
  readonly #main: readonly ContainerRunner[];
  readonly #startTime = now();
  readonly #gone = new AbortController();
  readonly #running: Promise<void>;
  #network: PodNetwork | undefined;
  #volumes: ReadonlyMap<string, MadeVolume> | undefined;
  #ending: Promise<void> | undefined;
  #refreshing: NodeJS.Timeout | undefined;
  #written = '';
  #writing: Promise<void> | undefined;
  #dirty = false;

  constructor(pod: Pod, context: PodContext) {
    this.#pod = pod;
    this.#context = context;
    this.#folder = join(context.folder, 'pods', pod.metadata.uid);
    this.#init = (pod.spec.initContainers ?? []).map((container) => this.#runner(container, 'init'));
    this.#main = pod.spec.containers.map((container) => this.#runner(container, 'main'));
    this.#running = this.#run();
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Of a container's first process, as the host sees it. */
  async pid(container: string): Promise<number | undefined> {
    return await this.#main.find((runner) => runner.container.name === container)?.pid();
  }

  /** The pod as the API has it now. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp === undefined) return;
    const seconds = pod.metadata.deletionGracePeriodSeconds ?? 0;
    this.#ending ??= this.#end(seconds * 1000);
  }

  /** The pod is gone from the API, or the kubelet ends: nothing of it stays. Safe to repeat. */
  async remove(): Promise<void> {
    this.#gone.abort();
    for (const runner of this.#runners) void runner.stop(0);
    this.#ending ??= this.#end(0);
    await this.#ending;
  }

  /** Writes the hosts file anew, if the pod has one already. */
  writeHosts(): void {
    if (this.#network === undefined) return;
    const { namespace } = this.#pod.metadata;
    const file = hostsFile(this.#context.hosts(), {
      ip: this.#network.ip,
      namespace,
      hostname: this.#hostname,
    });
    writeFileSync(join(this.#folder, 'etc', 'hosts'), file);
  }

  get #hostname(): string {
    return this.#pod.spec.hostname ?? this.#pod.metadata.name;
  }

  get #isEnding(): boolean {
    return this.#gone.signal.aborted || this.#ending !== undefined;
  }

  async #run(): Promise<void> {
    for (const folder of ['volumes', 'etc']) mkdirSync(join(this.#folder, folder), { recursive: true });
    mkdirSync(this.#logFolder, { recursive: true });
    this.#network = await this.#context.network.addPod();
    for (const [name, content] of etcFiles(this.#hostname)) {
      writeFileSync(join(this.#folder, 'etc', name), content);
    }
    this.writeHosts();
    for (const runner of this.#init) {
      if (this.#isEnding) return;
      runner.start();
      await runner.done;
      if (runner.exitCode !== 0) return this.#changed();
    }
    if (this.#isEnding) return;
    for (const runner of this.#main) runner.start();
    this.#refreshing = setInterval(() => this.#refresh(), this.#context.refreshMs);
    await Promise.all(this.#main.map((runner) => runner.done));
    this.#changed();
  }

  /** Ends the containers, removes what was made for them, and has the API server forget the pod. */
  async #end(graceMs: number): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.stop(graceMs)));
    await this.#running;
    clearInterval(this.#refreshing);
    if (this.#network !== undefined) await this.#context.network.removePod(this.#network);
    this.#network = undefined;
    rmSync(this.#folder, { recursive: true, force: true });
    await this.#forget();
  }

  get #runners(): readonly ContainerRunner[] {
    return [...this.#init, ...this.#main];
  }

  async #forget(): Promise<void> {
    await this.#writing;
    const { uid } = this.#pod.metadata;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
    await this.#persistently(() => this.#context.api.remove(podPath(this.#pod.metadata), body));
  }

  #runner(container: Container, kind: 'init' | 'main'): ContainerRunner {
    const { restartPolicy = 'Always', terminationGracePeriodSeconds = 30 } = this.#pod.spec;
    return new ContainerRunner({
      container,
      folder: this.#context.folder,
      ip: () => this.#network?.ip ?? '',
      // An init container has to succeed once.
      restart: kind === 'init' && restartPolicy === 'Always' ? 'OnFailure' : restartPolicy,
      graceMs: terminationGracePeriodSeconds * 1000,
      backoffMs: this.#context.backoffMs,
      prepare: (each) => this.#prepare(each),
      onChange: () => this.#changed(),
    });
  }

  async #prepare(container: Container): Promise<ProcessOptions> {
    const network = this.#network;
    if (network === undefined) throw new NotYet('ContainerCreating', 'no network yet');
    const { securityContext: security = {} } = container;
    const image = findImage(this.#context.images, container.image);
    const identity = identityOf(image, security, this.#pod.spec.securityContext);
    const own = await environment(container, {
      pod: this.#pod,
      ip: network.ip,
      read: this.#read,
      services: this.#context.services(),
    });
    const { programs } = this.#context;
    const env = { PATH, HOSTNAME: this.#hostname, HOME: '/', ...image.env, ...own };
    const logFile = join(this.#logFolder, `${container.name}.log`);
    const args = sandbox({
      programs,
      network: namespacePath(network.namespace),
      hostname: this.#hostname,
      image,
      mounts: await this.#mounts(container, network.ip),
      identity,
      security,
      workingDir: container.workingDir ?? image.workingDir,
      command: commandOf(container, image, env),
    });
    return { programs, identity, env, logFile, args };
  }

  async #mounts(container: Container, ip: string): Promise<Mount[]> {
    const { namespace } = this.#pod.metadata;
    this.#volumes ??= await makeVolumes({
      pod: this.#pod,
      ip,
      folder: join(this.#folder, 'volumes'),
      read: this.#read,
      token: (source) => this.#context.api.token(this.#pod, source),
      claim: (name) => this.#context.claim(namespace, name),
    });
    const volumes = this.#volumes;
    const etc = [...etcFiles(''), ['hosts']].map(([name = '']) => ({
      from: join(this.#folder, 'etc', name),
      to: `/etc/${name}`,
      readOnly: true,
    }));
    const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, subPath = '', readOnly }) => {
      const volume = volumes.get(name);
      if (volume === undefined) throw new NotYet('ContainerCreating', `volume ${name} not found`);
      return { from: join(volume.path, subPath), to: mountPath, readOnly: readOnly === true || volume.keyed };
    });
    return [...etc, ...mounts];
  }

  /** What cannot be read now stays as it is until the next time. */
  #refresh(): void {
    if (this.#volumes === undefined || this.#network === undefined || this.#isEnding) return;
    const { ip } = this.#network;
    const folder = join(this.#folder, 'volumes');
    refreshVolumes({ pod: this.#pod, ip, folder, read: this.#read }).catch(() => undefined);
  }

  readonly #read: ReadData = (kind, name) => this.#context.api.data(this.#pod.metadata.namespace, kind, name);

  get #logFolder(): string {
    const { namespace, name, uid } = this.#pod.metadata;
    return join(this.#context.folder, 'logs', namespace, `${name}_${uid}`);
  }

  get #facts(): PodFacts {
    return {
      pod: this.#pod,
      ip: this.#network?.ip,
      startTime: this.#startTime,
      init: this.#init.map(({ status }) => status),
      main: this.#main.map(({ status }) => status),
    };
  }

  /** One write at a time; what changes meanwhile is in the next. */
  #changed(): void {
    this.#dirty = true;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  async #write(): Promise<void> {
    while (this.#dirty && !this.#gone.signal.aborted) {
      this.#dirty = false;
      const status = podStatus(this.#facts);
      const text = JSON.stringify(status);
      if (text === this.#written) continue;
      this.#written = text;
      const body = { metadata: { uid: this.#pod.metadata.uid }, status };
      await this.#persistently(() => this.#context.api.merge(`${podPath(this.#pod.metadata)}/status`, body));
    }
  }

  /** The API server may be away. A pod that is gone, or replaced, needs no more. */
  async #persistently(request: () => Promise<void>): Promise<void> {
    while (!this.#gone.signal.aborted) {
      try {
        return await request();
      } catch (error) {
        if (isStatus(error, 404) || isStatus(error, 409)) return;
        await pause(RETRY_MS, undefined, { signal: this.#gone.signal }).catch(() => undefined);
      }
    }
  }
}

/** What is run: as for Docker, a command of the container's own leaves out all that the image says. */
function commandOf(
  { command, args }: Container,
  image: Image,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const given = (words: readonly string[]): string[] => words.map((word) => expand(word, env));
  if (command !== undefined) return given([...command, ...(args ?? [])]);
  const whole = [...image.entrypoint, ...given(args ?? image.arguments)];
  return image.prepare?.(whole) ?? whole;
}
