const UID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** What to call the cluster: its name, or the first part of the UID that stands in for one. */
export function clusterName(cluster: string): string {
  return UID.test(cluster) ? `cluster ${cluster.slice(0, 8)}` : cluster;
}
