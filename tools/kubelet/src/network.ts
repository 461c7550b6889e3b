import { succeed } from './pods/exec.ts';
import { removeNamespace } from './sweep.ts';

/** One pod's place in the network. */
export interface PodNetwork {
  readonly namespace: string;
  readonly ip: string;
}

/** Of the bridge, and so of the nodes: pods reach Services through it. */
export const NODE_IP = '10.244.0.1';
const BITS = 16;

/**
 * A bridge in a network namespace of its own, with a namespace for each pod on it. Nothing of it is in the host's
 * network: two kubelets can use the same addresses, and with the namespaces all of it is gone.
 */
export class Network {
  /** Path of the node's namespace. */
  readonly node: string;
  readonly #run: string;
  readonly #ip: string;
  #pods = 0;

  private constructor(run: string, ip: string) {
    this.#run = run;
    this.#ip = ip;
    this.node = `${run}-node`;
  }

  static async create(run: string, ip: string): Promise<Network> {
    const network = new Network(run, ip);
    await succeed(ip, ['netns', 'add', network.node]);
    await network.#batch(network.node, [
      'link set lo up',
      'link add pods type bridge',
      `addr add ${NODE_IP}/${BITS} dev pods`,
      'link set pods up',
    ]);
    return network;
  }

  async addPod(): Promise<PodNetwork> {
    this.#pods += 1;
    const number = this.#pods + 1;
    const pod = {
      namespace: `${this.#run}-pod${number}`,
      ip: `10.244.${Math.floor(number / 250)}.${(number % 250) + 1}`,
    };
    await succeed(this.#ip, ['netns', 'add', pod.namespace]);
    await this.#batch(this.node, [
      `link add pod${number} type veth peer name eth0 netns ${pod.namespace}`,
      `link set pod${number} master pods up`,
    ]);
    await this.#batch(pod.namespace, [
      'link set lo up',
      `addr add ${pod.ip}/${BITS} dev eth0`,
      'link set eth0 up',
      `route add default via ${NODE_IP}`,
    ]);
    return pod;
  }

  async removePod(pod: PodNetwork): Promise<void> {
    await removeNamespace(pod.namespace, this.#ip);
  }

  async #batch(namespace: string, commands: readonly string[]): Promise<void> {
    await succeed(this.#ip, ['-n', namespace, '-batch', '-'], `${commands.join('\n')}\n`);
  }
}

/** Where the system keeps a named namespace. */
export function namespacePath(name: string): string {
  return `/run/netns/${name}`;
}
