// node hold-kubelet.ts KUBECONFIG NODE — a kubelet of which a spec kills the process. Says its folder.
import { Kubelet } from '../src/kubelet.ts';
import { testImages } from './images.ts';

const [, , kubeconfig = '', node = ''] = process.argv;
const kubelet = await Kubelet.start({ kubeconfig, nodes: [node], images: testImages });
console.log(kubelet.folder);
