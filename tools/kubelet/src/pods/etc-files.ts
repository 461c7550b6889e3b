/** What every image and runtime puts into `/etc`, by name. There is no DNS: names are those of the hosts file. */
export function etcFiles(hostname: string): (readonly [string, string])[] {
  return [
    ['hostname', `${hostname}\n`],
    ['nsswitch.conf', 'hosts: files dns\n'],
    ['resolv.conf', ''],
    [
      'passwd',
      [
        'root:x:0:0:root:/root:/usr/sbin/nologin',
        'redis:x:999:999::/data:/usr/sbin/nologin',
        'nonroot:x:65532:65532::/home/nonroot:/usr/sbin/nologin',
        '',
      ].join('\n'),
    ],
    ['group', ['root:x:0:', 'redis:x:999:', 'nonroot:x:65532:', ''].join('\n')],
  ];
}
